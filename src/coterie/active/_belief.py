"""What the answers make probable: groups of rows, places of rows, groups that may be one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.active._field import Field
from coterie.active._tally import Tally, log_odds
from coterie.active.query import Answer

__all__ = ["MERGE_AT", "Belief", "link_log_odds"]

Float = NDArray[np.float64]

_SHARPNESS = 8.0  # log-odds for each unit of the field
_NEW = 0.1  # the field below which a cluster not seen yet is likelier
_SURPRISE = 0.1  # share of the prior spread evenly: no group is ever ruled out by geometry
_SETTLED = 0.7  # a row that is in its group with less than this is worth asking about again
MERGE_AT = 0.85  # groups are joined when they are one with this probability
_ASKS = 3  # a group is asked about a row at most so often (with different members)
#: Beta prior of an unknown error rate: 2 %, worth 50 checks, so that it yields to a few
#: contradictions and costs little where there are none.
_WRONG, _RIGHT = 1.0, 49.0
_BOUND = 50.0  # log-odds beyond this are certainty; keeps exp() finite


class Belief:
    """Groups of rows by the answers, with probabilities for rows and for pairs of groups.

    Answers are learned one after the other. A row that is compared with groups collects evidence;
    it is placed when one group took it and is the most probable one, and founds a group when all
    refused it. Nothing is final: a placed row can move when more is said about it, and groups that
    turn out to be one are joined.

    Parameters
    ----------
    coordinates : (P, m)
    at : dict of int to int
        Row of X -> row of the coordinates.
    error_rate : float or None
        How often an answer is wrong; None: estimated from answers that contradict each other.
    first : int
        The row that founds the first group.
    """

    def __init__(
        self, coordinates: Float, at: dict[int, int], error_rate: float | None, first: int
    ) -> None:
        self.field = Field(coordinates)
        self.tally = Tally()
        self.groups: list[list[int]] = []
        self.home: dict[int, int] = {}
        self._at = at
        self._given_rate = error_rate
        self.error_rate = _WRONG / (_WRONG + _RIGHT) if error_rate is None else error_rate
        self._founders: dict[int, int] = {}  # group -> the row that founded it, while it is there
        self._found(first, np.ones(1))

    # -- learning --------------------------------------------------------------------------
    def learn(self, answer: Answer) -> None:
        """Take one answer in."""
        self.tally.add(answer)
        # While one row is to be placed, the answer says more about it than about the other.
        both_placed = all(row in self.home for row in answer.rows)
        for row in answer.rows:
            if both_placed:
                self._reconsider(row)
            else:
                self._settle(row)
        self._join_groups()
        if self._given_rate is None:
            self.error_rate = self._estimate_rate()

    def _settle(self, row: int) -> None:
        """Place the row if it is clear where."""
        if row in self.home:
            return
        evidence = self._evidence(row)
        prior = self.prior(self._field_at(row)[np.newaxis])[0]
        chance = _bayes(prior, evidence)
        best = int(chance.argmax())
        if best < len(self.groups) and evidence[best] > 0 and chance[best] >= _SETTLED:
            self._put(row, best, prior)
        elif self._refused_by_all(row) and (chance[-1] >= 0.5 or self._is_exhausted(row, evidence)):
            self._found(row, prior)
        elif self.next_group(row) is None and best < len(self.groups) and evidence[best] > 0:
            self._put(row, best, prior)

    def _refused_by_all(self, row: int) -> bool:
        """Whether every group said something about the row, none that it cannot tell."""
        at = self.tally.index[row]
        heard = (self.tally.votes[:, at] + np.abs(self.tally.certain[:, at])).sum(axis=0) > 0
        return bool(heard[self.alive].all()) and not self._doubtful(row)

    def _is_exhausted(self, row: int, evidence: Float) -> bool:
        """Whether nothing is left to ask and the answers, whatever geometry says, are all no."""
        return bool((evidence[self.alive] < 0).all()) and self.next_group(row) is None

    def _reconsider(self, row: int) -> None:
        """Move a placed row if another group, or a new one, has become the most probable."""
        group = self.home[row]
        chance = self.posterior(row)
        best = int(chance.argmax())
        if best == group or chance[best] < 0.5:
            return
        self._take_out(row)
        prior = self.prior(self._field_at(row)[np.newaxis])[0]
        if best == len(chance) - 1:
            self._found(row, prior)
        else:
            self._put(row, best, prior)

    def _found(self, row: int, prior: Float) -> None:
        """A new group with `row` in it."""
        self.groups.append([])
        self.field.add_group()
        self.tally.add_group()
        self._founders[len(self.groups) - 1] = row
        self._put(row, len(self.groups) - 1, prior)

    def _put(self, row: int, group: int, prior: Float) -> None:
        self.groups[group].append(row)
        self.home[row] = group
        self.tally.place(row, group, prior)
        if row in self._at:
            self.field.place(self._at[row], group)
        for entry in list(self.tally.said[row]):  # answers that waited for one row to be placed
            self._settle(entry.other)

    def _take_out(self, row: int) -> None:
        group = self.home.pop(row)
        self.groups[group].remove(row)
        self.tally.remove(row)
        if self._founders.get(group) == row:
            del self._founders[group]
        if row in self._at:
            self.field.remove(self._at[row], group)

    def _join_groups(self) -> None:
        """Join groups that answers say are one; geometry alone never joins."""
        while True:
            said = self._net_between() > 0
            np.fill_diagonal(said, False)
            if not said.any():  # as a rule: the odds cost more
                return
            odds = np.where(said, self.links(), -np.inf)
            a, b = sorted(np.unravel_index(odds.argmax(), odds.shape))
            if odds[a, b] < np.log(MERGE_AT / (1 - MERGE_AT)):
                return
            self._merge(int(a), int(b))

    def _merge(self, into: int, gone: int) -> None:
        members = self.groups[gone]
        self.tally.merge(into, gone, members)
        self.field.merge(into, gone)
        for row in members:
            self.home[row] = into
        self.groups[into] = self.groups[into] + members
        self.groups[gone] = []
        self._founders.pop(gone, None)

    # -- how often answers are wrong -------------------------------------------------------
    def _estimate_rate(self) -> float:
        """(wrong + 1) / (checks + 50): the mean of a Beta distribution.

        Wrong are the answers that the groups contradict. It takes one answer to place a row, so
        all answers but those are checks. Answers with a certainty of their own are left out.
        """
        rows, own = self._placed()
        at = [self.tally.index[row] for row in rows]
        net, votes = self.tally.net[0, at], self.tally.votes[0, at]
        expected = np.where(np.arange(net.shape[1]) == own[:, np.newaxis], 1, -1)
        wrong = float((votes - expected * net).sum() / 2)
        checks = max(float(votes.sum()) - (len(rows) - 1), wrong)
        return (wrong + _WRONG) / (checks + _WRONG + _RIGHT)

    # -- probabilities ---------------------------------------------------------------------
    @property
    def alive(self) -> NDArray[np.int64]:
        """Groups that have rows."""
        return np.flatnonzero([bool(members) for members in self.groups])

    def _placed(self) -> tuple[list[int], NDArray[np.int64]]:
        return list(self.home), np.fromiter(self.home.values(), np.int64, len(self.home))

    def _evidence(self, row: int) -> Float:
        if row not in self.tally.index:
            return np.zeros(len(self.groups))
        return self.tally.evidence(log_odds(self.error_rate), [row])[0]

    def _field_at(self, row: int) -> Float:
        """What the other rows say about the row, (G,)."""
        if row not in self._at:
            return np.zeros(len(self.groups))
        return self.field.at_row(self._at[row], self.home.get(row))

    def prior(self, field: Float) -> Float:
        """Probability of each group and, last, of a new one from the field alone, (b, G + 1).

        softmax of the field, with a constant for "new"; groups without rows get 0.
        """
        scores = np.full((len(field), len(self.groups) + 1), -np.inf)
        scores[:, self.alive] = _SHARPNESS * field[:, self.alive]
        scores[:, -1] = _SHARPNESS * _NEW
        chance = np.exp(scores - scores.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        even = np.isfinite(scores) / np.isfinite(scores).sum(axis=1, keepdims=True)
        return (1 - _SURPRISE) * chance + _SURPRISE * even

    def posterior(self, row: int, field: Float | None = None) -> Float:
        """Probability of each group and of a new one for one row, by field and answers, (G + 1,).

        The field is what the other rows say, if not given. A row alone in its group is new.
        """
        field = self._field_at(row) if field is None else field
        chance = _bayes(self.prior(field[np.newaxis])[0], self._evidence(row))
        group = self.home.get(row)
        if group is not None and len(self.groups[group]) == 1:
            chance[group] += chance[-1]
            chance[-1] = 0.0
        return chance

    def survey(self) -> tuple[Float, NDArray[np.int64], NDArray[np.bool_]]:
        """`posterior` of all rows of the coordinates, (P, G + 1).

        Also the placed rows among them, and which rows are in their group with little doubt, (P,).
        """
        rows = [row for row in self.home if row in self._at]
        at = np.array([self._at[row] for row in rows], dtype=np.int64)
        own = np.array([self.home[row] for row in rows], dtype=np.int64)
        chance = self.prior(self.field.everywhere(at, own))
        chance[at] = _bayes(chance[at], self.tally.evidence(log_odds(self.error_rate), rows))
        lone = np.array([len(self.groups[group]) == 1 for group in own], dtype=bool)
        chance[at[lone], own[lone]] += chance[at[lone], -1]
        chance[at[lone], -1] = 0.0
        settled = np.zeros(len(chance), dtype=bool)
        settled[at] = chance[at].max(axis=1) >= _SETTLED
        return chance, at, settled

    # -- groups that may be one ------------------------------------------------------------
    def links(self) -> Float:
        """Log-odds that two groups are one, (G, G); 0 where nothing is known."""
        n_groups = len(self.groups)
        strength = log_odds(self.error_rate)
        founders = set(self._founders.values())
        rows = [row for row in self.home if row not in founders]
        odds = np.zeros((n_groups, n_groups))
        if rows:
            at = [self.tally.index[row] for row in rows]
            asked = self._asked(rows, strength)
            odds += link_log_odds(self.tally.prior[at], self.tally.prior_new[at], asked)
        for group, row in self._founders.items():
            # A founder is in an earlier group or in its own: the two are one or two.
            place = self.tally.index[row]
            prior = self.tally.prior[place]
            earlier = np.flatnonzero(prior)
            found = self._asked([row], strength)[0]
            found[earlier] += np.log(prior[earlier] / self.tally.prior_new[place])
            odds[group] += found
            odds[:, group] += found
        return odds

    def _asked(self, rows: list[int], strength: float) -> Float:
        """Evidence by the answers in which the rows were to be placed, (b, G)."""
        at = [self.tally.index[row] for row in rows]
        found = strength * self.tally.net[0, at] + self.tally.certain[0, at]
        return np.clip(found, -_BOUND, _BOUND)

    def _net_between(self) -> Float:
        """Evidence of the answers between rows of two groups that they are one, (G, G)."""
        rows, own = self._placed()
        between = np.zeros((len(self.groups), len(self.groups)))
        np.add.at(between, own, self._asked(rows, log_odds(self.error_rate)))
        return between + between.T

    # -- what can be asked -----------------------------------------------------------------
    def _doubtful(self, row: int) -> set[int]:
        """Groups of which "unknown" or "later" was said."""
        said = self.tally.said.get(row, [])
        return {self.home[e.other] for e in said if not e.sign and e.other in self.home}

    def partners(self, row: int, group: int) -> list[int]:
        """Members of the group that the row was not compared with."""
        known = {row, *(entry.other for entry in self.tally.said.get(row, []))}
        return [member for member in self.groups[group] if member not in known]

    def next_group(self, row: int) -> int | None:
        """The most probable group that may still be asked about the row."""
        said = self.tally.said.get(row, [])
        asked = [self.home[entry.other] for entry in said if entry.other in self.home]
        doubtful = self._doubtful(row)
        chance = self.posterior(row)
        for group in sorted(self.alive.tolist(), key=lambda g: -chance[g]):
            if asked.count(group) < _ASKS and group not in doubtful and self.partners(row, group):
                return int(group)
        return None


def _bayes(prior: Float, evidence: Float) -> Float:
    """Prior (…, G + 1) × likelihood of the answers, (…, G); "new" refuses all groups."""
    with np.errstate(divide="ignore"):
        scores = np.log(prior)
    scores[..., :-1] += evidence
    chance = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return chance / chance.sum(axis=-1, keepdims=True)


def link_log_odds(prior: Float, new: Float, evidence: Float) -> Float:
    r"""Σ over rows of log P(answers | A and B are one) / P(answers | they are two), (G, G).

    A row is in group g with probability :math:`p_g`, in none with `new`; its answers are
    :math:`e^{v_g}` times likelier if it is in g than if it is in none. With A and B two groups
    their probability is :math:`\sum_g p_g e^{v_g} + p_{new}`; with A and B one, the terms of A and
    B give way to :math:`(p_A + p_B) e^{v_A + v_B}`. A row that A refused and B took speaks against;
    one that might have been in either and was taken by the first it was asked speaks for.

    Parameters
    ----------
    prior, evidence : (R, G)
    new : (R,)
    """
    weight = prior * np.exp(evidence)
    total = weight.sum(axis=1) + new
    both = prior[:, :, np.newaxis] + prior[:, np.newaxis, :]
    joint = both * np.exp(evidence[:, :, np.newaxis] + evidence[:, np.newaxis, :])
    one = total[:, np.newaxis, np.newaxis] - weight[:, :, np.newaxis] - weight[:, np.newaxis, :]
    # The difference can come out a rounding below 0 where A and B hold all the weight.
    one = np.maximum(one, 0.0) + joint
    return np.log(np.maximum(one, 1e-300) / total[:, np.newaxis, np.newaxis]).sum(axis=0)
