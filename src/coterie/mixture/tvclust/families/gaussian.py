"""Gaussians with a covariance matrix each, under a Normal-inverse-Wishart prior."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import digamma, gammaln, multigammaln

from coterie._typing import FloatArray, IntArray
from coterie.mixture.tvclust import _kernels as kernels
from coterie.mixture.tvclust.families.base import Scores, Separable

__all__ = ["Gaussian", "NormalInverseWishart", "doubles", "published", "unfold", "upper"]


class NormalInverseWishart(NamedTuple):
    """kappa (K,), nu (K,), mean (K, d), scale (K, d, d): Sigma ~ IW(scale, nu)."""

    kappa: FloatArray
    nu: FloatArray
    mean: FloatArray
    scale: FloatArray


class GaussianScores(NamedTuple):
    """constant_k - slope_k |x P_k - offset_k|^2 for K clusters in d columns."""

    constant: FloatArray  # (K,)
    slope: FloatArray  # (K,)
    offset: FloatArray  # (K, d)
    white: FloatArray  # (d, K d) the P_k side by side

    def __call__(self, rows: Any) -> FloatArray:
        out = np.tile(self.constant, (len(rows), 1))
        kernels.add_quadratic_forms(doubles(rows) @ self.white, self.offset, self.slope, out)
        return out


class StudentScores(NamedTuple):
    """constant_k - power_k ln(1 + shrink_k |x P_k - offset_k|^2)."""

    constant: FloatArray  # (K,)
    power: FloatArray  # (K,)
    shrink: FloatArray  # (K,)
    offset: FloatArray  # (K, d)
    white: FloatArray  # (d, K d)

    def __call__(self, rows: Any) -> FloatArray:
        out = np.zeros((len(rows), len(self.constant)))
        kernels.add_quadratic_forms(doubles(rows) @ self.white, self.offset, -self.shrink, out)
        return self.constant - self.power * np.log1p(out)


def doubles(rows: Any) -> FloatArray:
    """Dense rows as the kernels take them."""
    return np.ascontiguousarray(rows, dtype=np.float64)


class Gaussian(Separable):
    """Full-covariance Gaussians.

    Parameters
    ----------
    prior_scale : (d,)
        Diagonal of the prior's scale matrix Psi_0; the prior mean is the origin of the rows.
    kappa0, nu0 : float
        How many rows the prior's mean and covariance are worth; nu0 > d - 1.
    blur : (d,), optional
        Variance of what each column's values leave open (see `start.measure_columns`): a row is
        spread by that much about the values it has.
    """

    def __init__(
        self, prior_scale: FloatArray, kappa0: float, nu0: float, blur: FloatArray | None = None
    ) -> None:
        self.d = len(prior_scale)
        self.width = 1 + self.d + self.d * (self.d + 1) // 2
        self.kappa0, self.nu0 = kappa0, nu0
        self.prior_scale = prior_scale
        self.blur = np.zeros(self.d) if blur is None else blur

    def posterior(self, statistics: FloatArray) -> NormalInverseWishart:
        """The posterior of every cluster given its (expected) sums."""
        counts, first = statistics[:, 0], statistics[:, 1 : 1 + self.d]
        kappa, nu = self.kappa0 + counts, self.nu0 + counts
        mean = first / kappa[:, None]
        scale = unfold(statistics[:, 1 + self.d :], self.d)
        scale -= kappa[:, None, None] * mean[:, :, None] * mean[:, None, :]
        diagonal = np.arange(self.d)
        # The scatter is never below 0; rounding of far-off, tight clusters may say otherwise.
        scale[:, diagonal, diagonal] = (
            np.maximum(scale[:, diagonal, diagonal], 0.0)
            + self.prior_scale
            + counts[:, None] * self.blur
        )
        return NormalInverseWishart(kappa, nu, mean, scale)

    def _whitening(self, posterior: NormalInverseWishart) -> tuple[FloatArray, FloatArray]:
        """P with P P' = inverse scale, side by side (d, K d), and log det of the scales (K,)."""
        lower = np.linalg.cholesky(posterior.scale)
        white = np.linalg.inv(lower)  # (K, d, d): P_k'
        side_by_side = np.ascontiguousarray(white.reshape(-1, self.d).T)
        log_det = 2 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
        return side_by_side, log_det

    def expected_scores(self, statistics: FloatArray) -> Scores:
        """E ln N(x) = (E ln|Lambda| - d ln 2 pi - d / kappa - nu |x - m|^2_inv(Psi)) / 2, and
        - nu tr(inv(Psi) blur) / 2 for the spread of the row itself.
        """
        post = self.posterior(statistics)
        white, log_det = self._whitening(post)
        halves = 0.5 * (post.nu[:, None] - np.arange(self.d))
        expected_log_det = digamma(halves).sum(axis=1) + self.d * np.log(2) - log_det
        constant = 0.5 * (expected_log_det - self.d * np.log(2 * np.pi) - self.d / post.kappa)
        blocks = white.reshape(self.d, len(constant), self.d)
        constant -= 0.5 * post.nu * np.einsum("m,mkl,mkl->k", self.blur, blocks, blocks)
        return GaussianScores(constant, 0.5 * post.nu, _project(post.mean, white), white)

    def predictive_scores(self, statistics: FloatArray) -> Scores:
        """ln of the Student t with nu - d + 1 degrees of freedom, scale Psi (kappa + 1) / ..."""
        post = self.posterior(statistics)
        white, log_det = self._whitening(post)
        shrink = post.kappa / (post.kappa + 1)
        constant = (
            gammaln(0.5 * (post.nu + 1))
            - gammaln(0.5 * (post.nu + 1 - self.d))
            + 0.5 * self.d * (np.log(shrink) - np.log(np.pi))
            - 0.5 * log_det
        )
        offset = _project(post.mean, white)
        return StudentScores(constant, 0.5 * (post.nu + 1), shrink, offset, white)

    def add(self, rows: Any, resp: FloatArray, statistics: FloatArray) -> None:
        """Add r, r x and r x x'."""
        features = np.empty((len(rows), self.width))
        kernels.expand_features(doubles(rows), features)
        statistics += resp.T @ features

    def cluster_evidence(self, statistics: FloatArray) -> FloatArray:
        """ln p(rows of the cluster) = -(N d / 2) ln pi + ln Gamma_d(nu/2) - ln Gamma_d(nu0/2)
        + (nu0 ln|Psi0| - nu ln|Psi| + d ln(kappa0/kappa)) / 2.
        """
        post = self.posterior(statistics)
        _, log_det = np.linalg.slogdet(post.scale)
        before = self.nu0 * np.log(self.prior_scale).sum() - 2 * multigammaln(
            0.5 * self.nu0, self.d
        )
        after = np.array([2 * multigammaln(0.5 * nu, self.d) for nu in post.nu])
        after += self.d * np.log(self.kappa0 / post.kappa) - post.nu * log_det
        return 0.5 * (before + after - statistics[:, 0] * self.d * np.log(np.pi))

    def describe(self, statistics: FloatArray, origin: FloatArray) -> dict[str, FloatArray]:
        """means_ (K, d) and covariances_ (K, d, d)."""
        post = self.posterior(statistics)
        freedom = post.nu - self.d - 1
        return published(post.mean + origin, post.scale / freedom[:, None, None])


def published(means: FloatArray, covariances: FloatArray) -> dict[str, FloatArray]:
    """Attributes of every Gaussian family."""
    return {"means_": means, "covariances_": covariances}


@cache
def upper(d: int) -> tuple[IntArray, IntArray]:
    """Where the upper triangle of a (d, d) matrix is, row by row."""
    return np.triu_indices(d)


def unfold(triangle: FloatArray, d: int) -> FloatArray:
    """Upper triangles (K, d (d + 1) / 2), row by row, as symmetric matrices (K, d, d)."""
    full = np.empty((len(triangle), d, d))
    above, right = upper(d)
    full[:, above, right] = triangle
    full[:, right, above] = triangle
    return full


def _project(mean: FloatArray, white: FloatArray) -> FloatArray:
    """m_k P_k of every cluster, (K, d)."""
    n_clusters, d = mean.shape
    blocks = white.reshape(d, n_clusters, d)
    return np.ascontiguousarray(np.einsum("km,mkl->kl", mean, blocks))
