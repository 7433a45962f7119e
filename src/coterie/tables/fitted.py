"""A fitted model together with the rows and pairs it was fitted to, as people know them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coterie.constraints import Constraints
from coterie.exceptions import InvalidData
from coterie.tables.bundle import Bundle, load_bundle
from coterie.tables.choices import Choices
from coterie.tables.inputs import Inputs, Rows, rows_of
from coterie.tables.pairs import read_pairs
from coterie.tables.reading import read_table
from coterie.tables.table import Table

__all__ = ["Fitted", "read_fitted"]


@dataclass(frozen=True)
class Fitted:
    """A model, its rows and its pairs: what there is to look at after a fit.

    Attributes
    ----------
    bundle : Bundle
    table : Table
        The rows, in the order of the fit.
    ids : sequence of str
        The id of every row.
    constraints : Constraints or None
        The pairs of the fit; None if they were not handed over.
    folder, pairs_file : Path or None
        Where model and pairs were read from.
    """

    bundle: Bundle
    table: Table
    ids: Sequence[str]
    constraints: Constraints | None
    folder: Path | None = None
    pairs_file: Path | None = None

    @classmethod
    def of(cls, model: Any, inputs: Inputs, **made: Any) -> Fitted:
        """A model that was fitted to `inputs`; `made` is what `Bundle` should know about it."""
        return cls(Bundle(model, inputs.recipe, made), inputs.table, inputs.ids, inputs.constraints)

    @property
    def method(self) -> str:
        """What the estimator is called: by its name on the command line, else by its class."""
        return str(self.bundle.made.get("method", type(self.bundle.model).__name__))


def read_fitted(
    model: str | os.PathLike[str],
    data: str | os.PathLike[str],
    pairs: str | os.PathLike[str] | None = None,
    *,
    vectors: str | os.PathLike[str] | None = None,
) -> Fitted:
    """Read a saved model with the files it was fitted to; a table of other length is refused.

    Parameters
    ----------
    model : path-like
        A folder that `save_bundle` or `coterie fit --save` wrote.
    data : path-like
        The table it was fitted to; see `read_table`.
    pairs : path-like, optional
        The pairs it was fitted with; see `read_pairs`.
    vectors : path-like, optional
        The .npy file beside the table, if it was fitted to one.
    """
    bundle = load_bundle(model)
    recipe = bundle.recipe
    choices = Choices(recipe.id_column, missing=recipe.missing, where=recipe.where, vectors=vectors)
    rows = _rows(bundle, read_table(data), choices, model)
    if recipe.of_texts:
        placed = np.flatnonzero(recipe.with_words(recipe.apply(rows.table).X))
        rows = rows if placed.size == rows.table.n_rows else rows.take(placed)
    if rows.table.n_rows != len(bundle.model.labels_):
        raise _other_rows(bundle, rows.table, model)
    known = None
    if pairs is not None:
        known = read_pairs(pairs, rows.all_ids, by_id=recipe.id_column is not None)
        known = known if rows.numbers is None else known.subset(rows.numbers)
    pairs_file = None if pairs is None else Path(pairs)
    return Fitted(bundle, rows.table, rows.ids, known, Path(model), pairs_file)


def _rows(bundle: Bundle, table: Table, choices: Choices, model: Any) -> Rows:
    """The rows of a table; one that cannot be the right one is refused before all else."""
    all_of_it = not (bundle.recipe.where or bundle.recipe.of_texts)
    if all_of_it and table.n_rows != len(bundle.model.labels_):
        raise _other_rows(bundle, table, model)
    return rows_of(table, choices)


def _other_rows(bundle: Bundle, table: Table, model: Any) -> InvalidData:
    return InvalidData(
        f"{table.source} has {table.n_rows} rows, but {model} was fitted to "
        f"{len(bundle.model.labels_)}: give the table it was fitted to "
        f"({bundle.made.get('data', 'not noted')})."
    )
