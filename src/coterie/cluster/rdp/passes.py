"""One round of Algorithm 1: every row visited once, centres moved, empty clusters removed.

The visiting order is: first all free rows (in no constraint) that some centre holds within
lambda, then the nodes of the core and the rows beyond lambda, one after the other. Free rows of
the first kind neither open a cluster nor depend on each other, so they go in one vectorised sweep
and the outcome is exactly that of the sequential algorithm in that order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.cluster.rdp import _kernels as kernels
from coterie.cluster.rdp.problem import Problem, Xi
from coterie.data._kernels import BEYOND

__all__ = ["State", "run_round"]

Array = NDArray[Any]
_TABLE = 1 << 22  # entries in the table of costs to freshly opened centres
_MOST_ITEMS = 8192
_FULL_SHUFFLE = 4096
_RUN = 64
_OPENED_AT_ONCE = 64  # the table is laid out anew after so many openings


class State(NamedTuple):
    """Labels (n,) of the rows and centres (K, d) of the clusters, all of them with rows."""

    labels: Array
    centers: Array


class _Near(NamedTuple):
    """Every row with its nearest centre: sums and counts of the clusters, cost of the rows.

    Free rows beyond lambda are in none of them.
    """

    sums: Array
    counts: Array
    cost: float

    def __add__(self, other: Any) -> _Near:
        self.sums.__iadd__(other.sums)
        self.counts.__iadd__(other.counts)
        return _Near(self.sums, self.counts, self.cost + other.cost)


class _CoreCosts(NamedTuple):
    """Costs of the core's rows: `unary` (r, K), and the lead (r,) of the nearest centre."""

    unary: Array
    lead: Array


def run_round(
    problem: Problem, state: State, xi: Xi, lambda_: float, rng: np.random.Generator | None
) -> tuple[State, float]:
    """One round from `state`; the rows are visited in natural order where `rng` is None.

    Returns the new state and J of the new labels under the centres before they moved.
    """
    core, old = problem.core.rows, len(state.centers)
    labels = np.empty(problem.n, dtype=np.int32)
    costs = _CoreCosts(problem.core_buffer(old), np.empty(core.size))
    near = _label_rows(problem, state.centers, lambda_, labels, costs)
    beyond = np.flatnonzero(labels == BEYOND)
    first = labels[core].astype(np.int64)
    free_cost = near.cost - float(np.take_along_axis(costs.unary, first[:, None], axis=1).sum())
    walk = _Walk(problem, state, costs, first, beyond, xi, lambda_)
    cost = free_cost + walk.run(rng)

    n_all = old + len(walk.opened)
    sums, counts = np.zeros((n_all, problem.rows.d)), np.zeros(n_all)
    sums[:old], counts[:old] = near.sums, near.counts
    final = problem.core.expand(walk.node_labels)
    moved = np.flatnonzero(final != first)
    problem.add_rows(core[moved], first[moved], sums, counts, sign=-1.0)
    problem.add_rows(core[moved], final[moved], sums, counts)
    problem.add_rows(beyond, walk.beyond_labels, sums, counts)
    labels[core], labels[beyond] = final, walk.beyond_labels

    # Empty clusters go only now; without weights the counts are those of the rows.
    rows = np.bincount(labels, minlength=n_all) if problem.weights.size else counts
    kept = rows > 0
    centers = problem.centers(sums[kept], counts[kept], walk.centers()[kept])
    if not kept.all():
        labels = (np.cumsum(kept) - 1).astype(np.int32)[labels]
    objective = cost + problem.pair_energy(labels, xi) + lambda_ * len(centers)
    return State(labels, centers), objective


def _label_rows(
    problem: Problem, centers: Array, lambda_: float, labels: Array, costs: _CoreCosts
) -> _Near:
    """Label every row with its nearest centre and sum it up; copy the costs of the core's rows."""
    slope, offset, _ = problem.terms(centers)
    slope = np.asfortranarray(slope)
    no_curve, no_squares = np.empty((0, len(centers)), slope.dtype), np.empty((0, problem.rows.d))

    def work(start: int, stop: int) -> _Near:
        sums, counts = np.zeros(centers.shape), np.zeros(len(centers))
        block = slice(start, stop)
        cost = problem.rows.label(
            block,
            slope.T,
            no_curve,
            offset,
            problem.row_scale[block],
            problem.row_term[block],
            problem.weights[block],
            1.0,
            lambda_,
            problem.root,
            problem.slot[block],
            False,
            labels[block],
            *costs,
            sums,
            counts,
            no_squares,
        )
        return _Near(sums, counts, cost)

    return problem.rows.map_reduce(work, lambda a, b: a + b)


