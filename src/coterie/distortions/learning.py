"""Learning the parameters of a distortion from rows, centres and broken pairs (M-step B).

With labels and centres fixed, the objective as a function of the metric A is a `MetricProblem`.
`descend` takes one step that never raises it: the problem proposes a point (the closed-form
minimiser where there is one), and the step towards it is halved until the objective falls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.data import Rows
from coterie.distortions.base import Bound

__all__ = [
    "BrokenPairs",
    "GradientProblem",
    "LinearProblem",
    "MetricProblem",
    "MetricTask",
    "descend",
    "rayleigh",
]

_HALVINGS = 20
_MORE_HALVINGS = 60  # of a step of a given size, which may be far too long
_LEAST_SHARE = 1e-3  # of a column's scatter over all rows that is believed within a cluster


class BrokenPairs(NamedTuple):
    """Broken soft pairs and what they weigh for each of G metrics.

    A broken must-link counts half for the metric of each of its two clusters (2.7), a broken
    cannot-link for the metric of the one cluster it lies in; with one metric, G = 1.

    Attributes
    ----------
    i, j : (p,) rows
    must, cannot : (p, G) weights
    kept : (p, d) or None
        What `keep_pairs` of the distortion kept of them.
    """

    i: Array
    j: Array
    must: Array
    cannot: Array
    kept: Any | None


class MetricTask(NamedTuple):
    """What a metric is learned from: labels and centres as they are, sums, broken pairs.

    Attributes
    ----------
    rows : Rows
    labels : (n,) int32
    weights : (n,) or (0,) for ones
    centers : (K, d)
    counts : (K,)
        Summed weights of the clusters.
    sums : (K, d)
        Summed w s x.
    evidence : (K, d) or (G, d, d)
        Summed `row_evidence`, or summed w x x'.
    pairs : BrokenPairs
    bound : Bound
        phi_max.
    form : str
        "diagonal" or "full".
    per_cluster : bool
    prior_width : float, (d,) or None
    least_share : (d,)
        Of each column's scatter over all rows, what every cluster has at the least: as exactly
        as its values were recorded.
    """

    rows: Rows
    labels: Array
    weights: Array
    centers: Array
    counts: Array
    sums: Array
    evidence: Array
    pairs: BrokenPairs
    bound: Bound
    form: str
    per_cluster: bool
    prior_width: float | Array | None
    least_share: Array


class MetricProblem(ABC):
    """The objective as a function of the metric, everything else fixed."""

    @abstractmethod
    def loss(self, A: Array) -> float:
        """The part of the objective that depends on A."""

    @abstractmethod
    def gradient(self, A: Array) -> Array:
        """Derivative of the loss, of the shape of A."""

    @abstractmethod
    def propose(self, A: Array) -> Array:
        """A point towards which the loss falls (positive definite; so is the way to it)."""

    @property
    @abstractmethod
    def scale_free(self) -> bool:
        """Whether nothing sets the scale of A, so that weights keep their mean."""

    def printed_step(self, A: Array, eta: float) -> Array:
        """A - eta dJ/dA (section 3.3.7.2, which prints a plus); the mean kept where it is free."""
        slope = self.gradient(A)
        return A - eta * (slope - slope.mean() if self.scale_free else slope)


def descend(problem: MetricProblem, A: Array, eta: float | None = None) -> tuple[Array, float]:
    """Move A towards the proposal as far as the loss falls; return it and its loss.

    With `eta`, the proposal is a step along the gradient.
    """
    here = problem.loss(A)
    target = problem.propose(A) if eta is None else problem.printed_step(A, eta)
    step = 1.0
    for _ in range(_HALVINGS if eta is None else _MORE_HALVINGS):
        moved = target if step == 1.0 else A + step * (target - A)
        if eta is None or _is_positive(moved):
            there = problem.loss(moved)
            if there < here:
                return moved, there
        step /= 2
    return A, here


def _is_positive(A: Array) -> bool:
    """Whether weights are above 0, matrices positive definite."""
    return bool((A > 0).all() if A.ndim <= 2 else (np.linalg.eigvalsh(A) > 0).all())


def rayleigh(A: Array, width: float | Array | None) -> tuple[float, Array]:
    """-log P(A) up to a constant, and its derivative, for a Rayleigh prior on each weight.

    sum_m (a_m^2 / (2 s_m^2) - log a_m): (3.10) with the standard exponent, as its derivative
    (3.26) has it, and a width s for all columns or (d,) for each. For full matrices the prior is
    on the diagonal, whose entries are positive.
    """
    if width is None:
        return 0.0, np.zeros_like(A)
    diagonal = A if A.ndim <= 2 else np.einsum("kii->ki", A)
    share = diagonal / width  # before it is squared: of columns near 1e150 both squares are 0
    value = float((share**2 / 2 - np.log(diagonal)).sum())
    slope = share / width - 1 / diagonal
    if A.ndim <= 2:
        return value, slope
    gradient = np.zeros_like(A)
    np.einsum("kii->ki", gradient)[...] = slope
    return value, gradient


@dataclass(frozen=True)
class LinearProblem(MetricProblem):
    """<A, scatter> + cannot_mass phi_max(A) - mass log det A - log P(A).

    The distortion of the rows and of broken pairs is linear in A for every distortion but the
    cosine: `scatter` sums their squared differences (2.7, 3.25). G metrics, one or one a cluster.

    Attributes
    ----------
    scatter : ndarray of the shape of A
        Rows within clusters, plus broken must-links, minus broken cannot-links.
    floor : ndarray of the shape of A's diagonal, (d,), (K, d) or (G, d)
        Least scatter believed per column, so that a column which is constant in a cluster gets a
        large weight and not an infinite one, and a category or a pixel that is nearly always 0 no
        larger one than its values can tell.
    bound : Bound
        phi_max.
    cannot_mass : ndarray of shape (G,)
        Summed weights of broken cannot-links.
    mass : ndarray of shape (G,)
        Rows' weight times 1 for a Gaussian (its normaliser is -log det A), 0 for others.
    prior_width : float, (d,) or None
        s of the Rayleigh prior.
    """

    scatter: Array
    floor: Array
    bound: Bound
    cannot_mass: Array
    mass: Array
    prior_width: float | Array | None

    @classmethod
    def of(
        cls, task: MetricTask, scatter: Array, total: Array, *, normalized: bool
    ) -> LinearProblem:
        """From scatter (G, d) or (G, d, d), and the scatter of all rows by column, `total` (d,)."""
        counts = task.counts
        mass = counts if task.per_cluster else counts.sum(keepdims=True)
        spread = total.mean() if total.mean() > 0 else 1.0  # rows all alike teach nothing
        floor = np.maximum(total, 1e-6 * spread) * np.maximum(task.least_share, _LEAST_SHARE)
        floor = floor * (mass / counts.sum())[:, None]
        if task.form == "diagonal" and not task.per_cluster:
            scatter, floor = scatter[0], floor[0]
        return cls(
            scatter=scatter,
            floor=np.maximum(floor, np.finfo(float).tiny),
            bound=task.bound,
            cannot_mass=task.pairs.cannot.sum(axis=0),
            mass=mass if normalized else np.zeros_like(mass),
            prior_width=task.prior_width,
        )

    def loss(self, A: Array) -> float:
        """The objective's part in A."""
        value = float((A * self.scatter).sum()) + rayleigh(A, self.prior_width)[0]
        if self.cannot_mass.any():
            value += float((self.cannot_mass * self.bound.value(A)).sum())
        if self.mass.any():
            value -= float((self.mass * _log_det(A)).sum())
        return value

    def gradient(self, A: Array) -> Array:
        """scatter + cannot_mass phi_max' - mass A^-1 - (log P)'."""
        return self._pull(A) - self._spread(self.mass, A) * _inverse(A) + self._prior_slope(A)

    def propose(self, A: Array) -> Array:
        """The minimiser with phi_max linearised at A; mean 1 is kept where nothing sets a scale."""
        pull = self._pull(A)
        if A.ndim == 3:
            return self._propose_full(A, pull + self._prior_slope(A))
        gain = np.broadcast_to(self._spread(self.mass, A), A.shape) + (self.prior_width is not None)
        if self.scale_free:
            return exponentiated_step(A, pull, keep_mean=True)
        pull = np.maximum(pull, self.floor)
        if self.prior_width is None:
            return np.where(gain > 0, gain / pull, A)
        # a^2/s^2 + pull a - gain = 0, in the form without cancellation
        root = np.hypot(pull, 2 * np.sqrt(gain) / self.prior_width)
        return 2 * gain / (pull + root)

    @property
    def scale_free(self) -> bool:
        """Without a normaliser and a prior."""
        return self.prior_width is None and not self.mass.any()

    def _propose_full(self, A: Array, pull: Array) -> Array:
        """mass * pull^-1, with pull in every direction at least what the floor is there."""
        target = A.copy()
        for g, matrix in enumerate(pull):
            if self.mass[g] <= 0:
                continue
            unit = np.sqrt(self.floor[g])
            values, vectors = np.linalg.eigh((matrix + matrix.T) / 2 / (unit[:, None] * unit))
            vectors = vectors / unit[:, None]
            target[g] = self.mass[g] * (vectors / np.maximum(values, 1.0)) @ vectors.T
        return target

    def _pull(self, A: Array) -> Array:
        if not self.cannot_mass.any():
            return self.scatter
        return self.scatter + self._spread(self.cannot_mass, A) * self.bound.gradient(A)

    def _prior_slope(self, A: Array) -> Array:
        return rayleigh(A, self.prior_width)[1]

    @staticmethod
    def _spread(values: Array, A: Array) -> Array:
        """One value per metric, shaped to multiply A."""
        return values if A.ndim == 1 else values.reshape(-1, *[1] * (A.ndim - 1))


