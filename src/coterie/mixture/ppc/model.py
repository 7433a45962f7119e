"""A Gaussian mixture as it is fitted: its shape, its parameters, and the sums they come from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._typing import FloatArray
from coterie.exceptions import InvalidData
from coterie.mixture.ppc.covariances import COVARIANCES, Covariance
from coterie.mixture.ppc.regularization import CovariancePrior

__all__ = [
    "Mixture",
    "MixtureShape",
    "Moments",
    "log_prior",
    "make_mixture",
    "maximize",
    "n_parameters",
    "no_moments",
]

_TINY = 10 * np.finfo(np.float64).eps  # added to counts, as GaussianMixture does


class MixtureShape(NamedTuple):
    """Number and kind of the Gaussians: G = n_clusters · per_cluster, those of a cluster together.

    `reg_covar` is added to the diagonal of every covariance; `prior` is None for the likeliest
    covariances, whatever they are.
    """

    n_clusters: int
    per_cluster: int
    covariance_type: str
    reg_covar: float
    prior: CovariancePrior | None = None

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

    def with_cluster_weights(self, pi: FloatArray) -> Mixture:
        """The same with weights `pi` (K,) of clusters; components keep their shares of them."""
        factor = pi / np.maximum(self.cluster_weights, np.finfo(float).tiny)
        each = self.weights.reshape(self.shape.n_clusters, -1) * factor[:, None]
        return self._replace(weights=each.ravel())


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
    moments: Moments, old_means: FloatArray, shape: MixtureShape
) -> tuple[FloatArray, FloatArray]:
    """Means (G, d) and covariances that maximise the expected log-likelihood (PPC §2.3) plus
    the logarithm of the covariances' prior.
    """
    counts = moments.counts + _TINY
    moved = moments.sums / counts[:, None]
    covariances = shape.covariance.scatter(moments.squares, counts, moved)
    if shape.prior is not None:
        covariances = shape.covariance.most_probable(covariances, counts, shape.prior)
    return old_means + moved, shape.covariance.add_reg(covariances, shape.reg_covar)


def log_prior(mixture: Mixture) -> float:
    """log p(Σ) of the covariances, at most 0; 0 without a prior."""
    shape = mixture.shape
    if shape.prior is None:
        return 0.0
    each = shape.covariance.divergence(mixture.covariances, mixture.factors, shape.prior.target)
    return -shape.prior.rows * each


def n_parameters(mixture: Mixture) -> int:
    """Free parameters of a mixture."""
    n_components, d = mixture.means.shape
    covariance = mixture.shape.covariance.n_parameters(n_components, d)
    return covariance + n_components * d + n_components - 1


def no_moments(means: FloatArray, covariance: Covariance) -> Moments:
    """Sums over no rows yet, about means (G, d)."""
    n_components, d = means.shape
    squares = np.zeros(covariance.shape(n_components, d))
    return Moments(np.zeros(n_components), np.zeros((n_components, d)), squares)
