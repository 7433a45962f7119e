"""One round of Algorithm 1: every row visited once, centres moved, empty clusters removed.

The visiting order is: first all free rows (in no constraint) that some centre holds within
lambda, then the nodes of the core and the rows beyond lambda, one after the other. Free rows of
the first kind neither open a cluster nor depend on each other, so they go in one vectorised sweep
and the outcome is exactly that of the sequential algorithm in that order.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.cluster.labelling import BEYOND, Labelled
from coterie.cluster.rdp import _kernels as kernels
from coterie.cluster.rdp.problem import RdpProblem, Xi
from coterie.cluster.statistics import Statistics, add

__all__ = ["RdpState", "run_round", "shuffled_rows"]

_TABLE = 1 << 22  # entries in the table of costs to freshly opened centres
_MOST_ITEMS = 8192
_FULL_SHUFFLE = 4096
_RUN = 64
_OPENED_AT_ONCE = 64  # the table is laid out anew after so many openings


class RdpState(NamedTuple):
    """Labels (n,) of the rows and centres (K, d) of the clusters, all of them with rows."""

    labels: Array
    centers: Array


def run_round(
    problem: RdpProblem, state: RdpState, xi: Xi, lambda_: float, rng: np.random.Generator | None
) -> tuple[RdpState, float]:
    """One round from `state`; the rows are visited in natural order where `rng` is None.

    Returns the new state and J of the new labels under the centres before they moved.
    """
    core, old = problem.core.rows, len(state.centers)
    found = problem.label_rows(state.centers, lambda_)
    beyond = np.flatnonzero(found.labels == BEYOND)
    first = found.labels[core].astype(np.int64)
    free_cost = found.cost - float(np.take_along_axis(found.unary, first[:, None], axis=1).sum())
    if beyond.size:
        problem = problem.with_rows(beyond)
    walk = _Walk(problem, state, found, first, beyond, xi, lambda_)
    cost = free_cost + walk.run(rng)

    final = problem.core.expand(walk.node_labels)
    labels = found.labels  # in place: of very many rows no second array is held
    labels[core], labels[beyond] = final, walk.beyond_labels
    n_all = old + len(walk.opened)
    statistics = _room_for(found.statistics, n_all)
    moved = np.flatnonzero(final != first)
    for change in (
        problem.sum_listed(core[moved], first[moved], n_all, sign=-1.0),
        problem.sum_listed(core[moved], final[moved], n_all),
        problem.sum_listed(beyond, walk.beyond_labels, n_all),
    ):
        statistics = add(statistics, change)

    # Empty clusters go only now; without weights the counts are those of the rows.
    counts = statistics.counts
    rows = np.bincount(labels, minlength=n_all) if problem.weights.size else counts
    kept = rows > 0
    left = Statistics(counts[kept], statistics.sums[kept])
    centers = problem.centers(left, walk.centers()[kept])
    if not kept.all():
        labels = (np.cumsum(kept) - 1).astype(np.int32)[labels]
    objective = cost + problem.pair_energy(labels, xi) + lambda_ * len(centers)
    return RdpState(labels, centers), objective


def _room_for(statistics: Statistics, n_clusters: int) -> Statistics:
    """The same sums with empty clusters behind them."""
    more = n_clusters - len(statistics.counts)
    return Statistics(
        np.pad(statistics.counts, (0, more)), np.pad(statistics.sums, ((0, more), (0, 0)))
    )


class _Walk:
    """The sequential part of a round: core nodes and rows beyond lambda, one after the other."""

    def __init__(
        self,
        problem: RdpProblem,
        state: RdpState,
        found: Labelled,
        near: Array,
        beyond: Array,
        xi: Xi,
        lambda_: float,
    ) -> None:
        core = problem.core
        self.problem, self.old, self.beyond, self.lambda_ = problem, state.centers, beyond, lambda_
        self.unary, self.lead, self.near = found.unary, found.lead, near
        if core.n_nodes < core.rows.size:
            self.unary = core.contract(found.unary) - problem.alone[:, None]
            self.near, self.lead = np.empty(core.n_nodes, np.int64), np.empty(core.n_nodes)
            kernels.cheapest(self.unary, self.near, self.lead)
        self.net = problem.net(xi)
        self.reach = np.empty(core.n_nodes)
        kernels.pull(self.net, core.indptr, self.reach)
        self.node_labels = state.labels[problem.core.first_rows].astype(np.int64)
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
            return shuffled_rows(self.problem.core.n_nodes + len(self.beyond), rng)
        return np.argsort(
            np.concatenate([self.problem.core.first_rows, self.beyond]), kind="stable"
        )

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
        core = self.problem.core
        nodes = kernels.Nodes(self.unary, self.near, self.lead, self.reach)
        links = kernels.Links(self.net, core.indptr, core.indices)
        visited = kernels.Visited(self.node_labels, self.beyond_labels, self.paid)
        work = np.empty(len(self.old) + room)
        at = begin
        while at < stop:
            at = kernels.visit(
                sequence, at, stop, begin, nodes, links, batch.extra, len(self.opened),
                self.lambda_, visited, work,
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
            listed, _ = self.problem.core.members_of(np.array([item]))
        else:
            listed = self.beyond[[item - s]]
        center = self.problem.center_of(listed)
        if after < batch.size <= _MOST_ITEMS:
            batch.fill(center, after, len(self.opened))
        self.opened.append(center)


def shuffled_rows(count: int, rng: np.random.Generator) -> Array:
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

    def __init__(self, problem: RdpProblem, items: Array, beyond: Array, room: int) -> None:
        self.problem, self.items, self.beyond = problem, items, beyond
        self.size = len(items)
        # A stretch longer than a table is for the steady state: it ends at the first opening.
        self.extra = np.empty((self.size if self.size <= _MOST_ITEMS else 0, room))
        self.is_node = items < problem.core.n_nodes
        self.place = np.cumsum(~self.is_node) - 1  # of an item among the rows beyond lambda

    @cached_property
    def rows(self) -> Any:
        """The batch's rows beyond lambda, read once: every opening asks for them again."""
        return self.problem.rows.take(self._numbers(self.items[~self.is_node]))

    def _numbers(self, items: Array) -> Array:
        return self.beyond[items - self.problem.core.n_nodes]

    def fill(self, centers: Array, after: int, column: int) -> None:
        """Costs of items[after:] to the centres, into the columns from `column` on."""
        items, is_node = self.items[after:], self.is_node[after:]
        terms = self.problem.terms(centers)
        block = self.extra[after:, column : column + len(centers)]
        if is_node.any():
            nodes = items[is_node]
            listed, owner = self.problem.core.members_of(nodes)
            costs = self.problem.costs(listed, terms)
            if len(listed) > len(nodes):
                summed = np.zeros((len(nodes), len(centers)))
                np.add.at(summed, owner, costs)
                costs = summed
            block[is_node] = costs - self.problem.alone[nodes, None]
        if not is_node.all():
            rows = self.rows[self.place[after:][~is_node]]
            numbers = self._numbers(items[~is_node])
            block[~is_node] = self.problem.costs(numbers, terms, rows)
