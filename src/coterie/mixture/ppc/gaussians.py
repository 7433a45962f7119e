"""Gaussian mixtures over rows: log-densities, the sums the M-step needs, and the passes for both.

A pass is a function of a block of rows for `map_blocks`; rows in pairs ("core rows") are those
listed with the block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from coterie._typing import FloatArray, IntArray
from coterie.data import Block
from coterie.mixture.ppc.covariances import Covariance
from coterie.mixture.ppc.missing import add_incomplete, incomplete_rows, marginal_log_densities
from coterie.mixture.ppc.model import Mixture, Moments, no_moments

__all__ = [
    "ONCE",
    "CoreShares",
    "FreePosteriors",
    "FreeSums",
    "PosteriorTask",
    "RowLabels",
    "RowWeights",
    "StartMeans",
    "cluster_log_densities",
    "core_moments",
    "free_posteriors",
    "free_sums",
    "label_moments",
    "likeliest",
    "log_likelihood",
    "log_likelihoods",
    "log_sum_rows",
    "nearest_means",
    "shares",
]

_FARTHEST = -1e300
_CORE_CHUNK = 4096  # core rows gathered at once


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
    gaps = incomplete_rows(chunk)
    if gaps.size:
        out[gaps] = marginal_log_densities(chunk[gaps], mixture)
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


def _add_all(moments: Moments, chunk: FloatArray, resp: FloatArray, mixture: Mixture) -> None:
    """Add rows of which some may have gaps, as `_add` does those that have none."""
    gaps = incomplete_rows(chunk)
    if gaps.size:
        add_incomplete(moments, chunk[gaps], resp[gaps], mixture)
        chunk, resp = np.delete(chunk, gaps, axis=0), np.delete(resp, gaps, axis=0)
    _add(moments, chunk, resp, mixture.means, mixture.shape.covariance)


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


class RowWeights(NamedTuple):
    """How often each row counts, (n,); of size 0 where all count once."""

    weights: FloatArray


ONCE = RowWeights(np.empty(0))  # every row counts once


class FreeSums(NamedTuple):
    """Log-likelihood and moments of free rows; log π_g N(x | g) (r, G) of core rows."""

    log_likelihood: float
    moments: Moments
    core: FloatArray


def free_sums(block: Block, mixture: Mixture) -> FreeSums:
    """What the E-step needs of a block, by its `RowWeights`."""
    total = 0.0
    weights = block.state.weights
    moments = no_moments(mixture.means, mixture.shape.covariance)
    core = block.empty("core", (block.listed.size, mixture.weights.size))
    for lo, hi, chunk, values in _log_joints(block, mixture):
        listed = slice(*np.searchsorted(block.listed, (lo, hi)))
        inside = block.listed[listed] - lo
        core[listed] = values[inside]
        if inside.size == hi - lo:
            continue
        log_sum = log_sum_rows(values)
        if weights.size:
            log_sum *= weights[lo:hi]
            values *= weights[lo:hi, None]
        log_sum[inside] = 0.0
        values[inside] = 0.0
        total += float(log_sum.sum())
        _add_all(moments, chunk, values, mixture)
    return FreeSums(total, moments, core)


class FreePosteriors(NamedTuple):
    """Of rows as if they were in no pair.

    Attributes
    ----------
    resp : (n, K), or (0, K) where nobody asked for it
        Posterior of each row.
    labels : (n,) int32
        Its likeliest cluster.
    totals : (K,)
        Summed posteriors of the rows that are not listed.
    listed : (r, K)
        Posteriors of those that are.
    core : (r, G)
        log π_g N(x | g) of these.
    """

    resp: FloatArray
    labels: NDArray[np.int32]
    totals: FloatArray
    listed: FloatArray
    core: FloatArray


class PosteriorTask(NamedTuple):
    """A mixture, and whether posteriors of all rows are wanted: they may not fit."""

    mixture: Mixture
    keep: bool


def free_posteriors(block: Block, task: PosteriorTask) -> FreePosteriors:
    """Each row's posterior as if it were in no pair; `totals` by the block's `RowWeights`."""
    mixture, keep = task
    weights = block.state.weights
    size, n_clusters = block.stop - block.start, mixture.shape.n_clusters
    resp = np.empty((size if keep else 0, n_clusters))
    labels = np.empty(size, dtype=np.int32)
    totals = np.zeros(n_clusters)
    of_listed = np.empty((block.listed.size, n_clusters))
    core = np.empty((block.listed.size, mixture.weights.size))
    for lo, hi, _, values in _log_joints(block, mixture):
        listed = slice(*np.searchsorted(block.listed, (lo, hi)))
        inside = block.listed[listed] - lo
        core[listed] = values[inside]
        log_sum_rows(values)
        shares = values.reshape(hi - lo, n_clusters, -1).sum(axis=2)
        if keep:
            resp[lo:hi] = shares
        labels[lo:hi] = shares.argmax(axis=1)
        of_listed[listed] = shares[inside]
        shares[inside] = 0.0
        totals += weights[lo:hi] @ shares if weights.size else shares.sum(axis=0)
    return FreePosteriors(resp, labels, totals, of_listed, core)


def cluster_log_densities(block: Block, mixture: Mixture) -> FloatArray:
    """log Σ_{g in k} π_g N(x | g), (b, K)."""
    shape = mixture.shape
    out = np.empty((block.stop - block.start, shape.n_clusters))
    for lo, hi, _, values in _log_joints(block, mixture):
        if shape.per_cluster > 1:
            values = logsumexp(values.reshape(hi - lo, shape.n_clusters, -1), axis=2)
        out[lo:hi] = values
    return out


def shares(block: Block, mixture: Mixture) -> FloatArray:
    """Posterior of each row's cluster, (b, K)."""
    values = cluster_log_densities(block, mixture)
    log_sum_rows(values)
    return values


