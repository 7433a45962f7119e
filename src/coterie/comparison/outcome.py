"""What a comparison found: a row for each estimator, and the table as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["SCORES", "Compared", "Comparison"]

#: Scores against a truth, and what the table calls them.
SCORES = {"ari": "ARI", "nmi": "NMI", "f": "F"}
_NOT_RUN = "stopped before its first run was done"


@dataclass(frozen=True)
class Compared:
    """What became of one estimator.

    Attributes
    ----------
    name : str
    pairs_used : bool
        Whether it was told the pairs.
    runs : int
        Fits that were finished; 0 if it failed, or if the comparison was stopped before.
    n_clusters, n_broken : float or None
        Means over the runs: clusters found, and pairs that the labels break, whether told or not.
        None, as are the other numbers, without a finished run.
    seconds : float or None
        Median over the runs, as the first may have to compile.
    stability : float or None
        Mean ARI between the labels of two runs; None with fewer than two runs.
    scores : dict of str to float
        Means of "ari", "nmi" and "f" against the truth; empty if none was given.
    warnings : tuple of Warning
        What it warned of, each once.
    error : Exception or None
        Why it failed.
    """

    name: str
    pairs_used: bool
    runs: int = 0
    n_clusters: float | None = None
    seconds: float | None = None
    n_broken: float | None = None
    stability: float | None = None
    scores: dict[str, float] = field(default_factory=dict)
    warnings: tuple[Warning, ...] = ()
    error: Exception | None = None

    def numbers(self) -> dict[str, float | None]:
        """All that was measured, by name; empty without a finished run."""
        if not self.runs:
            return {}
        return {
            "n_clusters": self.n_clusters,
            "seconds": self.seconds,
            "n_broken": self.n_broken,
            "stability": self.stability,
            **self.scores,
        }


@dataclass(frozen=True)
class Comparison:
    """What `compare` found; printed, a table.

    Attributes
    ----------
    rows : list of Compared
        One for each estimator, in the order they were given.
    n_rows, n_pairs : int
        Of the data.
    runs, seed : int
        As asked for.
    scored : bool
        Whether there was a truth to score by.
    stopped_early : bool
        Whether `stop` ended it.
    """

    rows: list[Compared]
    n_rows: int
    n_pairs: int
    runs: int
    seed: int
    scored: bool
    stopped_early: bool

    def records(self) -> list[dict[str, Any]]:
        """A plain dict for each estimator, for data frames and JSON; an error as its text."""
        return [
            {
                "name": row.name,
                "pairs_used": row.pairs_used,
                "runs": row.runs,
                "error": None if row.error is None else str(row.error),
                **row.numbers(),
            }
            for row in self.rows
        ]

    def as_text(self, failures: Mapping[str, str] | None = None) -> str:
        """The table as text; `failures` says by name, in other words, why some have no numbers."""
        told = failures or {}
        scores = SCORES if self.scored else {}
        head = ["method", "clusters", "time", "broken pairs", "stability", *scores.values()]
        body = [
            _cells(row) if row.runs else [row.name, f"failed: {told.get(row.name) or _why(row)}"]
            for row in self.rows
        ]
        about = (
            f"{self.n_rows} rows, {self.n_pairs} pairs. Means of {self.runs} runs (seeds "
            f"{self.seed} to {self.seed + self.runs - 1}), of the times the median;\n"
            "stability: mean ARI between the runs; - where one is enough, as there is no chance "
            "in it."
        )
        stopped = "\nStopped early: runs that were cut short do not count" * self.stopped_early
        return f"{_aligned([head, *body])}\n\n{about}{stopped}"

    def __str__(self) -> str:
        return self.as_text()


def _why(row: Compared) -> str:
    return _NOT_RUN if row.error is None else f"{type(row.error).__name__}: {row.error}"


def _cells(row: Compared) -> list[str]:
    return [
        row.name,
        _count(row.n_clusters),
        f"{row.seconds:.3f} s",
        _count(row.n_broken),
        "-" if row.stability is None else f"{row.stability:.3f}",
        *(f"{score:.3f}" for score in row.scores.values()),
    ]


def _count(mean: float | None) -> str:
    return "" if mean is None else str(int(mean)) if mean.is_integer() else f"{mean:.1f}"


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
            [" ".join(line[1].split())]
            if len(line) == 2
            else [f"{cell:>{width}}" for cell, width in zip(line[1:], widths[1:], strict=True)]
        )
        shown.append("  ".join([first, *rest]))
    return "\n".join(shown)
