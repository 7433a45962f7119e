"""InformationGain: ask where an answer tells most about most rows, for what it costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coterie.active._belief import Belief, Field
from coterie.active._features import Features
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
    error_rate : float, default=0
        How often answers are wrong. Above 0, a surprising answer is checked with another member of
        the group before it is believed.

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

    error_rate: float = 0.0

    def prepare(self, context: Context) -> Planner:
        """Bind to rows."""
        if not 0 <= self.error_rate < 0.5:
            raise InvalidParameter(
                f"error_rate={self.error_rate!r} must be at least 0 and below 0.5: answers that "
                "are wrong half of the time say nothing."
            )
        return InformationPlanner(context, self.error_rate)


class InformationPlanner(Planner):
    """The model at work; it is folded over the answers, again from the start after an undo."""

    def __init__(self, context: Context, error_rate: float) -> None:
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
        """Rows under way first, then the rows worth most; one question a row."""
        belief = self.belief(knowledge)
        under_way = [
            row for row in belief.evidence if row not in belief.home and row not in belief.aside
        ]
        rows = under_way[:count]
        rows += self._worth_most(belief, count - len(rows))
        return [self._question(belief, knowledge, row) for row in rows]

    def _worth_most(self, belief: Belief, count: int) -> list[int]:
        """Rows in order of worth; each is taken as placed when the next is chosen."""
        free = self._askable().copy()
        position = {int(row): at for at, row in enumerate(self.features.anchors)}
        known = [*belief.home, *belief.aside, *belief.evidence]
        free[[position[row] for row in known if row in position]] = False
        chance = belief.prior(belief.field.phi @ belief.field.weights)
        entropy = -(chance * np.log2(np.maximum(chance, 1e-12))).sum(axis=1)
        covariance = belief.field.covariance
        rows: list[int] = []
        while len(rows) < count and free.any():
            worth = belief.field.influence(covariance) * entropy / _expected_questions(chance)
            at = int(np.where(free, worth, -1.0).argmax())
            free[at] = False
            rows.append(int(self.features.anchors[at]))
            covariance = belief.field.covariance_with(at)
        return rows

    def _question(self, belief: Belief, knowledge: Knowledge, row: int) -> Query:
        """The row with a member of its most probable group that it was not compared with."""
        group = belief.next_group(row)
        assert group is not None  # else the row would have been placed or set aside
        member = next(m for m in belief.groups[group] if knowledge.answer_to(row, m) is None)
        chance = belief.posterior(row)
        wrong = max(belief.error_rate, 1e-3)
        yes = chance[group] * (1 - wrong) + (1 - chance[group]) * wrong
        why = (
            f"Row {row} would settle much of what is uncertain; it is in cluster {group + 1} with "
            f"probability {chance[group]:.0%} and in none seen so far with {chance[-1]:.0%}."
        )
        return Query((row, member), "information", why, float(bits(yes) - bits(wrong)))

    def why_finished(self, knowledge: Knowledge) -> str:
        """Everything is placed."""
        return "every row that questions may be about has its cluster or was set aside"

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


def _expected_questions(chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ_t p_(t) t over groups from the most probable on; the last possibility needs no question."""
    best_first = -np.sort(-chance, axis=1)
    most = max(chance.shape[1] - 1, 1)
    return best_first @ np.minimum(np.arange(1, chance.shape[1] + 1), most)
