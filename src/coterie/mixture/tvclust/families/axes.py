"""Gaussians whose columns are independent: a variance for each column, or one for all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import digamma, gammaln

from coterie._typing import FloatArray
from coterie.mixture.tvclust.families.base import Scores, Separable
from coterie.mixture.tvclust.families.gaussian import doubles, published

__all__ = ["AxisGaussian", "AxisPosterior"]


class AxisPosterior(NamedTuple):
    """kappa (K,); nu (K,); mean (K, d) and psi (K, G) in units of the columns' scale.

    The variance of group g is inverse Gamma(nu / 2, psi_g / 2).
    """

    kappa: FloatArray
    nu: FloatArray
    mean: FloatArray
    psi: FloatArray


class QuadraticScores(NamedTuple):
    """constant_k + <y, linear_k> + <y^2, square_k>, y = x / unit."""

    unit: FloatArray  # (d,)
    constant: FloatArray  # (K,)
    linear: FloatArray  # (d, K)
    square: FloatArray  # (d, K)

    def __call__(self, rows: Any) -> FloatArray:
        y = doubles(rows) / self.unit
        out: FloatArray = y @ self.linear
        np.square(y, out=y)
        out += y @ self.square
        out += self.constant
        return out


class AxisStudentScores(NamedTuple):
    """constant_k - power_k sum_g ln(1 + shrink_k sum_{m in g} (y_m - mean_km)^2 / psi_kg)."""

    unit: FloatArray  # (d,)
    constant: FloatArray  # (K,)
    power: FloatArray  # (K,)
    shrink: FloatArray  # (K,)
    mean: FloatArray  # (K, d)
    psi: FloatArray  # (K, G)

    def __call__(self, rows: Any) -> FloatArray:
        y = doubles(rows) / self.unit
        out = np.empty((len(y), len(self.constant)))
        for k, mean in enumerate(self.mean):
            squares = np.square(y - mean)
            if self.psi.shape[1] == 1:
                squares = squares.sum(axis=1, keepdims=True)
            spread = np.log1p(self.shrink[k] * squares / self.psi[k]).sum(axis=1)
            out[:, k] = self.constant[k] - self.power[k] * spread
        return out


class AxisGaussian(Separable):
    """Gaussians with a diagonal covariance, of each column or, `shared`, of all alike.

    Statistics are the number of rows, the sums and the sums of squares, in units of the columns.

    Parameters
    ----------
    variance : (d,)
        The scale of each column. A shared variance is relative to it.
    expected : float
        The variance expected of a cluster, relative to `variance`.
    kappa0, nu0 : float
        How many rows the prior's mean and variance are worth; nu0 > 2.
    shared : bool
        One variance for all columns ("spherical").
    blur : (d,), optional
        As of `Gaussian`.
    """

    def __init__(
        self,
        variance: FloatArray,
        expected: float,
        kappa0: float,
        nu0: float,
        *,
        shared: bool,
        blur: FloatArray | None = None,
    ) -> None:
        self.d = len(variance)
        self.width = 1 + 2 * self.d
        self.unit = np.sqrt(variance)
        self.kappa0, self.nu0, self.shared = kappa0, nu0, shared
        self.psi0 = expected * (nu0 - 2)
        self.blur = np.zeros(self.d) if blur is None else blur / variance
        self.columns = self.d if shared else 1  # that have a variance in common

    def posterior(self, statistics: FloatArray) -> AxisPosterior:
        """The posterior of every cluster given its (expected) sums."""
        counts, first = statistics[:, 0], statistics[:, 1 : 1 + self.d]
        kappa, nu = self.kappa0 + counts, self.nu0 + self.columns * counts
        mean = first / kappa[:, None]
        scatter = statistics[:, 1 + self.d :] - kappa[:, None] * np.square(mean)
        # Never below 0; rounding of far-off, tight clusters may say otherwise.
        scatter = np.maximum(scatter, 0.0) + counts[:, None] * self.blur
        if self.shared:
            scatter = scatter.sum(axis=1, keepdims=True)
        return AxisPosterior(kappa, nu, mean, self.psi0 + scatter)

    def expected_scores(self, statistics: FloatArray) -> Scores:
        """E ln N(x) = sum_m (E ln lambda - ln 2 pi - 1/kappa - E lambda ((y - m)^2 + blur)) / 2."""
        post = self.posterior(statistics)
        precision = np.broadcast_to(post.nu[:, None] / post.psi, post.mean.shape)
        log_precision = digamma(0.5 * post.nu)[:, None] + np.log(2) - np.log(post.psi)
        constant = self.columns * log_precision.sum(axis=1) - self.d * (
            np.log(2 * np.pi) + 1 / post.kappa
        )
        constant -= (precision * (np.square(post.mean) + self.blur)).sum(axis=1)
        constant = 0.5 * constant - np.log(self.unit).sum()
        linear = np.ascontiguousarray((precision * post.mean).T)
        return QuadraticScores(
            self.unit, constant, linear, np.ascontiguousarray(-0.5 * precision.T)
        )

    def predictive_scores(self, statistics: FloatArray) -> Scores:
        """ln of a Student t of each column, or of one for all."""
        post = self.posterior(statistics)
        size = self.columns
        power = 0.5 * (post.nu + size)
        shrink = post.kappa / (post.kappa + 1)
        groups = post.psi.shape[1]
        constant = groups * (gammaln(power) - gammaln(0.5 * post.nu))
        constant += 0.5 * self.d * (np.log(shrink) - np.log(np.pi))
        constant -= 0.5 * size * np.log(post.psi).sum(axis=1) + np.log(self.unit).sum()
        return AxisStudentScores(self.unit, constant, power, shrink, post.mean, post.psi)

    def add(self, rows: Any, resp: FloatArray, statistics: FloatArray) -> None:
        """Add r, r y and r y^2."""
        y = doubles(rows) / self.unit
        statistics[:, 0] += resp.sum(axis=0)
        statistics[:, 1 : 1 + self.d] += resp.T @ y
        statistics[:, 1 + self.d :] += resp.T @ np.square(y)

    def cluster_evidence(self, statistics: FloatArray) -> FloatArray:
        """ln p(rows of the cluster) = -N sum_m ln unit_m - (N d / 2) ln pi + sum over groups of
        ln Gamma(nu/2) - ln Gamma(nu0/2) + (nu0 ln psi0 - nu ln psi) / 2, + d ln(kappa0/kappa) / 2.
        """
        post = self.posterior(statistics)
        groups = post.psi.shape[1]
        evidence = groups * (gammaln(0.5 * post.nu) - gammaln(0.5 * self.nu0))
        evidence += 0.5 * groups * self.nu0 * np.log(self.psi0)
        evidence -= 0.5 * post.nu * np.log(post.psi).sum(axis=1)
        evidence += 0.5 * self.d * np.log(self.kappa0 / post.kappa)
        evidence -= statistics[:, 0] * (np.log(self.unit).sum() + 0.5 * self.d * np.log(np.pi))
        return np.asarray(evidence)

    def describe(self, statistics: FloatArray, origin: FloatArray) -> dict[str, FloatArray]:
        """means_ (K, d) and covariances_ (K, d): the variances of the columns."""
        post = self.posterior(statistics)
        variances = post.psi / (post.nu - 2)[:, None] * np.square(self.unit)
        return published(post.mean * self.unit + origin, variances)
