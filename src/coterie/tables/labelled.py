"""Rows with what a model says about them, as tables to be written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.tables.inputs import Inputs, StoredInputs
from coterie.tables.results import results_of, scattered
from coterie.tables.table import Column, Table
from coterie.tables.writing import with_results

__all__ = ["labelled", "only_ids"]


def labelled(
    inputs: Inputs | StoredInputs, model: Any, *, numbers: Iterable[str] = (), bare: bool = False
) -> Iterator[Table]:
    """The rows that a model was fitted to with their clusters, for `write_tables`.

    Parameters
    ----------
    inputs : Inputs or StoredInputs
        Those in memory are one table, those in files one for each row group.
    model : fitted estimator
    numbers : iterable of str
        Columns that are given as numbers even where the table holds text.
    bare : bool
        Leave out all columns but the ids; rows without ids are numbered.
    """
    start = 0
    numbers = () if bare else tuple(numbers)
    if isinstance(inputs, Inputs):
        yield _whole(inputs, model, numbers, bare)
        return
    for table, X in _stretches(inputs, model):
        results = _of_stretch(inputs, model, X, start, table.n_rows)
        kept = only_ids(table, inputs.recipe.id_column, start) if bare else table
        yield with_results(kept, results, numbers)
        start += table.n_rows


def _of_stretch(
    inputs: StoredInputs, model: Any, X: Any, start: int, n: int
) -> dict[str, NDArray[Any]]:
    """What the model says of rows start..start + n of the files, whose features are X."""
    if inputs.placed is None:
        rows = slice(start, start + n)
        return results_of(model, X, model.labels_[rows], rows=rows)
    lo, hi = np.searchsorted(inputs.placed, [start, start + n])
    at = inputs.placed[lo:hi] - start
    picked = None if X is None else X[at]
    results = results_of(model, picked, model.labels_[lo:hi], rows=slice(lo, hi))
    return scattered(results, at, n)


def only_ids(table: Table, id_column: str | None, start: int = 0) -> Table:
    """The ids of a table, else the numbers of its rows from `start`."""
    if id_column is not None:
        column = table.column(id_column)
    else:
        column = Column("row", np.arange(start, start + table.n_rows))
    return Table(table.source, table.n_rows, {column.name: column})


def _whole(inputs: Inputs, model: Any, numbers: Iterable[str], bare: bool) -> Table:
    """All rows in memory; those apart are in no cluster."""
    table, ids = inputs.table, inputs.ids
    results = results_of(model, inputs.X, model.labels_)
    if inputs.apart is not None:
        table, ids, placed = inputs.apart
        results = scattered(results, placed, table.n_rows)
    if bare and inputs.recipe.id_column is None:
        rows = Column("row", np.array([int(row) for row in ids]))
        table = Table(table.source, table.n_rows, {"row": rows})
    elif bare:
        table = only_ids(table, inputs.recipe.id_column)
    return with_results(table, results, numbers)


def _stretches(inputs: StoredInputs, model: Any) -> Iterator[tuple[Table, Any]]:
    """Tables with their features, or None where the model has no use for them."""
    probable = hasattr(model, "predict_proba") and not hasattr(model, "resp_")
    for table in inputs.table.tables():
        yield table, inputs.recipe.apply(table).X if probable else None
