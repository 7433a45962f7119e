"""The E-step: every row once in blocks, then an engine for the rows in pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data import Rows
from coterie.mixture.ppc.core import CorePosterior, Posterior
from coterie.mixture.ppc.covariances import Covariance
from coterie.mixture.ppc.gaussians import (
    Mixture,
    Moments,
    log_densities,
    log_sum_rows,
    wide_chunks,
)

__all__ = ["Expectation", "expect", "free_rows", "posterior_of_all"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
_CORE_CHUNK = 4096


class Expectation(NamedTuple):
    """What the M-step needs.

    Attributes
    ----------
    log_likelihood : float
        Of the free rows plus log Z of the core, before log Ω.
    moments : Moments
        Of all rows, about the means they were computed with.
    prior_counts : (K,)
        How often each cluster's weight counts: Σ_free r + Σ_nodes m q.
    """

    log_likelihood: float
    moments: Moments
    prior_counts: FloatArray


def expect(
    rows: Rows, core: CorePosterior, mixture: Mixture, n_clusters: int, covariance: Covariance
) -> Expectation:
    """Penalised log-likelihood (without log Ω) and expected sums (PPC §2.3 and §3).

    Free rows are independent given the parameters and are done with in one pass over the blocks;
    that pass leaves the log-densities of the core rows behind for the engine.
    """
    log_joint = np.empty((core.core.rows.size, mixture.weights.size))
    log_likelihood, moments = free_rows(rows, core.core.rows, mixture, covariance, log_joint)
    counts = moments.counts.reshape(n_clusters, -1).sum(axis=1)
    if not core.parts:
        return Expectation(log_likelihood, moments, counts)
    posterior, inside = core_posterior(core, log_joint, mixture, n_clusters, final=False)
    moments = moments.plus(
        _core_moments(rows, core, posterior.marginals, inside, mixture.means, covariance)
    )
    counts = counts + core.exponent @ posterior.marginals
    return Expectation(log_likelihood + posterior.log_partition, moments, counts)


def free_rows(
    rows: Rows,
    core_rows: IntArray,
    mixture: Mixture,
    covariance: Covariance,
    log_joint: FloatArray,  # OUT (r, G)
    resp: FloatArray | None = None,  # OUT (n, G)
) -> tuple[float, Moments]:
    """Log-likelihood and moments of the rows outside `core_rows` (r,), sorted.

    Fills `log_joint` with log π_g N(x | g) of the core rows and, if asked, `resp` with the
    responsibilities of the free ones.
    """
    log_weights = np.log(mixture.weights)
    n_components = mixture.weights.size

    def work(start: int, stop: int) -> tuple[float, Moments]:
        total = 0.0
        part = Moments.zeros(mixture.means, covariance)
        for lo, hi, chunk in wide_chunks(rows, start, stop, n_components):
            values = log_densities(chunk, mixture, covariance)
            values += log_weights
            a, b = np.searchsorted(core_rows, (lo, hi))
            inside = core_rows[a:b] - lo
            log_joint[a:b] = values[inside]
            if b - a == hi - lo:
                continue
            log_sum = log_sum_rows(values)
            log_sum[inside] = 0.0
            values[inside] = 0.0
            total += float(log_sum.sum())
            if resp is None:
                part.add(chunk, values, mixture.means, covariance)
            else:
                resp[lo:hi] = values
        return total, part

    return rows.map_reduce(work, lambda x, y: (x[0] + y[0], x[1].plus(y[1])))


def core_posterior(
    core: CorePosterior, log_joint: FloatArray, mixture: Mixture, n_clusters: int, final: bool
) -> tuple[Posterior, FloatArray | None]:
    """Posterior of the nodes, and the share (r, G) of each component in its cluster.

    A cluster of several components has the density Σ_g π_g N(x | g) / π_k; pairs act on clusters,
    so its components share the row's posterior as they would without pairs. None for one each.
    """
    log_pi = np.log(mixture.weights.reshape(n_clusters, -1).sum(axis=1))
    inside = None
    if mixture.weights.size == n_clusters:
        log_cluster = log_joint
    else:
        r = log_joint.shape[0]
        inside = log_joint.reshape(r * n_clusters, -1)
        log_cluster = log_sum_rows(inside).reshape(r, n_clusters)
        inside = inside.reshape(r, -1)
    log_cluster -= log_pi
    return core.infer(log_cluster, log_pi, final), inside


def _core_moments(
    rows: Rows,
    core: CorePosterior,
    marginals: FloatArray,
    inside: FloatArray | None,
    means: FloatArray,
    covariance: Covariance,
) -> Moments:
    """Moments of the core rows, each with its node's posterior."""
    core_rows, node = core.core.rows, core.core.node
    per_cluster = means.shape[0] // marginals.shape[1]

    def work(start: int, stop: int) -> Moments:
        part = Moments.zeros(means, covariance)
        first, last = np.searchsorted(core_rows, (start, stop))
        for lo in range(first, last, _CORE_CHUNK):
            hi = min(lo + _CORE_CHUNK, last)
            resp = marginals[node[lo:hi]]
            if inside is not None:
                resp = np.repeat(resp, per_cluster, axis=1) * inside[lo:hi]
            chunk = np.asarray(rows.take(core_rows[lo:hi]), dtype=np.float64)
            part.add(chunk, resp, means, covariance)
        return part

    return rows.map_reduce(work, Moments.plus)


def posterior_of_all(
    rows: Rows, core: CorePosterior, mixture: Mixture, n_clusters: int, covariance: Covariance
) -> tuple[FloatArray, Posterior | None]:
    """Constrained posterior (n, K) of every row, and what inference says of the core."""
    n_components = mixture.weights.size
    log_joint = np.empty((core.core.rows.size, n_components))
    resp = np.empty((rows.n, n_components))
    free_rows(rows, core.core.rows, mixture, covariance, log_joint, resp)
    if n_components > n_clusters:
        resp = resp.reshape(rows.n, n_clusters, -1).sum(axis=2)
    if not core.parts:
        return resp, None
    posterior, _ = core_posterior(core, log_joint, mixture, n_clusters, final=True)
    resp[core.core.rows] = core.core.expand(posterior.marginals)
    return resp, posterior
