"""What the answers make probable: groups of rows, a smooth field over all rows, doubts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.active.query import Answer

__all__ = ["Belief", "Field"]

Float = NDArray[np.float64]

_NOISE = 0.1  # variance with which a placed row shows its group (a row's own is about 1)
_SHARPNESS = 8.0  # log-odds for each unit of the field
_NEW = 0.1  # the field below which a cluster not seen yet is likelier
_SURPRISE = 0.1  # share of the prior spread evenly: no group is ever ruled out by geometry
_SETTLED = 0.85  # a row is placed when its group is this probable
_ASKS = 3  # a group is asked about a row at most so often (with different members)


class Field:
    r"""Bayesian linear regression of group membership on the coordinates.

    With :math:`w \sim N(0, I)` for every group and a target of 1 for its placed rows (0 for the
    others') seen with variance s, the posterior has covariance
    :math:`S = (I + \sum_x \phi_x \phi_x^T / s)^{-1}`, the same for all groups, and mean
    :math:`S \sum_{x \in g} \phi_x / s`. A new row changes S by one rank: O(m²).
    """

    def __init__(self, coordinates: Float) -> None:
        self.phi = coordinates
        m = coordinates.shape[1]
        self.covariance = np.eye(m)
        self.pull = np.zeros((m, 0))

    def add_group(self) -> None:
        """One more group, without rows."""
        self.pull = np.hstack([self.pull, np.zeros((len(self.pull), 1))])

    def place(self, at: int, group: int) -> None:
        """Row `at` (a row of the coordinates) belongs to `group`."""
        self.covariance = self.covariance_with(at)
        self.pull[:, group] += self.phi[at] / _NOISE

    def covariance_with(self, at: int) -> Float:
        """The covariance after one more row is placed, wherever (Sherman–Morrison)."""
        phi = self.phi[at]
        toward = self.covariance @ phi
        return self.covariance - np.outer(toward, toward) / (_NOISE + phi @ toward)

    @property
    def weights(self) -> Float:
        """Posterior mean, (m, G)."""
        return self.covariance @ self.pull

    def influence(self, covariance: Float) -> Float:
        """How much of the rows' total variance placing each row removes, (P,).

        Σ_z cov(z, x)² / (var(x) + s), averaged over rows z.
        """
        toward = self.phi @ covariance
        gram = self.phi.T @ self.phi / len(self.phi)
        variance = np.einsum("ij,ij->i", toward, self.phi)
        return np.einsum("ij,ij->i", toward @ gram, toward) / (variance + _NOISE)


class Belief:
    """Groups of rows by the answers, with probabilities for the rows in between.

    Answers are learned one after the other. A row that is compared with groups collects evidence;
    it is placed when one group, or a new one, is probable enough.

    Parameters
    ----------
    coordinates : (P, m)
    at : dict of int to int
        Row of X -> row of the coordinates.
    error_rate : float
        How often an answer is wrong.
    first : int
        The row that founds the first group.
    """

    def __init__(
        self, coordinates: Float, at: dict[int, int], error_rate: float, first: int
    ) -> None:
        self.field = Field(coordinates)
        self.error_rate = error_rate
        self.groups: list[list[int]] = []
        self.home: dict[int, int] = {}
        self.evidence: dict[int, Float] = {}  # row -> log-odds for each group
        self.asks: dict[int, NDArray[np.int64]] = {}
        self.doubtful: dict[int, set[int]] = {}  # row -> groups of which "unknown" was said
        self.aside: set[int] = set()
        self.links: dict[tuple[int, int], float] = {}  # log-odds that two groups are one
        self._at = at
        self._waiting: dict[int, list[Answer]] = {}  # answers about two rows not placed yet
        self._found(first)

    # -- learning --------------------------------------------------------------------------
    def learn(self, answer: Answer) -> None:
        """Take one answer in."""
        row, other = answer.rows
        if row in self.home and other not in self.home:
            row, other = other, row
        if other not in self.home:  # neither is placed: wait until one is
            for end in answer.rows:
                self._waiting.setdefault(end, []).append(answer)
            return
        group = self.home[other]
        if row in self.home:
            self._link(self.home[row], group, answer)
            return
        evidence, asks = self._of(row)
        asks[group] += 1
        if not answer.sign:
            self.doubtful.setdefault(row, set()).add(group)
        evidence[group] += answer.sign * self._strength(answer)
        self._settle(row)

    def _strength(self, answer: Answer) -> float:
        """Log-odds that an answer is right."""
        wrong = self.error_rate
        if answer.certainty is not None:
            wrong = 1 - answer.certainty
        wrong = min(max(wrong, 1e-3), 0.5)
        return float(np.log((1 - wrong) / wrong))

    def _of(self, row: int) -> tuple[Float, NDArray[np.int64]]:
        """Evidence and number of questions of a row, one entry a group."""
        missing = len(self.groups) - len(self.evidence.get(row, ()))
        if missing:
            before = self.evidence.get(row, np.zeros(0)), self.asks.get(row, np.zeros(0, np.int64))
            self.evidence[row] = np.append(before[0], np.zeros(missing))
            self.asks[row] = np.append(before[1], np.zeros(missing, np.int64))
        return self.evidence[row], self.asks[row]

    def _found(self, row: int) -> None:
        """A new group with `row` in it."""
        self.groups.append([])
        self.field.add_group()
        self._put(row, len(self.groups) - 1)

    def _put(self, row: int, group: int) -> None:
        self.groups[group].append(row)
        self.home[row] = group
        if row in self._at:
            self.field.place(self._at[row], group)
        for answer in self._waiting.pop(row, []):
            other = sum(answer.rows) - row
            if answer in self._waiting.get(other, ()):  # not if it was dealt with from there
                self._waiting[other].remove(answer)
                self.learn(answer)

    def _settle(self, row: int) -> None:
        """Place the row if it is clear where; set it aside if no question is left to ask of it."""
        chance = self.posterior(row)
        best = int(chance.argmax())
        evidence, asks = self._of(row)
        is_new = best == len(self.groups)
        exhausted = self.next_group(row) is None
        if exhausted or chance[best] >= _SETTLED:
            refused_by_all = bool((asks[self.alive] > 0).all()) and row not in self.doubtful
            if is_new and refused_by_all:
                self._found(row)
            elif not is_new and evidence[best] > 0:
                self._put(row, best)
        if exhausted and row not in self.home:
            self.aside.add(row)

    def _link(self, a: int, b: int, answer: Answer) -> None:
        """Evidence between rows placed already: groups that turn out to be one are joined."""
        if a == b:
            return
        key = min(a, b), max(a, b)
        known = self.links.get(key, 0.0)
        self.links[key] = known + answer.sign * self._strength(answer)
        if self.links[key] > 0:
            self._merge(*key)

    def _merge(self, into: int, gone: int) -> None:
        for row in self.groups[gone]:
            self.home[row] = into
        self.groups[into] += self.groups[gone]
        self.groups[gone] = []
        self.field.pull[:, into] += self.field.pull[:, gone]
        self.field.pull[:, gone] = 0.0
        for row in self.evidence:
            evidence, asks = self._of(row)
            evidence[into] += evidence[gone]
            asks[into] += asks[gone]
        for groups in self.doubtful.values():
            if gone in groups:
                groups.add(into)

    # -- probabilities ---------------------------------------------------------------------
    @property
    def alive(self) -> NDArray[np.int64]:
        """Groups that were not joined to another."""
        return np.flatnonzero([bool(members) for members in self.groups])

    def prior(self, field: Float) -> Float:
        """Probability of each group and, last, of a new one from the field alone, (b, G + 1).

        softmax of the field, with a constant for "new"; groups joined to others get 0.
        """
        scores = np.full((len(field), len(self.groups) + 1), -np.inf)
        scores[:, self.alive] = _SHARPNESS * field[:, self.alive]
        scores[:, -1] = _SHARPNESS * _NEW
        chance = np.exp(scores - scores.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        even = np.isfinite(scores) / np.isfinite(scores).sum(axis=1, keepdims=True)
        return (1 - _SURPRISE) * chance + _SURPRISE * even

    def posterior(self, row: int, field: Float | None = None) -> Float:
        """Probability of each group and of a new one for one row, by field and answers."""
        if field is None:
            if row in self._at:
                field = self.field.phi[self._at[row]] @ self.field.weights
            else:
                field = np.zeros(len(self.groups))
        with np.errstate(divide="ignore"):
            scores = np.log(self.prior(field[None])[0])
        if row in self.evidence:
            scores[:-1] += self._of(row)[0]
        chance = np.exp(scores - scores.max())
        return chance / chance.sum()

    def next_group(self, row: int) -> int | None:
        """The most probable group that may still be asked about the row."""
        _, asks = self._of(row)
        doubtful = self.doubtful.get(row, ())
        open_groups = [
            int(g)
            for g in self.alive
            if asks[g] < min(_ASKS, len(self.groups[g])) and g not in doubtful
        ]
        if not open_groups:
            return None
        chance = self.posterior(row)
        return max(open_groups, key=lambda g: chance[g])
