"""Exact inference by elimination: orders, and tables for many components of one shape at a time."""

from __future__ import annotations

import heapq
import itertools
from typing import Any, NamedTuple

import numpy as np

from coterie._typing import FloatArray, IntArray

Edges = tuple[tuple[int, int], ...]


class Order(NamedTuple):
    """Elimination order of one graph shape: each node with the clique it is eliminated from.

    Attributes
    ----------
    cliques : list of tuple of int
        Per step, the node eliminated, then its neighbours in the order of *their* elimination.
    width : int
        Largest clique less one.
    """

    cliques: list[tuple[int, ...]]
    width: int


def min_fill_order(n_nodes: int, edges: Edges, max_width: int) -> Order | None:
    """Eliminate the node that adds fewest edges, again and again; None if wider than `max_width`.

    A lazy heap: a node's key is recomputed when it is popped, and pushed again if it has grown.
    """
    around: list[set[int]] = [set() for _ in range(n_nodes)]
    for a, b in edges:
        around[a].add(b)
        around[b].add(a)

    def key(v: int) -> tuple[int, int]:
        degree = len(around[v])
        if degree > max_width:
            return n_nodes * n_nodes, degree  # too wide now: last, and not worth counting
        fill = sum(b not in around[a] for a, b in itertools.combinations(around[v], 2))
        return fill, degree

    heap = [(*key(v), v) for v in range(n_nodes)]
    heapq.heapify(heap)
    gone = [False] * n_nodes
    steps: list[tuple[int, list[int]]] = []
    while heap:
        fill, degree, v = heapq.heappop(heap)
        if gone[v]:
            continue
        fresh = key(v)
        if fresh > (fill, degree):
            heapq.heappush(heap, (*fresh, v))
            continue
        neighbours = sorted(around[v])
        if len(neighbours) > max_width:
            return None
        gone[v] = True
        steps.append((v, neighbours))
        for a in neighbours:
            around[a].discard(v)
            around[a].update(b for b in neighbours if b != a)
        for a in neighbours:  # keys may have fallen
            heapq.heappush(heap, (*key(a), a))
    position = {v: p for p, (v, _) in enumerate(steps)}
    cliques = [(v, *sorted(near, key=position.__getitem__)) for v, near in steps]
    return Order(cliques, max((len(c) - 1 for c in cliques), default=0))


class Marginals(NamedTuple):
    """Of B components of one shape: log Z, marginals, P(y_i = y_j) of each edge."""

    log_partition: FloatArray  # (B,)
    marginals: FloatArray  # (B, n, K)
    edge_same: FloatArray  # (B, m)


def log_sum(values: FloatArray, axes: int | tuple[int, ...]) -> FloatArray:
    """Log-sum-exp over axes, −inf where all are."""
    top = np.max(values, axis=axes, keepdims=True)
    top[np.isneginf(top)] = 0.0
    with np.errstate(divide="ignore"):
        total = np.log(np.sum(np.exp(values - top), axis=axes, keepdims=True)) + top
    return np.asarray(np.squeeze(total, axis=axes))


def pair_tables(same: FloatArray, differ: FloatArray) -> FloatArray:
    """Minus the pair cost of every two labels, (B, m, K, K), from (B, m, K) costs."""
    table = -0.5 * (differ[..., :, None] + differ[..., None, :])
    diagonal = np.arange(same.shape[-1])
    table[..., diagonal, diagonal] = -same
    return table


def _expand(factor: FloatArray, where: tuple[int, ...], size: int) -> FloatArray:
    """`factor` (B, K, ...) as a table over `size` clique members, its axes put at `where`."""
    if len(where) == 2 and where[0] > where[1]:
        factor, where = np.swapaxes(factor, 1, 2), where[::-1]
    elif len(where) > 2:
        assert list(where) == sorted(where)  # cliques list members in elimination order
    shape = [factor.shape[0]] + [1] * size
    for axis, place in enumerate(where):
        shape[1 + place] = factor.shape[1 + axis]
    return factor.reshape(shape)


def _keep(table: FloatArray, members: tuple[int, ...]) -> FloatArray:
    """Log-marginal of `members` of a clique's log-table, in that order."""
    drop = tuple(1 + a for a in range(table.ndim - 1) if a not in members)
    kept = log_sum(table, drop) if drop else table
    rank = np.argsort(np.argsort(members))
    return np.transpose(kept, (0, *(1 + rank)))


