"""`coterie report`: one HTML page about a saved model and the rows it was fitted to."""

from __future__ import annotations

from pathlib import Path

import click

from coterie.cli._options import file_type, table_argument, vectors_option
from coterie.cli._records import report_records
from coterie.cli.command import Talk, command
from coterie.cli.exits import Exit

__all__ = ["report"]


@command("report")
@click.argument("model", type=click.Path(exists=True, file_okay=False, path_type=Path))
@table_argument
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
@vectors_option
@click.option("--title", help="Heading of the page.")
@click.option(
    "--projection",
    type=click.Choice(["auto", "pca", "tsne", "umap"]),
    default="auto",
    show_default=True,
    help="How rows get onto the map; auto is PCA unless it shows too little and UMAP is there (of "
    "texts: UMAP or t-SNE).",
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
    vectors: Path | None,
    title: str | None,
    projection: str,
    force: bool,
) -> Exit | None:
    """Write a page about a saved model: map, clusters, broken pairs.

    MODEL is a folder made by `coterie fit --save`, DATA the table and PAIRS the pairs it was
    fitted to.
    """
    from coterie.cli._files import ask_or_refuse, check_target
    from coterie.exceptions import InvalidParameter
    from coterie.files import new_file
    from coterie.report import build_fitted_report
    from coterie.tables import is_record_model, read_fitted

    check_target(output, ask_or_refuse(output, force))
    if is_record_model(model):
        if vectors is not None or projection != "auto":
            raise InvalidParameter(
                "records are compared by field and have no place on a map: leave --vectors and "
                "--projection out."
            )
        page, n_rows = report_records(talk, model, data, pairs=pairs, truth=truth, title=title)
    else:
        fitted = read_fitted(model, data, pairs, vectors=vectors)
        page = build_fitted_report(fitted, truth=truth, title=title, projection=projection)
        n_rows = fitted.table.n_rows
    with new_file(output) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")
    values = {"n_rows": n_rows, "n_characters": len(page), "output": str(output)}
    talk.result(values, f"Report on {n_rows} rows in {output}")
    return None
