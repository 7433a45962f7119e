"""`coterie fit`: cluster the rows of a table, with what is known about pairs."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.cli._given import split_pairs
from coterie.cli._options import (
    feature_options,
    method_options,
    output_options,
    pairs_option,
    rows_argument,
)
from coterie.cli._records import fit_records, record_choices, record_options, suggest_records
from coterie.cli._streaming import (
    Reading,
    engine_options,
    how_to_read,
    passes_by,
    refuse_unless_reads,
)
from coterie.cli.command import Talk, command
from coterie.cli.exits import Exit
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
    "--like",
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A saved model whose cluster numbers are kept; says what moved since.",
)
@click.option(
    "--save",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder for the model, to be used by predict and report.",
)
def fit(talk: Talk, **options: Any) -> Exit | None:
    """Cluster the rows of a table, with what is known about pairs.

    DATA is a table (.csv .tsv .txt .json .jsonl .parquet .arrow .feather .xlsx .sqlite .duckdb; -
    is the standard input) or an array (.npy .npz); or several Parquet files, a folder of them or a
    pattern in quotes, which need not fit in memory. PAIRS is a table with columns a, b and kind.
    """
    asked = Asked.of(options)
    check_outputs(asked.output, asked.save, asked.force)
    if asked.records or asked.link is not None:
        return _records(talk, asked)
    return _rows(talk, asked)


@dataclass(frozen=True)
class Asked:
    """What the options ask for; `choices` are those about columns."""

    data: tuple[Path, ...]
    pairs: Path | None
    hard: bool
    exclusive: str | None
    clusters: int | None
    method: str
    settings: tuple[str, ...]
    seed: int | None
    workers: int | None
    address: str | None
    scratch: Path | None
    output: Path | None
    only_labels: bool
    force: bool
    raw: bool
    like: Path | None
    save: Path | None
    records: bool
    fields: tuple[str, ...]
    link: Path | None
    blocks: tuple[str, ...]
    matches: Path | None
    threshold: float | None
    page: Path | None
    choices: dict[str, Any]

    @classmethod
    def of(cls, options: dict[str, Any]) -> Asked:
        """From the options as click gives them; the last of the files may hold the pairs."""
        known = {field.name for field in dataclass_fields(cls)}
        own = {name: value for name, value in options.items() if name in known}
        own["data"], own["pairs"] = split_pairs(own["data"], own["pairs"])
        rest = {name: value for name, value in options.items() if name not in known}
        return cls(**own, choices=rest)


def _refuse(unused: dict[str, Any], why: str) -> None:
    """Refuse options without effect."""
    from coterie.exceptions import InvalidParameter

    for name, given in unused.items():
        if given:
            raise InvalidParameter(f"--{name} {why}")


def _records(talk: Talk, asked: Asked) -> Exit | None:
    """Many small clusters of records that are the same."""
    from coterie.exceptions import InvalidParameter

    if asked.clusters is not None:
        raise InvalidParameter("--records finds the number of clusters: leave -k out.")
    _refuse(
        {
            "workers": asked.workers,
            "engine": asked.address,
            "scratch": asked.scratch,
            "set": asked.settings,
        },
        "has no effect with --records; leave it out.",
    )
    return fit_records(
        talk,
        how_to_read(asked.data).paths,
        asked.pairs,
        record_choices(asked.fields, asked.exclusive, asked.choices),
        link=asked.link,
        blocks=asked.blocks,
        hard=asked.hard,
        output=asked.output,
        only_labels=asked.only_labels,
        matches=asked.matches,
        threshold=asked.threshold,
        page=asked.page,
        save=asked.save,
        like=asked.like,
        force=asked.force,
        raw=asked.raw,
    )


def _rows(talk: Talk, asked: Asked) -> Exit | None:
    """Clusters of rows by an estimator."""
    from coterie.cli._fitting import fit_model
    from coterie.cli._like import changes_to_json, number_like
    from coterie.cli.methods import METHODS, build
    from coterie.tables import load_bundle

    _refuse(
        {
            "fields": asked.fields,
            "block": asked.blocks,
            "matches": asked.matches,
            "threshold": asked.threshold,
            "report": asked.page,
        },
        "is for --records; give --records, or leave it out.",
    )
    _refuse_without_number(talk, asked)
    takes_pairs = METHODS[asked.method].takes_pairs
    estimator = build(asked.method, asked.clusters, asked.seed, asked.settings)
    old = None if asked.like is None else load_bundle(asked.like)
    reading = how_to_read(asked.data, asked.workers, asked.address)
    reading = refuse_unless_reads(estimator, asked.method, reading)
    with passes_by(asked.workers, asked.address):
        inputs = _inputs(talk, asked, reading, estimator)
        if (asked.pairs is not None or asked.exclusive is not None) and not takes_pairs:
            talk.note(f"{asked.method} does not use pairs; they are left out")
        stopped = fit_model(talk, estimator, inputs, asked.clusters, takes_pairs=takes_pairs)
    changes = None
    if old is not None and asked.like is not None:
        changes = changes_to_json(number_like(talk, estimator, inputs, old, asked.like))
    _write(talk, asked, reading, inputs, estimator, stopped, changes)
    return Exit.STOPPED_EARLY if stopped else None


def _refuse_without_number(talk: Talk, asked: Asked) -> None:
    """Without -k there must be pairs, for methods that count clusters by them."""
    from coterie.cli.methods import METHODS
    from coterie.exceptions import InvalidParameter
    from coterie.tables import read_table

    counts = METHODS[asked.method].counts_by_pairs
    if asked.clusters is not None or asked.pairs is not None or not counts:
        return
    first = how_to_read(asked.data, asked.workers, asked.address)
    if first.reason is None:
        suggest_records(talk, read_table(first.paths[0]), asked.choices.get("id_column"))
    raise InvalidParameter(
        f"{asked.method} counts the clusters by the pairs: give -k or --constraints."
    )


def _inputs(talk: Talk, asked: Asked, reading: Reading, estimator: Any) -> Inputs | StoredInputs:
    """The rows as the estimator takes them, in memory or in stretches."""
    from coterie.cli._fitting import open_inputs, open_stored
    from coterie.cli._output import check_free
    from coterie.exceptions import InvalidData, InvalidParameter
    from coterie.tables import read_table

    inputs: Inputs | StoredInputs
    if reading.reason is not None:
        if asked.exclusive is not None:
            raise InvalidParameter(
                f"--exclusive needs all rows in memory, and {reading.note()}. Give one file that "
                "fits, without --workers and --engine."
            )
        how: dict[str, Any] = {
            "hard": asked.hard,
            "estimator": estimator,
            "scratch": asked.scratch,
        }
        inputs = open_stored(talk, reading, asked.pairs, asked.choices, **how)
    else:
        _refuse(
            {"scratch": asked.scratch},
            "is for rows that are read a stretch at a time, and these are in memory; leave it out.",
        )
        data = reading.paths[0]
        # Whether the rows look like records is seen in memory only.
        may_be_records = asked.clusters is None and not asked.choices.get("text")
        how = {"hard": asked.hard, "exclusive": asked.exclusive, "estimator": estimator}
        try:
            inputs = open_inputs(talk, data, asked.pairs, asked.choices, **how)
            if may_be_records:
                suggest_records(talk, inputs.table, inputs.recipe.id_column)
        except InvalidData:  # most often columns whose texts all differ
            if may_be_records:
                suggest_records(talk, read_table(data), asked.choices.get("id_column"))
            raise
    if asked.output is not None:
        check_free(inputs.table.source, inputs.table.names)
    return inputs


def _write(
    talk: Talk,
    asked: Asked,
    reading: Reading,
    inputs: Inputs | StoredInputs,
    estimator: Any,
    stopped: bool,
    changes: dict[str, Any] | None,
) -> None:
    """Rows and model into files, and what was found onto the screen."""
    from coterie.cli._like import kept_ids
    from coterie.cli._output import STDOUT, write_output
    from coterie.tables import Bundle, columns_used, how_made, labelled, save_bundle
    from coterie.tables.writing import keeps_types

    made = how_made(
        estimator,
        command=sys.argv[1:],
        method=asked.method,
        seed=asked.seed,
        data=reading.name,
        constraints=None if asked.pairs is None else asked.pairs.name,
        n_rows=len(inputs.ids),
        n_features=inputs.X.shape[1],
        id_column=inputs.recipe.id_column,
        columns=columns_used(inputs.recipe),
        stopped_early=stopped,
        notes=talk.notes,
    )
    bundle = Bundle(estimator, inputs.recipe, made, kept_ids(inputs))
    output, save = asked.output, asked.save
    if output is not None:
        numbers = inputs.recipe.number_columns if keeps_types(output) else ()
        tables = labelled(inputs, estimator, numbers=numbers, bare=asked.only_labels)
        write_output(tables, output, raw=asked.raw)
    if save is not None:
        save_bundle(bundle, save, overwrite=True)  # asked about in check_outputs
    values = _summary(bundle, inputs, output, save)
    if changes is not None:
        values |= {"like": str(asked.like), "changes": changes}
    talk.result(values, _in_words(values), err=output == STDOUT)


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
        "n_rows": len(inputs.ids),
        "n_features": int(inputs.X.shape[1]),
        "columns": bundle.made["columns"],
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
    from coterie.cli._like import changes_in_words

    sizes = values["sizes"]
    shown = ", ".join(map(str, sizes[:12])) + (", …" if len(sizes) > 12 else "")
    lines = [
        f"{counted(values['n_clusters'], 'cluster')} of {counted(values['n_rows'], 'row')} "
        f"by {values['method']} (sizes {shown})",
        f"Clustered by {values['columns']}",
    ]
    if values["n_pairs"]:
        lines.append(f"{values['n_broken']} of {counted(values['n_pairs'], 'pair')} broken")
    if values["stopped_early"]:
        lines.append(
            f"Stopped early: the best found in {counted(values['n_iter'], 'step')} was kept"
        )
    if "changes" in values:
        lines += changes_in_words(values["changes"], values["like"])
    for name, key in (("Rows", "output"), ("Model", "model")):
        if values[key] not in (None, "-"):  # what is on the screen is seen there
            lines.append(f"{name} in {values[key]}")
    if values["output"] is None and values["model"] is None:
        lines.append("Nothing was written: give -o for the rows, --save for the model")
    return "\n".join(lines)
