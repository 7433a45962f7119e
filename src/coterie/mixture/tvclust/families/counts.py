"""Families of counts: multinomial, Bernoulli and Poisson, dense or CSR.

What a row's density owes to the row alone (multinomial coefficients, x!) is left out: no cluster
sees it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import betaln, digamma, gammaln

from coterie._typing import FloatArray
from coterie.mixture.tvclust.families.base import Scores, Separable

__all__ = ["Bernoulli", "Multinomial", "Poisson"]


class LinearScores(NamedTuple):
    """constant_k + <x, slope_k>."""

    constant: FloatArray  # (K,)
    slope: FloatArray  # (d, K)

    def __call__(self, rows: Any) -> FloatArray:
        return np.ascontiguousarray(rows @ self.slope + self.constant, dtype=np.float64)


class _Sums(Separable):
    """A family that needs the number of rows and the sums of the columns."""

    def __init__(self, n_columns: int) -> None:
        self.d = n_columns
        self.width = 1 + n_columns

    def add(self, rows: Any, resp: FloatArray, statistics: FloatArray) -> None:
        """Add r and r x."""
        statistics[:, 0] += resp.sum(axis=0)
        statistics[:, 1:] += np.asarray(rows.T @ resp).T


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


class Multinomial(_Sums):
    """Counts: p(x | theta) = prod_m theta_m^x_m (without the coefficient, which no cluster sees).

    Parameters
    ----------
    n_columns : int
    concentration : float
        The Dirichlet prior's count per column.
    """

    def __init__(self, n_columns: int, concentration: float) -> None:
        super().__init__(n_columns)
        self.concentration = concentration

    def _counts(self, statistics: FloatArray) -> tuple[FloatArray, FloatArray]:
        counts = statistics[:, 1:] + self.concentration
        return counts, counts.sum(axis=1)

    def expected_scores(self, statistics: FloatArray) -> Scores:
        """E ln p(x) = sum_m x_m (digamma(c_m) - digamma(sum c))."""
        counts, total = self._counts(statistics)
        slope = np.ascontiguousarray((digamma(counts) - digamma(total)[:, None]).T)
        return LinearScores(np.zeros(len(total)), slope)

    def predictive_scores(self, statistics: FloatArray) -> Scores:
        """ln p(x) of the Dirichlet-multinomial."""
        counts, total = self._counts(statistics)
        return DirichletScores(counts, gammaln(counts), total)

    def cluster_evidence(self, statistics: FloatArray) -> FloatArray:
        """Dirichlet-multinomial evidence of each cluster, (K,)."""
        counts, total = self._counts(statistics)
        prior = gammaln(self.d * self.concentration) - self.d * gammaln(self.concentration)
        return prior + gammaln(counts).sum(axis=1) - gammaln(total)

    def describe(self, statistics: FloatArray, origin: FloatArray) -> dict[str, FloatArray]:
        """components_ (K, d): the probabilities of the columns."""
        counts, total = self._counts(statistics)
        return {"components_": counts / total[:, None]}


class Bernoulli(_Sums):
    """Columns of 0 and 1, independent in a cluster: p(x | theta) = prod theta^x (1 - theta)^(1-x).

    Parameters
    ----------
    n_columns : int
    concentration : float
        theta ~ Beta(concentration, concentration) in every column.
    """

    def __init__(self, n_columns: int, concentration: float) -> None:
        super().__init__(n_columns)
        self.concentration = concentration

    def _posterior(self, statistics: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Beta(a, b) of every cluster and column, (K, d) each."""
        ones = statistics[:, 1:]
        zeros = np.maximum(statistics[:, :1] - ones, 0.0)  # rounding may say otherwise
        return self.concentration + ones, self.concentration + zeros

    def expected_scores(self, statistics: FloatArray) -> Scores:
        """E ln p(x) = sum_m x_m (digamma(a) - digamma(b)) + digamma(b) - digamma(a + b)."""
        a, b = self._posterior(statistics)
        constant = (digamma(b) - digamma(a + b)).sum(axis=1)
        return LinearScores(constant, np.ascontiguousarray((digamma(a) - digamma(b)).T))

    def predictive_scores(self, statistics: FloatArray) -> Scores:
        """ln p(x) with every theta at its mean, which is exact for one row."""
        a, b = self._posterior(statistics)
        constant = np.log(b / (a + b)).sum(axis=1)
        return LinearScores(constant, np.ascontiguousarray(np.log(a / b).T))

    def cluster_evidence(self, statistics: FloatArray) -> FloatArray:
        """sum_m ln B(a, b) - ln B(prior), (K,)."""
        a, b = self._posterior(statistics)
        c = self.concentration
        evidence: FloatArray = (betaln(a, b) - betaln(c, c)).sum(axis=1)
        return evidence

    def describe(self, statistics: FloatArray, origin: FloatArray) -> dict[str, FloatArray]:
        """components_ (K, d): the probability of a 1."""
        a, b = self._posterior(statistics)
        return {"components_": a / (a + b)}


