"""Gaussians that share one covariance matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import digamma, gammaln, multigammaln

from coterie._typing import FloatArray
from coterie.mixture.tvclust.families.base import Scores
from coterie.mixture.tvclust.families.gaussian import doubles, published, unfold, upper

__all__ = ["TiedGaussian", "TiedPosterior"]


class TiedPosterior(NamedTuple):
    """kappa (K,), nu, mean (K, d), scale (d, d): Sigma ~ IW(scale, nu), one for all."""

    kappa: FloatArray
    nu: float
    mean: FloatArray
    scale: FloatArray


class TiedScores(NamedTuple):
    """constant_k - slope |x P - offset_k|^2, or constant_k - power ln(1 + shrink_k |...|^2)."""

    constant: FloatArray  # (K,)
    slope: float  # or power
    shrink: FloatArray  # (K,), or (0,) for a score without logarithm
    offset: FloatArray  # (K, d)
    white: FloatArray  # (d, d)

    def __call__(self, rows: Any) -> FloatArray:
        projected = doubles(rows) @ self.white
        squares = np.einsum("bd,bd->b", projected, projected)[:, None] - 2 * (
            projected @ self.offset.T
        )
        squares += np.einsum("kd,kd->k", self.offset, self.offset)
        if self.shrink.size:
            squares = np.log1p(self.shrink * np.maximum(squares, 0.0))
        return self.constant - self.slope * squares


class TiedGaussian:
    """Gaussians with one covariance matrix for all clusters; statistics laid out as of `Gaussian`.

    Parameters
    ----------
    prior_scale, kappa0, nu0, blur
        As of `Gaussian`.
    """

    def __init__(
        self, prior_scale: FloatArray, kappa0: float, nu0: float, blur: FloatArray | None = None
    ) -> None:
        self.d = len(prior_scale)
        self.width = 1 + self.d + self.d * (self.d + 1) // 2
        self.kappa0, self.nu0 = kappa0, nu0
        self.prior_scale = prior_scale
        self.blur = np.zeros(self.d) if blur is None else blur

    def posterior(self, statistics: FloatArray) -> TiedPosterior:
        """The posterior given the (expected) sums."""
        kappa = self.kappa0 + statistics[:, 0]
        total = float(statistics[:, 0].sum())
        mean = statistics[:, 1 : 1 + self.d] / kappa[:, None]
        scatter = unfold(statistics[:, 1 + self.d :].sum(axis=0)[None], self.d)[0]
        scatter -= (kappa[:, None] * mean).T @ mean
        diagonal = np.arange(self.d)
        scatter[diagonal, diagonal] = np.maximum(scatter[diagonal, diagonal], 0.0)
        scatter[diagonal, diagonal] += self.prior_scale + total * self.blur
        return TiedPosterior(kappa, self.nu0 + total, mean, scatter)

    def _whitening(self, posterior: TiedPosterior) -> tuple[FloatArray, float]:
        """P with P P' = inverse scale, (d, d), and log det of the scale."""
        lower = np.linalg.cholesky(posterior.scale)
        white = np.ascontiguousarray(np.linalg.inv(lower).T)
        return white, 2 * float(np.log(np.diagonal(lower)).sum())

    def expected_scores(self, statistics: FloatArray) -> Scores:
        """As of `Gaussian`, with one Psi and nu."""
        post = self.posterior(statistics)
        white, log_det = self._whitening(post)
        halves = 0.5 * (post.nu - np.arange(self.d))
        expected_log_det = float(digamma(halves).sum()) + self.d * np.log(2) - log_det
        spread = post.nu * float(self.blur @ np.square(white).sum(axis=1))
        constant = 0.5 * (expected_log_det - self.d * np.log(2 * np.pi) - spread)
        constants = constant - 0.5 * self.d / post.kappa
        return TiedScores(constants, 0.5 * post.nu, np.empty(0), post.mean @ white, white)

    def predictive_scores(self, statistics: FloatArray) -> Scores:
        """ln of Student t densities, one Psi for all."""
        post = self.posterior(statistics)
        white, log_det = self._whitening(post)
        shrink = post.kappa / (post.kappa + 1)
        constant = gammaln(0.5 * (post.nu + 1)) - gammaln(0.5 * (post.nu + 1 - self.d))
        constants = constant - 0.5 * log_det + 0.5 * self.d * (np.log(shrink) - np.log(np.pi))
        return TiedScores(constants, 0.5 * (post.nu + 1), shrink, post.mean @ white, white)

    def add(self, rows: Any, resp: FloatArray, statistics: FloatArray) -> None:
        """Add r, r x, and to all clusters together r x x'.

        Only the sum of the second moments over clusters is ever used; each is given a part of it
        in proportion to its rows, so that clusters can be left out, merged and put in order.
        """
        x, weight = doubles(rows), resp.sum(axis=1)
        counts = resp.sum(axis=0)
        total = counts.sum()
        statistics[:, 0] += counts
        statistics[:, 1 : 1 + self.d] += resp.T @ x
        if total != 0:
            second = ((x * weight[:, None]).T @ x)[upper(self.d)]
            statistics[:, 1 + self.d :] += (counts / total)[:, None] * second

    def log_evidence(self, statistics: FloatArray) -> float:
        """ln p(rows) = -(N d / 2) ln pi + ln Gamma_d(nu/2) - ln Gamma_d(nu0/2)
        + (nu0 ln|Psi0| - nu ln|Psi| + d sum_k ln(kappa0/kappa_k)) / 2.
        """
        post = self.posterior(statistics)
        _, log_det = np.linalg.slogdet(post.scale)
        before = self.nu0 * np.log(self.prior_scale).sum() - 2 * multigammaln(
            0.5 * self.nu0, self.d
        )
        after = 2 * multigammaln(0.5 * post.nu, self.d) - post.nu * log_det
        after += self.d * np.log(self.kappa0 / post.kappa).sum()
        return float(0.5 * (before + after - (post.nu - self.nu0) * self.d * np.log(np.pi)))

    def merge_gains(self, statistics: FloatArray) -> FloatArray:
        """What the log-evidence gains if clusters k and l become one, (K, K), symmetric."""
        post = self.posterior(statistics)
        white, _ = self._whitening(post)
        mean, kappa = post.mean @ white, post.kappa  # where Psi is the identity
        k, other = np.triu_indices(len(kappa), 1)
        together = kappa[k] + kappa[other] - self.kappa0
        center = (kappa[k, None] * mean[k] + kappa[other, None] * mean[other]) / together[:, None]
        gains = np.zeros((len(kappa), len(kappa)))
        for at, (a, b) in enumerate(zip(k, other, strict=True)):
            ends = np.vstack([mean[a], mean[b], center[at]])
            amounts = np.array([kappa[a], kappa[b], -together[at]])
            middle = (ends * amounts[:, None]).T @ ends  # what the shared scatter grows by
            _, log_det = np.linalg.slogdet(np.eye(self.d) + middle)
            gains[a, b] = -post.nu * log_det + self.d * np.log(
                kappa[a] * kappa[b] / (self.kappa0 * together[at])
            )
        return 0.5 * (gains + gains.T)

    def draw_whitening(self, statistics: FloatArray, rng: np.random.Generator) -> FloatArray:
        """W (d, d) with W W' the inverse of a covariance drawn from its posterior (Bartlett)."""
        post = self.posterior(statistics)
        white, _ = self._whitening(post)
        bartlett = np.tril(rng.normal(size=(self.d, self.d)), -1)
        diagonal = np.arange(self.d)
        bartlett[diagonal, diagonal] = np.sqrt(rng.chisquare(post.nu - diagonal))
        return white @ bartlett

    def describe(self, statistics: FloatArray, origin: FloatArray) -> dict[str, FloatArray]:
        """means_ (K, d) and covariances_ (d, d)."""
        post = self.posterior(statistics)
        return published(post.mean + origin, post.scale / (post.nu - self.d - 1))
