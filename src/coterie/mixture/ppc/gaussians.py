"""Gaussian mixtures over rows: log-densities, the sums the M-step needs, and the passes for both.

A pass is a function of a block of rows for `map_blocks`; rows in pairs ("core rows") are those
listed with the block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from coterie._typing import FloatArray, IntArray
from coterie.data import Block
from coterie.exceptions import InvalidData
from coterie.mixture.ppc.covariances import COVARIANCES, Covariance

__all__ = [
    "CoreShares",
    "FreePosteriors",
    "FreeSums",
    "Mixture",
    "MixtureShape",
    "Moments",
    "RowLabels",
    "StartMeans",
    "cluster_log_densities",
    "core_moments",
    "free_posteriors",
    "free_sums",
    "label_moments",
    "log_sum_rows",
    "make_mixture",
    "maximize",
    "nearest_means",
]

_TINY = 10 * np.finfo(np.float64).eps  # added to counts, as GaussianMixture does
_FARTHEST = -1e300
_CORE_CHUNK = 4096  # core rows gathered at once


class MixtureShape(NamedTuple):
    """Number and kind of the Gaussians: G = n_clusters · per_cluster, those of a cluster together.

    `reg_covar` is added to the diagonal of every covariance.
    """

    n_clusters: int
    per_cluster: int
    covariance_type: str
    reg_covar: float

    @property
    def n_components(self) -> int:
        """G."""
        return self.n_clusters * self.per_cluster

    @property
    def covariance(self) -> Covariance:
        """What is done with covariances of this type."""
        return COVARIANCES[self.covariance_type]


class Mixture(NamedTuple):
    """G Gaussians and their weights, measured from the origin of the rows.

    Attributes
    ----------
    shape : MixtureShape
    weights : (G,)
    means : (G, d)
    covariances, factors : in the shape of the covariance type
        `factors` are the precision factors.
    """

    shape: MixtureShape
    weights: FloatArray
    means: FloatArray
    covariances: FloatArray
    factors: FloatArray

    @property
    def cluster_weights(self) -> FloatArray:
        """Weights (K,) of clusters, each the sum over its components."""
        return np.asarray(self.weights.reshape(self.shape.n_clusters, -1).sum(axis=1))


class Moments(NamedTuple):
    """Weighted sums over rows about given means: Σ r, Σ r (x − μ), Σ r (x − μ)(x − μ)ᵀ."""

    counts: FloatArray  # (G,)
    sums: FloatArray  # (G, d)
    squares: FloatArray

    def plus(self, other: Moments) -> Moments:
        """The sums over the rows of both."""
        return Moments(*(a + b for a, b in zip(self, other, strict=True)))


def make_mixture(
    weights: FloatArray, means: FloatArray, covariances: FloatArray, shape: MixtureShape
) -> Mixture:
    """A mixture with its precision factors; refuses singular and overflowing covariances."""
    if not (np.isfinite(means).all() and np.isfinite(covariances).all()):
        raise InvalidData("X holds values too large to square; rescale its columns.")
    factors = shape.covariance.precision_factors(covariances)
    return Mixture(shape, weights, means, covariances, factors)


def maximize(
    moments: Moments, old_means: FloatArray, covariance: Covariance, reg_covar: float
) -> tuple[FloatArray, FloatArray]:
    """Means (G, d) and covariances that maximise the expected log-likelihood (PPC §2.3)."""
    counts = moments.counts + _TINY
    moved = moments.sums / counts[:, None]
    return old_means + moved, covariance.estimate(moments.squares, counts, moved, reg_covar)


# -- a chunk of rows ---------------------------------------------------------------------------


def log_densities(chunk: FloatArray, mixture: Mixture) -> FloatArray:
    """log N(x_i | μ_g, Σ_g), (b, G), with one (b, d) buffer whatever G is."""
    covariance = mixture.shape.covariance
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


def log_sum_rows(values: FloatArray) -> FloatArray:
    """Log-sum-exp of each row, (b,); exponentiates `values` (b, G) in place to their shares."""
    top = values.max(axis=1, keepdims=True)
    values -= top
    np.exp(values, out=values)
    total = values.sum(axis=1, keepdims=True)
    values /= total
    return (top + np.log(total))[:, 0]


def _no_moments(means: FloatArray, covariance: Covariance) -> Moments:
    """Sums over no rows yet."""
    n_components, d = means.shape
    squares = np.zeros(covariance.shape(n_components, d))
    return Moments(np.zeros(n_components), np.zeros((n_components, d)), squares)


def _add(
    moments: Moments, chunk: FloatArray, resp: FloatArray, means: FloatArray, covariance: Covariance
) -> None:
    """Add the rows of `chunk` (b, d) with responsibilities `resp` (b, G) to sums of our own."""
    counts = resp.sum(axis=0)
    moments.counts[:] += counts
    diff = np.empty_like(chunk)
    for g in np.flatnonzero(counts):
        np.subtract(chunk, means[g], out=diff)
        weight = np.ascontiguousarray(resp[:, g])
        moments.sums[g] += weight @ diff
        covariance.add_squares(weight, diff, int(g), moments.squares)


# -- passes over blocks ------------------------------------------------------------------------


class FreeSums(NamedTuple):
    """Log-likelihood and moments of free rows; log π_g N(x | g) (r, G) of core rows."""

    log_likelihood: float
    moments: Moments
    core: FloatArray


def free_sums(block: Block, mixture: Mixture) -> FreeSums:
    """What the E-step needs of a block."""
    total = 0.0
    covariance = mixture.shape.covariance
    moments = _no_moments(mixture.means, covariance)
    core = np.empty((block.listed.size, mixture.weights.size))
    for lo, hi, chunk, values in _log_joints(block, mixture):
        listed = slice(*np.searchsorted(block.listed, (lo, hi)))
        inside = block.listed[listed] - lo
        core[listed] = values[inside]
        if inside.size == hi - lo:
            continue
        log_sum = log_sum_rows(values)
        log_sum[inside] = 0.0
        values[inside] = 0.0
        total += float(log_sum.sum())
        _add(moments, chunk, values, mixture.means, covariance)
    return FreeSums(total, moments, core)


class FreePosteriors(NamedTuple):
    """Posterior (n, K) of rows without their pairs; log π_g N(x | g) (r, G) of core rows."""

    resp: FloatArray
    core: FloatArray


def free_posteriors(block: Block, mixture: Mixture) -> FreePosteriors:
    """Each row's posterior as if it were in no pair."""
    resp = np.empty((block.stop - block.start, mixture.shape.n_clusters))
    core = np.empty((block.listed.size, mixture.weights.size))
    for lo, hi, _, values in _log_joints(block, mixture):
        listed = slice(*np.searchsorted(block.listed, (lo, hi)))
        core[listed] = values[block.listed[listed] - lo]
        log_sum_rows(values)
        resp[lo:hi] = values.reshape(hi - lo, mixture.shape.n_clusters, -1).sum(axis=2)
    return FreePosteriors(resp, core)


