"""All that a clustering starts from, in one call: the table, its features, and the pairs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from coterie.constraints import Constraints
from coterie.exceptions import InfeasibleConstraints, InvalidData
from coterie.tables.pairs import name_conflict, read_pairs
from coterie.tables.reading import read_table
from coterie.tables.recipe import Choices, Recipe
from coterie.tables.stored_ids import StoredIds
from coterie.tables.streaming import RecipeRows, StoredTable, open_table
from coterie.tables.table import RowNumbers, Table

__all__ = ["Inputs", "StoredInputs", "read_inputs", "read_known_pairs", "stream_inputs"]

_SHOWN = 5  # names in a note


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
    """

    table: Table
    ids: Sequence[str]
    recipe: Recipe
    X: Any
    constraints: Constraints
    notes: list[str]


class StoredInputs(NamedTuple):
    """What Parquet files of rows and a file of pairs hold; fields as in `Inputs`.

    Attributes
    ----------
    table : StoredTable
    ids : RowNumbers or StoredIds
    recipe : Recipe
    X : RecipeRows
    constraints : Constraints
    notes : list of str
    """

    table: StoredTable
    ids: Sequence[str]
    recipe: Recipe
    X: RecipeRows
    constraints: Constraints
    notes: list[str]


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
    choices = choices or Choices()
    if exclusive is not None and not choices.features and exclusive != choices.id_column:
        choices = choices._replace(drop=(*choices.drop, exclusive))
    table = read_table(data)
    groups = None if exclusive is None else table.column(exclusive, "--exclusive").texts()
    ids = table.ids(choices.id_column)
    if choices.id_column is not None:
        table = table.named(ids)
    recipe = Recipe.learn(table, choices)
    X, notes = recipe.apply(table)
    constant = _constant(table, recipe.constant(X), X.shape[1])
    known = _pairs(pairs, ids, choices, hard)
    told = [*notes, *constant, *_none(pairs, known)]
    if groups is not None:
        known = known + Constraints.from_exclusive_groups(groups)
    return Inputs(table, ids, recipe, X, known, told)


def stream_inputs(
    data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    pairs: str | os.PathLike[str] | None = None,
    choices: Choices | None = None,
    *,
    hard: bool = False,
) -> StoredInputs:
    """As `read_inputs`, for Parquet files that need not fit in memory.

    One pass over the files teaches the recipe; features are made whenever rows are read. Of the
    ids only those that pairs name are looked up, by another pass over their column.

    Parameters
    ----------
    data : path, folder, glob, or several paths
        See `open_table`.
    pairs, choices, hard
        As in `read_inputs`.
    """
    choices = choices or Choices()
    table = open_table(data)
    ids: Sequence[str] = RowNumbers(table.n_rows)
    if choices.id_column is not None:
        ids = StoredIds(table, choices.id_column)
    known = _pairs(pairs, ids, choices, hard)
    recipe, notes, constant = table.look_at(choices)
    told = [*notes, *_constant(table, constant, len(recipe.feature_names)), *_none(pairs, known)]
    return StoredInputs(table, ids, recipe, table.rows(recipe), known, told)


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
    return [f"the same in every row: {', '.join(names[:_SHOWN])}{more}"] if names else []
