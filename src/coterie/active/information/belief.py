"""What the answers make probable: groups of rows, places of rows, groups that may be one."""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import NDArray

from coterie.active.information.error_rate import FIRST_GUESS, estimate_rate
from coterie.active.information.features import Features
from coterie.active.information.field import Field
from coterie.active.information.foresight import Heard, foreseen
from coterie.active.information.opinions import Described, Pool, pooled
from coterie.active.information.parting import best_parting
from coterie.active.information.probabilities import bayes, link_log_odds, mixed_prior
from coterie.active.information.tally import Tally, log_odds
from coterie.active.query import OF_CLUSTERS, Answer

__all__ = ["MERGE_AT", "Belief"]

Float = NDArray[np.float64]

_SETTLED = 0.7  # a row that is in its group with less than this is worth asking about again
MERGE_AT = 0.85  # groups are joined when they are one with this probability
_OFTEN = 200  # answers up to which the error rate follows each; then each half a percent more
_ROUNDS = 2  # of thinking over
_ASKS = 3  # a group is asked about a row at most so often (with different members)
_BOUND = 50.0  # log-odds beyond this are certainty; keeps exp() finite


class Belief:
    """Groups of rows by the answers, with probabilities for rows and for pairs of groups.

    Answers are learned one after the other. A row that is compared with groups collects evidence;
    it is placed when one group took it and is the most probable one, and founds a group when all
    refused it. Nothing is final: a placed row can move when more is said about it, groups that
    turn out to be one are joined, and a group that answers say is two is parted.

    Parameters
    ----------
    features : Features
        Its anchors carry the model; rows that answers are about join them.
    error_rate : float or None
        How often an answer is wrong; None: estimated from answers that contradict each other.
    first : int
        The row that founds the first group.
    seed : int
    """

    def __init__(
        self,
        features: Features,
        error_rate: float | None,
        first: int,
        seed: int = 0,
    ) -> None:
        self.rows = features.anchors.tolist()
        self.described = features.described
        self.field = Field(self.described.phi, self.described.share)
        self.pool: Pool | None = None
        self._features = features
        self._seed = seed
        self._at = {row: position for position, row in enumerate(self.rows)}
        self.tally = Tally()
        self.groups: list[list[int]] = []
        self.home: dict[int, int] = {}
        self.heard: list[Heard] = []
        self._given_rate = error_rate
        self.error_rate = FIRST_GUESS if error_rate is None else error_rate
        self._founders: dict[int, int] = {}  # group -> the row that founded it, while it is there
        self._found(first, np.ones(1))

    def copy(self) -> Belief:
        """One that learns for itself; the coordinates and opinions are shared."""
        other = copy(self)
        other.rows, other._at, other.home = list(self.rows), dict(self._at), dict(self.home)
        other.field, other.tally = self.field.copy(), self.tally.copy()
        other.groups, other.heard = [list(members) for members in self.groups], list(self.heard)
        other._founders = dict(self._founders)
        return other

    # -- learning --------------------------------------------------------------------------
    def learn(self, answer: Answer) -> None:
        """Take one answer in."""
        self._admit([row for row in answer.rows if row not in self._at])
        # What is said about clusters is carried out on those that were shown, and does not judge.
        if answer.sign and answer.phase not in OF_CLUSTERS:
            self.heard.append(foreseen(self, answer))
        self.tally.add(answer)
        # While one row is to be placed, the answer says more about it than about the other.
        both_placed = all(row in self.home for row in answer.rows)
        for row in answer.rows:
            if both_placed:
                self._reconsider(row)
            else:
                self._settle(row)
        if both_placed and answer.sign < 0:
            self._part_group(self.home[answer.rows[0]])
        self._join_groups()
        heard = len(self.heard)
        if self._given_rate is None and heard % (1 + heard // _OFTEN) == 0:
            self.error_rate = self._estimate_rate()

    def _admit(self, rows: list[int]) -> None:
        """Give rows that are no anchors a place beside them; they stand for themselves only."""
        if not rows:
            return
        new = self._features.describe(np.array(rows))
        self.described = self.described.beside(new)
        self.field.admit(new.phi)
        if self.pool is not None:
            of_all = np.vstack([self.pool.of_anchors, self.pool.of(new)])
            self.pool = self.pool._replace(of_anchors=of_all)
        for row in rows:
            self._at[row] = len(self.rows)
            self.rows.append(row)

    def think_over(self) -> None:
        """Ask the classifiers anew, and every row where it belongs by what they and answers say.

        Rows that were placed by answers which were trusted too much find better places.
        """
        for _ in range(_ROUNDS):
            self._renew_pool()
            before = dict(self.home)
            for row in before:
                self._reconsider(row)
            for group in self.alive.tolist():
                self._part_group(group)
            self._join_groups()
            if self._given_rate is None:
                self.error_rate = self._estimate_rate()
            if self.home == before:
                return

    def _renew_pool(self) -> None:
        """Opinions by the groups of now; none while there is one group only."""
        at, own = self._placed_anchors()
        groups = np.unique(own)
        self.pool = None
        if groups.size > 1:
            self.pool = pooled(self.described, at, own, groups, len(self.groups), self._seed)

    def _settle(self, row: int) -> None:
        """Place the row if it is clear where."""
        if row in self.home:
            return
        evidence = self._evidence(row)
        prior = self._prior_of(row)
        chance = bayes(prior, evidence)
        best = int(chance.argmax())
        if best < len(self.groups) and evidence[best] > 0 and chance[best] >= _SETTLED:
            self._put(row, best, prior)
        elif self._refused_by_all(row) and (
            chance[-1] >= 0.5 or self._is_exhausted(row, evidence, chance)
        ):
            self._found(row, prior)
        elif (
            self.next_group(row, chance) is None and best < len(self.groups) and evidence[best] > 0
        ):
            self._put(row, best, prior)

    def _refused_by_all(self, row: int) -> bool:
        """Whether every group said something about the row, none that it cannot tell."""
        at = self.tally.index[row]
        heard = (self.tally.votes[:, at] + np.abs(self.tally.certain[:, at])).sum(axis=0) > 0
        return bool(heard[self.alive].all()) and not self._doubtful(row)

    def _is_exhausted(self, row: int, evidence: Float, chance: Float) -> bool:
        """Whether nothing is left to ask and the answers, whatever geometry says, are all no."""
        return bool((evidence[self.alive] < 0).all()) and self.next_group(row, chance) is None

    def _reconsider(self, row: int) -> None:
        """Move a placed row if another group, or a new one, has become the most probable."""
        group = self.home[row]
        chance = self.posterior(row)
        best = int(chance.argmax())
        if best == group or chance[best] < 0.5:
            return
        self._take_out(row)
        prior = self._prior_of(row)
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
        self.field.place(self._at[row], group)
        for entry in list(self.tally.said[row]):  # answers that waited for one row to be placed
            self._settle(entry.other)

    def _take_out(self, row: int) -> None:
        group = self.home.pop(row)
        self.groups[group].remove(row)
        self.tally.remove(row)
        if self._founders.get(group) == row:
            del self._founders[group]
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

    def _part_group(self, group: int) -> None:
        """Part the group if the answers within it say that it is two; geometry alone never parts.

        An early wrong "same" that joined two groups is taken back so.
        """
        members = self.groups[group]
        evidence = self._evidence_within(members)
        if not (evidence < 0).any():
            return
        phi = self.field.phi[[self._at[row] for row in members]]
        away, odds = best_parting(evidence, phi @ phi.T)
        if odds < np.log(MERGE_AT / (1 - MERGE_AT)):
            return
        leaving = [row for row, leaves in zip(members, away, strict=True) if leaves]
        for row in leaving:
            self._take_out(row)
        prior = self._prior_of(leaving[0])
        self._found(leaving[0], prior)
        for row in leaving[1:]:
            if row not in self.home:  # answers may have placed it already
                self._put(row, len(self.groups) - 1, prior)
        self._renew_pool()

    def _evidence_within(self, members: list[int]) -> Float:
        """Log-odds by the answers that two members belong together, (g, g)."""
        place = {row: t for t, row in enumerate(members)}
        strength = log_odds(self.error_rate)
        found = np.zeros((len(members), len(members)))
        for row in members:
            for entry in self.tally.said[row]:
                if entry.other in place:
                    weight = strength if entry.certain is None else entry.certain
                    found[place[row], place[entry.other]] += entry.sign * weight
        return found

    def _merge(self, into: int, gone: int) -> None:
        members = self.groups[gone]
        self.tally.merge(into, gone, members)
        self.field.merge(into, gone)
        if self.pool is not None:
            self.pool = self.pool.merged(into, gone)
        for row in members:
            self.home[row] = into
        self.groups[into] = self.groups[into] + members
        self.groups[gone] = []
        self._founders.pop(gone, None)

    # -- how often answers are wrong -------------------------------------------------------
    def _estimate_rate(self) -> float:
        """By the answers about placed rows, and by where those lie."""
        at = [self.tally.index[row] for row in self.home]
        tally = self.tally
        return estimate_rate(
            self._prior_of_placed(), tally.net[0, at], tally.votes[0, at], tally.certain[0, at]
        )

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
        return self.field.at_row(self._at[row], self.home.get(row))

    def _prior_of(self, row: int) -> Float:
        """`prior` of one row by what the others say, (G + 1,)."""
        pool = None if self.pool is None else self.pool.of_anchors[[self._at[row]]]
        return self.prior(self._field_at(row)[np.newaxis], pool)[0]

    def prior(self, field: Float, pool: Float | None) -> Float:
        """Probability of each group and, last, of a new one before a row's answers, (b, G + 1).

        How likely a new group is says the field: softmax with a constant for "new". The rest is
        shared among groups by the field and the other classifiers (`pool`, (b, G') of the groups
        that there were when they were asked) by their weights; groups without rows get 0.
        """
        return mixed_prior(field, pool, self.pool, self.alive, len(self.groups))

    def posterior(self, row: int) -> Float:
        """Probability of each group and of a new one for one row, by prior and answers, (G + 1,).

        A row alone in its group is new.
        """
        chance = bayes(self._prior_of(row), self._evidence(row))
        group = self.home.get(row)
        if group is not None and len(self.groups[group]) == 1:
            chance[group] += chance[-1]
            chance[-1] = 0.0
        return chance

    def foretold(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Placed rows among the anchors, their groups, and those that only others speak for, (R,).

        The groups of the last are the most probable ones without the rows' own answers.
        """
        at, own = self._placed_anchors()
        return at, own, self.alive[self._prior_of_placed()[:, self.alive].argmax(axis=1)]

    def _prior_of_placed(self) -> Float:
        """`prior` of the placed rows by what the others say, (R, G + 1)."""
        at, own = self._placed_anchors()
        pool = None if self.pool is None else self.pool.of_anchors[at]
        return self.prior(self.field.at_placed(at, own), pool)

    def _placed_anchors(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        rows, own = self._placed()
        return np.array([self._at[row] for row in rows], dtype=np.int64), own

    def prior_of(self, rows: Described) -> Float:
        """`prior` of any rows that are not placed, (b, G + 1)."""
        pool = None if self.pool is None else self.pool.of(rows)
        return self.prior(rows.phi @ self.field.weights, pool)

    def groups_of(self, rows: Described) -> NDArray[np.int64]:
        """Which of the groups `alive` the classifiers hold each row to be in, (b,)."""
        return self.prior_of(rows)[:, self.alive].argmax(axis=1)

    def survey(self) -> tuple[Float, NDArray[np.int64], NDArray[np.bool_]]:
        """`posterior` of all rows of the coordinates, (P, G + 1).

        Also the placed rows among them, and which rows are in their group with little doubt, (P,).
        """
        rows = list(self.home)
        at, own = self._placed_anchors()
        pool = None if self.pool is None else self.pool.of_anchors
        chance = self.prior(self.field.everywhere(at, own), pool)
        chance[at] = bayes(chance[at], self.tally.evidence(log_odds(self.error_rate), rows))
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

    def position(self, row: int) -> int:
        """Where a row is among the anchors and the rows that joined them."""
        return self._at[row]

    # -- what can be asked -----------------------------------------------------------------
    def _doubtful(self, row: int) -> set[int]:
        """Groups of which "unknown" or "later" was said."""
        said = self.tally.said.get(row, [])
        return {self.home[e.other] for e in said if not e.sign and e.other in self.home}

    def partners(self, row: int, group: int) -> list[int]:
        """Members of the group that the row was not compared with."""
        known = {row, *(entry.other for entry in self.tally.said.get(row, []))}
        return [member for member in self.groups[group] if member not in known]

    def next_group(self, row: int, chance: Float) -> int | None:
        """The most probable group, of chances (G + 1,), that may still be asked about the row."""
        said = self.tally.said.get(row, [])
        asked = [self.home[entry.other] for entry in said if entry.other in self.home]
        doubtful = self._doubtful(row)
        for group in sorted(self.alive.tolist(), key=lambda g: -chance[g]):
            if asked.count(group) < _ASKS and group not in doubtful and self.partners(row, group):
                return int(group)
        return None
