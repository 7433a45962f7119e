"""`coterie compare`: several methods on the same rows and pairs, as one table."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from coterie.cli._options import (
    METHOD,
    CommaList,
    clusters_option,
    feature_options,
    file_type,
    table_argument,
)
from coterie.cli.command import Talk, command, explain
from coterie.cli.exits import Exit
from coterie.cli.methods import METHODS, build

if TYPE_CHECKING:
    from coterie.comparison import Compared, Comparison
    from coterie.tables import Inputs

__all__ = ["compare"]

_NOT_RUN = "stopped by Ctrl-C before its first run was done"


class MethodList(CommaList):
    """Names of methods parted by commas; `all` is every one."""

    name = "methods"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """The names as `METHODS` has them, each once."""
        names = super().convert(value, param, ctx)
        if names == ("all",):
            return tuple(METHODS)
        return tuple(dict.fromkeys(METHOD.convert(name, param, ctx) for name in names))


class Contender(NamedTuple):
    """A method, with the pairs or without them.

    Attributes
    ----------
    method : str
    takes_pairs : bool
    clusters : int or None
        `-k`; None for a method that counts its clusters itself: it is compared, not refused.
    """

    method: str
    takes_pairs: bool
    clusters: int | None

    @property
    def name(self) -> str:
        """As the table shows it."""
        return self.method if self.takes_pairs else f"{self.method}, no pairs"

    def make(self, inputs: Inputs) -> Any:
        """The estimator, or the error that its row will show."""
        from coterie.cli._fitting import check_fits

        estimator = build(self.method, self.clusters, None)
        check_fits(estimator, inputs, self.clusters)
        return estimator


@command("compare")
@table_argument
@click.argument("pairs", type=file_type)
@clusters_option
@click.option(
    "--methods",
    type=MethodList(),
    metavar="METHODS",
    default="mosaic,pckmeans,mpckmeans,ppc",
    show_default=True,
    help="Methods to compare: a,b,c, or all.",
)
@click.option("--without-pairs", is_flag=True, help="Run each method without the pairs too.")
@click.option(
    "--truth",
    metavar="COLUMN",
    help="Column of the true classes: adds ARI, NMI and pairwise F. It is not clustered by.",
)
@click.option("--held-out", is_flag=True, help="Score only rows that are in no pair.")
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    metavar="N",
    default=5,
    show_default=True,
    help="Fits of each method, each with another seed.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**31),
    metavar="N",
    default=0,
    show_default=True,
    help="The first of the seeds.",
)
@feature_options
def compare(
    talk: Talk,
    *,
    data: Path,
    pairs: Path,
    clusters: int | None,
    methods: tuple[str, ...],
    without_pairs: bool,
    truth: str | None,
    held_out: bool,
    runs: int,
    seed: int,
    **choices: Any,
) -> Exit | None:
    """Run several methods on the same rows and pairs.

    DATA is the table, PAIRS the file with columns a, b and kind. Each method has a line: time,
    broken pairs, stability between seeds and, with --truth, scores; or why it failed.
    """
    from coterie.cli._fitting import open_inputs
    from coterie.exceptions import InvalidParameter

    if held_out and truth is None:
        raise InvalidParameter("--held-out says which rows to score; give --truth too.")
    if truth is not None and truth in (*choices["features"], *choices["categorical"]):
        raise InvalidParameter(f"{truth!r} is the truth; it cannot be clustered by too.")
    inputs = open_inputs(talk, data, pairs, {"truth": truth, **choices})
    contenders = {one.name: one for one in _contenders(methods, without_pairs, clusters)}
    found = _compare(talk, inputs, contenders, truth=truth, held_out=held_out, runs=runs, seed=seed)
    _tell_warnings(talk, found)
    failed = {
        row.name: _failure(row, contenders[row.name], inputs) for row in found.rows if not row.runs
    }
    failures = {name: text for name, (text, _) in failed.items()}
    values = {
        "n_rows": found.n_rows,
        "n_pairs": found.n_pairs,
        "runs": runs,
        "seed": seed,
        "stopped_early": found.stopped_early,
        "methods": [
            {
                "method": contenders[row.name].method,
                "pairs_used": row.pairs_used,
                "runs": row.runs,
                "error": failures.get(row.name),
                **row.numbers(),
            }
            for row in found.rows
        ],
    }
    talk.result(values, found.as_text(failures))
    if found.stopped_early:
        return Exit.STOPPED_EARLY
    codes = [code for _, code in failed.values()]
    return codes[0] if len(codes) == len(found.rows) else None


def _contenders(
    methods: tuple[str, ...], without_pairs: bool, clusters: int | None
) -> list[Contender]:
    both = (False, True) if without_pairs else (True,)
    return [
        Contender(method, takes, clusters if METHODS[method].clusters else None)
        for method in methods
        for takes in ((False,) if not METHODS[method].takes_pairs else both)
    ]


def _compare(
    talk: Talk,
    inputs: Inputs,
    contenders: dict[str, Contender],
    *,
    truth: str | None,
    held_out: bool,
    **seeds: int,
) -> Comparison:
    """What the library finds, with a bar that says which run it is at."""
    from coterie import comparison
    from coterie.cli.watch import watched
    from coterie.exceptions import InvalidData

    classes = None if truth is None else _classes(talk, inputs, truth)
    now = ""

    def on_run(name: str, run: int, of: int) -> None:
        nonlocal now
        now = f"{name}, run {run} of {of}"

    with watched(talk, lambda: now) as interruption:
        try:
            return comparison.compare(
                {name: partial(one.make, inputs) for name, one in contenders.items()},
                inputs.X,
                constraints=inputs.constraints,
                without_pairs=[name for name, one in contenders.items() if not one.takes_pairs],
                truth=classes,
                held_out=held_out,
                on_run=on_run,
                stop=lambda: interruption.pressed,
                **seeds,
            )
        except InvalidData as error:  # those of the methods are in their rows
            raise InvalidData(
                f"{inputs.table.source}: no row is left to score by {truth!r}."
            ) from error


def _classes(talk: Talk, inputs: Inputs, truth: str) -> Any:
    """The class of every row (n,), None where there is none."""
    from coterie.tables.table import missing

    classes = inputs.table.column(truth, "--truth").texts().copy()
    gaps = missing(classes)
    if gaps.any():
        talk.note(f"{int(gaps.sum())} rows without a class in {truth!r} are not scored")
    classes[gaps] = None
    return classes


def _tell_warnings(talk: Talk, found: Comparison) -> None:
    for row in found.rows:
        for warning in row.warnings if row.error is None else ():
            if isinstance(warning, UserWarning):
                talk.note(f"{row.name}: {warning}")


def _failure(row: Compared, contender: Contender, inputs: Inputs) -> tuple[str, Exit]:
    """Why a method has no numbers, in the user's ids, and the exit code that means."""
    from coterie.exceptions import InfeasibleConstraints, InvalidData
    from coterie.tables import name_conflict
    from coterie.tables.places import in_file

    if row.error is None:
        return _NOT_RUN, Exit.STOPPED_EARLY
    if isinstance(row.error, InfeasibleConstraints):
        return explain(name_conflict(row.error, inputs.ids, contender.clusters))
    if isinstance(row.error, InvalidData):
        return explain(in_file(row.error, inputs.table, inputs.recipe, inputs.ids))
    return explain(row.error)
