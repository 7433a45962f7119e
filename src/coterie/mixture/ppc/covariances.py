"""Covariances of four shapes: how each is estimated from sums, inverted and stored.

Names, shapes and the additive `reg_covar` are those of scikit-learn's GaussianMixture. Sums of
squares are taken about the *old* means, which lie within the clusters, so nothing large is
subtracted from something large however far apart the clusters are.

Each takes its part of a `CovariancePrior`: the most probable covariance under it has a closed form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from coterie._typing import FloatArray
from coterie.exceptions import InvalidData
from coterie.mixture.ppc.regularization import CovariancePrior, lifted

__all__ = ["COVARIANCES", "Covariance"]


class Covariance(ABC):
    """One shape of covariance; G components, d columns."""

    @abstractmethod
    def shape(self, n_components: int, d: int) -> tuple[int, ...]:
        """Shape of the sums of squares."""

    @abstractmethod
    def add_squares(self, resp: FloatArray, diff: FloatArray, g: int, out: FloatArray) -> None:
        """Add Σ_i r_i (x_i − μ)(x_i − μ)ᵀ, or its diagonal, of component `g` to `out`.

        `resp` (b,) and `diff` (b, d).
        """

    @abstractmethod
    def scatter(self, squares: FloatArray, counts: FloatArray, moved: FloatArray) -> FloatArray:
        """Covariances from sums of squares about the old means.

        S/N − δδᵀ with δ = new − old mean, `moved` (G, d), and N `counts` (G,).
        """

    @abstractmethod
    def most_probable(
        self, scatter: FloatArray, counts: FloatArray, prior: CovariancePrior
    ) -> FloatArray:
        """The maximum of likelihood times prior: (N·scatter + ν T) / (N + ν), at least the floor.

        With M the blend of scatter and target, −½(N + ν)(log det Σ + tr Σ⁻¹M) is to be maximised
        over Σ ⪰ R: where R is the identity, by M with its eigenvalues below 1 set to 1.
        """

    @abstractmethod
    def divergence(self, covariances: FloatArray, factors: FloatArray, target: FloatArray) -> float:
        """Σ_g KL(N(0, T) ‖ N(0, Σ_g)), the prior's −log density for each of its rows."""

    @abstractmethod
    def add_reg(self, covariances: FloatArray, reg: float) -> FloatArray:
        """Σ + reg·I."""

    @abstractmethod
    def precision_factors(self, covariances: FloatArray) -> FloatArray:
        """Factor F with F Fᵀ = Σ⁻¹ (upper triangular), or 1/σ, in the shape of `covariances`.

        Raises
        ------
        InvalidData
            If a component's covariance is singular.
        """

    @abstractmethod
    def whiten(self, diff: FloatArray, factors: FloatArray, g: int) -> FloatArray:
        """(x − μ) F of component `g`, (b, d): its squared length is the Mahalanobis distance."""

    @abstractmethod
    def half_log_det(self, factors: FloatArray, d: int) -> FloatArray:
        """log det F = −½ log det Σ, (G,) or (1,)."""

    @abstractmethod
    def n_parameters(self, n_components: int, d: int) -> int:
        """Free parameters, for BIC and AIC."""

    @abstractmethod
    def precisions(self, factors: FloatArray) -> FloatArray:
        """Σ⁻¹ in the stored shape."""

    @abstractmethod
    def keep(self, new: FloatArray, old: FloatArray, empty: NDArray[np.bool_]) -> FloatArray:
        """`new` with the covariances of `empty` (G,) components as they were in `old`."""

    def repeat(self, one: FloatArray, n_components: int) -> FloatArray:
        """The same covariance for `n_components`, from that of one component."""
        return np.repeat(one, n_components, axis=0)

    @abstractmethod
    def matrix(self, covariances: FloatArray, g: int, d: int) -> FloatArray:
        """Σ_g, (d, d)."""

    @abstractmethod
    def add_matrix(self, times: float, matrix: FloatArray, g: int, out: FloatArray) -> None:
        """Add `times` the matrix (d, d) to the sum of squares `out` of component `g`."""


