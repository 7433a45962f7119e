"""Votes of the answers for every row and group, kept up to date as rows are placed and moved."""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.active.query import Answer

__all__ = ["Tally", "log_odds"]

Float = NDArray[np.float64]

_LEAST_ERROR = 1e-3  # nobody is surer than this: one slip must not outweigh everything else


def log_odds(error_rate: float) -> float:
    """Log-odds that an answer is right."""
    wrong = min(max(error_rate, _LEAST_ERROR), 0.5)
    return float(np.log((1 - wrong) / wrong))


class Said(NamedTuple):
    """One answer, seen from one of its rows."""

    other: int
    subject: bool  # whether this row was the one to be placed
    sign: int
    certain: float | None  # log-odds of an answer whose certainty was given


class Tally:
    """Net votes "same" less "different" between rows that were asked about and groups.

    Arrays have one row for every row asked about (`index`) and one column for every group.
    Layer 0 counts answers in which the row was the one to be placed, layer 1 those in which it
    stood for its group: between two groups every answer is in layer 0 exactly once.

    Attributes
    ----------
    said : dict of int to list of Said
    net : (2, R, G) float64
        Votes of answers without certainty, each ±1.
    votes : (2, R, G) float64
        How many they are.
    certain : (2, R, G) float64
        Log-odds of answers with certainty, summed.
    prior : (R, G) float64
        Probability of each group for a row before its answers, as of when it was placed.
    prior_new : (R,) float64
        The same of a group not seen then.
    """

    def __init__(self) -> None:
        self.index: dict[int, int] = {}
        self.said: dict[int, list[Said]] = {}
        self._home: dict[int, int] = {}
        self._stack = np.zeros((3, 2, 16, 4))
        self._prior = np.zeros((16, 4))
        self._prior_new = np.zeros(16)
        self.n_groups = 0

    def copy(self) -> Tally:
        """One that counts for itself."""
        other = copy(self)
        other.index, other._home = dict(self.index), dict(self._home)
        other.said = {row: list(entries) for row, entries in self.said.items()}
        other._stack, other._prior = self._stack.copy(), self._prior.copy()
        other._prior_new = self._prior_new.copy()
        return other

    @property
    def net(self) -> Float:
        """See the class."""
        return self._stack[0, :, : len(self.index), : self.n_groups]

    @property
    def votes(self) -> Float:
        """See the class."""
        return self._stack[1, :, : len(self.index), : self.n_groups]

    @property
    def certain(self) -> Float:
        """See the class."""
        return self._stack[2, :, : len(self.index), : self.n_groups]

    @property
    def prior(self) -> Float:
        """See the class."""
        return self._prior[: len(self.index), : self.n_groups]

    @property
    def prior_new(self) -> Float:
        """See the class."""
        return self._prior_new[: len(self.index)]

    def evidence(self, strength: float, rows: list[int]) -> Float:
        """Log-odds by the answers that each row is in each group, (b, G)."""
        at = [self.index[row] for row in rows]
        return strength * self.net[:, at].sum(axis=0) + self.certain[:, at].sum(axis=0)

    # -- changes ---------------------------------------------------------------------------
    def add_row(self, row: int) -> None:
        """Make room for a row."""
        if row not in self.index:
            self.index[row] = len(self.index)
            self.said[row] = []
            self._grow()

    def add_group(self) -> None:
        """Make room for a group."""
        self.n_groups += 1
        self._grow()

    def _grow(self) -> None:
        """Double the room that has run out."""
        for axis, needed in ((2, len(self.index)), (3, self.n_groups)):
            if needed > self._stack.shape[axis]:
                self._stack = _doubled(self._stack, axis)
                self._prior = _doubled(self._prior, axis - 2)
        if len(self._prior) > len(self._prior_new):
            self._prior_new = _doubled(self._prior_new, 0)

    def add(self, answer: Answer) -> None:
        """Count an answer for both rows."""
        sure = None if answer.certainty is None else log_odds(1 - answer.certainty)
        for row, other in (answer.rows, answer.rows[::-1]):
            self.add_row(row)
            entry = Said(other, row == answer.rows[0], answer.sign, sure)
            self.said[row].append(entry)
            if other in self._home:
                self._count(row, entry, self._home[other], 1)

    def place(self, row: int, group: int, prior: Float) -> None:
        """`row` now stands for `group` in the votes of the rows it was compared with.

        `prior` (g + 1,): of the g groups there were before, and of a new one.
        """
        self.add_row(row)
        at = self.index[row]
        self._prior[at] = 0.0
        self._prior[at, : len(prior) - 1] = prior[:-1]
        self._prior_new[at] = prior[-1]
        self._home[row] = group
        self._recount(row, group, 1)

    def remove(self, row: int) -> None:
        """`row` no longer stands for its group."""
        self._recount(row, self._home.pop(row), -1)

    def _recount(self, row: int, group: int, step: int) -> None:
        for entry in self.said[row]:
            mirrored = Said(row, not entry.subject, entry.sign, entry.certain)
            self._count(entry.other, mirrored, group, step)

    def _count(self, row: int, entry: Said, group: int, step: int) -> None:
        layer, at = int(not entry.subject), self.index[row]
        if entry.certain is not None:
            self._stack[2, layer, at, group] += step * entry.sign * entry.certain
        else:
            self._stack[0, layer, at, group] += step * entry.sign
            self._stack[1, layer, at, group] += step * abs(entry.sign)

    def merge(self, into: int, gone: int, members: list[int]) -> None:
        """Votes about `gone` are about `into`."""
        self._stack[..., into] += self._stack[..., gone]
        self._stack[..., gone] = 0.0
        self._prior[:, into] += self._prior[:, gone]
        self._prior[:, gone] = 0.0
        for row in members:
            self._home[row] = into


def _doubled(array: Float, axis: int) -> Float:
    """The array with as much room again, zeros, along one axis."""
    return np.concatenate([array, np.zeros_like(array)], axis=axis)
