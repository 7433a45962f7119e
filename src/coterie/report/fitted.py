"""A report about a model and the table it was fitted to, in the words of the table."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from coterie.constraints import Constraints
from coterie.exceptions import InvalidData
from coterie.plot.inputs import as_rows, broken_mask
from coterie.plot.layout import Projection, project
from coterie.report.report import build_report
from coterie.tables import Bundle, Column, Fitted, Table
from coterie.tables.table import missing
from coterie.words import warn

__all__ = ["build_fitted_report"]

# What `how_made` and `coterie fit` noted that a reader of the report may want to know.
_NOTED = ("data", "constraints", "date", "seed", "id_column", "stopped_early", "notes", "versions")


def build_fitted_report(
    fitted: Fitted, *, truth: str | None = None, title: str | None = None, projection: Any = "auto"
) -> str:
    """A report about a model and its table, as `build_report` makes it.

    The columns of the table are the records, its ids name the rows, and values are shown in the
    units of the table. Warns if the pairs seem to be others than those of the fit, or were not
    handed over.

    Parameters
    ----------
    fitted : Fitted
        See `coterie.tables.read_fitted`.
    truth : str, optional
        Column of the true classes, to compare with; every row must have one.
    title : str, optional
    projection : {"auto", "pca", "tsne", "umap"} or array of shape (n, 2), default="auto"
        As in `build_report`; "auto" is UMAP or t-SNE where rows are texts.

    Returns
    -------
    str
    """
    bundle, table = fitted.bundle, fitted.table
    recipe = bundle.recipe
    for note in _about_pairs(fitted):
        warn(note)
    X, notes = recipe.apply(table)
    for note in notes:
        warn(note)
    names, kinds = recipe.feature_names, recipe.feature_kinds
    units: Any = recipe.units
    if recipe.of_texts:
        # People know texts by their words, not by topics; the map shows the rows as clustered.
        if isinstance(projection, str):
            projection = _map_of_texts(as_rows(X), projection, names)
        X, names, kinds = recipe.spelled(table)
        units = None
    return build_report(
        bundle.model,
        X,
        constraints=_constraints(fitted),
        feature_names=names,
        kinds=kinds,
        ids=None if recipe.id_column is None else fitted.ids,
        records=_records(table, recipe.columns, {recipe.id_column, truth}),
        truth=None if truth is None else _classes(table, truth),
        units=units,
        made=_made(fitted),
        title=title,
        projection=projection,
    )


def _map_of_texts(X: Any, projection: str, names: list[str]) -> Projection:
    """Principal components show next to nothing of a hundred topics: neighbourhoods do."""
    if projection == "auto":
        projection = "umap" if importlib.util.find_spec("umap") else "tsne"
    return project(X, projection, names)


def _about_pairs(fitted: Fitted) -> list[str]:
    """What is odd about the pairs: they are missing, or not those of the fit."""
    bundle, known = fitted.bundle, fitted.constraints
    if known is None:
        file = bundle.made.get("constraints")
        whose = fitted.folder or "the model"
        return [f"{whose} was fitted with {file}; give it to show its pairs"] if file else []
    noted = len(getattr(bundle.model, "violations_", ()))
    broken = int(broken_mask(known, bundle.model.labels_).sum())
    if broken == noted:
        return []
    place = "" if fitted.pairs_file is None else f" in {fitted.pairs_file}"
    return [
        f"{broken} of the pairs{place} are broken, but {noted} were in fitting: other pairs, or "
        "other rows than then"
    ]


def _constraints(fitted: Fitted) -> Constraints | None:
    """The pairs of the fit; none, where it is known that there were none."""
    noted = fitted.bundle.made
    without = "constraints" in noted and noted["constraints"] is None
    if fitted.constraints is None and without and "--exclusive" not in noted.get("command", ()):
        return Constraints(len(fitted.bundle.model.labels_))
    return fitted.constraints


def _made(fitted: Fitted) -> dict[str, Any]:
    """What is known about the run, by the headings of the report."""
    bundle: Bundle = fitted.bundle
    made: dict[str, Any] = {} if fitted.folder is None else {"model": fitted.folder.name}
    made |= {name.replace("_", " "): bundle.made[name] for name in _NOTED if bundle.made.get(name)}
    words = bundle.made.get("command")
    return made | ({"command": " ".join(["coterie", *map(str, words)])} if words else {})


def _classes(table: Table, truth: str) -> Any:
    classes = table.column(truth, "`truth`").texts()
    empty = np.flatnonzero(missing(classes))
    if empty.size:
        raise InvalidData(
            f"{table.source}, {table.place(int(empty[0]))}: no class in column {truth!r}."
        )
    return classes.astype(str)


def _records(table: Table, used: list[str], hidden: set[str | None]) -> dict[str, Any] | None:
    """Columns to show, those that were clustered first; None for an array file."""
    names = [*used, *(name for name in table.columns if name not in used)]
    shown = {name: _Cells(table.columns[name]) for name in names if name not in hidden}
    return shown or None


class _Cells:
    """A column whose cells are read one by one: a report shows few of them."""

    def __init__(self, column: Column) -> None:
        self._column = column

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, row: int) -> Any:
        return self._column.cells(row, row + 1)[0]
