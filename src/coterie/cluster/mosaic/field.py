"""Prototypes and the field they carry: a smooth function of position, one value per cluster."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie.data import Rows

Array = NDArray[Any]
Float32 = NDArray[np.float32]

_STEP = 1024  # rows handled at once: a block of them times all prototypes stays in the cache
_SAMPLE = 20  # rows per prototype that place the prototypes
_LLOYD_STEPS = 5
_EXACT_WORK = 10**10  # multiplications up to which leverages are exact
_SKETCH = 128
_RANK_TOLERANCE = 1e-5  # directions of the kernel below this share of the largest are dropped


def kernel(A: Float32, B: Float32) -> Float32:
    """Cauchy kernel 1 / (1 + 2 |a - b|^2) of all pairs, (n, M).

    A mixture of Gaussians of every width, the typical one a quarter of the mean squared distance
    between two rows (1 in a `Space`): steep near a prototype, and never flat far from it.
    """
    squares = A @ (-2.0 * B.T)
    squares += np.einsum("ij,ij->i", A, A)[:, None]
    squares += np.einsum("ij,ij->i", B, B)
    np.maximum(squares, 0.0, out=squares)
    squares *= 2.0
    squares += 1.0
    return np.reciprocal(squares, out=squares)


def place_prototypes(coordinates: Float32, count: int, rng: np.random.Generator) -> Float32:
    """Prototypes (M, e) spread as the rows are: K-Means from random rows on a sample of them.

    All distinct rows where there are no more than `count`.
    """
    n = coordinates.shape[0]
    sample = rng.permutation(n)[: _SAMPLE * count]
    rows = coordinates[np.sort(sample)]
    distinct = np.unique(rows, axis=0)
    if len(distinct) <= count:
        return distinct
    prototypes = distinct[np.sort(rng.permutation(len(distinct))[:count])]
    for _ in range(_LLOYD_STEPS):
        prototypes = _lloyd_step(rows, prototypes)
    return prototypes


def nearest(coordinates: Float32, prototypes: Float32) -> NDArray[np.int64]:
    """The nearest prototype (n,) of each row."""
    out = np.empty(coordinates.shape[0], dtype=np.int64)

    def fill(start: int, stop: int) -> None:
        for lo in range(start, stop, _STEP):
            hi = min(lo + _STEP, stop)
            out[lo:hi] = kernel(coordinates[lo:hi], prototypes).argmax(axis=1)

    Rows(coordinates).for_each(fill)
    return out


def members(near: NDArray[np.int64], count: int, values: Array) -> Any:
    """Sparse (count, n) matrix with `values` (n,) where a row belongs to a prototype."""
    entries: Any = (values, (near, np.arange(near.size)))
    return sp.csr_array(entries, shape=(count, near.size))


def _lloyd_step(rows: Float32, prototypes: Float32) -> Float32:
    near = nearest(rows, prototypes)
    counts = np.bincount(near, minlength=len(prototypes))
    sums = members(near, len(prototypes), np.ones(len(rows))) @ rows
    held = counts > 0  # a prototype that lost its rows stays where it is
    moved = prototypes.astype(np.float64)
    moved[held] = sums[held] / counts[held, None]
    return moved.astype(np.float32)


class Field(NamedTuple):
    """Features of every row from its kernel values at the prototypes.

    ``features @ features.T`` approximates the kernel between rows (Nyström): a linear function of
    the features is a smooth function of position whose squared length penalises roughness.

    Attributes
    ----------
    prototypes : (M, e) float32
    whiten : (M, r) float32
        Kernel values to features.
    features : (n, r) float32
    at_prototypes : (M, r) float32
        Features of the prototypes.
    near : (n,) int64
        Nearest prototype of each row.
    """

    prototypes: Float32
    whiten: Float32
    features: Float32
    at_prototypes: Float32
    near: NDArray[np.int64]

    def evaluate(self, weights: Array) -> NDArray[np.float64]:
        """Field values (n, K) of weights (r, K)."""
        out = np.empty((self.features.shape[0], weights.shape[1]))
        narrow = weights.astype(np.float32)

        def fill(start: int, stop: int) -> None:
            out[start:stop] = self.features[start:stop] @ narrow

        Rows(self.features).for_each(fill)
        return out

    def project(self, targets: Array) -> NDArray[np.float64]:
        """features' @ targets (n, K), (r, K)."""
        narrow = targets.astype(np.float32)

        def work(start: int, stop: int) -> Array:
            return (self.features[start:stop].T @ narrow[start:stop]).astype(np.float64)

        return np.asarray(Rows(self.features).map_reduce(work, lambda a, b: a + b))

    def gram(self, weights: Array) -> NDArray[np.float64]:
        """features' diag(weights) features, (r, r)."""
        root = np.sqrt(weights).astype(np.float32)

        def work(start: int, stop: int) -> Array:
            part = self.features[start:stop] * root[start:stop, None]
            return (part.T @ part).astype(np.float64)

        return np.asarray(Rows(self.features).map_reduce(work, lambda a, b: a + b))


