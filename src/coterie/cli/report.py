"""`coterie report`: one HTML page about a saved model and the rows it was fitted to."""

from __future__ import annotations

from pathlib import Path

import click

from coterie.cli._command import Exit, Talk, command
from coterie.cli._options import data_argument, file_type

__all__ = ["report"]


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
    from coterie.report import build_fitted_report
    from coterie.tables import read_fitted

    check_target(output, ask_or_refuse(output, force))
    fitted = read_fitted(model, data, pairs)
    page = build_fitted_report(fitted, truth=truth, title=title, projection=projection)
    with new_file(output) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")
    n_rows = fitted.table.n_rows
    values = {"n_rows": n_rows, "n_characters": len(page), "output": str(output)}
    talk.result(values, f"Report on {n_rows} rows in {output}")
    return None
