"""InformationGain: ask where an answer tells most about most rows, for what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coterie.active._belief import MERGE_AT, Belief
from coterie.active._features import Features
from coterie.active._field import Field
from coterie.active.knowledge import Knowledge
from coterie.active.query import Query
from coterie.active.strategy import Context, Planner, Strategy, bits
from coterie.exceptions import InvalidParameter

__all__ = ["InformationGain"]


@dataclass(frozen=True)
class InformationGain(Strategy):
    """Place the row that settles most of what is uncertain, by the fewest expected questions.

    The number of clusters is not needed. Rows get coordinates from a nearest-neighbour graph and
    from plain distances; a Bayesian linear model carries the groups found so far to all rows, and
    says how sure it is. The next row is the one with the largest

        variance it would remove over all rows × entropy of its own group / expected questions,

    and it is compared with its most probable group first. A row that no group takes founds a new
    one. `ActiveSession.labels` without an estimator gives this model's own clustering.

    Parameters
    ----------
    error_rate : float or "estimate", default="estimate"
        How often answers are wrong; estimated from answers that contradict each other if nobody
        knows. Answers that may be wrong are evidence: a surprising one is checked with another
        member of the group, a placed row can move, and groups that may be one are asked about.
        0 trusts every answer and checks none.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.active import ActiveSession, InformationGain, LabelOracle, answer_all
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1, 2], 30)
    >>> X = rng.normal(size=(90, 2)) + 8 * np.eye(3, 2)[y]
    >>> session = ActiveSession(X, strategy=InformationGain(), budget=12, random_state=0)
    >>> answer_all(session, LabelOracle(y)).done
    'the budget of 12 questions is spent'
    >>> from coterie.metrics import adjusted_rand_score
    >>> float(adjusted_rand_score(y, session.labels()))
    1.0
    """

    clusters: ClassVar[bool] = True
    counts: ClassVar[bool] = True
    error_rate: float | str = "estimate"

    def prepare(self, context: Context) -> Planner:
        """Bind to rows."""
        if self.error_rate == "estimate":
            return InformationPlanner(context, None)
        if isinstance(self.error_rate, str) or not 0 <= self.error_rate < 0.5:
            raise InvalidParameter(
                f"error_rate={self.error_rate!r} must be 'estimate', or at least 0 and below 0.5: "
                "answers that are wrong half of the time say nothing."
            )
        return InformationPlanner(context, float(self.error_rate))


class InformationPlanner(Planner):
    """The model at work; it is folded over the answers, again from the start after an undo."""

    def __init__(self, context: Context, error_rate: float | None) -> None:
        self.context = context
        self.error_rate = error_rate
        self._features: Features | None = None
        self._belief: Belief | None = None
        self._learned: list[int] = []

    @property
    def features(self) -> Features:
        """Built when first needed."""
        if self._features is None:
            self._features = Features(self.context.space, self.context.seed)
        return self._features

    def belief(self, knowledge: Knowledge) -> Belief:
        """What the answers in force make probable."""
        answers = list(knowledge.of_pair.values())
        numbers = [answer.number for answer in answers]
        done = len(self._learned)
        if self._belief is None or numbers[:done] != self._learned:
            self._belief, done = self._fresh(), 0
        for answer in answers[done:]:
            self._belief.learn(answer)
        self._learned = numbers
        return self._belief

    def _fresh(self) -> Belief:
        anchors = self.features.anchors
        at = {int(row): position for position, row in enumerate(anchors)}
        coordinates = self.features.of_anchors
        return Belief(coordinates, at, self.error_rate, self._first())

    def _first(self) -> int:
        """The candidate that speaks for most of the rows."""
        field = Field(self.features.of_anchors)
        influence = np.where(self._askable(), field.influence(field.covariance), -1.0)
        return int(self.features.anchors[influence.argmax()])

    def _askable(self) -> NDArray[np.bool_]:
        return self.context.space.candidates[self.features.anchors]

    # -- questions -------------------------------------------------------------------------
    def questions(self, knowledge: Knowledge, count: int) -> list[Query]:
        """Rows under way first, then what is worth most: a row, or two groups that may be one."""
        belief = self.belief(knowledge)
        found: list[Query] = []
        for row in belief.tally.said:
            if len(found) == count:
                return found
            if row not in belief.home and (query := self._row_question(belief, row)) is not None:
                found.append(query)
        return found + self._worth_most(belief, count - len(found))

    def _worth_most(self, belief: Belief, count: int) -> list[Query]:
        """Questions in order of worth, at most one about two groups and one about each row.

        Each row is taken as placed when the next is chosen.
        """
        chance, placed, settled = belief.survey()
        free = self._askable() & ~settled
        position = {int(row): at for at, row in enumerate(self.features.anchors)}
        under_way = [row for row in belief.tally.said if row not in belief.home]
        free[[position[row] for row in under_way if row in position]] = False
        bits_per_question = _entropy(chance) / _expected_questions(chance)
        covariance = belief.field.covariance
        link = self._link_question(belief, chance)
        found: list[Query] = []
        while len(found) < count:
            if not free.any():  # no row is left; groups that are likely enough one still are
                if link is not None and link[2] > 1 - MERGE_AT:
                    found.append(link[1])
                return found
            worth = belief.field.influence(covariance, placed) * bits_per_question
            at = int(np.where(free, worth, -1.0).argmax())
            if link is not None and link[0] >= worth[at]:
                found.append(link[1])
                link = None
                continue
            free[at] = False
            query = self._row_question(belief, int(self.features.anchors[at]))
            if query is not None:
                found.append(query)
                covariance = belief.field.with_row(covariance, at)
        return found

    def _row_question(self, belief: Belief, row: int) -> Query | None:
        """The row with a member of its most probable group that it was not compared with."""
        group = belief.next_group(row)
        if group is None:
            return None
        chance = belief.posterior(row)
        why = (
            f"Row {row} would settle much of what is uncertain; it is in cluster {group + 1} with "
            f"probability {chance[group]:.0%} and in none seen so far with {chance[-1]:.0%}."
        )
        gain = _information(chance[group], belief.error_rate)
        return Query((row, belief.partners(row, group)[0]), "information", why, float(gain))

    def _link_question(
        self, belief: Belief, chance: NDArray[np.float64]
    ) -> tuple[float, Query, float] | None:
        """The two groups most worth comparing, if any can be: worth, question, P(one).

        Worth is the share of all rows that the answer speaks for (those of the smaller group)
        times the bits it tells.
        """
        alive = belief.alive
        if alive.size < 2 or belief.error_rate == 0:
            return None
        one = 1 / (1 + np.exp(-np.clip(belief.links(), -50, 50)))
        mass = chance[:, :-1].mean(axis=0)
        gain = _information(one, belief.error_rate)
        b, a = (alive[side] for side in np.triu_indices(alive.size, 1))  # a is the later one
        worth = np.minimum(mass[a], mass[b]) * gain[a, b]
        for at in np.argsort(-worth, kind="stable"):
            pair = _not_compared(belief, int(a[at]), int(b[at]))
            if pair is not None:
                why = (
                    f"Clusters {b[at] + 1} and {a[at] + 1} are one with probability "
                    f"{one[a[at], b[at]]:.0%}, if some answers were wrong."
                )
                query = Query(pair, "link", why, float(gain[a[at], b[at]]))
                return float(worth[at]), query, float(one[a[at], b[at]])
        return None

    def why_finished(self, knowledge: Knowledge) -> str:
        """Everything is placed."""
        return "every row that questions may be about has its cluster or was set aside"

    def n_found(self, knowledge: Knowledge) -> int:
        """The groups."""
        return int(self.belief(knowledge).alive.size)

    # -- the model's own clustering --------------------------------------------------------
    def labels(self, knowledge: Knowledge) -> NDArray[np.int64]:
        """The most probable group of every row; rows that were asked about, by their answers."""
        belief = self.belief(knowledge)
        field = self.features.apply(belief.field.weights)
        alive = belief.alive
        labels = alive[field[:, alive].argmax(axis=1)]
        for row in belief.home:
            labels[row] = alive[belief.posterior(row, field[row])[alive].argmax()]
        return labels


def _not_compared(belief: Belief, a: int, b: int) -> tuple[int, int] | None:
    """A row of each group that were not compared with each other."""
    for row in belief.groups[a]:
        partners = belief.partners(row, b)
        if partners:
            return row, partners[0]
    return None


def _information(chance: Any, error_rate: float) -> Any:
    """Bits that an answer tells which is "same" with this probability, and wrong so often."""
    wrong = max(error_rate, 1e-3)
    return bits(chance * (1 - wrong) + (1 - chance) * wrong) - bits(wrong)


def _entropy(chance: NDArray[np.float64]) -> NDArray[np.float64]:
    return -(chance * np.log2(np.maximum(chance, 1e-12))).sum(axis=1)


def _expected_questions(chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ_t p_(t) t over groups from the most probable on; the last possibility needs no question."""
    best_first = -np.sort(-chance, axis=1)
    most = max(chance.shape[1] - 1, 1)
    return best_first @ np.minimum(np.arange(1, chance.shape[1] + 1), most)
