"""The fitted mixture on rows that were not in `fit`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.utils import check_random_state

from coterie.data import Rows
from coterie.mixture.ppc.covariances import COVARIANCES
from coterie.mixture.ppc.gaussians import Mixture, log_densities, wide_chunks

__all__ = ["log_density_of_rows", "sample_rows"]

FloatArray = NDArray[np.float64]


def log_density_of_rows(
    rows: Rows, mixture: Mixture, n_clusters: int, covariance_type: str
) -> FloatArray:
    """log Σ_{g in k} π_g N(x | g), (n, K)."""
    covariance = COVARIANCES[covariance_type]
    log_weights = np.log(mixture.weights)
    out = np.empty((rows.n, n_clusters))

    def fill(start: int, stop: int) -> None:
        for lo, hi, chunk in wide_chunks(rows, start, stop, log_weights.size):
            values = log_densities(chunk, mixture, covariance) + log_weights
            if log_weights.size > n_clusters:
                values = logsumexp(values.reshape(hi - lo, n_clusters, -1), axis=2)
            out[lo:hi] = values

    rows.for_each(fill)
    return out


def sample_rows(
    mixture: Mixture, covariance_type: str, n_samples: int, random_state: Any
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Draw rows (n, d) and the component (n,) of each, components in order."""
    rng = check_random_state(random_state)
    covariance = COVARIANCES[covariance_type]
    n_components, d = mixture.means.shape
    counts = rng.multinomial(n_samples, mixture.weights / mixture.weights.sum())
    component = np.repeat(np.arange(n_components, dtype=np.int64), counts)
    rows = rng.standard_normal((n_samples, d))
    for g in range(n_components):
        inside = component == g
        root = covariance.square_root(mixture.covariances, g, d)
        rows[inside] = mixture.means[g] + rows[inside] @ root.T
    return rows, component
