"""`coterie predict`: put new rows into the clusters of a saved model."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.cli._options import output_options, vectors_option
from coterie.cli._records import predict_records
from coterie.cli._streaming import FILES, Reading, how_to_read
from coterie.cli.command import Talk, command
from coterie.cli.exits import Exit
from coterie.words import counted

if TYPE_CHECKING:
    from coterie.cli.watch import Bar
    from coterie.tables import Bundle, Note, StoredTable, Table

__all__ = ["predict"]


@command("predict")
@click.argument("model", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("new", type=FILES, nargs=-1, required=True)
@vectors_option
@output_options
def predict(
    talk: Talk,
    *,
    model: Path,
    new: tuple[Path, ...],
    vectors: Path | None,
    output: Path | None,
    only_labels: bool,
    force: bool,
    raw: bool,
) -> Exit | None:
    """Put new rows into the clusters of a saved model.

    MODEL is a folder made by `coterie fit --save`, NEW a table with the columns it was fitted to;
    or several Parquet files, a folder of them or a pattern in quotes, which need not fit in memory.
    New records of a model made with --records that are like none of the known are in cluster -1.
    """
    from coterie.cli._output import STDOUT, check_free, write_output
    from coterie.cli.fit import check_outputs
    from coterie.cli.watch import shown
    from coterie.exceptions import InvalidParameter
    from coterie.tables import Table, added, is_record_model, load_bundle
    from coterie.tables.results import sizes_of
    from coterie.tables.writing import keeps_types

    check_outputs(output, None, force)
    if is_record_model(model):
        if vectors is not None:
            raise InvalidParameter("--vectors is not for a model of records; leave it out.")
        predict_records(talk, model, new, output=output, only_labels=only_labels, raw=raw)
        return None
    bundle = load_bundle(model)
    reading = how_to_read(new)
    whole = _read(talk, reading, vectors)
    check_free(whole.source, whole.names)
    target = STDOUT if output is None and not talk.as_json else output
    numbers = bundle.recipe.number_columns if target is not None and keeps_types(target) else ()
    predicted = Predicted(bundle, only_labels=only_labels, numbers=numbers)
    tables = predicted.tables([whole] if isinstance(whole, Table) else whole.tables())
    with shown(talk, "Placing rows") as bar:
        if bar is not None and not isinstance(whole, Table):
            tables = _told(tables, bar, len(whole.groups))
        if target is not None:
            write_output(tables, target, raw=raw)
        else:
            deque(tables, maxlen=0)
    for note in added(predicted.notes):
        talk.note(str(note))
    sizes = sizes_of(predicted.labels)
    values = {
        "n_rows": whole.n_rows,
        "clusters": list(sizes),
        "sizes": list(sizes.values()),
        "output": None if output is None else str(output),
    }
    if target is None:
        values["labels"] = [label for part in predicted.labels for label in part.tolist()]
    words = f"{counted(whole.n_rows, 'row')} put into {counted(len(sizes), 'cluster')}"
    talk.result(values, words, err=target == STDOUT)
    return None


def _told(tables: Iterable[Table], bar: Bar, total: int) -> Iterator[Table]:
    """The tables as they come, each told to the bar."""
    from coterie.progress import Blocks

    for done, table in enumerate(tables, start=1):
        bar.count(Blocks(done, total))
        yield table


def _read(talk: Talk, reading: Reading, vectors: Path | None) -> Table | StoredTable:
    """The rows, with the vectors beside them if there are any."""
    from coterie.exceptions import InvalidParameter
    from coterie.tables import open_table, read_table
    from coterie.tables.inputs import with_vectors

    if reading.reason is None:
        table = read_table(reading.paths[0])
        for note in table.notes:
            talk.note(note)
        return table if vectors is None else with_vectors(table, vectors)
    if vectors is not None:
        raise InvalidParameter(f"--vectors needs all rows in memory, and {reading.note()}.")
    talk.note(reading.note())
    return open_table(reading.paths)


class Predicted:
    """What a model says of tables as they are read, one after the other.

    Attributes
    ----------
    labels : list of ndarray
    notes : list of Note
    """

    def __init__(self, bundle: Bundle, *, only_labels: bool, numbers: Sequence[str]) -> None:
        self.bundle, self.only_labels = bundle, only_labels
        self.numbers = () if only_labels else numbers
        self.labels: list[Any] = []
        self.notes: list[Note] = []

    def tables(self, read: Iterable[Table]) -> Iterator[Table]:
        """The tables with their clusters."""
        import numpy as np

        from coterie.tables import only_ids, with_results

        start = 0
        for table in read:
            results, notes = self.bundle.predict(table)
            self.labels.append(results["cluster"].astype(np.int32))
            self.notes += notes
            kept = table
            if self.only_labels:
                id_column = self.bundle.recipe.id_column
                kept = only_ids(table, id_column if id_column in table.columns else None, start)
            yield with_results(kept, results, self.numbers)
            start += table.n_rows
