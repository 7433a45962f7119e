"""Coordinates in which rows that the data hold together lie together.

Two views of the rows, half each: eigenvectors of a nearest-neighbour graph, which follow clusters
of any shape, and of a Gaussian kernel, which keeps plain distances where the graph is misled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh

from coterie.active.space import Space

__all__ = ["Features"]

Float = NDArray[np.float64]

_ANCHORS = 2000  # rows that carry the model; others are placed among them
_COORDINATES = 60  # of each view
_NEIGHBORS = 10
_SCALE_NEIGHBOR = 7  # whose distance is a row's own scale (self-tuning spectral clustering)
_SMOOTH = 0.02  # added to eigenvalues of the graph Laplacian: weight 1 / (value + this)
_DENSE = 600  # up to here all eigenvectors at once are quicker than the leading ones
_CHUNK = 4096


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
        Rows that carry the model: all, or 2,000 drawn at random.
    of_anchors : (P, m) float64
    """

    def __init__(self, space: Space, seed: int) -> None:
        self._space = space
        if space.n <= _ANCHORS:
            self.anchors = np.arange(space.n)
        else:
            rng = np.random.default_rng([seed, 2])
            self.anchors = np.sort(rng.choice(space.n, _ANCHORS, replace=False))
        squared = self._distances(self.anchors)
        squared = (squared + squared.T) / 2
        np.fill_diagonal(squared, 0.0)
        self._prepare_graph(squared)
        self._prepare_kernel(squared)
        self.of_anchors: Float = np.hstack([self._graph, self._kernel])

    # -- distances -------------------------------------------------------------------------
    def _distances(self, rows: Any) -> Float:
        """Distortion of the rows to every anchor, (b, P)."""
        centers = _filled(self._space.X[self.anchors])
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

    # -- all rows --------------------------------------------------------------------------
    def apply(self, weights: Float) -> Float:
        """Φ weights for all rows, (n, G), in pieces; `weights` is (m, G)."""
        found = np.empty((self._space.n, weights.shape[1]))
        for lo in range(0, self._space.n, _CHUNK):
            rows = np.arange(lo, min(lo + _CHUNK, self._space.n))
            if len(self.anchors) < self._space.n:
                found[rows] = self._place(self._distances(rows)) @ weights
        found[self.anchors] = self.of_anchors @ weights
        return found

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


def _leading(matrix: Any, n: int) -> tuple[Float, Float]:
    """Largest eigenvalues and their vectors of a symmetric matrix."""
    count = min(_COORDINATES, n)
    if n <= _DENSE:
        values, vectors = np.linalg.eigh(_filled(matrix))
        return values[-count:], vectors[:, -count:]
    start = np.random.default_rng(0).standard_normal(n)
    return eigsh(matrix, k=count, which="LA", v0=start)
