"""The space Mosaic measures in: a few Euclidean coordinates for every row, dense or sparse."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD

from coterie.data import Rows
from coterie.distortions import Cosine
from coterie.distortions.base import row_sums

Array = NDArray[Any]

DISTORTIONS = ("sqeuclidean", "cosine")
_STEP = 2048  # rows handled at once
_PAIR_STEP = 1 << 16  # pairs handled at once
_WIDEST_COVARIANCE = 4096  # columns; wider rows are projected by a randomised SVD instead


class Space(NamedTuple):
    """The affine map from rows to coordinates, ((s x) - mean) basis.

    Attributes
    ----------
    mean : (d,) float64
        Mean of the rows.
    basis : (d, e) float64 or (d,)
        Columns of the projection over the spread, or for e = d one over the spread.
    unit : bool
        Whether rows are brought to unit length first (s = 1/|x|, the cosine distance).
    """

    mean: Array
    basis: Array
    unit: bool

    @property
    def n_coordinates(self) -> int:
        """e."""
        return int(self.basis.shape[-1])

    def coordinates(self, X: Any) -> NDArray[np.float32]:
        """Coordinates (n, e) of rows (n, d); squared distances between rows average 1 in `fit`."""
        out = np.empty((X.shape[0], self.n_coordinates), dtype=np.float32)

        def fill(start: int, stop: int) -> None:
            for lo in range(start, stop, _STEP):
                hi = min(lo + _STEP, stop)
                out[lo:hi] = self._project(X[lo:hi])

        Rows(X).for_each(fill)
        return out

    def changed(self, change: Array) -> Space:
        """The space whose coordinates are these times `change` (e, e)."""
        basis = self.basis[:, None] * change if self.basis.ndim == 1 else self.basis @ change
        return self._replace(basis=basis)

    def _project(self, rows: Any) -> Array:
        scale = _scale(rows, self.unit)
        if self.basis.ndim == 1 or not sp.issparse(rows):
            centred = _centred(rows, scale, self.mean)
            if self.basis.ndim == 1:
                return centred * self.basis
            return centred @ self.basis.astype(centred.dtype)
        # Sparse rows in many columns are never filled: the mean is projected instead.
        product = np.asarray(rows @ self.basis)
        if scale is not None:
            product *= scale[:, None]
        return product - self.mean @ self.basis


def fit_space(
    X: Any, distortion: str, weights: Array | None, max_coordinates: int, seed: int
) -> tuple[Space, NDArray[np.float32]]:
    """The space of the rows and their coordinates (n, e).

    Up to `max_coordinates` columns are kept as they are; of more, the leading principal components.
    """
    unit = distortion == "cosine"
    if unit:
        Cosine().check_rows(X)
    d = X.shape[1]
    w = np.ones(X.shape[0]) if weights is None else weights
    mean = _mean(X, w, unit)
    if d <= max_coordinates:
        basis: Array = np.ones(d)
    elif d <= _WIDEST_COVARIANCE:
        basis = _leading_axes(_covariance(X, w, mean, unit), max_coordinates)
    else:
        svd = TruncatedSVD(max_coordinates, random_state=seed)
        scaled = X if not unit else _scaled(X, _scale(X, True))
        basis = svd.fit(scaled).components_.T.astype(np.float64)
    # Centre and scale before float32: what is left are differences of the order of 1.
    spread = np.sqrt(_mean_square(X, w, Space(mean, basis, unit)))
    space = Space(mean, basis / (spread if spread > 0 else 1.0), unit)
    return space, space.coordinates(X)


def whitening(coordinates: Array, pairs: Array, strength: Array) -> NDArray[np.float64] | None:
    """The change (e, e) of coordinates after which must-linked rows differ alike everywhere.

    Relevant component analysis: S^(-1/2) for S the mean of (x_i - x_j)(x_i - x_j)'/2 over the
    must-links, shrunk towards equal spread by e / (e + their number), then scaled so that squared
    distances between rows average 1 again. A pair counts as its `strength` in plain pairs, but
    never as more than one: insisting does not make it a sample.

    None if there are fewer must-links than coordinates, or if they have no extent.
    """
    code, which = np.unique(pairs[:, 0] * len(coordinates) + pairs[:, 1], return_inverse=True)
    pairs = np.column_stack([code // len(coordinates), code % len(coordinates)])
    strength = np.minimum(np.bincount(which, strength), 1.0)
    if strength.sum() < coordinates.shape[1]:
        return None
    e = coordinates.shape[1]
    total = np.zeros((e, e))
    for lo in range(0, len(pairs), _PAIR_STEP):
        part = slice(lo, lo + _PAIR_STEP)
        gaps = (coordinates[pairs[part, 0]] - coordinates[pairs[part, 1]]).astype(np.float64)
        total += (gaps * strength[part, None]).T @ gaps
    if not total.any() or e < 2:
        return None
    total /= 2.0 * strength.sum()
    share = e / (e + strength.sum())
    total = (1.0 - share) * total + share * np.trace(total) / e * np.eye(e)
    values, vectors = np.linalg.eigh(total)
    change = (vectors / np.sqrt(np.maximum(values, 1e-6 * values[-1]))) @ vectors.T
    spread = coordinates.astype(np.float64).T @ coordinates / len(coordinates)
    return np.asarray(change / np.sqrt(2.0 * np.trace(change @ spread @ change)))


def _scale(rows: Any, unit: bool) -> Array | None:
    if not unit:
        return None
    return np.asarray(1.0 / np.sqrt(row_sums(rows, power=2)))


def _scaled(rows: Any, scale: Array | None) -> Any:
    if scale is None:
        return rows
    return sp.diags_array(scale) @ rows if sp.issparse(rows) else rows * scale[:, None]


def _centred(rows: Any, scale: Array | None, mean: Array) -> Array:
    dense = _scaled(rows, scale)
    dense = dense.toarray() if sp.issparse(dense) else dense
    return dense - mean.astype(dense.dtype)


def _mean(X: Any, w: Array, unit: bool) -> NDArray[np.float64]:
    def work(start: int, stop: int) -> Array:
        rows = X[start:stop]
        scale = _scale(rows, unit)
        share = w[start:stop] if scale is None else w[start:stop] * scale
        return np.asarray(rows.T @ share, dtype=np.float64)

    if not sp.issparse(X) and not unit and X.shape[0]:
        # From the first row: a sum of numbers near 1e8 would lose what lies behind the point.
        origin = X[0].astype(np.float64)
        shifted = Rows(X).map_reduce(
            lambda lo, hi: w[lo:hi] @ (X[lo:hi] - origin), lambda a, b: a + b
        )
        return np.asarray(origin + shifted / w.sum())
    return np.asarray(Rows(X).map_reduce(work, lambda a, b: a + b) / w.sum())


def _covariance(X: Any, w: Array, mean: Array, unit: bool) -> NDArray[np.float64]:
    d = X.shape[1]

    def work(start: int, stop: int) -> Array:
        total = np.zeros((d, d))
        for lo in range(start, stop, _STEP):
            hi = min(lo + _STEP, stop)
            rows = X[lo:hi]
            scale = _scale(rows, unit)
            if sp.issparse(rows):
                scaled = _scaled(rows, np.sqrt(w[lo:hi]) * (1.0 if scale is None else scale))
                total += (scaled.T @ scaled).toarray()
            else:
                centred = _centred(rows, scale, mean)
                centred *= np.sqrt(w[lo:hi, None]).astype(centred.dtype)
                total += centred.T @ centred
        return total

    total = Rows(X).map_reduce(work, lambda a, b: a + b) / w.sum()
    return total - np.outer(mean, mean) if sp.issparse(X) else total


def _leading_axes(covariance: Array, count: int) -> NDArray[np.float64]:
    """Eigenvectors (d, count) of the largest eigenvalues, largest first, signs fixed."""
    _, vectors = np.linalg.eigh(covariance)
    leading = vectors[:, ::-1][:, :count]
    largest = np.abs(leading).argmax(axis=0)
    return np.asarray(leading * np.sign(leading[largest, np.arange(count)]))


def _mean_square(X: Any, w: Array, space: Space) -> float:
    """Mean squared distance between two rows in `space`: twice the total variance."""

    def work(start: int, stop: int) -> float:
        total = 0.0
        for lo in range(start, stop, _STEP):
            hi = min(lo + _STEP, stop)
            part = space._project(X[lo:hi])
            total += float(w[lo:hi] @ np.einsum("ij,ij->i", part, part, dtype=np.float64))
        return total

    return 2.0 * Rows(X).map_reduce(work, lambda a, b: a + b) / float(w.sum())
