"""`coterie suspects`: the pairs a model doubts most, with their records side by side."""

from __future__ import annotations

import shutil
from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.cli._options import (
    feature_options,
    fields_option,
    file_type,
    force_option,
    method_options,
    raw_option,
    table_argument,
)
from coterie.cli.command import Talk, command
from coterie.cli.exits import Exit

if TYPE_CHECKING:
    from coterie.tables import Fitted

__all__ = ["suspects"]

_NARROWEST = 40


@command("suspects")
@table_argument
@click.argument("pairs", type=file_type)
@click.option(
    "--model",
    "saved",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A model saved by fit from DATA and PAIRS. Without it one is fitted.",
)
@click.option(
    "-n",
    "--number",
    type=click.IntRange(1, 1000),
    metavar="N",
    default=10,
    show_default=True,
    help="How many pairs at most.",
)
@fields_option
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="The pairs as a table: .csv .tsv .jsonl .parquet .feather, or - (CSV).",
)
@force_option
@raw_option
@method_options
@feature_options
def suspects(
    talk: Talk,
    *,
    data: Path,
    pairs: Path,
    saved: Path | None,
    number: int,
    fields: tuple[str, ...],
    output: Path | None,
    force: bool,
    raw: bool,
    **how: Any,
) -> Exit | None:
    """Show the pairs a model doubts most, records side by side.

    DATA is the table, PAIRS the file with columns a, b and kind. Models that weigh pairs (mosaic,
    ppc, tvclust) say how probably each is wrong, from 0.01 on; of others, the pairs they broke are
    shown.
    """
    from coterie.cli._output import STDOUT, write_output
    from coterie.exceptions import InvalidParameter
    from coterie.tables import doubtful_pairs, read_fitted

    _check_output(output, force)
    if saved is None:
        fitted, stopped = _fitted(talk, data, pairs, how)
    else:
        vectors = how.pop("vectors")
        given = _given(how)
        if given:
            raise InvalidParameter(f"{saved} was fitted already: leave {given} or --model out.")
        fitted, stopped = read_fitted(saved, data, pairs, vectors=vectors), False
    doubts = doubtful_pairs(fitted, number, fields)
    values = {
        "method": fitted.method,
        "n_pairs": doubts.n_pairs,
        "measure": doubts.measure,
        "n_shown": len(doubts.pairs),
        "stopped_early": stopped,
        "output": None if output is None else str(output),
        "pairs": [pair._asdict() for pair in doubts.pairs],
    }
    if output is not None:
        write_output([doubts.to_table()], output, raw=raw)
    talk.result(values, _in_words(values), err=output == STDOUT)
    return Exit.STOPPED_EARLY if stopped else None


def _fitted(talk: Talk, data: Path, pairs: Path, how: dict[str, Any]) -> tuple[Fitted, bool]:
    """Fit a model; the second value is whether Ctrl-C ended it early."""
    from coterie.cli._fitting import fit_model, open_inputs
    from coterie.cli.methods import METHODS, build
    from coterie.exceptions import InvalidParameter
    from coterie.tables import Fitted

    method, clusters = how.pop("method"), how.pop("clusters")
    if not METHODS[method].takes_pairs:
        raise InvalidParameter(f"--method {method} does not use pairs, so it doubts none of them.")
    estimator = build(method, clusters, how.pop("seed"), how.pop("settings"))
    inputs = open_inputs(talk, data, pairs, how)
    stopped = fit_model(talk, estimator, inputs, clusters)
    return Fitted.of(estimator, inputs, method=method), stopped


def _given(names: Container[str | None]) -> str | None:
    """The first of these options that is on the command line."""
    context = click.get_current_context()
    for parameter in context.command.params:
        if parameter.name in names:
            source = context.get_parameter_source(parameter.name)
            if source is click.core.ParameterSource.COMMANDLINE:
                return str(parameter.opts[-1])
    return None


def _check_output(output: Path | None, force: bool) -> None:
    from coterie.cli.fit import check_outputs
    from coterie.exceptions import InvalidParameter

    if output is not None and output.suffix.lower() == ".npy":
        raise InvalidParameter(f"-o {output}: an array file cannot hold pairs and their records.")
    check_outputs(output, None, force)


def _in_words(values: dict[str, Any]) -> str:
    from coterie.tables import Records, side_by_side

    width = max(shutil.get_terminal_size().columns, _NARROWEST)
    parts = [_headline(values)]
    for place, pair in enumerate(values["pairs"], start=1):
        fields = list(pair["a_record"])
        records = [list(pair[end].values()) for end in ("a_record", "b_record")]
        lines = [_sentence(place, pair, values["measure"])]
        if fields:
            both = Records(fields, [pair["a"], pair["b"]], records)
            lines.append(side_by_side(both, 0, 1, width=width))
        parts.append("\n".join(lines))
    if values["stopped_early"]:
        parts.append("Stopped early: these are the doubts of the best model found so far")
    if values["output"] is not None:
        parts.append(f"Pairs in {values['output']}")
    return "\n\n".join(parts)


def _headline(values: dict[str, Any]) -> str:
    method, shown, of_all = values["method"], values["n_shown"], f"Of {values['n_pairs']} pairs"
    if values["measure"] == "cost":
        if not shown:
            return f"{of_all} {method} broke none"
        return f"{of_all} {method} broke {shown}" + ", the dearest first" * (shown > 1)
    if not shown:
        return f"{of_all} {method} doubts none"
    likely = sum(pair["value"] > 0.5 for pair in values["pairs"])
    some = "none" if not likely else f"at least {likely}" if likely == shown else str(likely)
    return f"{of_all} {method} holds {some} to be wrong rather than right; the most doubtful:"


def _sentence(place: int, pair: dict[str, Any], measure: str) -> str:
    said = {"must": "belong together", "cannot": "are apart"}[pair["kind"]]
    same = pair["a_cluster"] == pair["b_cluster"]
    now = (
        f"both in cluster {pair['a_cluster']}"
        if same
        else f"in clusters {pair['a_cluster']} and {pair['b_cluster']}"
    )
    value = (
        f"costs {pair['value']:.4g}"
        if measure == "cost"
        else f"wrong with probability {pair['value']:.2f}"
    )
    return f"{place}. The pairs say that {pair['a']} and {pair['b']} {said}: {value}; {now}"
