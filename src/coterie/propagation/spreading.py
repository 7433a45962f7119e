"""From rows near the ends of known pairs to weighted pairs, whatever "near" means.

A source pair (A, B) of weight w gives {i, j} the weight

    w exp(-1/2 min(q_A(i) + q_B(j), q_A(j) + q_B(i))),

kept if the exponential is at least the threshold g (Eaton 2005, Fig. 3.2 step 3d). That is
q_A(i) + q_B(j) <= -2 ln g: a *budget* to be split between the two ends. So it is enough to know the
rows within the budget of each end, and to merge two sorted lists for each source: the work is that
of the output, not the |C| n² of the printed algorithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from coterie._typing import FloatArray, IntArray
from coterie.constraints import Constraints
from coterie.exceptions import InvalidParameter
from coterie.propagation import _kernels
from coterie.validation import check_choice, check_count, check_real

__all__ = ["REDUCTIONS", "Lists", "Neighborhood", "Options", "Sources", "read_sources", "spread"]

# Several propagated pairs on the same two rows: the strongest (Eaton's reduced propagation),
# or all of them together (full propagation).
REDUCTIONS: dict[str, Callable[..., Any]] = {"max": np.maximum.reduceat, "sum": np.add.reduceat}


class Lists(NamedTuple):
    """Rows near each of e ends, nearest first: CSR arrays with the q of each."""

    indptr: IntArray
    rows: IntArray
    energy: FloatArray


class Neighborhood(Protocol):
    """What "near" means: the rows within a budget of some ends."""

    def count(self, ends: IntArray, budget: float, most: int) -> int:
        """How many there are, over all ends; may stop once there are more than `most`."""

    def lists(self, ends: IntArray, budget: float) -> Lists:
        """The rows near each end, each end itself among them with q = 0."""


class Sources(NamedTuple):
    """Distinct source pairs and what each is worth in plain pairs."""

    pairs: IntArray  # (m, 2), i < j
    kind: NDArray[np.int8]  # (m,)
    weight: FloatArray  # (m,) inf: hard


class Options(NamedTuple):
    """Checked settings of a propagation."""

    threshold: float
    reduce: str
    share_ends: bool
    hard_weight: float
    max_pairs: int

    @classmethod
    def checked(
        cls, threshold: Any, reduce: Any, share_ends: bool, hard_weight: Any, max_pairs: Any
    ) -> Options:
        """Options with every value in its range."""
        g = check_real("threshold", threshold, strict=True)
        if g > 1:
            raise InvalidParameter(
                f"threshold={threshold!r} must be above 0 and at most 1: it is the least weight a "
                "propagated pair of a source of weight 1 may have."
            )
        return cls(
            g,
            check_choice("reduce", reduce, REDUCTIONS),
            bool(share_ends),
            check_real("hard_weight", hard_weight),
            check_count("max_pairs", max_pairs),
        )

    @property
    def budget(self) -> float:
        """-2 ln threshold: the largest sum of q at the two ends."""
        return -2.0 * math.log(self.threshold) + 0.0


def read_sources(constraints: Constraints, default_certainty: float = 0.95) -> Sources:
    """The pairs, those given more than once added up, in units of a plain pair.

    A pair without a certainty is worth its weight; one with certainty γ its strength divided by
    that of a plain pair of weight 1. Pairs of weight 0 say nothing and are left out.
    """
    plain = math.log(default_certainty / (1 - default_certainty))
    worth = np.where(
        np.isnan(constraints.certainty) | constraints.is_hard,
        constraints.weight,
        constraints.strength(default_certainty) / plain,
    )
    worth[constraints.is_hard] = np.inf
    told = worth > 0
    return _merged(
        constraints.n_samples, constraints.pairs[told], constraints.kind[told], worth[told], "sum"
    )


def spread(
    constraints: Constraints,
    neighborhood: Neighborhood,
    options: Options,
    default_certainty: float = 0.95,
) -> Constraints:
    """The sources and the pairs propagated from them, one for each two rows and kind."""
    n = constraints.n_samples
    sources = read_sources(constraints, default_certainty)
    if not sources.weight.size:
        return Constraints(n)
    ends, numbers = np.unique(sources.pairs, return_inverse=True)
    numbers = numbers.reshape(-1, 2)
    i, j, source, energy = _find(numbers, ends, n, neighborhood, options)
    strength = np.where(np.isinf(sources.weight), options.hard_weight, sources.weight)
    pairs = np.concatenate([sources.pairs, np.column_stack([i, j])])
    kind = np.concatenate([sources.kind, sources.kind[source]])
    weight = np.concatenate([sources.weight, strength[source] * np.exp(-0.5 * energy)])
    found = _merged(n, pairs, kind, weight, options.reduce)
    return Constraints.from_arrays(n, found.pairs, found.kind, weight=found.weight)


def _find(
    numbers: IntArray, ends: IntArray, n: int, neighborhood: Neighborhood, options: Options
) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Rows i < j, source and q of every propagated pair, before those on the same rows merge."""
    search = _Search(numbers, ends, n, neighborhood, options)
    total = search.count(options.budget)
    if total > options.max_pairs:
        raise _too_many(search, options)
    out_i, out_j, source = (np.empty(total, dtype=np.int64) for _ in range(3))
    energy = np.empty(total)
    search.write(out_i, out_j, source, energy)
    return out_i, out_j, source, energy