class _Walk:
    """The sequential part of a round: core nodes and rows beyond lambda, one after the other."""

    def __init__(
        self,
        problem: Problem,
        state: State,
        costs: _CoreCosts,
        near: Array,
        beyond: Array,
        xi: Xi,
        lambda_: float,
    ) -> None:
        core = problem.core
        self.problem, self.old, self.beyond, self.lambda_ = problem, state.centers, beyond, lambda_
        self.unary, self.lead, self.near = *costs, near
        if core.n_nodes < core.rows.size:
            self.unary = core.contract(costs.unary) - problem.alone[:, None]
            self.near, self.lead = np.empty(core.n_nodes, np.int64), np.empty(core.n_nodes)
            kernels.cheapest(self.unary, self.near, self.lead)
        self.net = problem.net(xi)
        self.reach = np.empty(core.n_nodes)
        kernels.pull(self.net, core.indptr, self.reach)
        self.node_labels = state.labels[problem.first_row].astype(np.int64)
        self.beyond_labels = np.empty(len(beyond), dtype=np.int64)
        self.opened: list[Array] = []

    def run(self, rng: np.random.Generator | None) -> float:
        """Visit everything; returns the summed w D of what was visited."""
        sequence = self._sequence(rng)
        self.paid = np.zeros(len(sequence))
        begin = 0
        while begin < len(sequence):
            begin = self._run_batch(sequence, begin)
        return float(self.paid.sum() + self.problem.alone.sum())

    def centers(self) -> Array:
        """Centres of this round, then those it opened, (K + opened, d)."""
        return np.concatenate([self.old, *self.opened])

    def _sequence(self, rng: np.random.Generator | None) -> Array:
        if rng is not None:
            return _shuffled(self.problem.core.n_nodes + len(self.beyond), rng)
        return np.argsort(np.concatenate([self.problem.first_row, self.beyond]), kind="stable")

    def _run_batch(self, sequence: Array, begin: int) -> int:
        """Visit a stretch of the sequence; returns where the next stretch begins."""
        room = len(self.opened) + _OPENED_AT_ONCE
        size = min(len(sequence) - begin, _MOST_ITEMS, max(64, _TABLE // room))
        if not self.opened and not len(self.beyond):
            size = len(sequence) - begin  # nothing to tabulate until something opens
        stop = begin + size
        batch = _Batch(self.problem, sequence[begin:stop], self.beyond, room)
        if self.opened:
            batch.fill(np.concatenate(self.opened), 0, 0)
        work = np.empty(len(self.old) + room)
        at = begin
        while at < stop:
            at = kernels.visit(
                sequence, at, stop, begin, self.unary, self.near, self.lead, batch.extra,
                len(self.opened), self.net, self.reach, self.problem.core.indptr,
                self.problem.core.indices, self.lambda_, self.node_labels, self.beyond_labels,
                self.paid, work,
            )  # fmt: skip
            if at == stop:
                break
            self._open(sequence[at], batch, at + 1 - begin)
            at += 1
            if len(self.opened) == room or batch.size > _MOST_ITEMS:
                break  # lay out a table that fits
        return at

    def _open(self, item: int, batch: _Batch, after: int) -> None:
        """Open a cluster at `item`, and tell the items of the batch that come after it."""
        s = self.problem.core.n_nodes
        if item < s:
            listed, _ = self.problem.members_of(np.array([item]))
        else:
            listed = self.beyond[[item - s]]
        center = self.problem.center_of(listed)
        if after < batch.size <= _MOST_ITEMS:
            batch.fill(center, after, len(self.opened))
        self.opened.append(center)


def _shuffled(count: int, rng: np.random.Generator) -> Array:
    """0..count-1 in random order; where there are many, runs of neighbours stay together.

    Runs are shuffled, and the items of each run: a visit then finds its costs in the cache.
    """
    if count <= _FULL_SHUFFLE:
        return rng.permutation(count)
    runs = -(-count // _RUN)
    inside = rng.permuted(np.tile(np.arange(_RUN), (runs, 1)), axis=1)
    order = (rng.permutation(runs)[:, None] * _RUN + inside).ravel()
    return order[order < count]


class _Batch:
    """A stretch of the sequence with its rows and their costs to the centres opened so far."""

    def __init__(self, problem: Problem, items: Array, beyond: Array, room: int) -> None:
        self.problem, self.items, self.beyond = problem, items, beyond
        self.size = len(items)
        # A stretch longer than a table is for the steady state: it ends at the first opening.
        self.extra = np.empty((self.size if self.size <= _MOST_ITEMS else 0, room))

    def fill(self, centers: Array, after: int, column: int) -> None:
        """Costs of items[after:] to the centres, into the columns from `column` on."""
        s = self.problem.core.n_nodes
        items = self.items[after:]
        terms = self.problem.terms(centers)
        block = self.extra[after:, column : column + len(centers)]
        is_node = items < s
        if is_node.any():
            nodes = items[is_node]
            listed, owner = self.problem.members_of(nodes)
            costs = self.problem.costs(listed, terms)
            if len(listed) > len(nodes):
                summed = np.zeros((len(nodes), len(centers)))
                np.add.at(summed, owner, costs)
                costs = summed
            block[is_node] = costs - self.problem.alone[nodes, None]
        if not is_node.all():
            block[~is_node] = self.problem.costs(self.beyond[items[~is_node] - s], terms)
