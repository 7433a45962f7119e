"""From columns to the matrix that is clustered, the same way for fitting and for new rows.

A recipe is a list of parts, each of which turns one column (or the matrix of an array file) into
features. It is learned from the table that is fitted and saved as JSON beside the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from coterie.exceptions import InvalidData, InvalidModel, InvalidParameter
from coterie.tables.notes import Note
from coterie.tables.parts import (
    PARTS,
    CategoryPart,
    MatrixPart,
    NumberPart,
    Part,
    TextPart,
    learn_part,
)
from coterie.tables.summary import ColumnSummary
from coterie.tables.table import Table

__all__ = ["Choices", "Features", "Recipe"]

_FIRST_LOOK = 1000  # rows
_ROWS_AT_ONCE = 4096  # of the matrix that are filled while they stay in the cache


class Choices(NamedTuple):
    """What the user says about the columns.

    Attributes
    ----------
    id_column : str or None
    features, drop : sequence of str
        Use only these, or all but these.
    categorical : sequence of str
        One-hot, however many values there are and even if they look like numbers.
    text : str or None
        tf-idf of its words.
    scale : bool
        Numbers to mean 0 and standard deviation 1.
    impute : bool
        Missing numbers by the mean, missing categories by the most frequent one.
    truth : str or None
        Column of the true classes, which is never clustered by.
    """

    id_column: str | None = None
    features: Sequence[str] = ()
    drop: Sequence[str] = ()
    categorical: Sequence[str] = ()
    text: str | None = None
    scale: bool = False
    impute: bool = False
    truth: str | None = None


class Features(NamedTuple):
    """What a recipe made of a table: X (n, d), dense or CSR, and what the user should know."""

    X: Any
    notes: list[Note]


class Learned(NamedTuple):
    """What one look at a table taught.

    Attributes
    ----------
    recipe : Recipe
    notes : list of Note
        Of values that it fills.
    constant : list of str
        Features that are the same in every row; words are not looked at.
    """

    recipe: Recipe
    notes: list[Note]
    constant: list[str]


@dataclass(frozen=True)
class Recipe:
    """How a table becomes features.

    Attributes
    ----------
    id_column : str or None
    parts : tuple of parts
        `NumberPart`, `CategoryPart`, `TextPart` or `MatrixPart`, in order of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.tables import Choices, Recipe, Table
    >>> table = Table.of("people", {"name": np.array(["ann", "bob"], dtype=object),
    ...                             "height": np.array([1.5, 2.0]),
    ...                             "town": np.array(["Ulm", "Rom"], dtype=object)})
    >>> recipe = Recipe.learn(table, Choices(id_column="name"))
    >>> recipe.feature_names
    ['height', 'town=Rom', 'town=Ulm']
    >>> Recipe.from_json(recipe.to_json()).apply(table).X.tolist()
    [[1.5, 0.0, 1.0], [2.0, 1.0, 0.0]]
    """

    id_column: str | None
    parts: tuple[Part, ...]

    @classmethod
    def learn(cls, table: Table, choices: Choices | None = None) -> Recipe:
        """The recipe these choices mean for this table."""
        choices = choices or Choices()
        if table.matrix is not None:
            _refuse_choices_for_matrix(table, choices)
            parts: tuple[Part, ...] = (MatrixPart.learn(table.matrix, choices.scale),)
            return cls(choices.id_column, parts)
        return cls.learn_from([table], choices)

    @classmethod
    def learn_from(cls, tables: Iterable[Table], choices: Choices | None = None) -> Recipe:
        """The recipe these choices mean for tables that are one below the other.

        Each table is looked at once and not kept: see `coterie.tables.open_table`.
        """
        return cls.look_at(tables, choices).recipe

    @classmethod
    def look_at(cls, tables: Iterable[Table], choices: Choices | None = None) -> Learned:
        """As `learn_from`, with what else was seen on the way."""
        choices = choices or Choices()
        summaries: list[ColumnSummary] | None = None
        source = ""
        for table in tables:
            if summaries is None:
                source = table.source
                names = _chosen(table, choices)
                summaries = [ColumnSummary(name, table.column(name).kind) for name in names]
            for summary in summaries:
                summary.add(table, _role(summary.name, choices))
        if summaries is None:
            raise InvalidData("there is no row to learn from.")
        parts = [learn_part(source, summary, choices) for summary in summaries]
        notes, constant = [], []
        for part, summary in zip(parts, summaries, strict=True):
            if isinstance(part, NumberPart | CategoryPart):
                filled = 0 if part.fill is None else summary.missing
                notes += [Note(summary.name, filled, part.filling)] if filled else []
            if _is_constant(part, summary):
                constant += part.feature_names
        return Learned(cls(choices.id_column, tuple(parts)), notes, constant)

    def apply(self, table: Table) -> Features:
        """The features of a table; its other columns do not matter."""
        blocks: list[Any] = []
        notes: list[Note] = []
        for part in self.parts:
            block, note = part.apply(table)
            blocks.append(block)
            notes += note
        if len(blocks) == 1:
            X = blocks[0]
        elif any(isinstance(part, TextPart) for part in self.parts):
            from scipy import sparse

            X = sparse.hstack(blocks, format="csr")
        else:
            X = _side_by_side(blocks)
        return Features(X, notes)

    @property
    def feature_names(self) -> list[str]:
        """A name for each column of X: `height`, `town=Ulm`, `text:word`."""
        return [name for part in self.parts for name in part.feature_names]

    def constant(self, X: Any) -> list[str]:
        """Names of the features that are the same in every row of X (n, d)."""
        few = np.arange(X.shape[1])
        for rows in (X[:_FIRST_LOOK], X):  # most are seen to differ at the first look
            some = rows[:, few]
            low, high = some.min(axis=0), some.max(axis=0)
            same = low == high if isinstance(low, np.ndarray) else (low != high).toarray() == 0
            few = few[same.ravel()]
        names = self.feature_names
        return [names[at] for at in few]

    @property
    def units(self) -> tuple[list[float], list[float]]:
        """Center and spread that each feature was scaled by; words and categories were not."""
        center = [value for part in self.parts for value in _per_feature(part, "center", 0.0)]
        spread = [value for part in self.parts for value in _per_feature(part, "spread", 1.0)]
        return center, spread

    @property
    def columns(self) -> list[str]:
        """Names of the columns that are used."""
        return [part.column for part in self.parts if not isinstance(part, MatrixPart)]

    @property
    def number_columns(self) -> list[str]:
        """Names of the columns that are used as numbers."""
        return [part.column for part in self.parts if isinstance(part, NumberPart)]

    def to_json(self) -> dict[str, Any]:
        """As plain values; `from_json` is the inverse."""
        parts = [{"kind": part.kind, **asdict(part)} for part in self.parts]
        return {"id_column": self.id_column, "parts": parts}

    @classmethod
    def from_json(cls, content: Any) -> Recipe:
        """A recipe from what `to_json` gave; anything else is refused."""
        try:
            parts = []
            for given in content["parts"]:
                fields = dict(given)
                parts.append(PARTS[fields.pop("kind")](**fields))
            return cls(content["id_column"], tuple(parts))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidModel(f"the recipe is damaged: {error!r}.") from error


def _is_constant(part: Part, summary: ColumnSummary) -> bool:
    if isinstance(part, NumberPart):
        return summary.moments.low == summary.moments.high
    return isinstance(part, CategoryPart) and len(part.categories) == 1


def _role(name: str, choices: Choices) -> str:
    if name == choices.text:
        return "text"
    return "category" if name in choices.categorical else "any"


def _per_feature(part: Part, name: str, default: float) -> list[float]:
    found = getattr(part, name, None)
    if isinstance(found, list):
        return found
    return [default if found is None else found] * len(part.feature_names)


def _chosen(table: Table, choices: Choices) -> list[str]:
    """Names of the columns to use, in the order of the file."""
    for option, names in (
        ("`features`", choices.features),
        ("`drop`", choices.drop),
        ("`categorical`", choices.categorical),
        ("`text`", (choices.text,) if choices.text else ()),
    ):
        for name in names:
            table.column(name, option)
    if choices.features and choices.drop:
        raise InvalidParameter("give `features` or `drop`, not both.")
    if choices.features:
        wanted = {*choices.features, *choices.categorical}
    elif choices.text and not choices.categorical:
        wanted = set()  # a text is enough by itself; numbers beside it are asked for by name
    else:
        wanted = set(table.columns) - set(choices.drop)
    if choices.text:
        wanted.add(choices.text)
    wanted -= {choices.id_column, choices.truth}
    names = [name for name in table.columns if name in wanted]
    if not names:
        raise InvalidData(f"{table.source}: no column is left to cluster by.")
    return names


def _refuse_choices_for_matrix(table: Table, choices: Choices) -> None:
    given = [
        option
        for option, value in (
            ("`features`", choices.features),
            ("`drop`", choices.drop),
            ("`categorical`", choices.categorical),
            ("`text`", choices.text),
        )
        if value
    ]
    if given:
        raise InvalidParameter(
            f"{given[0]} needs named columns, and {table.source} is an array file."
        )


def _side_by_side(blocks: list[Any]) -> Any:
    """Blocks (n, ·) as one C-ordered array, float32 only if all of them are."""
    widths = [block.shape[1] for block in blocks]
    X = np.empty((len(blocks[0]), sum(widths)), dtype=np.result_type(*blocks))
    starts = np.cumsum([0, *widths[:-1]])
    for row in range(0, len(X), _ROWS_AT_ONCE):
        rows = slice(row, row + _ROWS_AT_ONCE)
        for block, at, width in zip(blocks, starts, widths, strict=True):
            X[rows, at : at + width] = block[rows]
    return X
