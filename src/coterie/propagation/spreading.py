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
from coterie.propagation._kernels import Lists, Pairs, near_pairs
from coterie.validation import check_choice

__all__ = [
    "REDUCTIONS",
    "Lists",
    "Neighborhood",
    "Options",
    "Sources",
    "Spread",
    "read_sources",
    "spread",
]

# Several propagated pairs on the same two rows: the strongest (Eaton's reduced propagation),
# or all of them together (full propagation). "auto" is the reduced one, as a sum lets pairs that
# lie close together outweigh every source (section 5.1).
REDUCTIONS: dict[str, Callable[..., Any]] = {"max": np.maximum.reduceat, "sum": np.add.reduceat}
REDUCTIONS |= {"reduced": REDUCTIONS["max"], "full": REDUCTIONS["sum"], "auto": REDUCTIONS["max"]}

# threshold="auto": a source speaks for so many pairs on average, about what .5 gives on iris, where
# the thesis sees its gain, and for none that weighs less than a hundredth of it, as the thesis'
# lowest threshold. More are more often wrong, and by their number outweigh what was told.
PAIRS_A_SOURCE = 4
LEAST_THRESHOLD = 0.01
_LISTED = 64  # times the pairs looked for: so many are listed and sorted
_HALVINGS = 40
_ROUNDING = 1e-12  # of the way from a q to a threshold and back
_MOST_ROWS = 10_000_000  # near the ends, over all of them


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


class Spread(NamedTuple):
    """What a propagation found."""

    constraints: Constraints  # sources and propagated pairs
    threshold: float  # that was used: the one given, or what "auto" came to


class Options(NamedTuple):
    """Checked settings of a propagation."""

    threshold: float | None  # None: chosen by the number of pairs it gives
    reduce: str
    share_ends: bool
    hard_weight: float
    max_pairs: int

    @classmethod
    def checked(
        cls, threshold: Any, reduce: Any, share_ends: bool, hard_weight: Any, max_pairs: Any
    ) -> Options:
        """Options of arguments that are checked; the name of the reduction is looked up."""
        return cls(
            None if isinstance(threshold, str) else float(threshold),
            check_choice("reduce", reduce, REDUCTIONS),
            bool(share_ends),
            float(hard_weight),
            int(max_pairs),
        )


def _budget(threshold: float) -> float:
    """-2 ln threshold: the largest sum of q at the two ends."""
    return -2.0 * math.log(threshold) + 0.0


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
) -> Spread:
    """The sources and the pairs propagated from them, one for each two rows and kind."""
    n = constraints.n_samples
    sources = read_sources(constraints, default_certainty)
    if not sources.weight.size:
        return Spread(Constraints(n), options.threshold or 1.0)
    ends, numbers = np.unique(sources.pairs, return_inverse=True)
    search = _Search(numbers.reshape(-1, 2), ends, neighborhood, options.share_ends)
    threshold = options.threshold or _auto_threshold(search)
    i, j, source, energy = _find(search, threshold, options.max_pairs)
    strength = np.where(np.isinf(sources.weight), options.hard_weight, sources.weight)
    pairs = np.concatenate([sources.pairs, np.column_stack([i, j])])
    kind = np.concatenate([sources.kind, sources.kind[source]])
    weight = np.concatenate([sources.weight, strength[source] * np.exp(-0.5 * energy)])
    found = _merged(n, pairs, kind, weight, options.reduce)
    given = Constraints.from_arrays(n, found.pairs, found.kind, weight=found.weight)
    return Spread(given, threshold)


def _auto_threshold(search: _Search) -> float:
    """The lowest at which sources have `PAIRS_A_SOURCE` pairs on average, or fewer.

    Budgets are halved until the pairs are few enough to be listed; the answer is then among
    their q.
    """
    most = PAIRS_A_SOURCE * len(search.numbers)
    fits, too_wide, budget = 0.0, np.inf, _budget(LEAST_THRESHOLD)
    for _ in range(_HALVINGS):
        total = search.count(budget, _LISTED * most)
        if total <= most and np.isinf(too_wide):
            return LEAST_THRESHOLD
        if most < total <= _LISTED * most:
            q = np.sort(search.listed(total).energy)
            fits = float(q[:most][q[:most] < q[most]].max(initial=0.0))
            break
        if total <= most:
            fits = budget
        else:
            too_wide = budget
        budget = (fits + too_wide) / 2
    return math.exp(-0.5 * fits) * (1 - _ROUNDING) if fits > 0 else 1.0


def _find(search: _Search, threshold: float, max_pairs: int) -> Pairs:
    """Every propagated pair, before those on the same rows merge."""
    total = search.count(_budget(threshold), max_pairs)
    if total > max_pairs:
        raise _too_many(search, threshold, max_pairs)
    return search.listed(total)


class _Search:
    """Counts and lists pairs near the sources; keeps the lists of the last budget."""

    def __init__(
        self,
        numbers: IntArray,
        ends: IntArray,
        neighborhood: Neighborhood,
        share_ends: bool,
    ) -> None:
        self.numbers, self.ends = numbers, ends
        self.neighborhood, self.share_ends = neighborhood, share_ends
        self.budget = 0.0
        self.near = ends  # rows that are near an end, in their order
        self.lists: Lists | None = None

    def count(self, budget: float, most: int) -> int:
        """How many pairs there are, or some number above `most` if more than that.

        Each row near A is a pair with B, and each near B one with A, so a source has at least
        as many pairs as its two lists have rows, less 4: lists too long to hold are too many
        pairs. Not so if pairs may not share an end; then only memory bounds the lists.
        """
        limit = most + 4 * len(self.numbers)
        if not self.share_ends:
            limit = max(limit, _MOST_ROWS)
        if self.neighborhood.count(self.ends, budget, limit) > limit:
            return most + 1
        found = self.neighborhood.lists(self.ends, budget)
        # By their own numbers: of rows that are near nothing no more than this is held.
        self.near, numbers = np.unique(found.rows, return_inverse=True)
        self.budget, self.lists = budget, found._replace(rows=numbers)
        return self._run(most, _room(0))

    def listed(self, total: int) -> Pairs:
        """The `total` pairs of the budget counted last."""
        found = _room(total)
        self._run(total, found)
        return found._replace(i=self.near[found.i], j=self.near[found.j])

    def _run(self, most: int, found: Pairs) -> int:
        """Fill `found`; its rows are those of `self.near`, numbered in their order."""
        assert self.lists is not None
        ends = np.searchsorted(self.near, self.ends)
        n, budget, share_ends = self.near.size, self.budget, self.share_ends
        return int(near_pairs(self.numbers, ends, self.lists, n, budget, share_ends, most, found))


def _room(total: int) -> Pairs:
    """For `total` pairs."""
    i, j, source = (np.empty(total, dtype=np.int64) for _ in range(3))
    return Pairs(i, j, source, np.empty(total))


def _too_many(search: _Search, threshold: float, most: int) -> InvalidParameter:
    """The error that names a threshold that would fit, found by halving."""
    low, high = threshold, 1.0
    said = f"threshold={threshold:g} gives more than max_pairs={most} propagated pairs. "
    if search.count(0.0, most) > most:
        return InvalidParameter(
            said + "Even threshold=1 does, as many rows equal rows in pairs: drop duplicate rows, "
            "give fewer pairs or raise max_pairs."
        )
    while high - low > 0.01:
        middle = (low + high) / 2
        if search.count(_budget(middle), most) > most:
            low = middle
        else:
            high = middle
    fits = min(1.0, math.ceil(high * 1000) / 1000)
    total = search.count(_budget(fits), most)
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