class Full(Covariance):
    """Its own matrix for each component, (G, d, d)."""

    def shape(self, n_components: int, d: int) -> tuple[int, ...]:
        return n_components, d, d

    def add_squares(self, resp: FloatArray, diff: FloatArray, g: int, out: FloatArray) -> None:
        out[g] += (diff * resp[:, None]).T @ diff

    def scatter(self, squares: FloatArray, counts: FloatArray, moved: FloatArray) -> FloatArray:
        return squares / counts[:, None, None] - moved[:, :, None] * moved[:, None, :]

    def most_probable(
        self, scatter: FloatArray, counts: FloatArray, prior: CovariancePrior
    ) -> FloatArray:
        share = (prior.rows / (counts + prior.rows))[:, None, None]
        blend = (1.0 - share) * scatter + share * prior.target
        return np.stack([lifted(one, prior.floor) for one in blend])

    def divergence(self, covariances: FloatArray, factors: FloatArray, target: FloatArray) -> float:
        return sum(_divergence(factor, target) for factor in factors)

    def add_reg(self, covariances: FloatArray, reg: float) -> FloatArray:
        return covariances + reg * np.eye(covariances.shape[1])

    def precision_factors(self, covariances: FloatArray) -> FloatArray:
        factors = [_inverse_factor(c, f"component {g}") for g, c in enumerate(covariances)]
        return np.stack(factors)

    def whiten(self, diff: FloatArray, factors: FloatArray, g: int) -> FloatArray:
        return diff @ factors[g]

    def half_log_det(self, factors: FloatArray, d: int) -> FloatArray:
        return np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)

    def n_parameters(self, n_components: int, d: int) -> int:
        return n_components * d * (d + 1) // 2

    def precisions(self, factors: FloatArray) -> FloatArray:
        return factors @ np.swapaxes(factors, 1, 2)

    def keep(self, new: FloatArray, old: FloatArray, empty: NDArray[np.bool_]) -> FloatArray:
        return np.where(empty[:, None, None], old, new)

    def matrix(self, covariances: FloatArray, g: int, d: int) -> FloatArray:
        return covariances[g]

    def add_matrix(self, times: float, matrix: FloatArray, g: int, out: FloatArray) -> None:
        out[g] += times * matrix


class Tied(Covariance):
    """One matrix for all components, (d, d)."""

    def shape(self, n_components: int, d: int) -> tuple[int, ...]:
        return d, d

    def add_squares(self, resp: FloatArray, diff: FloatArray, g: int, out: FloatArray) -> None:
        out += (diff * resp[:, None]).T @ diff

    def scatter(self, squares: FloatArray, counts: FloatArray, moved: FloatArray) -> FloatArray:
        between = (counts[:, None] * moved).T @ moved
        return (squares - between) / counts.sum()

    def most_probable(
        self, scatter: FloatArray, counts: FloatArray, prior: CovariancePrior
    ) -> FloatArray:
        share = prior.rows / (counts.sum() + prior.rows)
        return lifted((1.0 - share) * scatter + share * prior.target, prior.floor)

    def divergence(self, covariances: FloatArray, factors: FloatArray, target: FloatArray) -> float:
        return _divergence(factors, target)

    def add_reg(self, covariances: FloatArray, reg: float) -> FloatArray:
        return covariances + reg * np.eye(covariances.shape[0])

    def precision_factors(self, covariances: FloatArray) -> FloatArray:
        return _inverse_factor(covariances, "the tied covariance")

    def whiten(self, diff: FloatArray, factors: FloatArray, g: int) -> FloatArray:
        return diff @ factors

    def half_log_det(self, factors: FloatArray, d: int) -> FloatArray:
        return np.log(np.diagonal(factors)).sum(keepdims=True)

    def n_parameters(self, n_components: int, d: int) -> int:
        return d * (d + 1) // 2

    def precisions(self, factors: FloatArray) -> FloatArray:
        return factors @ factors.T

    def keep(self, new: FloatArray, old: FloatArray, empty: NDArray[np.bool_]) -> FloatArray:
        return new

    def repeat(self, one: FloatArray, n_components: int) -> FloatArray:
        return one

    def matrix(self, covariances: FloatArray, g: int, d: int) -> FloatArray:
        return covariances

    def add_matrix(self, times: float, matrix: FloatArray, g: int, out: FloatArray) -> None:
        out += times * matrix