def cluster_log_densities(block: Block, mixture: Mixture) -> FloatArray:
    """log Σ_{g in k} π_g N(x | g), (b, K)."""
    shape = mixture.shape
    out = np.empty((block.stop - block.start, shape.n_clusters))
    for lo, hi, _, values in _log_joints(block, mixture):
        if shape.per_cluster > 1:
            values = logsumexp(values.reshape(hi - lo, shape.n_clusters, -1), axis=2)
        out[lo:hi] = values
    return out


def _log_joints(
    block: Block, mixture: Mixture
) -> Iterator[tuple[int, int, FloatArray, FloatArray]]:
    """(lo, hi, rows lo..hi of the block, log π_g N(x | g) of each (hi − lo, G))."""
    log_weights = np.log(mixture.weights)
    for lo, hi, chunk in _double(block, log_weights.size):
        values = log_densities(chunk, mixture)
        values += log_weights
        yield lo, hi, chunk, values


def _double(block: Block, extra: int) -> Iterator[tuple[int, int, FloatArray]]:
    """`block.chunks` in double precision: sums of squares need the digits."""
    for lo, hi, chunk in block.chunks(extra):
        yield lo, hi, np.asarray(chunk, dtype=np.float64)


class CoreShares(NamedTuple):
    """Responsibilities (r, G) of core rows."""

    resp: FloatArray


def core_moments(block: Block, mixture: Mixture) -> Moments:
    """Moments of the core rows about the means of the mixture, by their `CoreShares`."""
    covariance = mixture.shape.covariance
    moments = _no_moments(mixture.means, covariance)
    for lo in range(0, block.listed.size, _CORE_CHUNK):
        chunk = np.asarray(block.take(block.listed[lo : lo + _CORE_CHUNK]), dtype=np.float64)
        resp = block.listed_state.resp[lo : lo + _CORE_CHUNK]
        _add(moments, chunk, resp, mixture.means, covariance)
    return moments


class RowLabels(NamedTuple):
    """Component (n,) of each row."""

    labels: IntArray


class StartMeans(NamedTuple):
    """Means (G, d) that moments are taken about."""

    means: FloatArray
    covariance: Covariance


def label_moments(block: Block, about: StartMeans) -> Moments:
    """Moments of the rows of each label, by the block's `RowLabels`."""
    moments = _no_moments(*about)
    numbers = np.arange(about.means.shape[0])
    for lo, hi, chunk in _double(block, numbers.size):
        resp = np.equal.outer(block.state.labels[lo:hi], numbers).astype(np.float64)
        _add(moments, chunk, resp, *about)
    return moments


def nearest_means(block: Block, means: FloatArray) -> IntArray:
    """Nearest of the means (K, d) to each row, (b,)."""
    half_norm = 0.5 * np.einsum("kd,kd->k", means, means)
    labels = np.empty(block.stop - block.start, dtype=np.int64)
    for lo, hi, chunk in block.chunks(means.shape[0]):
        labels[lo:hi] = (chunk @ means.T - half_norm).argmax(axis=1)
    return labels
