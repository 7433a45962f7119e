"""`coterie fit`: cluster the rows of a table, with what is known about pairs."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.cli._command import Exit, Talk, command
from coterie.cli._options import (
    feature_options,
    method_options,
    output_options,
    pairs_option,
    rows_argument,
)
from coterie.cli._records import fit_records, record_choices, record_options, suggest_records
from coterie.cli._streaming import engine_options, how_to_read, passes_by, refuse_unless_reads
from coterie.words import counted

if TYPE_CHECKING:
    from coterie.tables import Bundle, Inputs, StoredInputs

__all__ = ["fit"]


@command("fit")
@rows_argument
@pairs_option
@click.option("--hard", is_flag=True, help="Keep every pair, whatever it costs.")
@click.option(
    "--exclusive",
    metavar="COLUMN",
    help="A cluster holds each value of this column at most once; it is not clustered by.",
)
@method_options
@feature_options
@engine_options
@record_options
@output_options
@click.option(
    "--save",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder for the model, to be used by predict and report (of --records: by coterie.load).",
)
def fit(
    talk: Talk,
    *,
    data: tuple[Path, ...],
    pairs: Path | None,
    hard: bool,
    exclusive: str | None,
    clusters: int | None,
    method: str,
    settings: tuple[str, ...],
    seed: int | None,
    workers: int | None,
    address: str | None,
    output: Path | None,
    only_labels: bool,
    force: bool,
    raw: bool,
    save: Path | None,
    records: bool,
    fields: tuple[str, ...],
    link: Path | None,
    matches: Path | None,
    **choices: Any,
) -> Exit | None:
    """Cluster the rows of a table, with what is known about pairs.

    DATA is a table (.csv .tsv .jsonl .parquet .arrow .feather) or an array (.npy .npz); or several
    Parquet files, a folder of them or a pattern in quotes, which need not fit in memory.
    """
    from coterie.cli._fitting import fit_model, open_inputs, open_stored
    from coterie.cli._methods import METHODS, build
    from coterie.cli._output import STDOUT, check_free, write_output
    from coterie.exceptions import InvalidData, InvalidParameter
    from coterie.tables import Bundle, how_made, labelled, read_table, save_bundle
    from coterie.tables.writing import keeps_types

    check_outputs(output, save, force)
    if records or link is not None:
        if clusters is not None:
            raise InvalidParameter("--records finds the number of clusters: leave -k out.")
        unused: dict[str, Any] = {
            "workers": workers,
            "engine": address,
            "only-labels": only_labels,
            "set": settings,
        }
        for name, given in unused.items():
            if given:
                raise InvalidParameter(f"--{name} has no effect with --records; leave it out.")
        return fit_records(
            talk,
            how_to_read(data).paths,
            pairs,
            record_choices(fields, exclusive, choices),
            link=link,
            hard=hard,
            output=output,
            matches=matches,
            save=save,
            force=force,
            raw=raw,
        )
    for name, given in (("fields", fields), ("matches", matches)):
        if given:
            raise InvalidParameter(f"--{name} is for --records; give --records, or leave it out.")
    takes_pairs = METHODS[method].takes_pairs
    if clusters is None and pairs is None and METHODS[method].counts_by_pairs:
        first = how_to_read(data, workers, address)
        if first.reason is None:
            suggest_records(talk, read_table(first.paths[0]), choices.get("id_column"))
        raise InvalidParameter(
            f"{method} counts the clusters by the pairs: give -k or --constraints."
        )
    estimator = build(method, clusters, seed, settings)
    reading = refuse_unless_reads(estimator, method, how_to_read(data, workers, address))
    if exclusive is not None and reading.reason is not None:
        raise InvalidParameter(
            f"--exclusive needs all rows in memory, and {reading.note()}. Give one file that fits, "
            "without --workers and --engine."
        )
    # Whether the rows look like records is seen in memory only.
    may_be_records = clusters is None and choices.get("text") is None and reading.reason is None
    with passes_by(workers, address):
        inputs: Inputs | StoredInputs
        try:
            if reading.reason is None:
                inputs = open_inputs(
                    talk, reading.paths[0], pairs, choices, hard=hard, exclusive=exclusive
                )
                if may_be_records:
                    suggest_records(talk, inputs.table, inputs.recipe.id_column)
            else:
                inputs = open_stored(talk, reading, pairs, choices, hard=hard)
        except InvalidData:  # most often columns whose texts all differ
            if may_be_records:
                suggest_records(talk, read_table(reading.paths[0]), choices.get("id_column"))
            raise
        if output is not None:
            check_free(inputs.table.source, inputs.table.names)
        if (pairs is not None or exclusive is not None) and not takes_pairs:
            talk.note(f"{method} does not use pairs; they are left out")
        stopped = fit_model(talk, estimator, inputs, clusters, takes_pairs=takes_pairs)
    made = how_made(
        estimator,
        command=sys.argv[1:],
        method=method,
        seed=seed,
        data=reading.name,
        constraints=None if pairs is None else pairs.name,
        n_rows=inputs.table.n_rows,
        n_features=inputs.X.shape[1],
        id_column=inputs.recipe.id_column,
        stopped_early=stopped,
        notes=talk.notes,
    )
    bundle = Bundle(estimator, inputs.recipe, made)
    if output is not None:
        numbers = inputs.recipe.number_columns if keeps_types(output) else ()
        tables = labelled(inputs, estimator, numbers=numbers, bare=only_labels)
        write_output(tables, output, raw=raw)
    if save is not None:
        save_bundle(bundle, save, overwrite=True)  # asked about in check_outputs
    values = _summary(bundle, inputs, output, save)
    talk.result(values, _in_words(values), err=output == STDOUT)
    return Exit.STOPPED_EARLY if stopped else None


def check_outputs(output: Path | None, save: Path | None, force: bool) -> None:
    """Refuse outputs that cannot be written, before any work is done; ask on a terminal."""
    from coterie.cli._files import ask_or_refuse, check_target
    from coterie.cli._output import STDOUT, check_format
    from coterie.tables.bundle import check_bundle_target

    if output is not None and output != STDOUT:
        check_format(output)
        check_target(output, ask_or_refuse(output, force))
    if save is not None:
        check_bundle_target(save)
        check_target(save, ask_or_refuse(save, force), "folder")


def _summary(
    bundle: Bundle, inputs: Inputs | StoredInputs, output: Path | None, save: Path | None
) -> dict[str, Any]:
    from coterie.tables.results import sizes_of

    model = bundle.model
    sizes = sizes_of([model.labels_])
    broken = getattr(model, "violations_", ())
    return {
        "method": bundle.made["method"],
        "n_rows": inputs.table.n_rows,
        "n_features": int(inputs.X.shape[1]),
        "n_pairs": inputs.constraints.n_pairs,
        "n_broken": len(broken),
        "n_clusters": len(sizes),
        "sizes": list(sizes.values()),
        "n_iter": int(getattr(model, "n_iter_", 0)),
        "objective": _finite(getattr(model, "objective_", getattr(model, "lower_bound_", None))),
        "stopped_early": bundle.made["stopped_early"],
        "output": None if output is None else str(output),
        "model": None if save is None else str(save),
    }


def _finite(value: Any) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def _in_words(values: dict[str, Any]) -> str:
    sizes = values["sizes"]
    shown = ", ".join(map(str, sizes[:12])) + (", …" if len(sizes) > 12 else "")
    lines = [
        f"{counted(values['n_clusters'], 'cluster')} of {counted(values['n_rows'], 'row')} "
        f"by {values['method']} (sizes {shown})"
    ]
    if values["n_pairs"]:
        lines.append(f"{values['n_broken']} of {counted(values['n_pairs'], 'pair')} broken")
    if values["stopped_early"]:
        lines.append(
            f"Stopped early: the best found in {counted(values['n_iter'], 'step')} was kept"
        )
    for name, key in (("Rows", "output"), ("Model", "model")):
        if values[key] is not None:
            lines.append(f"{name} in {values[key]}")
    if values["output"] is None and values["model"] is None:
        lines.append("Nothing was written: give -o for the rows, --save for the model")
    return "\n".join(lines)
