"""A fitted model together with the rows and pairs it was fitted to, as people know them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coterie.constraints import Constraints
from coterie.exceptions import InvalidData
from coterie.tables.bundle import Bundle, load_bundle
from coterie.tables.inputs import Inputs
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
    """
    bundle = load_bundle(model)
    table = read_table(data)
    n_fitted = len(bundle.model.labels_)
    if table.n_rows != n_fitted:
        raise InvalidData(
            f"{table.source} has {table.n_rows} rows, but {model} was fitted to {n_fitted}: give "
            f"the table it was fitted to ({bundle.made.get('data', 'not noted')})."
        )
    id_column = bundle.recipe.id_column
    ids = table.ids(id_column)
    if id_column is not None:
        table = table.named(ids)
    known = None if pairs is None else read_pairs(pairs, ids, by_id=id_column is not None)
    return Fitted(bundle, table, ids, known, Path(model), None if pairs is None else Path(pairs))
