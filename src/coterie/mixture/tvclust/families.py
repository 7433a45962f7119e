"""Conjugate families of TVClust: Gaussian with a Normal-inverse-Wishart prior, multinomial with a
Dirichlet prior. Both inference methods see a cluster through its sums ("statistics") alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.special import digamma, gammaln, multigammaln

from coterie._typing import FloatArray
from coterie.mixture.tvclust import _kernels as kernels

__all__ = ["Family", "Gaussian", "Multinomial", "NormalInverseWishart", "Scores"]


class Scores(Protocol):
    """Log-densities of rows under every cluster; a value that another process can be given."""

    def __call__(self, rows: Any) -> FloatArray:
        """Rows (b, d) to (b, K)."""


class Family(Protocol):
    """What inference needs of a family. Statistics are (K, width), counts in column 0."""

    width: int

    def expected_scores(self, statistics: FloatArray) -> Scores:
        """E ln p(x | cluster) under the clusters' posteriors."""

    def predictive_scores(self, statistics: FloatArray) -> Scores:
        """ln p(x | rows of the cluster)."""

    def add(self, rows: Any, resp: FloatArray, statistics: FloatArray) -> None:
        """Add rows (b, d) with responsibilities (b, K) to the statistics, in place."""

    def log_evidence(self, statistics: FloatArray) -> FloatArray:
        """ln of the marginal likelihood of each cluster's rows, (K,)."""


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
        kernels.add_quadratic_forms(_doubles(rows) @ self.white, self.offset, self.slope, out)
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
        kernels.add_quadratic_forms(_doubles(rows) @ self.white, self.offset, -self.shrink, out)
        return self.constant - self.power * np.log1p(out)


def _doubles(rows: Any) -> FloatArray:
    """Dense rows as the kernels take them."""
    return np.ascontiguousarray(rows, dtype=np.float64)


class Gaussian:
    """Full-covariance Gaussians.

    Parameters
    ----------
    prior_scale : (d,)
        Diagonal of the prior's scale matrix Psi_0; the prior mean is the origin of the rows.
    kappa0, nu0 : float
        How many rows the prior's mean and covariance are worth; nu0 > d - 1.
    """

    def __init__(self, prior_scale: FloatArray, kappa0: float, nu0: float) -> None:
        self.d = len(prior_scale)
        self.width = 1 + self.d + self.d * (self.d + 1) // 2
        self.kappa0, self.nu0 = kappa0, nu0
        self.prior_scale = prior_scale
        self._upper = np.triu_indices(self.d)

    def posterior(self, statistics: FloatArray) -> NormalInverseWishart:
        """The posterior of every cluster given its (expected) sums."""
        counts, first = statistics[:, 0], statistics[:, 1 : 1 + self.d]
        kappa, nu = self.kappa0 + counts, self.nu0 + counts
        mean = first / kappa[:, None]
        scale = np.zeros((len(counts), self.d, self.d))
        scale[:, self._upper[0], self._upper[1]] = statistics[:, 1 + self.d :]
        scale[:, self._upper[1], self._upper[0]] = statistics[:, 1 + self.d :]
        scale -= kappa[:, None, None] * mean[:, :, None] * mean[:, None, :]
        diagonal = np.arange(self.d)
        # The scatter is never below 0; rounding of far-off, tight clusters may say otherwise.
        scale[:, diagonal, diagonal] = (
            np.maximum(scale[:, diagonal, diagonal], 0.0) + self.prior_scale
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
        """E ln N(x) = (E ln|Lambda| - d ln 2 pi - d / kappa - nu |x - m|^2_inv(Psi)) / 2."""
        post = self.posterior(statistics)
        white, log_det = self._whitening(post)
        halves = 0.5 * (post.nu[:, None] - np.arange(self.d))
        expected_log_det = digamma(halves).sum(axis=1) + self.d * np.log(2) - log_det
        constant = 0.5 * (expected_log_det - self.d * np.log(2 * np.pi) - self.d / post.kappa)
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
        kernels.expand_features(_doubles(rows), features)
        statistics += resp.T @ features

    def log_evidence(self, statistics: FloatArray) -> FloatArray:
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


def _project(mean: FloatArray, white: FloatArray) -> FloatArray:
    """m_k P_k of every cluster, (K, d)."""
    n_clusters, d = mean.shape
    blocks = white.reshape(d, n_clusters, d)
    return np.ascontiguousarray(np.einsum("km,mkl->kl", mean, blocks))


class MultinomialScores(NamedTuple):
    """Products of rows with slope (d, K)."""

    slope: FloatArray

    def __call__(self, rows: Any) -> FloatArray:
        return np.ascontiguousarray(rows @ self.slope, dtype=np.float64)


class DirichletScores(NamedTuple):
    """ln Gamma(C) - ln Gamma(C + |x|) + sum_m ln Gamma(c_m + x_m) - ln Gamma(c_m)."""

    counts: FloatArray  # (K, d) c
    log_gamma: FloatArray  # (K, d) ln Gamma(c)
    total: FloatArray  # (K,) C

    def __call__(self, rows: Any) -> FloatArray:
        csr = sp.csr_array(rows)
        size = np.asarray(csr.sum(axis=1), dtype=np.float64).ravel()
        row_of = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
        out = gammaln(self.total) - gammaln(self.total + size[:, None])
        for k, (counts, log_gamma) in enumerate(zip(self.counts, self.log_gamma, strict=True)):
            gain = gammaln(counts[csr.indices] + csr.data) - log_gamma[csr.indices]
            out[:, k] += np.bincount(row_of, gain, minlength=csr.shape[0])
        return out


class Multinomial:
    """Counts: p(x | theta) = prod_m theta_m^x_m (without the coefficient, which no cluster sees).

    Parameters
    ----------
    n_columns : int
    concentration : float
        The Dirichlet prior's count per column.
    """

    def __init__(self, n_columns: int, concentration: float) -> None:
        self.d = n_columns
        self.width = 1 + n_columns
        self.concentration = concentration

    def _counts(self, statistics: FloatArray) -> tuple[FloatArray, FloatArray]:
        counts = statistics[:, 1:] + self.concentration
        return counts, counts.sum(axis=1)

    def expected_scores(self, statistics: FloatArray) -> Scores:
        """E ln p(x) = sum_m x_m (digamma(c_m) - digamma(sum c))."""
        counts, total = self._counts(statistics)
        slope = np.ascontiguousarray((digamma(counts) - digamma(total)[:, None]).T)
        return MultinomialScores(slope)

    def predictive_scores(self, statistics: FloatArray) -> Scores:
        """ln p(x) of the Dirichlet-multinomial."""
        counts, total = self._counts(statistics)
        return DirichletScores(counts, gammaln(counts), total)

    def add(self, rows: Any, resp: FloatArray, statistics: FloatArray) -> None:
        """Add r and r x."""
        statistics[:, 0] += resp.sum(axis=0)
        statistics[:, 1:] += np.asarray(rows.T @ resp).T

    def log_evidence(self, statistics: FloatArray) -> FloatArray:
        """Dirichlet-multinomial evidence of each cluster, (K,)."""
        counts, total = self._counts(statistics)
        prior = gammaln(self.d * self.concentration) - self.d * gammaln(self.concentration)
        return prior + gammaln(counts).sum(axis=1) - gammaln(total)