def build_field(coordinates: Float32, prototypes: Float32) -> Field:
    """Features of all rows, in blocks."""
    between = kernel(prototypes, prototypes).astype(np.float64)
    np.fill_diagonal(between, 1.0)
    values, vectors = np.linalg.eigh((between + between.T) / 2)
    kept = values > _RANK_TOLERANCE * values[-1]
    whiten = (vectors[:, kept] / np.sqrt(values[kept])).astype(np.float32)
    n = coordinates.shape[0]
    features = np.empty((n, whiten.shape[1]), dtype=np.float32)
    near = np.empty(n, dtype=np.int64)

    def fill(start: int, stop: int) -> None:
        for lo in range(start, stop, _STEP):
            hi = min(lo + _STEP, stop)
            values = kernel(coordinates[lo:hi], prototypes)
            near[lo:hi] = values.argmax(axis=1)
            np.matmul(values, whiten, out=features[lo:hi])

    Rows(coordinates).for_each(fill)
    at_prototypes = between.astype(np.float32) @ whiten
    return Field(prototypes, whiten, features, at_prototypes, near)


def field_values(
    coordinates: Float32, prototypes: Float32, whiten: Float32, weights: Array
) -> NDArray[np.float64]:
    """Field values (n, K) at new coordinates, block by block as `Field.evaluate` does.

    The same rows give bitwise the same values, so `predict` repeats the labels of the fit.
    """
    out = np.empty((coordinates.shape[0], weights.shape[1]))
    narrow = weights.astype(np.float32)

    def fill(start: int, stop: int) -> None:
        features = np.empty((stop - start, whiten.shape[1]), dtype=np.float32)
        for lo in range(start, stop, _STEP):
            hi = min(lo + _STEP, stop)
            values = kernel(coordinates[lo:hi], prototypes)
            np.matmul(values, whiten, out=features[lo - start : hi - start])
        out[start:stop] = features @ narrow

    Rows(coordinates).for_each(fill)
    return out


class Ridge:
    """Weighted ridge regression on the features of a field, factored once.

    Minimises sum_i w_i |target_i - W' z_i|^2 + lambda |W|^2 over W (r, K).
    """

    def __init__(
        self, field: Field, weights: Array, penalty: float, rng: np.random.Generator
    ) -> None:
        self.field, self.weights, self.penalty = field, weights, penalty
        self.gram = field.gram(weights)
        penalised = self.gram.copy()
        penalised[np.diag_indices_from(penalised)] += penalty
        self.lower = np.linalg.cholesky(penalised)
        self.leverage = weights * self._pull(rng)

    def solve(self, targets: Array) -> NDArray[np.float64]:
        """W (r, K) for targets (n, K)."""
        moments = self.field.project(self.weights[:, None] * targets)
        return np.asarray(scipy.linalg.cho_solve((self.lower, True), moments))

    def without_own(self, values: Array, targets: Array) -> NDArray[np.float64]:
        """Field values (n, K) had each row's own target been left out: (f - h t) / (1 - h)."""
        h = np.minimum(self.leverage, 0.95)[:, None]
        return np.asarray((values - h * targets) / (1.0 - h))

    def _pull(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """z_i' (G + lambda I)^-1 z_i of every row, (n,); by a random sketch where rows are many.

        The sketch has a relative error of sqrt(2 / 128), on a pull that is small where rows are
        many.
        """
        n, r = self.field.features.shape
        inverse = scipy.linalg.solve_triangular(self.lower, np.eye(r), lower=True).T
        if n * r * r > _EXACT_WORK and r > _SKETCH:
            inverse = inverse @ (rng.standard_normal((r, _SKETCH)) / np.sqrt(_SKETCH))
        inverse = inverse.astype(np.float32)
        out = np.empty(n)

        def fill(start: int, stop: int) -> None:
            for lo in range(start, stop, _STEP):
                hi = min(lo + _STEP, stop)
                half = self.field.features[lo:hi] @ inverse
                out[lo:hi] = np.einsum("ij,ij->i", half, half)

        Rows(self.field.features).for_each(fill)
        return out