class BatchTables:
    """Log-tables of B components that share a graph, one per elimination clique.

    Parameters
    ----------
    edges : m pairs of local nodes
    unary : (B, n, K)
    same, differ : (B, m, K)
    """

    def __init__(
        self, order: Order, edges: Edges, unary: FloatArray, same: FloatArray, differ: FloatArray
    ) -> None:
        self.cliques = order.cliques
        self.edges = edges
        self.position = {clique[0]: p for p, clique in enumerate(self.cliques)}
        self.owner = [min(self.position[a], self.position[b]) for a, b in edges]
        self.shape = unary.shape
        factors = pair_tables(same, differ)
        self.local = [_expand(-unary[:, c[0]], (0,), len(c)) for c in self.cliques]
        for e, p in enumerate(self.owner):
            size = len(self.cliques[p])
            self.local[p] = self.local[p] + _expand(factors[:, e], self._ends(e), size)

    def _ends(self, e: int) -> tuple[int, int]:
        """Where the two ends of edge `e` stand in the clique that owns it."""
        clique = self.cliques[self.owner[e]]
        a, b = self.edges[e]
        return clique.index(a), clique.index(b)

    def best_labels(self) -> tuple[IntArray, FloatArray]:
        """Labels (B, n) of least energy, last eliminated first, and minus that energy (B,)."""
        tables, sent = self._collect(largest=True)
        batch = np.arange(self.shape[0])
        labels = np.empty(self.shape[:2], dtype=np.int64)
        for clique, table in zip(reversed(self.cliques), reversed(tables), strict=True):
            given = tuple(labels[:, v] for v in clique[1:])
            index: Any = (batch, slice(None), *given)
            labels[:, clique[0]] = np.argmax(table[index], axis=1)
        return labels, self._total(sent)

    def marginals(self) -> Marginals:
        """log Z, marginals and P(y_i = y_j).

        Backwards, log P(clique) = log P(separator) + table − message: a conditional, safe at zeros.
        """
        tables, sent = self._collect(largest=False)
        for p in range(len(self.cliques) - 1, -1, -1):
            clique, message = self.cliques[p], sent[p]
            impossible = np.isneginf(message)
            above = np.zeros(message.shape)
            if len(clique) > 1:
                q = self.position[clique[1]]
                where = tuple(self.cliques[q].index(v) for v in clique[1:])
                above = _keep(tables[q], where)
            norm = np.where(impossible, 0.0, message)
            tables[p] = tables[p] + np.where(impossible, -np.inf, above - norm)[:, None]
        marginals = np.empty(self.shape)
        for clique, table in zip(self.cliques, tables, strict=True):
            marginals[:, clique[0]] = np.exp(_keep(table, (0,)))
        edge_same = np.empty((self.shape[0], len(self.edges)))
        for e, p in enumerate(self.owner):
            both = _keep(tables[p], self._ends(e))
            edge_same[:, e] = np.exp(np.diagonal(both, axis1=1, axis2=2)).sum(axis=1)
        return Marginals(self._total(sent), marginals, edge_same)

    def _total(self, sent: list[FloatArray]) -> FloatArray:
        """What the last clique of each connected part sends to nowhere."""
        total = np.zeros(self.shape[0])
        for clique, message in zip(self.cliques, sent, strict=True):
            if len(clique) == 1:
                total += message
        return total

    def _collect(self, *, largest: bool) -> tuple[list[FloatArray], list[FloatArray]]:
        """Forward pass: each clique's table with all it received, and what it sends on."""
        tables = list(self.local)
        sent: list[FloatArray] = []
        for p, clique in enumerate(self.cliques):
            full = (self.shape[0],) + (self.shape[2],) * len(clique)
            tables[p] = np.broadcast_to(tables[p], full)
            message = np.max(tables[p], axis=1) if largest else log_sum(tables[p], 1)
            sent.append(message)
            if len(clique) > 1:
                q = self.position[clique[1]]
                where = tuple(self.cliques[q].index(v) for v in clique[1:])
                tables[q] = tables[q] + _expand(message, where, len(self.cliques[q]))
        return tables, sent
