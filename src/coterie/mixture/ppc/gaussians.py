"""Gaussian mixtures over blocks of rows: log-densities, and the sums the M-step needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data import Rows
from coterie.exceptions import InvalidData
from coterie.mixture.ppc.covariances import COVARIANCES, Covariance

__all__ = [
    "Mixture",
    "Moments",
    "gather",
    "log_densities",
    "log_sum_rows",
    "make_mixture",
    "maximize",
    "wide_chunks",
]

Array = NDArray[np.float64]
_TINY = 10 * np.finfo(np.float64).eps  # added to counts, as GaussianMixture does

_FARTHEST = -1e300


class Mixture(NamedTuple):
    """G Gaussians and their weights, measured from the origin of the rows.

    Attributes
    ----------
    weights : (G,)
    means : (G, d)
    covariances, factors : in the shape of the covariance type
        `factors` are the precision factors.
    """

    weights: Array
    means: Array
    covariances: Array
    factors: Array


class Moments(NamedTuple):
    """Weighted sums over rows about given means: Σ r, Σ r (x − μ), Σ r (x − μ)(x − μ)ᵀ."""

    counts: Array  # (G,)
    sums: Array  # (G, d)
    squares: Array

    @classmethod
    def zeros(cls, means: Array, covariance: Covariance) -> Moments:
        """No rows yet, about means (G, d)."""
        n_components, d = means.shape
        squares = np.zeros(covariance.shape(n_components, d))
        return cls(np.zeros(n_components), np.zeros((n_components, d)), squares)

    def add(self, chunk: Array, resp: Array, means: Array, covariance: Covariance) -> None:
        """Add the rows of `chunk` (b, d) with responsibilities `resp` (b, G), in place."""
        counts = resp.sum(axis=0)
        self.counts[:] += counts
        diff = np.empty_like(chunk)
        for g in np.flatnonzero(counts):
            np.subtract(chunk, means[g], out=diff)
            weight = np.ascontiguousarray(resp[:, g])
            self.sums[g] += weight @ diff
            covariance.add_squares(weight, diff, int(g), self.squares)

    def plus(self, other: Moments) -> Moments:
        """The sums over the rows of both."""
        return Moments(*(a + b for a, b in zip(self, other, strict=True)))


def make_mixture(weights: Array, means: Array, covariances: Array, covariance_type: str) -> Mixture:
    """A mixture with its precision factors; refuses singular and overflowing covariances."""
    if not (np.isfinite(means).all() and np.isfinite(covariances).all()):
        raise InvalidData("X holds values too large to square; rescale its columns.")
    factors = COVARIANCES[covariance_type].precision_factors(covariances)
    return Mixture(weights, means, covariances, factors)


def maximize(
    moments: Moments, old_means: Array, reg_covar: float, covariance: Covariance
) -> tuple[Array, Array]:
    """Means (G, d) and covariances that maximise the expected log-likelihood (PPC §2.3)."""
    counts = moments.counts + _TINY
    moved = moments.sums / counts[:, None]
    return old_means + moved, covariance.estimate(moments.squares, counts, moved, reg_covar)


def log_densities(chunk: Array, mixture: Mixture, covariance: Covariance) -> Array:
    """log N(x_i | μ_g, Σ_g), (b, G), with one (b, d) buffer whatever G is."""
    b, d = chunk.shape
    out = np.empty((b, mixture.means.shape[0]))
    diff = np.empty_like(chunk)
    for g, mean in enumerate(mixture.means):
        white = covariance.whiten(np.subtract(chunk, mean, out=diff), mixture.factors, g)
        np.einsum("ij,ij->i", white, white, out=out[:, g])
    out *= -0.5
    out += covariance.half_log_det(mixture.factors, d) - 0.5 * d * np.log(2 * np.pi)
    # A row so far away that its distance overflows is equally far from everything, not NaN.
    return np.maximum(out, _FARTHEST, out=out)


def log_sum_rows(values: Array) -> Array:
    """Log-sum-exp of each row, (b,); exponentiates `values` (b, G) in place to their shares."""
    top = values.max(axis=1, keepdims=True)
    values -= top
    np.exp(values, out=values)
    total = values.sum(axis=1, keepdims=True)
    values /= total
    return (top + np.log(total))[:, 0]


def gather(
    rows: Rows,
    responsibilities: Callable[[int, int], Array],
    means: Array,
    covariance: Covariance,
) -> Moments:
    """Moments of all rows; `responsibilities(lo, hi)` gives those of rows lo..hi, (b, G)."""

    def work(start: int, stop: int) -> Moments:
        part = Moments.zeros(means, covariance)
        for lo, hi, chunk in wide_chunks(rows, start, stop, means.shape[0]):
            part.add(chunk, responsibilities(lo, hi), means, covariance)
        return part

    return rows.map_reduce(work, Moments.plus)


def wide_chunks(rows: Rows, start: int, stop: int, extra: int) -> Iterator[tuple[int, int, Array]]:
    """`rows.chunks` in double precision: sums of squares need the digits."""
    for lo, hi, chunk in rows.chunks(start, stop, extra):
        yield lo, hi, np.asarray(chunk, dtype=np.float64)
