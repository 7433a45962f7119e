"""The plain mixture that a fit of PPC leaves: what it says about new rows, draws, numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coterie._typing import FloatArray
from coterie.data import Rows, each_row, fold, join, map_blocks
from coterie.extension import ExtensibleClusterer, Placed, Places
from coterie.mixture.ppc.covariances import COVARIANCES
from coterie.mixture.ppc.gaussians import (
    cluster_log_densities,
    likeliest,
    log_likelihood,
    log_likelihoods,
    shares,
)
from coterie.mixture.ppc.model import Mixture, MixtureShape, make_mixture, n_parameters
from coterie.mixture.ppc.regularization import CovariancePrior
from coterie.mixture.ppc.start import type_of
from coterie.validation import check_count

__all__ = ["FittedMixture"]


class FittedMixture(ExtensibleClusterer):
    """What `PPC` can do once it is fitted; pairs concern the rows of `fit` only."""

    n_components: int
    components_per_cluster: int
    covariance_type: str
    default_certainty: float
    reg_covar: float
    random_state: Any
    weights_: FloatArray
    means_: FloatArray
    covariances_: FloatArray
    paired_resp_: FloatArray
    resp_: FloatArray

    def _shape(self, prior: CovariancePrior | None = None) -> MixtureShape:
        """The shape as fitted, or as wanted before."""
        wanted = self.covariance_type
        if wanted == "auto":
            wanted = getattr(self, "covariance_type_", "full")
        size = int(self.n_components), int(self.components_per_cluster)
        return MixtureShape(*size, wanted, float(self.reg_covar), prior)

    # -- cluster numbers, and rows that join -----------------------------------------------------
    def _count_clusters(self) -> int:
        return int(self.weights_.size // self.components_per_cluster)

    def _put_in_order(self, order: NDArray[np.int64]) -> None:
        each = self.components_per_cluster
        parts = (order[:, None] * each + np.arange(each)).ravel()
        names = ["weights_", "means_"]
        if len(np.atleast_1d(self.covariances_)) == len(parts) and type_of(self) != "tied":
            names += ["covariances_", "precisions_cholesky_", "precisions_"]
        for name in names:
            setattr(self, name, getattr(self, name)[parts])
        self.paired_resp_ = self.paired_resp_[:, order]
        if hasattr(self, "resp_"):
            self.resp_ = self.resp_[:, order]

    def _places(self, X: Any) -> Places:
        """Minus log π p(x | k); a pair costs its log-odds."""
        plain = float(np.log(self.default_certainty / (1 - self.default_certainty)))
        rows, mixture = self._new_rows(X)
        joint = join(map_blocks(rows, cluster_log_densities, mixture), rows.n)
        return Places(-joint, plain)

    def _admit(self, X: Any, placed: Placed) -> None:
        if hasattr(self, "resp_"):
            self.resp_ = np.concatenate([self.resp_, self.predict_proba(X)])

    # -- new rows ------------------------------------------------------------------------------
    def _new_rows(self, X: Any) -> tuple[Rows, Mixture]:
        """New rows, and the mixture as fitted, whatever was set since."""
        check_is_fitted(self)
        X = self._check_new_rows(X)
        origin = self.weights_ @ self.means_
        n_clusters = self.weights_.size // self.components_per_cluster
        shape = self._shape()._replace(n_clusters=n_clusters, covariance_type=type_of(self))
        mixture = make_mixture(self.weights_, self.means_ - origin, self.covariances_, shape)
        return Rows(X, shift=origin), mixture

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The most probable cluster of each row, (n,). Pairs concern the rows of `fit` only."""
        rows, mixture = self._new_rows(X)
        return join(map_blocks(rows, likeliest, mixture), rows.n)

    def predict_proba(self, X: Any) -> Any:
        """Posterior of each row's cluster under the plain mixture, (n, K).

        Of rows not in memory as `coterie.data.DerivedRows`, which are worked out as they are read.
        """
        rows, mixture = self._new_rows(X)
        return each_row(rows, shares, mixture, mixture.shape.n_clusters)

    def score_samples(self, X: Any) -> FloatArray:
        """Log-density of each row under the plain mixture, (n,)."""
        rows, mixture = self._new_rows(X)
        return join(map_blocks(rows, log_likelihoods, mixture), rows.n)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-density of the rows."""
        total, n, _ = self._log_likelihood(X)
        return total / n

    def bic(self, X: Any) -> float:
        """Bayesian information criterion of the plain mixture on X; lower is better."""
        total, n, free = self._log_likelihood(X)
        return float(-2 * total + free * np.log(n))

    def aic(self, X: Any) -> float:
        """Akaike information criterion of the plain mixture on X; lower is better."""
        total, _, free = self._log_likelihood(X)
        return -2 * total + 2 * free

    def _log_likelihood(self, X: Any) -> tuple[float, int, int]:
        """Summed log-density of the rows, their number, and free parameters of the mixture."""
        rows, mixture = self._new_rows(X)
        total = fold(map_blocks(rows, log_likelihood, mixture))
        return total, rows.n, n_parameters(mixture)

    def sample(self, n_samples: int = 1) -> tuple[FloatArray, NDArray[np.int64]]:
        """Draw rows (n, d) and their clusters (n,) from the mixture."""
        check_is_fitted(self)
        count = check_count("n_samples", n_samples)
        rng = check_random_state(self.random_state)
        n_components, d = self.means_.shape
        sizes = rng.multinomial(count, self.weights_ / self.weights_.sum())
        component = np.repeat(np.arange(n_components, dtype=np.int64), sizes)
        rows = rng.standard_normal((count, d))
        for g in range(n_components):
            inside = component == g
            root = np.linalg.cholesky(COVARIANCES[type_of(self)].matrix(self.covariances_, g, d))
            rows[inside] = self.means_[g] + rows[inside] @ root.T
        return rows, component // self.components_per_cluster
