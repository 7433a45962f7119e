"""`coterie compare`: several methods on the same rows and pairs, as one table."""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from coterie.cli._command import Exit, Talk, command, explain
from coterie.cli._methods import METHODS, build
from coterie.cli._options import (
    METHOD,
    CommaList,
    clusters_option,
    data_argument,
    feature_options,
    file_type,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coterie.progress import Interruption
    from coterie.tables import Inputs

__all__ = ["compare"]

_SCORES = {"ari": "ARI", "nmi": "NMI", "f": "F"}
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
    """A method, with the pairs or without them."""

    method: str
    takes_pairs: bool

    @property
    def name(self) -> str:
        """As the table shows it."""
        return self.method if self.takes_pairs else f"{self.method}, no pairs"


@command("compare")
@data_argument
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
    score = _scorer(talk, inputs, truth, held_out)
    contest = _Contest(talk, inputs, clusters, range(seed, seed + runs), score)
    rows, stopped = contest.run(_contenders(methods, without_pairs))
    values = {
        "n_rows": inputs.table.n_rows,
        "n_pairs": inputs.constraints.n_pairs,
        "runs": runs,
        "seed": seed,
        "stopped_early": stopped,
        "methods": rows,
    }
    talk.result(values, _in_words(values, scored=truth is not None))
    if stopped:
        return Exit.STOPPED_EARLY
    return None if any(row["error"] is None for row in rows) else contest.first_failure


def _contenders(methods: tuple[str, ...], without_pairs: bool) -> list[Contender]:
    both = (False, True) if without_pairs else (True,)
    return [
        Contender(method, takes)
        for method in methods
        for takes in ((False,) if not METHODS[method].takes_pairs else both)
    ]


class _Contest:
    """Fits every contender once per seed."""

    def __init__(
        self,
        talk: Talk,
        inputs: Inputs,
        clusters: int | None,
        seeds: range,
        score: Callable[[NDArray[Any]], dict[str, float]],
    ) -> None:
        self.talk = talk
        self.inputs = inputs
        self.clusters = clusters
        self.seeds = seeds
        self.score = score
        self.now = ""
        self.first_failure: Exit | None = None

    def run(self, contenders: list[Contender]) -> tuple[list[dict[str, Any]], bool]:
        """A row for each, and whether Ctrl-C was pressed."""
        from coterie.cli._watch import watched

        with watched(self.talk, lambda: self.now) as interruption:
            rows = [self._row(contender, interruption) for contender in contenders]
        return rows, interruption.pressed

    def _row(self, contender: Contender, interruption: Interruption) -> dict[str, Any]:
        row: dict[str, Any] = {
            "method": contender.method,
            "pairs_used": contender.takes_pairs,
            "runs": 0,
            "error": None,
        }
        try:
            with _notes_of(self.talk, contender.name):
                fits = self._fits(contender, interruption)
        except Exception as error:  # whatever it is, the others should still be compared
            row["error"], code = explain(error)
            self.first_failure = self.first_failure or code
            return row
        if not fits:
            return row | {"error": _NOT_RUN}
        return row | {"runs": len(fits), **self._summary(fits)}

    def _fits(
        self, contender: Contender, interruption: Interruption
    ) -> list[tuple[float, NDArray[Any]]]:
        """(seconds, labels (n,)) of every fit that was not cut short."""
        from coterie.cli._fitting import fit_estimator

        # A method that counts its clusters itself is compared as it is, not refused for a -k.
        clusters = self.clusters if METHODS[contender.method].clusters else None
        known = build(contender.method, clusters, None).get_params()
        chance = any(name.split("__")[-1] == "random_state" for name in known)
        seeds = self.seeds if chance else self.seeds[:1]
        fits: list[tuple[float, NDArray[Any]]] = []
        for run, seed in enumerate(seeds, start=1):
            if interruption.pressed:
                break
            self.now = f"{contender.name}, run {run} of {len(seeds)}"
            estimator = build(contender.method, clusters, seed)
            begun = time.perf_counter()
            fit_estimator(estimator, self.inputs, clusters, takes_pairs=contender.takes_pairs)
            seconds = time.perf_counter() - begun
            if not interruption.pressed:
                fits.append((seconds, estimator.labels_))
        return fits

    def _summary(self, fits: list[tuple[float, NDArray[Any]]]) -> dict[str, Any]:
        """Means over the fits; of the times the median, as the first may have to compile."""
        import numpy as np

        from coterie.metrics import adjusted_rand_score, constraint_satisfaction

        labels = [found for _, found in fits]
        alike = [float(adjusted_rand_score(a, b)) for a, b in combinations(labels, 2)]
        broken = [
            constraint_satisfaction(found, self.inputs.constraints).n_broken for found in labels
        ]
        scores = [self.score(found) for found in labels]
        return {
            "n_clusters": statistics.fmean(np.unique(found).size for found in labels),
            "seconds": statistics.median(seconds for seconds, _ in fits),
            "n_broken": statistics.fmean(broken),
            "stability": statistics.fmean(alike) if alike else None,
            **{name: statistics.fmean(each[name] for each in scores) for name in scores[0]},
        }


@contextmanager
def _notes_of(talk: Talk, name: str) -> Iterator[None]:
    """Warnings inside this block become notes that say whose they are."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            talk.note(f"{name}: {warning.message}")


def _scorer(
    talk: Talk, inputs: Inputs, truth: str | None, held_out: bool
) -> Callable[[NDArray[Any]], dict[str, float]]:
    """A function from labels (n,) to their scores; none without a truth."""
    if truth is None:
        return lambda labels: {}
    import numpy as np

    from coterie.exceptions import InvalidData
    from coterie.metrics import evaluate
    from coterie.tables.table import missing

    classes = inputs.table.column(truth, "--truth").texts()
    scored = ~missing(classes)
    if not scored.all():
        talk.note(f"{int((~scored).sum())} rows without a class in {truth!r} are not scored")
    if held_out:
        scored[np.unique(inputs.constraints.pairs)] = False
    if not scored.any():
        raise InvalidData(f"{inputs.table.source}: no row is left to score by {truth!r}.")
    true = classes[scored].astype(str)

    def score(labels: NDArray[Any]) -> dict[str, float]:
        found = evaluate(true, labels[scored])
        return {name: found[name] for name in _SCORES}

    return score


def _in_words(values: dict[str, Any], *, scored: bool) -> str:
    scores = _SCORES if scored else {}
    head = ["method", "clusters", "time", "broken pairs", "stability", *scores.values()]
    lines = [head]
    for row in values["methods"]:
        name = Contender(row["method"], row["pairs_used"]).name
        if row["error"] is not None:
            lines.append([name, f"failed: {_one_line(row['error'])}"])
            continue
        stability = "-" if row["stability"] is None else f"{row['stability']:.3f}"
        lines.append(
            [
                name,
                _count(row["n_clusters"]),
                f"{row['seconds']:.3f} s",
                _count(row["n_broken"]),
                stability,
                *(f"{row[score]:.3f}" for score in scores),
            ]
        )
    runs = values["runs"]
    about = (
        f"{values['n_rows']} rows, {values['n_pairs']} pairs. Means of {runs} runs (seeds "
        f"{values['seed']} to {values['seed'] + runs - 1}), of the times the median;\n"
        "stability: mean ARI between the runs; - where one is enough, as there is no chance in it."
    )
    stopped = "\nStopped early: runs that were cut short do not count" * values["stopped_early"]
    return f"{_aligned(lines)}\n\n{about}{stopped}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _count(mean: float) -> str:
    return str(int(mean)) if float(mean).is_integer() else f"{mean:.1f}"


def _aligned(lines: list[list[str]]) -> str:
    """Columns beside each other; a line of two cells is a name and a text, and widens nothing.

    >>> print(_aligned([["a", "bb", "c"], ["xyz", "1", "22"], ["q", "some longer text"]]))
    a    bb   c
    xyz   1  22
    q    some longer text
    """
    full = [line for line in lines if len(line) != 2]
    widths = [max(map(len, column)) for column in zip(*full, strict=True)]
    widths[0] = max(len(line[0]) for line in lines)
    shown = []
    for line in lines:
        first = f"{line[0]:{widths[0]}}"
        rest = (
            line[1:]
            if len(line) == 2
            else [f"{cell:>{width}}" for cell, width in zip(line[1:], widths[1:], strict=True)]
        )
        shown.append("  ".join([first, *rest]))
    return "\n".join(shown)
