"""`coterie suspects`: the pairs a model doubts most, with their records side by side."""

from __future__ import annotations

import shutil
from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from coterie.cli._command import Exit, Talk, command
from coterie.cli._options import (
    data_argument,
    feature_options,
    fields_option,
    file_type,
    force_option,
    method_options,
    raw_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coterie.constraints import Constraints, PairTable
    from coterie.tables import Recipe, Table

__all__ = ["suspects"]

_NARROWEST = 40
_KINDS = {1: "must", -1: "cannot"}


@command("suspects")
@data_argument
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
    ppc, tvclust) say how probably each is wrong; of others, the pairs they broke are shown.
    """
    from coterie.cli._output import STDOUT, write_output
    from coterie.exceptions import InvalidParameter
    from coterie.tables import choose_fields

    _check_output(output, force)
    if saved is None:
        source, stopped = _fitted(talk, data, pairs, how)
    else:
        given = _given(how)
        if given:
            raise InvalidParameter(f"{saved} was fitted already: leave {given} or --model out.")
        source, stopped = _loaded(saved, data, pairs), False
    doubts = _doubts(source, number)
    shown = choose_fields(source.table, source.recipe, fields)
    listed = [_describe(source, pair, shown) for pair in doubts]
    values = {
        "method": source.method,
        "n_pairs": source.pairs.n_pairs,
        "measure": _measure(source),
        "n_shown": len(listed),
        "stopped_early": stopped,
        "output": None if output is None else str(output),
        "pairs": listed,
    }
    if output is not None:
        write_output(_as_table(values, shown), output, raw=raw)
    talk.result(values, _in_words(values), err=output == STDOUT)
    return Exit.STOPPED_EARLY if stopped else None


class Source(NamedTuple):
    """A fitted model with the rows and pairs it was fitted to."""

    method: str
    model: Any
    recipe: Recipe
    table: Table
    ids: Sequence[str]
    pairs: Constraints


def _fitted(talk: Talk, data: Path, pairs: Path, how: dict[str, Any]) -> tuple[Source, bool]:
    """Fit a model; the second value is whether Ctrl-C ended it early."""
    from coterie.cli._fitting import fit_model, open_inputs
    from coterie.cli._methods import METHODS, build
    from coterie.exceptions import InvalidParameter

    method, clusters = how.pop("method"), how.pop("clusters")
    if not METHODS[method].takes_pairs:
        raise InvalidParameter(f"--method {method} does not use pairs, so it doubts none of them.")
    estimator = build(method, clusters, how.pop("seed"), how.pop("settings"))
    inputs = open_inputs(talk, data, pairs, how)
    stopped = fit_model(talk, estimator, inputs, clusters)
    source = Source(method, estimator, inputs.recipe, inputs.table, inputs.ids, inputs.constraints)
    return source, stopped


def _loaded(saved: Path, data: Path, pairs: Path) -> Source:
    from coterie.exceptions import InvalidData
    from coterie.tables import load_bundle, read_pairs, read_table

    bundle = load_bundle(saved)
    table = read_table(data)
    if table.n_rows != len(bundle.model.labels_):
        raise InvalidData(
            f"{data} has {table.n_rows} rows, but {saved} was fitted to "
            f"{len(bundle.model.labels_)}: give the table it was fitted to."
        )
    id_column = bundle.recipe.id_column
    ids = table.ids(id_column)
    known = read_pairs(pairs, ids, by_id=id_column is not None)
    method = str(bundle.made.get("method", type(bundle.model).__name__))
    return Source(method, bundle.model, bundle.recipe, table, ids, known)


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


def _measure(source: Source) -> str:
    """What is known of each pair: the probability that it is wrong, or the cost of breaking it."""
    return "p_wrong" if hasattr(source.model, "suspect_pairs") else "cost"


def _doubts(source: Source, number: int) -> PairTable:
    """The pairs the model doubts most, or broke, worst first."""
    import numpy as np

    from coterie.exceptions import InvalidConstraints

    doubts: PairTable = (
        source.model.suspect_pairs(number)
        if _measure(source) == "p_wrong"
        else source.model.violations_[:number]
    )
    n, known = source.table.n_rows, source.pairs
    # One number for each pair and kind: i < j, so that it is not 0 and the sign can be the kind.
    keys = (known.pairs[:, 0] * n + known.pairs[:, 1]) * known.kind
    lost = np.flatnonzero(~np.isin((doubts.i * n + doubts.j) * doubts.kind, keys))
    if lost.size:
        i, j, kind, _ = doubts[int(lost[0])]
        raise InvalidConstraints(
            f"The model was fitted with {source.ids[i]!r} and {source.ids[j]!r} as "
            f"{_KINDS[kind]}, which PAIRS does not say: give the pairs it was fitted with."
        )
    return doubts


def _describe(source: Source, pair: Any, fields: list[str]) -> dict[str, Any]:
    """A pair in the user's ids, with the cluster and the cells of both rows."""

    def cells(row: int) -> dict[str, str]:
        found = {name: source.table.columns[name].cells(row, row + 1)[0] for name in fields}
        return {name: "" if value is None else str(value) for name, value in found.items()}

    labels = source.model.labels_
    return {
        "a": source.ids[pair.i],
        "b": source.ids[pair.j],
        "kind": _KINDS[pair.kind],
        "value": pair.value,
        "a_cluster": int(labels[pair.i]),
        "b_cluster": int(labels[pair.j]),
        "a_record": cells(pair.i),
        "b_record": cells(pair.j),
    }


def _as_table(values: dict[str, Any], fields: list[str]) -> Table:
    """Columns a, b and kind first, so that the file can be used as pairs again."""
    import numpy as np

    from coterie.tables import Table

    listed = values["pairs"]
    texts = {name: [pair[name] for pair in listed] for name in ("a", "b", "kind")}
    columns = {name: np.array(column, dtype=object) for name, column in texts.items()}
    columns[values["measure"]] = np.array([pair["value"] for pair in listed], dtype=float)
    for end in ("a_cluster", "b_cluster"):
        columns[end] = np.array([pair[end] for pair in listed], dtype=np.int64)
    for name in fields:
        for end in ("a", "b"):
            cells = [pair[f"{end}_record"][name] for pair in listed]
            columns[f"{end}: {name}"] = np.array(cells, dtype=object)
    return Table.of("suspects", columns)


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
