"""`coterie score`: compare clusters with the true classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from coterie.cli._options import file_type
from coterie.cli.command import Talk, command
from coterie.cli.exits import Exit

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["score"]


@command("score")
@click.argument("out", type=file_type)
@click.option("--truth", required=True, metavar="COLUMN", help="Column of the true classes.")
@click.option(
    "--labels",
    default="cluster",
    show_default=True,
    metavar="COLUMN",
    help="Column of the clusters.",
)
def score(talk: Talk, *, out: Path, truth: str, labels: str) -> Exit | None:
    """Compare clusters with the true classes.

    OUT is a table that holds both, as `coterie fit -o OUT` writes it. Rows without a true class
    are left out.
    """
    import numpy as np

    from coterie.exceptions import InvalidData
    from coterie.metrics import evaluate
    from coterie.tables import read_table
    from coterie.tables.table import missing

    table = read_table(out)
    true = table.column(truth, "--truth").texts()
    found = table.column(labels, "--labels").texts()
    known = ~missing(true)
    if not known.any():
        raise InvalidData(f"{out}: no row has a class in column {truth!r}.")
    without = missing(found) & known
    if without.any():
        row = int(np.flatnonzero(without)[0])
        raise InvalidData(f"{out}, {table.place(row)}: no cluster in column {labels!r}.")
    if not known.all():
        talk.note(f"{int((~known).sum())} rows without a class in {truth!r} are left out")
    classes, clusters = true[known].astype(str), found[known].astype(str)
    values = evaluate(classes, clusters)
    n_rows = values.pop("n_rows")
    names = {"ari": "ARI", "nmi": "NMI", "f": "pairwise F"}
    names |= {name: name for name in values if name not in names}
    lines = [f"{n_rows} rows"]
    lines += [f"{names[name]:10}  {values[name]:.4f}" for name in names]
    talk.result({"n_rows": n_rows, **values}, "\n".join(lines))
    return None
