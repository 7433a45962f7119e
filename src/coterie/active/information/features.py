"""Coordinates in which rows that the data hold together lie together.

Two views of the rows, half each: eigenvectors of a nearest-neighbour graph, which follow clusters
of any shape, and of a Gaussian kernel, which keeps plain distances where the graph is misled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh

from coterie.active.information.opinions import Described
from coterie.active.strategies.space import Space
from coterie.progress import count_blocks

__all__ = ["Features"]

Float = NDArray[np.float64]

_ANCHORS = 2000  # rows that carry the model; others are placed among them
_EVENLY = 0.75  # share of them that is drawn evenly, whatever lies there
_COORDINATES = 60  # of each view
_POINTS = 60  # columns of the points that stand for rows under any distortion
_NEIGHBORS = 10
_SCALE_NEIGHBOR = 7  # whose distance is a row's own scale (self-tuning spectral clustering)
_SMOOTH = 0.02  # added to eigenvalues of the graph Laplacian: weight 1 / (value + this)
_DENSE = 600  # up to here all eigenvectors at once are quicker than the leading ones
_CHUNK = 512  # rows at a time: their distances to all anchors are 8 MB


class Features:
    """Coordinates Φ of the rows, mean square length 1.

    Parameters
    ----------
    space : Space
    seed : int
        Draws the anchors where there are more than 2,000 rows.

    Attributes
    ----------
    anchors : (P,) int64
        Rows that carry the model: all, or 2,000. Three in four of these are drawn at random, then
        the others as K-Means++ draws centres, so that small groups far from all have one too.
    of_anchors : (P, m) float64
    described : Described
        The anchors, each with how many rows it is the nearest anchor of.
    """

    def __init__(self, space: Space, seed: int) -> None:
        self._space = space
        self.anchors = np.arange(space.n)
        share = np.ones(space.n)
        if space.n > _ANCHORS:
            self._draw_anchors(np.random.default_rng([seed, 2]))
            share = np.bincount(self._nearest, minlength=_ANCHORS).astype(np.float64)
        squared = self._distances(self.anchors)
        squared = (squared + squared.T) / 2
        np.fill_diagonal(squared, 0.0)
        self._prepare_graph(squared)
        self._prepare_kernel(squared)
        self._prepare_points(squared)
        self.of_anchors: Float = np.hstack([self._graph, self._kernel])
        self.described = Described(
            self.of_anchors, self._points, space.X[self.anchors], share / share.mean()
        )

    # -- anchors ---------------------------------------------------------------------------
    def _draw_anchors(self, rng: np.random.Generator) -> None:
        """Two passes over all rows: one for the anchors drawn evenly, one for the far ones."""
        n = self._space.n
        evenly = int(_ANCHORS * _EVENLY)
        self.anchors = rng.choice(n, evenly, replace=False)
        self._nearest = np.zeros(n, dtype=np.int32)
        distance = np.full(n, np.inf)
        self._look_for_nearer(distance, 0)
        distance[self.anchors] = 0.0
        rest = _ANCHORS - evenly
        total = distance.sum()
        chance = distance / total if (distance > 0).sum() >= rest else None
        if chance is None:  # rows are copies of a few: any others do
            chance = np.ones(n)
            chance[self.anchors] = 0.0
            chance /= chance.sum()
        self.anchors = np.concatenate([self.anchors, rng.choice(n, rest, replace=False, p=chance)])
        self._look_for_nearer(distance, evenly)
        self._by_anchor = np.argsort(self._nearest, kind="stable").astype(np.int64)
        self._starts = np.searchsorted(self._nearest[self._by_anchor], np.arange(_ANCHORS + 1))

    def _look_for_nearer(self, distance: Float, first: int) -> None:
        """Compare all rows with the anchors from `first` on."""
        starts = range(0, self._space.n, _CHUNK)
        for lo in count_blocks(starts, len(starts)):
            rows = np.arange(lo, min(lo + _CHUNK, self._space.n))
            found = self._distances(rows, first)
            nearest = found.argmin(axis=1)
            least = found[np.arange(rows.size), nearest]
            closer = least < distance[rows]
            distance[rows[closer]] = np.maximum(least[closer], 0.0)
            self._nearest[rows[closer]] = nearest[closer] + first
        self._nearest[self.anchors] = np.arange(len(self.anchors))

    def around(self, at: int, count: int) -> NDArray[np.int64]:
        """Up to `count` of the rows that anchor `at` is the nearest one of, evenly picked."""
        if len(self.anchors) == self._space.n:
            return np.empty(0, dtype=np.int64)
        rows = self._by_anchor[self._starts[at] : self._starts[at + 1]]
        rows = rows[rows != self.anchors[at]]
        return rows[:: max(1, -(-rows.size // count))]

    # -- distances -------------------------------------------------------------------------
    def _distances(self, rows: Any, first: int = 0) -> Float:
        """Distortion of the rows to every anchor from `first` on, (b, P)."""
        centers = _filled(self._space.X[self.anchors[first:]])
        found = self._space.distortion.to_centers(self._space.X[rows], centers)
        return found.astype(np.float64)

    # -- the two views ---------------------------------------------------------------------
    def _prepare_graph(self, squared: Float) -> None:
        """u_l / sqrt(1 − λ_l + s), for eigenvalues λ of the normalised neighbour graph."""
        n = len(squared)
        k = min(_NEIGHBORS, n - 1)
        near = np.argpartition(squared + _beyond_diagonal(squared), k - 1, axis=1)[:, :k]
        distance = np.sort(np.take_along_axis(squared, near, axis=1), axis=1)
        self._scale = np.sqrt(distance[:, min(_SCALE_NEIGHBOR, k) - 1])
        self._scale += 1e-3 * np.sqrt(squared.mean()) + 1e-100  # where rows are alike
        row, column = np.repeat(np.arange(n), k), near.ravel()
        weight = np.exp(-squared[row, column] / (self._scale[row] * self._scale[column]))
        graph = sp.csr_array((weight, (row, column)), shape=(n, n))
        graph = graph.maximum(graph.T)
        root = 1 / np.sqrt(np.maximum(graph.sum(axis=1), np.finfo(np.float64).tiny))
        values, vectors = _leading(sp.diags_array(root) @ graph @ sp.diags_array(root), n)
        weighted = vectors / np.sqrt(np.maximum(1 - values, 0) + _SMOOTH)
        self._graph = weighted * np.sqrt(0.5 * n / (weighted**2).sum())

    def _prepare_kernel(self, squared: Float) -> None:
        """Leading eigenvectors of exp(−2 d² / median d²), by the square roots of the values."""
        n = len(squared)
        self._width = max(float(np.median(squared)) / 2, np.finfo(np.float64).tiny)
        values, vectors = _leading(np.exp(-squared / self._width), n)
        kept = values > 1e-9 * values.max()
        values, vectors = values[kept], vectors[:, kept]
        weighted = vectors * np.sqrt(values)
        factor = np.sqrt(0.5 * n / (weighted**2).sum())
        self._kernel = weighted * factor
        self._extend = vectors / np.sqrt(values) * factor

    def _prepare_points(self, squared: Float) -> None:
        """Points with these squared distances, as near as `_POINTS` columns allow (Torgerson)."""
        n = len(squared)
        self._mean = squared.mean(axis=0)
        inner = -0.5 * (squared - self._mean - self._mean[:, np.newaxis] + self._mean.mean())
        values, vectors = _leading(inner, n, _POINTS, rank_may_end=True)
        kept = values > max(1e-9 * float(values.max()), np.finfo(np.float64).tiny)
        values, vectors = values[kept], vectors[:, kept]
        self._points = vectors * np.sqrt(values)
        self._project = vectors / np.sqrt(values)

    # -- all rows --------------------------------------------------------------------------
    def each(self, function: Callable[[Described], NDArray[Any]]) -> NDArray[Any]:
        """What a function says of all rows, one value each, (n,), in pieces."""
        found = np.zeros(self._space.n, dtype=np.int64)
        if len(self.anchors) < self._space.n:
            starts = range(0, self._space.n, _CHUNK)
            for lo in count_blocks(starts, len(starts)):
                rows = np.arange(lo, min(lo + _CHUNK, self._space.n))
                found[rows] = function(self.describe(rows))
        found[self.anchors] = function(self.described)
        return found

    def describe(self, rows: NDArray[np.int64]) -> Described:
        """Rows that are not anchors as classifiers see them."""
        squared = self._distances(rows)
        inner = -0.5 * (squared - squared.mean(axis=1, keepdims=True) - self._mean)
        points = (inner - 0.5 * self._mean.mean()) @ self._project
        alone = np.full(len(rows), len(self.anchors) / self._space.n)  # as anchors average 1
        return Described(self._place(squared), points, self._space.X[rows], alone)

    def _place(self, squared: Float) -> Float:
        """Coordinates of other rows: of their neighbours among the anchors, and by Nyström."""
        k = min(_NEIGHBORS, squared.shape[1])
        near = np.argpartition(squared, k - 1, axis=1)[:, :k]
        distance = np.take_along_axis(squared, near, axis=1)
        own = np.sqrt(np.sort(distance, axis=1)[:, min(_SCALE_NEIGHBOR, k) - 1])
        scale = np.maximum(own[:, None], self._scale[near]) * self._scale[near]
        # Less the smallest exponent of each row: at least one neighbour keeps its weight.
        exponent = distance / scale
        weight = np.exp(exponent.min(axis=1, keepdims=True) - exponent)
        weight /= weight.sum(axis=1, keepdims=True)
        graph = np.einsum("bk,bkm->bm", weight, self._graph[near])
        return np.hstack([graph, np.exp(-squared / self._width) @ self._extend])


def _beyond_diagonal(squared: Float) -> Float:
    """Infinity on the diagonal: a row is not its own neighbour."""
    return np.diag(np.full(len(squared), np.inf))


def _filled(matrix: Any) -> Any:
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


def _leading(
    matrix: Any, n: int, most: int = _COORDINATES, *, rank_may_end: bool = False
) -> tuple[Float, Float]:
    """Largest eigenvalues and their vectors of a symmetric matrix.

    Where the rank may end before the count (points of few columns), iterations would go on and on
    about eigenvalues that are zero: then by a decomposition, whose time depends on n alone.
    """
    count = min(most, n)
    if n <= _DENSE:
        values, vectors = np.linalg.eigh(_filled(matrix))
        return values[-count:], vectors[:, -count:]
    if rank_may_end:
        found: tuple[Float, Float] = eigh(matrix, subset_by_index=[n - count, n - 1])
        return found
    start = np.random.default_rng(0).standard_normal(n)
    return eigsh(matrix, k=count, which="LA", v0=start)
