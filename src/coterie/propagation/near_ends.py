"""Rows near the ends of pairs, under the Gaussians of their clusters.

Rows in memory are kept in trees, one for each metric. Others are read by passes: a tree is made of
each stretch, asked about the ends, and let go.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from sklearn.neighbors import KDTree

from coterie._typing import FloatArray, IntArray
from coterie.data import Block, Rows, gather, map_blocks
from coterie.propagation import _kernels
from coterie.propagation.spreading import Lists

__all__ = ["Clusters", "Neighborhoods", "neighborhoods", "ratio", "scaled"]

_KEPT_TREES = 20_000_000  # numbers in the trees that are kept for the next search
_SLACK = 1e-9  # relative widening of a search whose finds are measured again
_STRETCH = 1 << 24  # bytes of rows that a tree of a pass is made of
_NOTHING = np.empty(0, dtype=np.int64)


class Clusters(NamedTuple):
    """Gaussians of the clusters: A_h = F_h F_hᵀ, covariance c_h A_h⁻¹ around a centre."""

    labels: IntArray  # (n,)
    centers: FloatArray  # (K, d)
    factors: FloatArray  # (K or 1, 1, d) diagonal, or (K or 1, d, d): F_h
    spread: FloatArray  # (K,) c_h


class Target(NamedTuple):
    """Ends that share a metric."""

    metric: int
    factor: FloatArray  # (1, d) or (d, d): F of the metric
    at: FloatArray  # (e, d) measured from the origin
    width: FloatArray  # (e,) s_A c_h: what divides the squared length
    which: IntArray  # (e,) their numbers among all ends

    def whitened(self, X: FloatArray) -> FloatArray:
        """Rows whose Euclidean distances are those of the metric."""
        return np.asarray(X * self.factor[0] if len(self.factor) == 1 else X @ self.factor)

    def reach(self, budget: float, Z: FloatArray) -> FloatArray:
        """How far (e,) to look among the whitened rows Z, a little too far."""
        far = np.sqrt(budget * self.width) * (1 + _SLACK)
        return np.asarray(far + 1e-12 * np.abs(Z).max(initial=0.0))


class Near(NamedTuple):
    """Rows near ends, in no order, and how many were counted: more than are listed if too many."""

    owner: IntArray  # numbers of the ends
    rows: IntArray
    energy: FloatArray  # q
    total: int

    def within(self, budget: float) -> Near:
        """Those of a lower budget."""
        kept = self.energy <= budget
        return Near(self.owner[kept], self.rows[kept], self.energy[kept], int(kept.sum()))

    def lists(self, n_ends: int) -> Lists:
        """By end, nearest first."""
        order = np.lexsort((self.rows, self.energy, self.owner))
        lengths = np.bincount(self.owner, minlength=n_ends)
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return Lists(indptr, self.rows[order], self.energy[order])


def joined(parts: list[Near]) -> Near:
    """All of them; there is one at least."""
    owner, rows, energy = (np.concatenate([part[k] for part in parts]) for k in range(3))
    return Near(owner, rows, energy, sum(part.total for part in parts))


def near_rows(target: Target, X: FloatArray, Z: FloatArray, tree: Any, budget: float) -> Near:
    """Rows of X (b, d), whitened Z and kept in `tree`, within the budget; measured exactly."""
    found = tree.query_radius(target.whitened(target.at), target.reach(budget, Z))
    sizes = np.array([len(rows) for rows in found], dtype=np.int64)
    rows = np.concatenate(found).astype(np.int64)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    lengths = np.empty(rows.size)
    factor = np.ascontiguousarray(target.factor)
    _kernels.squared_lengths(X, target.at, indptr, rows, factor, lengths)
    q = ratio(lengths, np.repeat(target.width, sizes))
    return Near(np.repeat(target.which, sizes), rows, q, rows.size).within(budget)


class Neighborhoods(ABC):
    """Rows within a budget of q under the Gaussian of each end: see `Neighborhood`."""

    def __init__(self, rows: Rows, clusters: Clusters) -> None:
        self.origin = clusters.centers.mean(axis=0)  # rows far from the origin keep their digits
        self.rows = rows
        self.clusters = clusters._replace(centers=clusters.centers - self.origin)
        self._last: tuple[Any, list[Target]] = (None, [])

    @abstractmethod
    def count(self, ends: IntArray, budget: float, most: int) -> int:
        """How many rows are near the ends; an upper bound by rounding."""

    @abstractmethod
    def lists(self, ends: IntArray, budget: float) -> Lists:
        """The rows near each end, nearest first."""

    def targets(self, ends: IntArray) -> list[Target]:
        """The ends by the metric of their clusters; a search asks about the same ones often."""
        if self._last[0] is not ends:
            self._last = ends, self._new_targets(ends)
        return self._last[1]

    def _new_targets(self, ends: IntArray) -> list[Target]:
        at = gather(self.rows, ends).astype(np.float64) - self.origin
        owner = self.clusters.labels[ends]
        factors, c = self.clusters.factors, self.clusters.spread[owner]
        gaps = scaled(at - self.clusters.centers[owner], factors, owner)
        width = c * np.exp(-0.5 * ratio((gaps**2).sum(axis=1), c))
        metric = owner if len(factors) > 1 else np.zeros_like(owner)
        found = []
        for h in np.unique(metric).tolist():
            which = np.flatnonzero(metric == h)
            found.append(Target(h, factors[h], at[which], width[which], which))
        return found


class TreeNeighborhoods(Neighborhoods):
    """Of rows in memory."""

    def __init__(self, rows: Rows, clusters: Clusters) -> None:
        super().__init__(rows, clusters)
        self.X = np.asarray(rows.source.read(0, rows.n), dtype=np.float64) - self.origin
        self._trees: dict[int, tuple[FloatArray, Any]] = {}

    def count(self, ends: IntArray, budget: float, most: int) -> int:
        """How many rows are near the ends; an upper bound by rounding."""
        total = 0
        for target in self.targets(ends):
            Z, tree = self._tree(target)
            total += _count(target, Z, tree, budget)
            if total > most:
                break
        return total

    def lists(self, ends: IntArray, budget: float) -> Lists:
        """The rows near each end, nearest first."""
        targets = self.targets(ends)
        found = [near_rows(each, self.X, *self._tree(each), budget) for each in targets]
        return joined(found).lists(ends.size)

    def _tree(self, target: Target) -> tuple[FloatArray, Any]:
        """Whitened rows and a tree over them, kept as long as memory is no matter."""
        h = target.metric
        if h not in self._trees:
            if (len(self._trees) + 1) * self.X.size > _KEPT_TREES:
                self._trees.clear()
            Z = target.whitened(self.X)
            self._trees[h] = Z, KDTree(Z)
        return self._trees[h]


class _Asked(NamedTuple):
    """What a pass looks for."""

    origin: FloatArray
    targets: list[Target]
    budget: float
    most: int


class PassNeighborhoods(Neighborhoods):
    """Of rows in files or on a cluster: one pass for each budget wider than the last that fits."""

    def __init__(self, rows: Rows, clusters: Clusters) -> None:
        super().__init__(rows, clusters)
        self._found: tuple[Any, float, Near] | None = None  # ends, budget

    def count(self, ends: IntArray, budget: float, most: int) -> int:
        """How many rows are near the ends; a pass ends once there are too many."""
        if not self._knows(ends, budget):
            parts, total = [Near(_NOTHING, _NOTHING, np.empty(0), 0)], 0
            asked = _Asked(self.origin, self.targets(ends), budget, most)
            for part in map_blocks(self.rows, _near_in_block, asked):
                total += part.total
                if total > most:
                    return total
                parts.append(part)
            self._found = ends, budget, joined(parts)
        return self._near(budget).total

    def lists(self, ends: IntArray, budget: float) -> Lists:
        """The rows near each end, nearest first."""
        if not self._knows(ends, budget):  # it mostly does: they were counted before
            self.count(ends, budget, np.iinfo(np.int64).max)
        return self._near(budget).lists(ends.size)

    def _knows(self, ends: IntArray, budget: float) -> bool:
        return self._found is not None and self._found[0] is ends and self._found[1] >= budget

    def _near(self, budget: float) -> Near:
        assert self._found is not None
        return self._found[2].within(budget)


def _near_in_block(block: Block, asked: _Asked) -> Near:
    """The rows of a block that are near ends, by their numbers among all rows."""
    parts, total = [Near(_NOTHING, _NOTHING, np.empty(0), 0)], 0
    for lo, _, rows in block.chunks(size=_STRETCH):
        X = rows - asked.origin
        for target in asked.targets:
            Z = target.whitened(X)
            tree = KDTree(Z)
            total += _count(target, Z, tree, asked.budget)
            if total > asked.most:  # too many to list
                return parts[0]._replace(total=total)
            part = near_rows(target, X, Z, tree, asked.budget)
            parts.append(part._replace(rows=part.rows + block.start + lo))
    return joined(parts)


def _count(target: Target, Z: FloatArray, tree: Any, budget: float) -> int:
    at = target.whitened(target.at)
    return int(tree.query_radius(at, target.reach(budget, Z), count_only=True).sum())


def neighborhoods(rows: Any, clusters: Clusters) -> Neighborhoods:
    """What is near in these rows, which are an array, or kept somewhere else."""
    rows = Rows.of(rows)
    return (TreeNeighborhoods if rows.in_memory else PassNeighborhoods)(rows, clusters)


def ratio(squared: FloatArray, width: FloatArray) -> FloatArray:
    """squared / width, where a Gaussian of no width is a point: 0 at it and inf elsewhere."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(squared == 0, 0.0, squared / width)


def scaled(gaps: FloatArray, factors: FloatArray, clusters: IntArray) -> FloatArray:
    """Each gap (m, d) times F of its cluster, or of all where they share one."""
    if factors.shape[1] == 1:
        return gaps * (factors[clusters, 0] if len(factors) > 1 else factors[0])
    if len(factors) == 1:
        return np.asarray(gaps @ factors[0])
    found = np.empty_like(gaps)
    for h in np.unique(clusters):
        own = clusters == h
        found[own] = gaps[own] @ factors[h]
    return found