@dataclass(frozen=True)
class GradientProblem(MetricProblem):
    """Any differentiable loss of diagonal weights, without a closed form (the cosine).

    A loss that does not change with the scale of A, as the cosine's, keeps weights of mean 1.
    """

    value_of: Callable[[Array], float]
    gradient_of: Callable[[Array], Array]
    prior_width: float | Array | None

    def loss(self, A: Array) -> float:
        """The data's loss and the prior's."""
        return self.value_of(A) + rayleigh(A, self.prior_width)[0]

    def gradient(self, A: Array) -> Array:
        """The data's gradient and the prior's."""
        return self.gradient_of(A) + rayleigh(A, self.prior_width)[1]

    def propose(self, A: Array) -> Array:
        """A step in log a along minus the gradient."""
        return exponentiated_step(A, self.gradient(A), keep_mean=self.scale_free)

    @property
    def scale_free(self) -> bool:
        """Without a prior."""
        return self.prior_width is None


def exponentiated_step(A: Array, gradient: Array, *, keep_mean: bool) -> Array:
    """a exp(-t a dJ/da), t such that no weight changes by more than a factor e.

    With `keep_mean` the gradient is first freed of its part along a change of scale.
    """
    slope = A * gradient
    if keep_mean:
        slope = slope - A * slope.sum() / A.sum()
    size = np.abs(slope).max()
    if size == 0:
        return A
    moved = A * np.exp(-slope / size)
    return moved / moved.mean() if keep_mean else moved


def _log_det(A: Array) -> Array:
    if A.ndim <= 2:
        return np.log(np.atleast_2d(A)).sum(axis=1)
    return np.linalg.slogdet(A)[1]


def _inverse(A: Array) -> Array:
    return 1 / A if A.ndim <= 2 else np.linalg.inv(A)