def likeliest(block: Block, mixture: Mixture) -> NDArray[np.int32]:
    """The most probable cluster of each row, (b,)."""
    return cluster_log_densities(block, mixture).argmax(axis=1).astype(np.int32)


def log_likelihoods(block: Block, mixture: Mixture) -> FloatArray:
    """log p(x) of each row, (b,)."""
    return log_sum_rows(cluster_log_densities(block, mixture))


def log_likelihood(block: Block, mixture: Mixture) -> float:
    """Summed log p(x) of the rows."""
    return float(log_likelihoods(block, mixture).sum())


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
    """Responsibilities (r, G) of core rows, each times how often the row counts."""

    resp: FloatArray


def core_moments(block: Block, mixture: Mixture) -> Moments:
    """Moments of the core rows about the means of the mixture, by their `CoreShares`."""
    moments = no_moments(mixture.means, mixture.shape.covariance)
    for lo in range(0, block.listed.size, _CORE_CHUNK):
        chunk = np.asarray(block.take(block.listed[lo : lo + _CORE_CHUNK]), dtype=np.float64)
        resp = block.listed_state.resp[lo : lo + _CORE_CHUNK]
        _add_all(moments, chunk, resp, mixture)
    return moments


class RowLabels(NamedTuple):
    """Component (n,) of each row and how often it counts, (n,); of size 0 where all count once."""

    labels: IntArray
    weights: FloatArray


class StartMeans(NamedTuple):
    """Means (G, d) that moments are taken about."""

    means: FloatArray
    covariance: Covariance


def label_moments(block: Block, about: StartMeans) -> Moments:
    """Moments of the rows of each label, by the block's `RowLabels`."""
    moments = no_moments(*about)
    numbers = np.arange(about.means.shape[0])
    weights = block.state.weights
    for lo, hi, chunk in _double(block, numbers.size):
        resp = np.equal.outer(block.state.labels[lo:hi], numbers).astype(np.float64)
        if weights.size:
            resp *= weights[lo:hi, None]
        _add(moments, chunk, resp, *about)
    return moments


def nearest_means(block: Block, means: FloatArray) -> IntArray:
    """Nearest of the means (K, d) to each row, (b,)."""
    half_norm = 0.5 * np.einsum("kd,kd->k", means, means)
    labels = np.empty(block.stop - block.start, dtype=np.int64)
    for lo, hi, chunk in block.chunks(means.shape[0]):
        labels[lo:hi] = (chunk @ means.T - half_norm).argmax(axis=1)
    return labels
