"""Contradictions among pairs, each explained by the fewest of the user's own pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numba import njit

from coterie._typing import BoolArray, IntArray
from coterie.constraints import _input, exclusive
from coterie.constraints.graph import connected

if TYPE_CHECKING:
    from coterie.constraints.constraints import Constraints


class MustPaths:
    """Shortest must-link paths between rows, over the pairs chosen by `use`.

    The buffers are made once and only touched rows are reset, so a path costs what it visits.
    """

    def __init__(self, constraints: Constraints, use: BoolArray) -> None:
        n = constraints.n_samples
        self._pairs = constraints.pairs
        self._indptr, self._pair_at = incidence(self._pairs, use, n)
        self._distance = np.full(n, -1)
        self._arrived_by = np.full(n, -1)
        self._queue = np.empty(n, dtype=np.int64)

    def between(self, i: int, j: int) -> list[int] | None:
        """Numbers of the pairs on a shortest path from i to j, in walking order; None if none."""
        return self.tree(i, np.array([j]), stop_at=j).get(j)

    def tree(self, root: int, rows: IntArray, stop_at: int = -1) -> dict[int, list[int]]:
        """The path from `root` to each reachable one of `rows`; together the paths form a tree."""
        count = self._search(root, stop_at)
        paths = {int(row): self._walk_back(int(row)) for row in rows if self._distance[row] >= 0}
        self._forget(count)
        return paths

    def distances(self, start: int, rows: IntArray) -> IntArray:
        """Number of pairs from `start` to each of `rows`; −1 = not reachable."""
        count = self._search(start, -1)
        found = self._distance[rows]
        self._forget(count)
        return found

    def _search(self, start: int, stop_at: int) -> int:
        return breadth_first(
            start,
            stop_at,
            self._pairs,
            self._indptr,
            self._pair_at,
            self._distance,
            self._arrived_by,
            self._queue,
        )

    def _forget(self, count: int) -> None:
        self._distance[self._queue[:count]] = -1

    def _walk_back(self, row: int) -> list[int]:
        steps = []
        while self._arrived_by[row] >= 0:
            pair = int(self._arrived_by[row])
            steps.append(pair)
            row = int(self._pairs[pair].sum()) - row
        return steps[::-1]


def _with_witnesses(constraints: Constraints, hard_only: bool) -> Constraints:
    """The constraints and, as pairs, what their exclusive groups say of rows joined by must-links.

    Of groups nothing else can contradict a must-link, so the groups themselves are left out.
    """
    groups = constraints.exclusive
    if not groups.n_groups:
        return constraints
    chosen = exclusive.choose(groups, groups.is_hard if hard_only else groups.weight > 0)
    counts = constraints.is_hard if hard_only else constraints.weight > 0
    component, _ = connected(
        constraints.pairs[counts & (constraints.kind > 0)], constraints.n_samples
    )
    told = _input.join(constraints._arrays(), exclusive.witnesses(chosen, component))
    return constraints._holding(_input.sort_pairs(told))


class Conflicts(Sequence["Constraints"]):
    """Every contradiction in a set of constraints, worked out when looked at.

    One for each cannot-link whose ends are joined by must-links; of an exclusive group that holds
    rows so joined, one for each two that follow each other in it, as a cannot-link. Item t is a
    `Constraints` that holds the shortest must-link path and the cannot-link, a minimal set: drop
    any one of its pairs and the rest can be met.

    Attributes
    ----------
    cannot_links : (·,) int64
        Numbers (in `constraints.pairs`) of the clashing cannot-links.
    """

    def __init__(self, constraints: Constraints, hard_only: bool = False) -> None:
        constraints = _with_witnesses(constraints, hard_only)
        counts = constraints.is_hard if hard_only else constraints.weight > 0
        must = constraints.kind > 0
        self._constraints = constraints
        self._use = counts & must
        component, _ = connected(constraints.pairs[self._use], constraints.n_samples)
        ends = component[constraints.pairs]
        self.cannot_links: IntArray = np.flatnonzero(counts & ~must & (ends[:, 0] == ends[:, 1]))
        self._paths: MustPaths | None = None

    def __len__(self) -> int:
        return self.cannot_links.size

    @overload
    def __getitem__(self, index: int) -> Constraints: ...
    @overload
    def __getitem__(self, index: slice) -> list[Constraints]: ...
    def __getitem__(self, index: int | slice) -> Constraints | list[Constraints]:
        """The pairs of one contradiction (or of several)."""
        if isinstance(index, slice):
            return [self[t] for t in range(*index.indices(len(self)))]
        return self._constraints._take(np.array(sorted(self._pair_numbers(index))))

    def __iter__(self) -> Iterator[Constraints]:
        return (self[t] for t in range(len(self)))

    def describe(self, index: int) -> str:
        """One contradiction in words, with the remedy."""
        cannot = self.cannot_links[index]
        path = self._pair_numbers(index)[:-1]
        i, j = self._constraints.pairs[cannot].tolist()
        steps = self._rows_along(i, path)
        shown = steps if len(steps) <= 12 else [*steps[:6], "…", *steps[-5:]]
        return (
            f"rows {i} and {j} are cannot-linked, but must-links join them: "
            f"{' – '.join(map(str, shown))}; remove one of these {len(path) + 1} pairs or make it "
            "soft"
        )

    def __repr__(self) -> str:
        if not len(self):
            return "no conflicts"
        lines = [self.describe(t) for t in range(min(5, len(self)))]
        more = [f"… and {len(self) - 5} more"] if len(self) > 5 else []
        return "\n".join([f"{len(self)} conflict(s):", *lines, *more])

    def _pair_numbers(self, index: int) -> list[int]:
        """The must-link path in walking order, then the cannot-link."""
        if self._paths is None:
            self._paths = MustPaths(self._constraints, self._use)
        cannot = int(self.cannot_links[index])
        i, j = self._constraints.pairs[cannot].tolist()
        path = self._paths.between(i, j)
        assert path is not None  # the ends are in one component
        return [*path, cannot]

    def _rows_along(self, start: int, path: list[int]) -> list[int | str]:
        rows: list[int | str] = [start]
        for pair in path:
            start = int(self._constraints.pairs[pair].sum()) - start
            rows.append(start)
        return rows


# -- compiled: arrays in, arrays out; every index is int64 -----------------------------------------
@njit(cache=True, nogil=True)
def incidence(pairs: IntArray, use: BoolArray, n_rows: int) -> Any:
    """Pairs at each row, as CSR over rows: indptr (n_rows+1,), pair_at (2·used,)."""
    indptr = np.zeros(n_rows + 1, np.int64)
    for p in range(pairs.shape[0]):
        if use[p]:
            indptr[pairs[p, 0] + 1] += 1
            indptr[pairs[p, 1] + 1] += 1
    for v in range(n_rows):
        indptr[v + 1] += indptr[v]
    pair_at = np.empty(indptr[n_rows], np.int64)
    fill = indptr[:-1].copy()
    for p in range(pairs.shape[0]):
        if use[p]:
            for side in range(2):
                row = pairs[p, side]
                pair_at[fill[row]] = p
                fill[row] += 1
    return indptr, pair_at


@njit(cache=True, nogil=True)
def breadth_first(
    start: int,
    target: int,  # stop when reached; −1 = visit everything reachable
    pairs: IntArray,  # IN (m, 2)
    indptr: IntArray,  # IN (n+1,) from `incidence`
    pair_at: IntArray,  # IN
    distance: IntArray,  # OUT (n,) must hold −1 on entry; only the returned rows are written
    arrived_by: IntArray,  # OUT (n,) the pair that reached each row
    queue: IntArray,  # OUT (n,) rows in the order they were reached
) -> int:
    """Shortest paths from `start`; returns how many rows `queue` holds."""
    distance[start] = 0
    arrived_by[start] = -1
    queue[0] = start
    head, tail = 0, 1
    while head < tail and (target < 0 or distance[target] < 0):
        row = queue[head]
        head += 1
        for t in range(indptr[row], indptr[row + 1]):
            p = pair_at[t]
            other = pairs[p, 0] + pairs[p, 1] - row
            if distance[other] < 0:
                distance[other] = distance[row] + 1
                arrived_by[other] = p
                queue[tail] = other
                tail += 1
    return tail
