"""The M-step for the cluster weights: maximise Σ_k N_k log π_k − log Ω(π) (PPC eq. 2.13)."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from coterie.exceptions import InvalidParameter
from coterie.mixture.ppc.prior import Prior

__all__ = ["ByGradient", "ByGrid", "Weights", "WeightsUpdate", "closed_form"]

FloatArray = NDArray[np.float64]
_LEAST = 1e-15  # no cluster's weight falls below this, so that its logarithm stays finite
_GRID_CLUSTERS = 5
# Per row: leaves the objective within about its square, 1e−12 per row, of the maximum. The next
# EM iteration starts from there, so that each needs only two or three evaluations of log Ω.
_SLOPE = 1e-6


class Weights(NamedTuple):
    """Cluster weights π (K,) and log Ω there."""

    pi: FloatArray
    log_omega: float


class WeightsUpdate(Protocol):
    """From expected counts N (K,) and the weights so far to better weights."""

    def __call__(self, counts: FloatArray, pi: FloatArray) -> Weights: ...


def closed_form(counts: FloatArray) -> FloatArray:
    """π_k = N_k / Σ N, for a prior whose Ω does not depend on π; no weight is exactly zero."""
    floored = np.maximum(counts, _LEAST * counts.sum())
    return np.asarray(floored / floored.sum())


def at(prior: Prior, pi: FloatArray) -> Weights:
    """`pi` with its log Ω."""
    return Weights(pi, 0.0 if prior.is_constant else prior.log_omega(np.log(pi))[0])


class ByGradient:
    """Gradient ascent in softmax coordinates θ.

    With N_free = Σ N − Σ m the number of rows in no pair,
    f(θ) = N·θ − N_free·log Σ e^θ − log Ω(e^θ),
    where log Ω(e^θ), a log-partition function linear in θ inside, is convex: f is concave, so what
    is found is *the* maximum (for exact Ω). ∂f/∂θ_k = (N_k − M_k) − π_k (Σ N − Σ M), with M the
    expected counts under the prior. θ is scaled by √π, which makes the Hessian of the free rows
    near the identity.
    """

    def __init__(self, prior: Prior) -> None:
        self.prior = prior

    def __call__(self, counts: FloatArray, pi: FloatArray) -> Weights:
        if self.prior.is_constant:
            return Weights(closed_form(counts), 0.0)
        total = max(float(counts.sum()), 1.0)
        start, scale = np.log(pi), np.sqrt(np.maximum(pi, 1e-6))

        def loss(phi: FloatArray) -> tuple[float, FloatArray]:
            log_pi = _log_softmax(start + phi / scale)
            omega, expected = self.prior.log_omega(log_pi)
            value = counts @ log_pi - omega
            slope = (counts - expected) - np.exp(log_pi) * (counts - expected).sum()
            return -float(value) / total, -slope / scale / total

        # A step of 40 in θ takes a weight from 1 to 1e−17.
        bounds = [(-40.0 * s, 40.0 * s) for s in scale]
        found = minimize(
            loss,
            np.zeros_like(start),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"gtol": _SLOPE, "ftol": 1e-15, "maxiter": 50},
        )
        log_pi = _log_softmax(start + found.x / scale)
        if log_pi.min() < math.log(_LEAST):
            return at(self.prior, closed_form(np.exp(log_pi)))
        return Weights(np.exp(log_pi), float(counts @ log_pi + total * found.fun))


class ByGrid:
    """The paper's search over all π with steps of `resolution` (eq. 2.14), for K ≤ 5.

    Ω does not change when clusters are renumbered, so it is computed for ascending π only; and of
    all orders of one π the best gives the larger weight to the larger count.
    """

    def __init__(self, prior: Prior, resolution: float = 0.01) -> None:
        if prior.n_clusters > _GRID_CLUSTERS:
            raise InvalidParameter(
                f'weights_update="grid" is for at most {_GRID_CLUSTERS} clusters, not '
                f'{prior.n_clusters}: the grid grows as 100^K. Use "gradient".'
            )
        steps = round(1.0 / resolution)
        self.points = np.array(_partitions(steps, prior.n_clusters), dtype=np.float64) / steps
        self.log_omega = np.array([at(prior, point).log_omega for point in self.points])

    def __call__(self, counts: FloatArray, pi: FloatArray) -> Weights:
        order = np.argsort(counts, kind="stable")
        value = np.log(self.points) @ counts[order] - self.log_omega
        best = int(np.argmax(value))
        new = np.empty_like(pi)
        new[order] = self.points[best]
        return Weights(new, float(self.log_omega[best]))


def _partitions(total: int, parts: int, least: int = 1) -> list[tuple[int, ...]]:
    """Ascending tuples of `parts` positive integers that sum to `total`."""
    if parts == 1:
        return [(total,)] if total >= least else []
    return [
        (first, *rest)
        for first in range(least, total // parts + 1)
        for rest in _partitions(total - first, parts - 1, first)
    ]


def _log_softmax(theta: FloatArray) -> FloatArray:
    shifted = theta - theta.max()
    return np.asarray(shifted - math.log(np.exp(shifted).sum()))
