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
from coterie.tables.table import Table

__all__ = ["Inputs", "read_inputs"]

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
    notes = [*notes, *_constant(table, recipe, X)]
    known = Constraints(table.n_rows)
    if pairs is not None:
        known = _read(pairs, ids, by_id=choices.id_column is not None, hard=hard)
        notes += [] if known.n_pairs else [f"{pairs} holds no pairs"]
    if groups is not None:
        known = known + Constraints.from_exclusive_groups(groups)
    return Inputs(table, ids, recipe, X, known, notes)


def _read(
    pairs: str | os.PathLike[str], ids: Sequence[str], *, by_id: bool, hard: bool
) -> Constraints:
    known = read_pairs(pairs, ids, by_id=by_id)
    if not hard:
        return known
    try:
        return known.as_hard()
    except InfeasibleConstraints as error:
        raise name_conflict(error, ids) from error


def _constant(table: Table, recipe: Recipe, X: Any) -> list[str]:
    """A note about features that say nothing; refused if that is all of them."""
    names = recipe.constant(X) if table.n_rows > 1 else []
    if len(names) == X.shape[1]:
        raise InvalidData(f"{table.source}: all rows are alike in every column that is used.")
    more = ", …" if len(names) > _SHOWN else ""
    return [f"the same in every row: {', '.join(names[:_SHOWN])}{more}"] if names else []
