"""A smooth field over all rows: how the groups found so far extend to the rest."""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import NDArray

__all__ = ["Field", "Influence"]

Float = NDArray[np.float64]

_NOISE = 0.1  # variance with which a placed row shows its group (a row's own is about 1)


class Field:
    r"""Bayesian linear regression of group membership on the coordinates.

    With :math:`w \sim N(0, I)` for every group and a target of 1 for its placed rows (0 for the
    others') seen with variance s, the posterior has covariance
    :math:`S = (I + \sum_x \phi_x \phi_x^T / s)^{-1}`, the same for all groups, and mean
    :math:`S \sum_{x \in g} \phi_x / s`. A row more or less changes S by one rank: O(m²).

    Parameters
    ----------
    coordinates : (P, m)
    share : (P,), optional
        How many rows each of them stands for; the same if not given.
    """

    def __init__(self, coordinates: Float, share: Float | None = None) -> None:
        self.phi = coordinates
        m = coordinates.shape[1]
        self.covariance = np.eye(m)
        self.pull = np.zeros((m, 0))
        each = np.ones(len(coordinates)) if share is None else share
        self._gram = (coordinates.T * each) @ coordinates / each.sum()

    def admit(self, coordinates: Float) -> None:
        """More rows that can be placed, (b, m); those that stand for all stay the same."""
        self.phi = np.vstack([self.phi, coordinates])

    def copy(self) -> Field:
        """One that learns for itself."""
        other = copy(self)
        other.pull = self.pull.copy()  # all else is replaced, never changed
        return other

    # -- learning --------------------------------------------------------------------------
    def add_group(self) -> None:
        """One more group, without rows."""
        self.pull = np.hstack([self.pull, np.zeros((len(self.pull), 1))])

    def place(self, at: int, group: int) -> None:
        """Row `at` (a row of the coordinates) belongs to `group`."""
        self.covariance = self.with_row(self.covariance, at)
        self.pull[:, group] += self.phi[at] / _NOISE

    def remove(self, at: int, group: int) -> None:
        """Undo `place`."""
        phi = self.phi[at]
        toward = self.covariance @ phi
        self.covariance = self.covariance + np.outer(toward, toward) / (_NOISE - phi @ toward)
        self.pull[:, group] -= phi / _NOISE

    def merge(self, into: int, gone: int) -> None:
        """Rows of `gone` belong to `into`."""
        self.pull[:, into] += self.pull[:, gone]
        self.pull[:, gone] = 0.0

    def with_row(self, covariance: Float, at: int) -> Float:
        """The covariance after one more row is placed, wherever (Sherman–Morrison)."""
        phi = self.phi[at]
        toward = covariance @ phi
        return covariance - np.outer(toward, toward) / (_NOISE + phi @ toward)

    # -- reading ---------------------------------------------------------------------------
    @property
    def weights(self) -> Float:
        """Posterior mean, (m, G)."""
        return self.covariance @ self.pull

    def at_row(self, at: int, own: int | None) -> Float:
        """The field at one row, (G,); its own placement in group `own` left out."""
        phi = self.phi[at]
        field = phi @ self.weights
        if own is None:
            return field
        share = phi @ self.covariance @ phi / _NOISE
        field[own] -= share
        return field / (1 - share)

    def at_placed(self, placed: NDArray[np.int64], own: NDArray[np.int64]) -> Float:
        """The field at rows `placed` in groups `own` by what the others say, (R, G).

        (f − h t) / (1 − h), t the target of the row and h its share in its own value
        (leave-one-out of a linear smoother).
        """
        phi = self.phi[placed]
        toward = phi @ self.covariance
        field = toward @ self.pull
        share = np.einsum("ij,ij->i", toward, phi) / _NOISE
        field[np.arange(len(own)), own] -= share
        return field / (1 - share)[:, np.newaxis]

    def everywhere(self, placed: NDArray[np.int64], own: NDArray[np.int64]) -> Float:
        """The field at all rows, (P, G); at those that are placed, as `at_placed`."""
        field = self.phi @ self.weights
        field[placed] = self.at_placed(placed, own)
        return field

    def influence_of(self, phi: Float, covariance: Float) -> Float:
        """`Influence` of rows with other coordinates, (b, m) -> (b,)."""
        toward = phi @ covariance
        variance = np.einsum("ij,ij->i", toward, phi)
        removed = np.einsum("ij,ij->i", toward @ self._gram, toward)
        return removed / (variance + _NOISE)

    def influence(self) -> Influence:
        """How much placing each row tells about all."""
        return Influence(self.phi, self.covariance, self._gram)


class Influence:
    """How much of the rows' total variance placing each row removes.

    Σ_z cov(z, x)² / (var(x) + s), averaged over rows z. It is kept up to date as rows are taken as
    placed, each of which changes the covariance by one rank: O(P m).

    Parameters
    ----------
    phi : (P, m)
    covariance : (m, m)
    gram : (m, m)
        Mean of φ φᵀ over all rows.
    """

    def __init__(self, phi: Float, covariance: Float, gram: Float) -> None:
        self._phi, self._gram = phi, gram
        self._toward = phi @ covariance
        self._onto = self._toward @ gram
        self._variance = np.einsum("ij,ij->i", self._toward, phi)
        self._removed = np.einsum("ij,ij->i", self._onto, self._toward)

    def take(self, at: int) -> None:
        """Row `at` is placed, wherever (Sherman–Morrison)."""
        toward, scale = self._toward[at].copy(), self._variance[at] + _NOISE
        onto = toward @ self._gram
        along = self._phi @ toward / scale
        self._removed += along * (along * (onto @ toward) - 2 * (self._onto @ toward))
        self._variance -= scale * along**2
        self._toward -= np.outer(along, toward)
        self._onto -= np.outer(along, onto)

    def each(self, placed: NDArray[np.int64] | None = None) -> Float:
        """That of all rows, (P,).

        For the rows `placed` already it is what placing them did remove: without x, cov and var
        are larger by 1 / (1 − var(x) / s).
        """
        variance, removed = self._variance, self._removed
        if placed is not None:
            variance, removed = variance.copy(), removed.copy()
            without = 1 - variance[placed] / _NOISE
            variance[placed] /= without
            removed[placed] /= without**2
        return removed / (variance + _NOISE)
