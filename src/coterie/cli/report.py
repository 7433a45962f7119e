"""`coterie report`: one HTML page about a saved model and the rows it was fitted to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.cli._command import Exit, Talk, command
from coterie.cli._options import data_argument, file_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coterie.constraints import Constraints
    from coterie.tables import Bundle, Column, Table

__all__ = ["report"]

# What `fit` noted about itself that a reader of the report may want to know.
_NOTED = ("data", "constraints", "date", "seed", "id_column", "stopped_early", "notes", "versions")


@command("report")
@click.argument("model", type=click.Path(exists=True, file_okay=False, path_type=Path))
@data_argument
@click.argument("pairs", type=file_type, required=False)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(path_type=Path),
    default="report.html",
    show_default=True,
    help="The page, a single .html file.",
)
@click.option("--truth", metavar="COLUMN", help="Column of the true classes, to compare with.")
@click.option("--title", help="Heading of the page.")
@click.option(
    "--projection",
    type=click.Choice(["auto", "pca", "umap"]),
    default="auto",
    show_default=True,
    help="How rows get onto the map; auto is PCA unless it shows too little and UMAP is there.",
)
@click.option("--force", is_flag=True, help="Overwrite outputs that exist.")
def report(
    talk: Talk,
    *,
    model: Path,
    data: Path,
    pairs: Path | None,
    output: Path,
    truth: str | None,
    title: str | None,
    projection: str,
    force: bool,
) -> Exit | None:
    """Write a page about a saved model: map, clusters, broken pairs.

    MODEL is a folder made by `coterie fit --save`, DATA the table and PAIRS the pairs it was
    fitted to.
    """
    from coterie.cli._files import ask_or_refuse, check_target
    from coterie.files import new_file
    from coterie.report import build_report
    from coterie.tables import load_bundle, read_table

    check_target(output, ask_or_refuse(output, force))
    bundle = load_bundle(model)
    table = read_table(data)
    _check_same_rows(bundle, model, table)
    id_column = bundle.recipe.id_column
    ids = table.ids(id_column)
    if id_column is not None:
        table = table.named(ids)
    known = _pairs(talk, bundle, model, pairs, ids)
    X, notes = bundle.recipe.apply(table)
    for note in notes:
        talk.note(note)
    page = build_report(
        bundle.model,
        X,
        constraints=known,
        feature_names=bundle.recipe.feature_names,
        ids=None if id_column is None else ids,
        records=_records(table, bundle.recipe.columns, {id_column, truth}),
        truth=None if truth is None else _classes(table, truth),
        units=bundle.recipe.units,
        made=_made(bundle, model),
        title=title,
        projection=projection,
    )
    with new_file(output) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")
    values = {"n_rows": table.n_rows, "n_characters": len(page), "output": str(output)}
    talk.result(values, f"Report on {table.n_rows} rows in {output}")
    return None


def _check_same_rows(bundle: Bundle, model: Path, table: Table) -> None:
    from coterie.exceptions import InvalidData

    fitted = len(bundle.model.labels_)
    if table.n_rows != fitted:
        raise InvalidData(
            f"{table.source} has {table.n_rows} rows, but {model} was fitted to {fitted}: give the "
            f"table it was fitted to ({bundle.made.get('data', 'not noted')})."
        )


def _pairs(
    talk: Talk, bundle: Bundle, model: Path, path: Path | None, ids: Sequence[str]
) -> Constraints | None:
    """The pairs of the file, with a note if they are not those of the fit."""
    from coterie.plot.inputs import broken_mask
    from coterie.tables import read_pairs

    if path is None:
        if bundle.made.get("constraints"):
            file = bundle.made["constraints"]
            talk.note(f"{model} was fitted with {file}; give it to show its pairs")
        return None
    known = read_pairs(path, ids, by_id=bundle.recipe.id_column is not None)
    noted = len(getattr(bundle.model, "violations_", ()))
    broken = int(broken_mask(known, bundle.model.labels_).sum())
    if broken != noted:
        talk.note(
            f"{broken} of the pairs in {path} are broken, but {noted} were in fitting: other "
            "pairs, or other rows than then"
        )
    return known


def _made(bundle: Bundle, model: Path) -> dict[str, Any]:
    made = {"model": model.name} | {
        name.replace("_", " "): bundle.made[name] for name in _NOTED if bundle.made.get(name)
    }
    words = bundle.made.get("command")
    return made | ({"command": " ".join(["coterie", *map(str, words)])} if words else {})


def _classes(table: Table, truth: str) -> Any:
    import numpy as np

    from coterie.exceptions import InvalidData
    from coterie.tables.table import missing

    classes = table.column(truth, "--truth").texts()
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
