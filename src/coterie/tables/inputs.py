"""All that a clustering starts from, in one call: the table, its features, and the pairs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.constraints import Constraints
from coterie.data import Block, StoredRows, map_blocks
from coterie.data import Rows as BlockRows
from coterie.exceptions import InfeasibleConstraints, InvalidData, InvalidParameter
from coterie.tables.arrays import read_npy
from coterie.tables.arrow import give_back
from coterie.tables.choices import VECTORS, Choices
from coterie.tables.notes import Note
from coterie.tables.oddities import oddities
from coterie.tables.pairs import name_conflict, read_pairs
from coterie.tables.reading import read_table
from coterie.tables.recipe import Recipe
from coterie.tables.stored_ids import SomeIds, StoredIds
from coterie.tables.streaming import RecipeRows, StoredTable, open_table
from coterie.tables.table import Column, RowNumbers, Table
from coterie.tables.where import kept_rows
from coterie.words import counted, in_line

__all__ = [
    "Apart",
    "Inputs",
    "Rows",
    "StoredInputs",
    "read_inputs",
    "read_known_pairs",
    "read_rows",
    "rows_of",
    "stream_inputs",
    "with_vectors",
]

_SHOWN = 5  # names in a note


class Apart(NamedTuple):
    """Rows that are in the output but not in the fit: texts without words.

    Attributes
    ----------
    table : Table
        All rows, those in the fit and those beside it.
    ids : sequence of str
        The id of every row.
    placed : (m,) ndarray of int
        Which of them were fitted to.
    """

    table: Table
    ids: Sequence[str]
    placed: NDArray[np.int64]


class Inputs(NamedTuple):
    """What a file of rows and a file of pairs hold.

    Attributes
    ----------
    table : Table
    ids : sequence of str
        The id of every row; row numbers from 0 if no column holds ids.
    recipe : Recipe
    X : (n, d) ndarray or CSR
    constraints : Constraints
    notes : list of str
        What the user should know and is no error.
    apart : Apart or None
        If some rows are texts without words: they are none of the rows above.
    """

    table: Table
    ids: Sequence[str]
    recipe: Recipe
    X: Any
    constraints: Constraints
    notes: list[str]
    apart: Apart | None = None


class StoredInputs(NamedTuple):
    """What Parquet files of rows and a file of pairs hold; fields as in `Inputs`.

    Attributes
    ----------
    table : StoredTable
        Of all rows.
    ids : sequence of str
        Of those that are fitted to.
    recipe : Recipe
    X : StoredRows
        Made by the recipe as they are read (`RecipeRows`), or once before (`UnpackedRows`).
    constraints : Constraints
    notes : list of str
    placed : (m,) ndarray of int or None
        The numbers of the rows that are fitted to; None for all. Others are texts without words.
    """

    table: StoredTable
    ids: Sequence[str]
    recipe: Recipe
    X: StoredRows
    constraints: Constraints
    notes: list[str]
    placed: NDArray[np.int64] | None = None


def read_inputs(
    data: str | os.PathLike[str],
    pairs: str | os.PathLike[str] | None = None,
    choices: Choices | None = None,
    *,
    hard: bool = False,
    exclusive: str | None = None,
) -> Inputs:
    """Read the rows and the pairs, learn the recipe and apply it.

    Parameters
    ----------
    data : path-like
        The table; see `read_table`.
    pairs : path-like, optional
        Pairs of its rows, by id if `choices` name an id column, else by row number; see
        `read_pairs`.
    choices : Choices, optional
        How columns become features.
    hard : bool
        Whether every pair must be kept.
    exclusive : str, optional
        Column of which a cluster holds each value at most once (records of one source); it is no
        feature. Rows without a value are free.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from coterie import PCKMeans
    >>> from coterie.tables import Choices, read_inputs
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "people.csv").write_text("name,height\\nann,1.6\\nbob,1.9\\ncid,1.8\\n")
    >>> _ = (folder / "pairs.csv").write_text("a,b,kind\\nbob,cid,must\\n")
    >>> inputs = read_inputs(folder / "people.csv", folder / "pairs.csv", Choices("name"))
    >>> inputs.X.ravel().tolist(), inputs.constraints.must_link.tolist()
    ([1.6, 1.9, 1.8], [[1, 2]])
    """
    choices = (choices or Choices()).settled()
    if exclusive is not None and not choices.features and exclusive != choices.id_column:
        choices = choices._replace(drop=(*choices.drop, exclusive))
    rows = read_rows(data, choices)
    if exclusive is not None:
        rows.table.column(exclusive, "--exclusive")
    learned = Recipe.look_at_whole(rows.table, choices)
    recipe = learned.recipe
    give_back()  # what looking took, before the features are made
    X, notes = recipe.apply(rows.table)
    told = [*rows.table.notes, *rows.notes, *_about_reading(learned.notes), *notes]
    told += oddities(rows.table, recipe, X)
    placed, apart = rows, None
    with_words = recipe.with_words(X) if recipe.of_texts else None
    if with_words is not None and not with_words.all():
        at = np.flatnonzero(with_words)
        placed, apart, X = rows.take(at), Apart(rows.table, rows.ids, at), X[at]
        told.append(_without_words(rows.ids, np.flatnonzero(~with_words)))
    told += _constant(placed.table, recipe.constant(X), X.shape[1])
    known = _pairs(pairs, rows.all_ids, choices, hard)
    told += _none(pairs, known)
    if placed.numbers is not None:
        known, lost = _kept_pairs(known, placed.numbers)
        told += lost
    if exclusive is not None:
        groups = placed.table.column(exclusive).texts()
        known = known + Constraints.from_exclusive_groups(groups)
    return Inputs(placed.table, placed.ids, recipe, X, known, told, apart)


class Rows(NamedTuple):
    """Rows of a file.

    Attributes
    ----------
    table : Table
    ids : sequence of str
    numbers : (n,) ndarray of int or None
        Where they stand in the file; None if they are all of it.
    all_ids : sequence of str
        Of all rows of the file.
    notes : list of str
    """

    table: Table
    ids: Sequence[str]
    numbers: NDArray[np.int64] | None
    all_ids: Sequence[str]
    notes: list[str]

    def take(self, at: NDArray[np.int64]) -> Rows:
        """Some of them."""
        numbers = at if self.numbers is None else self.numbers[at]
        ids = [self.ids[row] for row in at.tolist()]
        return self._replace(table=self.table.take(at), ids=ids, numbers=numbers)


def read_rows(data: str | os.PathLike[str], choices: Choices) -> Rows:
    """The rows of a file that `choices` ask for, with vectors beside them if there are any."""
    return rows_of(read_table(data), choices)


def rows_of(table: Table, choices: Choices) -> Rows:
    """As `read_rows`, of a table that is read already."""
    if choices.vectors is not None:
        table = with_vectors(table, choices.vectors)
    if choices.missing is not None:
        table = table.with_missing(choices.missing)
    ids = table.ids(choices.id_column)
    if choices.id_column is not None:
        table = table.named(choices.id_column)
    rows = Rows(table, ids, None, ids, [])
    if not choices.where:
        return rows
    kept = rows.take(kept_rows(table, choices.where))
    note = f"{kept.table.n_rows} of {table.n_rows} rows kept, where {' and '.join(choices.where)}"
    return kept._replace(notes=[note])


def with_vectors(table: Table, path: str | os.PathLike[str]) -> Table:
    """A table with a column of the vectors in an .npy file, one for every row."""
    if table.matrix is not None or VECTORS in table.columns:
        raise InvalidData(f"{table.source} has vectors already; leave `vectors` out.")
    values = read_npy(Path(path)).matrix
    if len(values) != table.n_rows:
        raise InvalidData(
            f"{path} holds {len(values)} vectors for the {table.n_rows} rows of {table.source}; "
            "there must be one for each."
        )
    return replace(table, columns={**table.columns, VECTORS: Column(VECTORS, values)})


def _about_reading(notes: Sequence[Note]) -> list[str]:
    """How columns are read; what is filled is said where it is done."""
    return [note for note in notes if not note.number]


def _without_words(ids: Sequence[str], rows: NDArray[np.int64]) -> str:
    named = ", ".join(ids[row] for row in rows[:_SHOWN].tolist())
    more = ", …" if rows.size > _SHOWN else ""
    what = "row is" if rows.size == 1 else "rows are"
    return f"{rows.size} {what} without words and in no cluster (-1): {named}{more}"


def _kept_pairs(known: Constraints, rows: NDArray[np.int64]) -> tuple[Constraints, list[str]]:
    """Pairs of the rows that are left, and a note about the others."""
    kept = known.subset(rows)
    lost = known.n_pairs - kept.n_pairs
    about = counted(lost, "pair")
    return kept, [f"{about} about rows that are left out not used"] if lost else []


def stream_inputs(
    data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    pairs: str | os.PathLike[str] | None = None,
    choices: Choices | None = None,
    *,
    hard: bool = False,
) -> StoredInputs:
    """As `read_inputs`, for Parquet files that need not fit in memory.

    One pass over the files teaches the recipe; features are made whenever rows are read. Of the
    ids only those that pairs name are looked up, by another pass over their column. Of texts alone,
    one more pass finds those without words.

    Parameters
    ----------
    data : path, folder, glob, or several paths
        See `open_table`.
    pairs, choices, hard
        As in `read_inputs`.
    """
    choices = (choices or Choices()).settled()
    for name, given in (("where", choices.where), ("vectors", choices.vectors)):
        if given:
            raise InvalidParameter(
                f"`{name}` needs all rows in memory, and they are read a stretch at a time. Write "
                "the Parquet files with the rows and columns you want, or give one file that fits."
            )
    table = open_table(data)
    ids: Sequence[str] = RowNumbers(table.n_rows)
    if choices.id_column is not None:
        ids = StoredIds(table, choices.id_column)
    known = _pairs(pairs, ids, choices, hard)
    recipe, notes, constant = table.look_at(choices)
    told = [*notes, *_constant(table, constant, len(recipe.feature_names)), *_none(pairs, known)]
    X = table.rows(recipe)
    inputs = StoredInputs(table, ids, recipe, X, known, told)
    return _placed(inputs, X) if recipe.of_texts else inputs


def _placed(inputs: StoredInputs, X: RecipeRows) -> StoredInputs:
    """Without the texts that hold no words, if there are some."""
    parts = map_blocks(BlockRows(X), _with_words, None)
    with_words = np.concatenate(list(parts))
    if with_words.all():
        return inputs
    rows = np.flatnonzero(with_words)
    constraints, lost = _kept_pairs(inputs.constraints, rows)
    told = _without_words(inputs.ids, np.flatnonzero(~with_words))
    return inputs._replace(
        ids=SomeIds(inputs.ids, rows),
        X=X.only(rows),
        constraints=constraints,
        notes=[*inputs.notes, told, *lost],
        placed=rows,
    )


def _with_words(block: Block, _: None) -> NDArray[np.bool_]:
    """Which rows of a block (b,) hold any of the words."""
    return np.concatenate([Recipe.with_words(rows) for _, _, rows in block.chunks()])


def _pairs(
    pairs: str | os.PathLike[str] | None, ids: Sequence[str], choices: Choices, hard: bool
) -> Constraints:
    if pairs is None:
        return Constraints(len(ids))
    return read_known_pairs(pairs, ids, by_id=choices.id_column is not None, hard=hard)


def read_known_pairs(
    pairs: str | os.PathLike[str], ids: Sequence[str], *, by_id: bool, hard: bool
) -> Constraints:
    """The pairs of a file about the rows with these ids; all of them hard, if so asked."""
    known = read_pairs(pairs, ids, by_id=by_id)
    if not hard:
        return known
    try:
        return known.as_hard()
    except InfeasibleConstraints as error:
        raise name_conflict(error, ids) from error


def _none(pairs: str | os.PathLike[str] | None, known: Constraints) -> list[str]:
    return [] if pairs is None or known.n_pairs else [f"{pairs} holds no pairs"]


def _constant(table: Table | StoredTable, names: Sequence[str], n_features: int) -> list[str]:
    """A note about features that say nothing; refused if that is all of them."""
    names = names if table.n_rows > 1 else []
    if len(names) == n_features:
        raise InvalidData(f"{table.source}: all rows are alike in every column that is used.")
    more = ", …" if len(names) > _SHOWN else ""
    shown = ", ".join(in_line(name) for name in names[:_SHOWN])
    return [f"the same in every row: {shown}{more}"] if names else []