class Diag(Covariance):
    """Variances of the columns for each component, (G, d)."""

    def shape(self, n_components: int, d: int) -> tuple[int, ...]:
        return n_components, d

    def add_squares(self, resp: FloatArray, diff: FloatArray, g: int, out: FloatArray) -> None:
        out[g] += resp @ (diff * diff)

    def scatter(self, squares: FloatArray, counts: FloatArray, moved: FloatArray) -> FloatArray:
        return np.maximum(squares / counts[:, None] - moved**2, 0.0)

    def most_probable(
        self, scatter: FloatArray, counts: FloatArray, prior: CovariancePrior
    ) -> FloatArray:
        share = (prior.rows / (counts + prior.rows))[:, None]
        return np.maximum((1.0 - share) * scatter + share * np.diagonal(prior.target), prior.floor)

    def divergence(self, covariances: FloatArray, factors: FloatArray, target: FloatArray) -> float:
        ratio = np.diagonal(target) / covariances
        return 0.5 * float((ratio - 1.0 - np.log(ratio)).sum())

    def add_reg(self, covariances: FloatArray, reg: float) -> FloatArray:
        return covariances + reg

    def precision_factors(self, covariances: FloatArray) -> FloatArray:
        if not (covariances > 0).all():
            _refuse(f"component {int(np.argwhere(~(covariances > 0))[0][0])}")
        return 1.0 / np.sqrt(covariances)

    def whiten(self, diff: FloatArray, factors: FloatArray, g: int) -> FloatArray:
        return diff * factors[g]

    def half_log_det(self, factors: FloatArray, d: int) -> FloatArray:
        return np.log(factors).sum(axis=1)

    def n_parameters(self, n_components: int, d: int) -> int:
        return n_components * d

    def precisions(self, factors: FloatArray) -> FloatArray:
        return factors**2

    def keep(self, new: FloatArray, old: FloatArray, empty: NDArray[np.bool_]) -> FloatArray:
        return np.where(empty[:, None], old, new)

    def matrix(self, covariances: FloatArray, g: int, d: int) -> FloatArray:
        return np.diag(covariances[g])

    def add_matrix(self, times: float, matrix: FloatArray, g: int, out: FloatArray) -> None:
        out[g] += times * np.diagonal(matrix)


class Spherical(Diag):
    """One variance for each component, (G,): the mean of its columns' variances."""

    def scatter(self, squares: FloatArray, counts: FloatArray, moved: FloatArray) -> FloatArray:
        return np.asarray(super().scatter(squares, counts, moved).mean(axis=1))

    def most_probable(
        self, scatter: FloatArray, counts: FloatArray, prior: CovariancePrior
    ) -> FloatArray:
        share = prior.rows / (counts + prior.rows)
        blend = (1.0 - share) * scatter + share * np.diagonal(prior.target).mean()
        return np.maximum(blend, prior.floor.mean())

    def divergence(self, covariances: FloatArray, factors: FloatArray, target: FloatArray) -> float:
        ratio = np.diagonal(target).mean() / covariances
        return 0.5 * target.shape[0] * float((ratio - 1.0 - np.log(ratio)).sum())

    def half_log_det(self, factors: FloatArray, d: int) -> FloatArray:
        return d * np.log(factors)

    def n_parameters(self, n_components: int, d: int) -> int:
        return n_components

    def keep(self, new: FloatArray, old: FloatArray, empty: NDArray[np.bool_]) -> FloatArray:
        return np.where(empty, old, new)

    def matrix(self, covariances: FloatArray, g: int, d: int) -> FloatArray:
        return covariances[g] * np.eye(d)


COVARIANCES: dict[str, Covariance] = {
    "full": Full(),
    "tied": Tied(),
    "diag": Diag(),
    "spherical": Spherical(),
}


def _divergence(factor: FloatArray, target: FloatArray) -> float:
    """KL(N(0, T) ‖ N(0, Σ)) = ½ (tr Σ⁻¹T − d − log det Σ⁻¹T), from F with F Fᵀ = Σ⁻¹."""
    lower = cholesky(target, lower=True)
    log_det = np.log(np.diagonal(factor)).sum() + np.log(np.diagonal(lower)).sum()
    return float(0.5 * (((factor.T @ lower) ** 2).sum() - target.shape[0]) - log_det)


def _inverse_factor(covariance: FloatArray, what: str) -> FloatArray:
    """Upper triangular F with F Fᵀ = Σ⁻¹: the transposed inverse of the Cholesky factor."""
    try:
        lower = cholesky(covariance, lower=True)
    except LinAlgError:
        _refuse(what)
    identity = np.eye(covariance.shape[0])
    return np.asarray(solve_triangular(lower, identity, lower=True).T)


def _refuse(what: str) -> None:
    raise InvalidData(
        f"{what} has a singular covariance: too few or identical rows, or columns that depend on "
        "each other. Raise reg_covar, lower n_components, or use a simpler covariance_type."
    )
