"""`coterie predict`: put new rows into the clusters of a saved model."""

from __future__ import annotations

from pathlib import Path

import click

from coterie.cli._command import Exit, Talk, command
from coterie.cli._options import file_type, output_options
from coterie.words import counted

__all__ = ["predict"]


@command("predict")
@click.argument("model", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("new", type=file_type)
@output_options
def predict(
    talk: Talk, *, model: Path, new: Path, output: Path | None, force: bool, raw: bool
) -> Exit | None:
    """Put new rows into the clusters of a saved model.

    MODEL is a folder made by `coterie fit --save`, NEW a table with the columns it was fitted to.
    """
    import numpy as np

    from coterie.cli._output import STDOUT, check_free, write_output
    from coterie.cli.fit import check_outputs
    from coterie.tables import load_bundle, read_table, with_results
    from coterie.tables.writing import keeps_types

    check_outputs(output, None, force)
    bundle = load_bundle(model)
    table = read_table(new)
    check_free(table)
    results, notes = bundle.predict(table)
    for note in notes:
        talk.note(note)
    labels = results["cluster"]
    target = STDOUT if output is None and not talk.as_json else output
    if target is not None:
        numbers = bundle.recipe.number_columns if keeps_types(target) else ()
        write_output(with_results(table, results, numbers), target, raw=raw)
    found, sizes = np.unique(labels, return_counts=True)
    values = {
        "n_rows": table.n_rows,
        "clusters": found.tolist(),
        "sizes": sizes.tolist(),
        "output": None if output is None else str(output),
    }
    if target is None:
        values["labels"] = labels.tolist()
    words = f"{counted(table.n_rows, 'row')} put into {counted(found.size, 'cluster')}"
    talk.result(values, words, err=target == STDOUT)
    return None
