"""InformationGain: ask where an answer tells most about most rows, for what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.active.forecast import Forecast, foretell
from coterie.active.information.agreement import Outlook, outlook
from coterie.active.information.belief import MERGE_AT, Belief
from coterie.active.information.cells import out_of_cells
from coterie.active.information.features import Features
from coterie.active.information.field import Field
from coterie.active.information.opinions import compile_trees
from coterie.active.information.partitions import Partitions
from coterie.active.information.worth import Survey, entropy, expected_questions, information
from coterie.active.knowledge import Knowledge
from coterie.active.milestones import is_milestone
from coterie.active.obeyed import obeyed
from coterie.active.query import KNOWN, OF_CLUSTERS, Query
from coterie.active.strategies.strategy import Context, Planner, Strategy
from coterie.stability import renumber

__all__ = ["InformationGain"]

_Told = tuple[tuple[int, int], int, float | None]  # rows, sign, certainty

_AROUND = 64  # rows that are looked at where an anchor stands for more
_KEEP_EVERY = 8  # answers after which a copy of what was learned is kept
_KEPT = 3  # of those


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
        estimate = isinstance(self.error_rate, str)
        return InformationPlanner(context, None if estimate else float(self.error_rate))


class _Thought(NamedTuple):
    """A belief that learns no more, what it has learned, and what it expected."""

    belief: Belief
    learned: list[_Told]
    estimates: list[tuple[int, float]]


class InformationPlanner(Planner):
    """The model at work; it is folded over the answers, again from the start after an undo."""

    def __init__(self, context: Context, error_rate: float | None) -> None:
        self.context = context
        self.error_rate = error_rate
        self._prepared: tuple[Features, Partitions] | None = None
        self._belief: Belief | None = None
        self._learned: list[_Told] = []
        self._estimates: list[tuple[int, float]] = []  # answers, agreement
        self._thoughts: list[_Thought] = []  # of fewer answers, the last one of most
        self._unstated: InformationPlanner | None = None  # knows no statements about clusters

    def _prepare(self) -> tuple[Features, Partitions]:
        """All that takes long, when first needed: no question after the first waits for it."""
        if self._prepared is None:
            features = Features(self.context.space, self.context.seed)
            rows = features.described
            partitions = Partitions(rows.points, rows.share, self.context.seed)
            compile_trees()
            self._prepared = features, partitions
        return self._prepared

    @property
    def features(self) -> Features:
        """Coordinates of the rows."""
        return self._prepare()[0]

    @property
    def partitions(self) -> Partitions:
        """Unconstrained clusterings."""
        return self._prepare()[1]

    def belief(self, knowledge: Knowledge) -> Belief:
        """What the answers in force make probable."""
        answers = list(knowledge.of_pair.values())
        # Who says again what was said of a pair changes nothing: sets repeat pairs of their piles.
        told = [answer.said for answer in answers]
        belief = self._belief
        if belief is None or told[: len(self._learned)] != self._learned:
            belief = self._begin_again(told)
        for count, answer in enumerate(answers[len(self._learned) :], len(self._learned) + 1):
            belief.learn(answer)
            if is_milestone(count):
                belief.think_over()
                self._estimates.append((count, self._outlook(belief).agreement))
        self._learned = told
        self._keep(belief)
        return belief

    def _begin_again(self, told: list[_Told]) -> Belief:
        """From what was kept of the first of these answers, or else from the start."""
        self._thoughts = [t for t in self._thoughts if told[: len(t.learned)] == t.learned]
        thought = self._thoughts[-1] if self._thoughts else _Thought(self._fresh(), [], [])
        self._belief = thought.belief.copy()
        self._learned, self._estimates = list(thought.learned), list(thought.estimates)
        return self._belief

    def _keep(self, belief: Belief) -> None:
        """Now and then, for an undo, and for a twin that begins with what this one has learned.

        The list is never changed but replaced: a twin in another thread may be reading it.
        """
        kept = len(self._thoughts[-1].learned) if self._thoughts else 0
        if len(self._learned) >= kept + _KEEP_EVERY:
            thought = _Thought(belief.copy(), list(self._learned), list(self._estimates))
            self._thoughts = [*self._thoughts[1 - _KEPT :], thought]

    def follow(self, other: Planner, knowledge: Knowledge) -> None:
        """Begin with what the other has learned: to learn it again takes long."""
        thought = next(iter(reversed(_thoughts_of(other))), None)
        if thought is None or len(thought.learned) <= len(self._learned):
            return
        told = [answer.said for answer in knowledge.of_pair.values()]
        if told[: len(thought.learned)] == thought.learned:
            self._thoughts, self._belief = [*self._thoughts[1 - _KEPT :], thought], None

    def _fresh(self) -> Belief:
        return Belief(self.features, self.error_rate, self._first(), self.context.seed)

    def _first(self) -> int:
        """The candidate that speaks for most of the rows."""
        field = Field(self.features.of_anchors, self.features.described.share)
        askable = self.context.space.candidates[self.features.anchors]
        influence = np.where(askable, field.influence().each(), -1.0)
        return int(self.features.anchors[influence.argmax()])

    # -- questions -------------------------------------------------------------------------
    def questions(self, knowledge: Knowledge, count: int) -> list[Query]:
        """Rows under way first, then what is worth most: a row, or two groups that may be one."""
        belief = self.belief(knowledge)
        found: list[Query] = []
        under_way = _under_way(knowledge, belief)
        for row in under_way:
            if len(found) == count:
                return found
            if (query := self._row_question(belief, row)) is not None:
                found.append(query)
        return found + self._worth_most(belief, under_way, count - len(found))

    def questions_ahead(self, knowledge: Knowledge, best: int, spare: int) -> list[Query]:
        """Spare ones are in order of what each is worth alone, which is known of all at once."""
        found = self.questions(knowledge, best)
        if len(found) < best:
            return found  # nothing else is open
        belief = self.belief(knowledge)
        survey = self._survey(belief, [query.rows[0] for query in found])
        worth = belief.field.influence().each(survey.placed) * survey.bits_per_question
        for at in np.argsort(np.where(survey.free, -worth, np.inf), kind="stable").tolist():
            if len(found) == best + spare or not survey.free[at]:
                break
            query = self._row_question(belief, belief.rows[at], survey.chance[at])
            if query is not None:
                found.append(query)
        return found

    def _survey(self, belief: Belief, taken: list[int]) -> Survey:
        chance, placed, settled = belief.survey()
        free = self.context.space.candidates[belief.rows] & ~settled
        free &= ~np.isin(belief.rows, taken)
        return Survey(chance, placed, free, entropy(chance) / expected_questions(chance))

    def _worth_most(self, belief: Belief, under_way: list[int], count: int) -> list[Query]:
        """Questions in order of worth, at most one about two groups and one about each row.

        Each row is taken as placed when the next is chosen.
        """
        chance, placed, free, bits_per_question = self._survey(belief, under_way)
        covariance, influence = belief.field.covariance, belief.field.influence()
        link = self._link_question(belief, chance)
        found: list[Query] = []
        while len(found) < count:
            if not free.any():  # no row is left; groups that are likely enough one still are
                if link is not None and link[2] > 1 - MERGE_AT:
                    found.append(link[1])
                return found
            worth = influence.each(placed) * bits_per_question
            at = int(np.where(free, worth, -1.0).argmax())
            if link is not None and link[0] >= worth[at]:
                found.append(link[1])
                link = None
                continue
            free[at] = False
            query = self._finer_question(belief, at, float(worth[at]), covariance)
            query = query or self._row_question(belief, belief.rows[at])
            if query is not None:
                found.append(query)
                covariance = belief.field.with_row(covariance, at)
                influence.take(at)
        return found

    def _finer_question(
        self, belief: Belief, at: int, worth: float, covariance: NDArray[np.float64]
    ) -> Query | None:
        """One about a row that anchor `at` stands for and that is worth more, if there is one."""
        if at >= len(self.features.anchors):
            return None
        rows = self.features.around(at, _AROUND)
        rows = rows[self.context.space.candidates[rows] & ~np.isin(rows, belief.rows)]
        if not rows.size:
            return None
        described = self.features.describe(rows)
        chance = belief.prior_of(described)
        found = belief.field.influence_of(described.phi, covariance)
        found *= entropy(chance) / expected_questions(chance)
        best = int(found.argmax())
        if found[best] <= worth:
            return None
        return self._row_question(belief, int(rows[best]), chance[best])

    def _row_question(
        self, belief: Belief, row: int, chance: NDArray[np.float64] | None = None
    ) -> Query | None:
        """The row with a member of its most probable group that it was not compared with."""
        chance = belief.posterior(row) if chance is None else chance
        group = belief.next_group(row, chance)
        if group is None:
            return None
        why = (
            "The first of the two would settle much of what is uncertain. It is in the cluster of "
            f"the second with probability {chance[group]:.0%}, and in none seen so far with "
            f"{chance[-1]:.0%}."
        )
        gain = information(chance[group], belief.error_rate)
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
        gain = information(one, belief.error_rate)
        b, a = (alive[side] for side in np.triu_indices(alive.size, 1))  # a is the later one
        worth = np.minimum(mass[a], mass[b]) * gain[a, b]
        for at in np.argsort(-worth, kind="stable"):
            pair = _not_compared(belief, int(a[at]), int(b[at]))
            if pair is not None:
                why = (
                    f"The clusters of the two are one with probability {one[a[at], b[at]]:.0%}, "
                    "if some answers were wrong."
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

    def twin(self) -> InformationPlanner:
        """The same coordinates, with a belief of its own."""
        twin = InformationPlanner(self.context, self.error_rate)
        twin._prepared = self._prepare()
        return twin

    # -- the model's own clustering --------------------------------------------------------
    def labels(self, knowledge: Knowledge) -> NDArray[np.int64]:
        """The most probable group of every row; rows that were asked about, by their answers.

        While an unconstrained clustering is likely better (`outlook`), rows are in its clusters,
        but for those that their answers take out of them (`out_of_cells`). What was said about
        clusters (merge, split, ...) is carried out on the clustering by all other answers. The
        model learns it as well, to ask by; but as a model it would weigh the few rows that speak
        for a cluster against all that was said before.
        """
        if any(answer.phase in OF_CLUSTERS for answer in knowledge.answers):
            self._unstated = self._unstated or self.twin()
            rest = [a for a in knowledge.answers if a.phase not in OF_CLUSTERS]
            shown = self._unstated.labels(Knowledge(rest))
            return obeyed(shown, knowledge.answers, self._gaps)
        belief = self.belief(knowledge)
        labels = self.features.each(belief.groups_of)
        for row in belief.home:
            labels[row] = belief.posterior(row)[belief.alive].argmax()
        labels = belief.alive[labels]
        which = self._outlook(belief).partition
        return labels if which is None else self._by_partition(which, labels, belief)

    def _by_partition(
        self, which: int, labels: NDArray[np.int64], belief: Belief
    ) -> NDArray[np.int64]:
        """Clusters of an unconstrained clustering; rows that were asked about may leave theirs."""
        partitions = self.partitions
        plain = self.features.each(lambda rows: partitions.clusters_of(which, rows.points))
        plain = renumber(plain, like=labels)
        for row, group in out_of_cells(belief, partitions, which).items():
            plain[row] = group
        return plain

    def _gaps(self, rows: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[Any]:
        """Distortions of rows (b,) from others (k,), (b, k)."""
        space = self.context.space
        centers = space.X[others]
        centers = centers.toarray() if hasattr(centers, "toarray") else centers
        return np.asarray(space.distortion.to_centers(space.X[rows], centers))

    def _outlook(self, belief: Belief) -> Outlook:
        return outlook(belief, self.partitions)

    def forecast(self, knowledge: Knowledge, more: int) -> Forecast:
        """By the rows that were asked about, each seen as if it were not."""
        belief = self.belief(knowledge)
        now = len(self._learned), self._outlook(belief).agreement
        return foretell([*self._estimates, now], more)


def _thoughts_of(planner: Planner) -> list[_Thought]:
    return planner._thoughts if isinstance(planner, InformationPlanner) else []


def _under_way(knowledge: Knowledge, belief: Belief) -> list[int]:
    """Rows that questions were about and that have no group yet, in the order of asking.

    What was known at the start began no row: which of those rows is worth placing is still open.
    """
    asked = {row for a in knowledge.of_pair.values() if a.phase != KNOWN for row in a.rows}
    return [row for row in belief.tally.said if row in asked and row not in belief.home]


def _not_compared(belief: Belief, a: int, b: int) -> tuple[int, int] | None:
    """A row of each group that were not compared with each other."""
    for row in belief.groups[a]:
        partners = belief.partners(row, b)
        if partners:
            return row, partners[0]
    return None