class NegativeBinomialScores(NamedTuple):
    """sum_m ln Gamma(a + x) - ln Gamma(a) + a ln(b / (b + 1)) - x ln(b + 1)."""

    shape: FloatArray  # (K, d) a
    rate: FloatArray  # (K, d) b

    def __call__(self, rows: Any) -> FloatArray:
        csr = sp.csr_array(rows)
        row_of = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
        none = (self.shape * np.log(self.rate / (self.rate + 1))).sum(axis=1)
        out = np.tile(none, (csr.shape[0], 1))
        for k, (shape, rate) in enumerate(zip(self.shape, self.rate, strict=True)):
            a, x = shape[csr.indices], csr.data
            gain = gammaln(a + x) - gammaln(a) - x * np.log(rate[csr.indices] + 1)
            out[:, k] += np.bincount(row_of, gain, minlength=csr.shape[0])
        return out


class Poisson(_Sums):
    """Counts that do not share a total: column m of a cluster has a rate of its own.

    Parameters
    ----------
    typical : (d,)
        The rate expected of each column before seeing a cluster's rows: the column's mean.
    concentration : float
        rate ~ Gamma(concentration, concentration / typical).
    """

    def __init__(self, typical: FloatArray, concentration: float) -> None:
        super().__init__(len(typical))
        self.concentration = concentration
        self.prior_rate = concentration / typical

    def _posterior(self, statistics: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gamma(shape, rate) of every cluster and column, (K, d) each."""
        return self.concentration + statistics[:, 1:], self.prior_rate + statistics[:, :1]

    def expected_scores(self, statistics: FloatArray) -> Scores:
        """E ln p(x) = sum_m x_m (digamma(shape) - ln rate) - shape / rate."""
        shape, rate = self._posterior(statistics)
        slope = np.ascontiguousarray((digamma(shape) - np.log(rate)).T)
        return LinearScores(-(shape / rate).sum(axis=1), slope)

    def predictive_scores(self, statistics: FloatArray) -> Scores:
        """ln p(x), a negative binomial."""
        return NegativeBinomialScores(*self._posterior(statistics))

    def cluster_evidence(self, statistics: FloatArray) -> FloatArray:
        """sum_m ln of Gamma(a) b^-a over that of the prior, (K,)."""
        a, b = self._posterior(statistics)
        c = self.concentration
        prior = c * np.log(self.prior_rate) - gammaln(c)
        evidence: FloatArray = (prior + gammaln(a) - a * np.log(b)).sum(axis=1)
        return evidence

    def describe(self, statistics: FloatArray, origin: FloatArray) -> dict[str, FloatArray]:
        """components_ (K, d): the rate of each column."""
        shape, rate = self._posterior(statistics)
        return {"components_": shape / rate}
