"""From columns to the matrix that is clustered, the same way for fitting and for new rows.

A recipe is a list of parts, each of which turns one column (or the matrix of an array file) into
features. It is learned from the table that is fitted and saved as JSON beside the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from coterie.exceptions import InvalidData, InvalidModel, InvalidParameter
from coterie.tables.choices import Choices, chosen
from coterie.tables.choosing import Use, decide
from coterie.tables.date_part import DatePart
from coterie.tables.notes import Note
from coterie.tables.parts import CategoryPart, MatrixPart, NumberPart, VectorPart
from coterie.tables.summary import ColumnSummary
from coterie.tables.table import Table
from coterie.tables.text_parts import TextPart, TopicsPart

__all__ = ["Choices", "Features", "Learned", "Part", "Recipe"]

Part = NumberPart | CategoryPart | DatePart | TextPart | TopicsPart | VectorPart | MatrixPart
PARTS: dict[str, Any] = {part.kind: part for part in Part.__args__}
_ARRAY = "array"  # the key by which the content of a recipe names one
_FIRST_LOOK = 1000  # rows
_ROWS_AT_ONCE = 4096  # of the matrix that are filled while they stay in the cache


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
        One for each column that is used, in order of the features.
    left_out : mapping of str to str
        Columns that are of no use, and why.
    missing : tuple of str or None
        Texts that say that there is no value; None for the usual ones.
    where : tuple of str
        Conditions that the rows fulfil.

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
    left_out: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] | None = None
    where: tuple[str, ...] = ()

    @classmethod
    def learn(cls, table: Table, choices: Choices | None = None) -> Recipe:
        """The recipe these choices mean for this table."""
        return cls.look_at_whole(table, choices or Choices()).recipe

    @classmethod
    def look_at_whole(cls, table: Table, choices: Choices) -> Learned:
        """As `learn`, with what else was seen on the way."""
        choices = choices.settled()
        if table.matrix is None:
            return cls.look_at([table], choices)
        _refuse_choices_for_matrix(table, choices)
        parts: tuple[Part, ...] = (MatrixPart.learn(table.matrix, choices.scale),)
        return Learned(cls(choices.id_column, parts, where=tuple(choices.where)), [], [])

    @classmethod
    def learn_from(cls, tables: Iterable[Table], choices: Choices | None = None) -> Recipe:
        """The recipe these choices mean for tables that are one below the other.

        Each table is looked at once and not kept: see `coterie.tables.open_table`.
        """
        return cls.look_at(tables, choices).recipe

    @classmethod
    def look_at(cls, tables: Iterable[Table], choices: Choices | None = None) -> Learned:
        """As `learn_from`, with what else was seen on the way."""
        choices = (choices or Choices()).settled()
        summaries: list[ColumnSummary] | None = None
        first: Table | None = None
        for table in tables:
            if choices.missing is not None:
                table = table.with_missing(choices.missing)
            if summaries is None:
                first = table
                names = chosen(table, choices)
                summaries = [ColumnSummary(name, table.column(name).kind) for name in names]
            for summary in summaries:
                summary.add(table, _role(summary.name, choices))
        if summaries is None or first is None:
            raise InvalidData("there is no row to learn from.")
        uses = decide(first.source, summaries, choices)
        used = [(s, use) for s, use in zip(summaries, uses, strict=True) if use.kind != "drop"]
        parts = [_part(first, summary, use, choices) for summary, use in used]
        notes, constant = [], []
        for part, (summary, use) in zip(parts, used, strict=True):
            notes += [Note(summary.name, 0, use.note)] if use.note else []
            notes += _sampled(part, summary)
            if isinstance(part, NumberPart | CategoryPart | DatePart):
                kept = part.fill not in (None, False) or _keeps_gaps(part)
                filled = summary.n_rows - summary.known if kept else 0
                notes += [Note(summary.name, filled, part.filling)] if filled else []
            if _is_constant(part, summary):
                constant += part.feature_names
        left_out = {
            s.name: use.reason for s, use in zip(summaries, uses, strict=True) if use.reason
        }
        recipe = cls(
            choices.id_column,
            tuple(parts),
            left_out,
            None if choices.missing is None else tuple(choices.missing),
            tuple(choices.where),
        )
        return Learned(recipe, notes, constant)

    def apply(self, table: Table) -> Features:
        """The features of a table; its other columns do not matter."""
        if self.missing is not None:
            table = table.with_missing(self.missing)
        blocks: list[Any] = []
        notes: list[Note] = []
        for part in self.parts:
            block, note = part.apply(table)
            blocks.append(block)
            notes += note
        return Features(_joined(blocks), notes)

    @property
    def of_texts(self) -> bool:
        """Whether rows are known by texts alone: those without words then have no place."""
        return all(isinstance(part, TextPart | TopicsPart) for part in self.parts)

    @staticmethod
    def with_words(X: Any) -> Any:
        """Which rows of the features X (n, d) hold anything, (n,)."""
        if not isinstance(X, np.ndarray):
            return np.diff(X.indptr) > 0
        return X.any(axis=1)

    def spelled(self, table: Table) -> tuple[Any, list[str], list[str]]:
        """The features with the words that topics are made of in their place, names and kinds."""
        if self.missing is not None:
            table = table.with_missing(self.missing)
        blocks: list[Any] = []
        names: list[str] = []
        kinds: list[str] = []
        for part in self.parts:
            if isinstance(part, TopicsPart):
                block, words = part.spelled(table)
                names += [f"{part.column}:{word}" for word in words]
            else:
                block = part.apply(table)[0]
                names += part.feature_names
            kinds += [part.kind] * (len(names) - len(kinds))
            blocks.append(block)
        return _joined(blocks), names, kinds

    @property
    def feature_names(self) -> list[str]:
        """A name for each column of X: `height`, `town=Ulm`, `text:word`."""
        return [name for part in self.parts for name in part.feature_names]

    @property
    def feature_kinds(self) -> list[str]:
        """What each column of X was made of: `number`, `category`, `text`, `topics`, `date`, …"""
        return [part.kind for part in self.parts for _ in part.feature_names]

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
        """Names of the columns that are used as numbers and are written plainly."""
        return [p.column for p in self.parts if isinstance(p, NumberPart) and not p.form]

    def to_json(self) -> dict[str, Any]:
        """As plain values; `from_json` is the inverse."""
        content, arrays = self.to_parts()
        return _filled(content, {name: array.tolist() for name, array in arrays.items()})

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """As plain values and arrays by their names: {"array": name} stands for each of them."""
        arrays: dict[str, Any] = {}
        parts = []
        for number, part in enumerate(self.parts):
            content: dict[str, Any] = {"kind": part.kind}
            for name, value in asdict(part).items():
                if isinstance(value, np.ndarray):
                    key = f"{number}-{name}"
                    arrays[key], value = value, {_ARRAY: key}
                content[name] = value
            parts.append(content)
        content = {
            "id_column": self.id_column,
            "parts": parts,
            "left_out": dict(self.left_out),
            "missing": None if self.missing is None else list(self.missing),
            "where": list(self.where),
        }
        return content, arrays

    @classmethod
    def from_json(cls, content: Any, arrays: Mapping[str, Any] | None = None) -> Recipe:
        """A recipe from what `to_json`, or `to_parts`, gave; anything else is refused."""
        try:
            parts = []
            for given in _filled(content, arrays or {})["parts"]:
                fields = dict(given)
                parts.append(PARTS[fields.pop("kind")](**fields))
            missing = content.get("missing")
            return cls(
                content["id_column"],
                tuple(parts),
                dict(content.get("left_out", {})),
                None if missing is None else tuple(missing),
                tuple(content.get("where", ())),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidModel(f"the recipe is damaged: {error!r}.") from error


def _filled(content: Any, arrays: Mapping[str, Any]) -> Any:
    """The content of a recipe with arrays put where their names stand."""

    def fill(value: Any) -> Any:
        return arrays[value[_ARRAY]] if isinstance(value, dict) and _ARRAY in value else value

    parts = [{name: fill(value) for name, value in part.items()} for part in content["parts"]]
    return {**content, "parts": parts}


def _part(table: Table, summary: ColumnSummary, use: Use, choices: Choices) -> Part:
    """The part that a column calls for."""
    source, name = table.source, summary.name
    if use.kind == "number":
        return NumberPart.learn(source, summary, choices, use.form)
    if use.kind == "date":
        return DatePart.learn(source, summary, choices, use.form)
    if use.kind == "category":
        return CategoryPart.learn(source, summary, choices)
    if use.kind == "vector":
        return VectorPart.learn(table, name)
    if use.kind == "words":
        return TextPart.learn(source, summary)
    return TopicsPart.learn(source, summary)


def _sampled(part: Part, summary: ColumnSummary) -> list[Note]:
    """A note, if only some of the texts taught."""
    if not isinstance(part, TopicsPart) or not summary.texts.is_sample:
        return []
    taught, seen = len(summary.texts.texts()), summary.texts.n_seen
    return [Note(summary.name, 0, f"topics learned from {taught} of {seen} texts, drawn by chance")]


def _is_constant(part: Part, summary: ColumnSummary) -> bool:
    if isinstance(part, NumberPart):
        known = summary.read[part.form].moments if part.form else summary.moments
        return known.low == known.high
    return isinstance(part, CategoryPart) and len(part.categories) == 1 and not part.blank


def _keeps_gaps(part: Part) -> bool:
    """Whether rows without a value are taken as they are."""
    return bool(getattr(part, "gaps", False) or getattr(part, "blank", False))


def _role(name: str, choices: Choices) -> str:
    """What a summary has to look at in a column."""
    kind = choices.kind_of(name).partition("/")[0]
    told = {"category": "category", "words": "words", "text": "text", "vector": "left"}
    return told.get(kind, "any")


def _per_feature(part: Part, name: str, default: float) -> list[float]:
    scaled = isinstance(part, NumberPart | MatrixPart)
    found = getattr(part, name) if scaled else None
    if isinstance(found, list):
        return found
    return [default if found is None else found] * len(part.feature_names)


def _refuse_choices_for_matrix(table: Table, choices: Choices) -> None:
    given = [
        option
        for option, value in (
            ("`features`", choices.features),
            ("`drop`", choices.drop),
            ("`categorical`", choices.categorical),
            ("`text`", choices.text),
            ("`columns`", choices.columns),
            ("`vectors`", choices.vectors),
        )
        if value
    ]
    if given:
        raise InvalidParameter(
            f"{given[0]} needs named columns, and {table.source} is an array file."
        )


def _joined(blocks: list[Any]) -> Any:
    """Blocks (n, ·) side by side; CSR if one of them is."""
    if len(blocks) == 1:
        return blocks[0]
    if all(isinstance(block, np.ndarray) for block in blocks):
        return _side_by_side(blocks)
    from scipy import sparse

    return sparse.hstack(blocks, format="csr")


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