class _Search:
    """Counts and writes pairs near the sources; keeps the lists of the last budget."""

    def __init__(
        self,
        numbers: IntArray,
        ends: IntArray,
        n: int,
        neighborhood: Neighborhood,
        options: Options,
    ) -> None:
        self.numbers, self.ends, self.n = numbers, ends, n
        self.neighborhood, self.options = neighborhood, options
        self.budget = 0.0
        self.lists: Lists | None = None

    def count(self, budget: float) -> int:
        """How many pairs there are, or some number above `max_pairs` if more than that.

        Each row near A is a pair with B, and each near B one with A, so a source has at least
        as many pairs as its two lists have rows, less 4: lists too long to hold are too many
        pairs. (Not so if pairs may not share an end; then this bounds the lists.)
        """
        most = self.options.max_pairs
        limit = most + 4 * len(self.numbers)
        if self.neighborhood.count(self.ends, budget, limit) > limit:
            return most + 1
        self.budget, self.lists = budget, self.neighborhood.lists(self.ends, budget)
        nothing = np.empty(0, dtype=np.int64)
        return self._run(nothing, nothing, nothing, np.empty(0))

    def write(self, out_i: IntArray, out_j: IntArray, source: IntArray, energy: FloatArray) -> None:
        """Fill the arrays with the pairs of the budget counted last."""
        self._run(out_i, out_j, source, energy)

    def _run(self, out_i: IntArray, out_j: IntArray, source: IntArray, energy: FloatArray) -> int:
        assert self.lists is not None
        return int(
            _kernels.near_pairs(
                self.numbers,
                self.ends,
                *self.lists,
                self.n,
                self.budget,
                self.options.share_ends,
                self.options.max_pairs,
                out_i,
                out_j,
                source,
                energy,
            )
        )


def _too_many(search: _Search, options: Options) -> InvalidParameter:
    """The error that names a threshold that would fit, found by halving."""
    most = options.max_pairs
    low, high = options.threshold, 1.0
    said = f"threshold={options.threshold:g} gives more than max_pairs={most} propagated pairs. "
    if search.count(0.0) > most:
        return InvalidParameter(
            said + "Even threshold=1 does, as many rows equal rows in pairs: drop duplicate rows, "
            "give fewer pairs or raise max_pairs."
        )
    while high - low > 0.01:
        middle = (low + high) / 2
        if search.count(-2.0 * math.log(middle)) > most:
            low = middle
        else:
            high = middle
    fits = min(1.0, math.ceil(high * 1000) / 1000)
    total = search.count(-2.0 * math.log(fits))
    return InvalidParameter(
        said + f"threshold={fits:g} would fit, with {total}. Raise threshold, or max_pairs if "
        "there is memory for them (about 100 bytes a pair)."
    )


def _merged(
    n: int, pairs: IntArray, kind: NDArray[np.int8], weight: FloatArray, reduce: str
) -> Sources:
    """One pair for each two rows and kind, of the largest or the summed weight."""
    if not weight.size:
        return Sources(pairs.reshape(0, 2), kind, weight)
    key = 2 * (pairs[:, 0] * n + pairs[:, 1]) + (kind > 0)
    order = np.argsort(key, kind="stable")  # stable: sums are added in the order of the sources
    key = key[order]
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    chosen = order[first]
    return Sources(pairs[chosen], kind[chosen], REDUCTIONS[reduce](weight[order], first))
