"""RecordQuestions: ask about the pair of records whose answer would change the clusters most."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coterie.active.knowledge import Knowledge
from coterie.active.query import Answer, Query
from coterie.active.strategies.record_checks import (
    SURE,
    UNLIKELY,
    follow_ups,
    is_borne_out,
    sure_pairs,
)
from coterie.active.strategies.record_worth import own_odds, weigh
from coterie.active.strategies.strategy import Context, Planner, Strategy, bits
from coterie.constraints import Constraints
from coterie.data import one_blas_thread
from coterie.exceptions import InvalidData, InvalidParameter
from coterie.records import (
    RecordProblem,
    Solution,
    expected_precision,
    expected_recall,
    explain_levels,
    pose_records,
    solve,
)

__all__ = ["RecordQuestions"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_CHECK_EVERY = 10  # one question in so many checks a pair that the model is sure of
_FIRST_CHECKS = 20  # answers before the estimated recall may end the questions


@dataclass(frozen=True)
class RecordQuestions(Strategy):
    """Candidate pairs of records, by how much their answers may change the clusters.

    For records of the same person, place or product (`coterie.records.Dossier`, whose model this
    is). Asked next is the pair with the largest

        probability that the answer overturns the clusters × pairs of records that then change,

    less for pairs of a kind that many answers are about already. One question in ten checks a
    pair that the model is sure of, and two in three when no answer is in doubt; after an answer
    against a sure pair others of its kind are asked about. Questions end
    when the estimated recall and precision reach `recall`, answers bear out what seems surely the
    same, and no surprise is left to be followed up.

    Parameters
    ----------
    records : data frame or dict of columns, optional
        The records; the rows of the session, as one vector, if not given.
    fields, exclusive, candidates
        As for `Dossier`.
    error_rate : float or "estimate", default="estimate"
        How often answers are wrong.
    recall : float, default=0.995
        Estimated share of the true pairs that are in clusters, and of the pairs in clusters that
        are true, at which to stop; 1 never stops.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.active import ActiveSession, RecordQuestions
    >>> people = {"name": ["Ann Lee", "Anne Lee", "Bob Ray", "Rob Ray", "Cid Orr"],
    ...           "town": ["Bern", "Bern", "Bern", "Bern", "Basel"]}
    >>> session = ActiveSession(np.arange(5.0)[:, None], strategy=RecordQuestions(people),
    ...                         random_state=0)
    >>> session.ask().phase
    'records'
    """

    clusters: ClassVar[bool] = True
    counts: ClassVar[bool] = True
    records: Any = field(default=None, repr=False, compare=False)
    fields: Any = None
    exclusive: Any = field(default=None, repr=False, compare=False)
    error_rate: float | str = "estimate"
    recall: float = 0.995
    candidates: Any = field(default=None, repr=False, compare=False)

    def prepare(self, context: Context) -> Planner:
        """Bind to rows."""
        X = context.space.X if self.records is None else self.records
        try:
            problem = pose_records(
                X, fields=self.fields, exclusive=self.exclusive, candidates=self.candidates
            )
        except InvalidParameter:
            raise
        except (ValueError, TypeError) as error:
            raise InvalidData(f"records: {error}") from error
        if problem.n != context.space.n:
            raise InvalidParameter(
                f"there are {problem.n} records for the {context.space.n} rows of the session."
            )
        rate = None if isinstance(self.error_rate, str) else float(self.error_rate)
        return RecordPlanner(context, problem, rate, self.recall)


class RecordPlanner(Planner):
    """The model at work on the answers in force."""

    def __init__(
        self, context: Context, problem: RecordProblem, error_rate: float | None, recall: float
    ) -> None:
        self.context = context
        self.problem = problem
        self.error_rate = error_rate
        self.recall = recall
        self._solved: tuple[list[tuple[int, int, float | None]], Solution] | None = None

    def solution(self, knowledge: Knowledge) -> Solution:
        """Clusters by the answers; made anew when they have changed."""
        numbers = [(a.number, a.sign, a.certainty) for a in knowledge.constraining]
        if self._solved is None or self._solved[0] != numbers:
            given = _constraints(self.problem.n, knowledge.constraining)
            with one_blas_thread():  # products are small, and bits the same on any machine
                found = solve(self.problem, given, error_rate=self.error_rate)
            self._solved = numbers, found
        return self._solved[1]

    def questions(self, knowledge: Knowledge, count: int) -> list[Query]:
        """Pairs of clusters that no other of these questions is about."""
        solution = self.solution(knowledge)
        if self._is_enough(knowledge, solution):
            return []
        worth = weigh(solution)
        askable = np.asarray(self.context.space.candidates[worth.pairs].all(axis=1))
        score = worth.flip * worth.change * self._novelty(knowledge, worth.pairs)
        by_score = np.argsort(-score)
        given = _constraints(self.problem.n, knowledge.constraining)
        followed = follow_ups(self.problem, solution, given, worth)
        found: list[Query] = []
        used: set[int] = set()
        for turn in range(count):
            at = self._first_open(knowledge, solution, worth.pairs, by_score, askable, used)
            flip = 1.0 if at is None else float(worth.flip[at])
            n_told = len(knowledge.constraining) + turn
            is_check = _is_check(n_told, flip, followed.size > 0)
            if is_check:
                rng = self.context.rng(knowledge, turn)
                order = np.concatenate([followed, sure_pairs(self.problem, solution, n_told, rng)])
                checked = self._first_open(knowledge, solution, worth.pairs, order, askable, used)
                is_check, at = checked is not None, at if checked is None else checked
            if at is None:
                break
            i, j = worth.pairs[at].tolist()
            used |= {int(solution.labels[i]), int(solution.labels[j])}
            askable[at] = False
            found.append(self._query(solution, i, j, float(worth.log_odds[at]), is_check))
        return found

    def set_questions(
        self, knowledge: Knowledge, size: int, held: Collection[int] = ()
    ) -> list[Query]:
        """The pair that matters most and what may be the same as either: near-duplicates.

        Rows are added one by one, the one that is likeliest the same as a row of the set, while
        that is not surely different. Checks of what is sure are no sets: they would put rows side
        by side that have nothing in common. Nor are rows that others are asked about.
        """
        solution = self.solution(knowledge)
        if self._is_enough(knowledge, solution):
            return []
        worth = weigh(solution)
        likely = worth.log_odds > -SURE
        likely &= np.asarray(self.context.space.candidates[worth.pairs].all(axis=1))
        likely &= ~np.isin(worth.pairs, list(held)).any(axis=1)
        pairs, odds = worth.pairs[likely], worth.log_odds[likely]
        score = worth.flip[likely] * worth.change[likely] * self._novelty(knowledge, pairs)
        free = np.ones(len(pairs), dtype=np.bool_)
        first = self._first_open(knowledge, solution, pairs, np.argsort(-score), free, set())
        if first is None:
            return [] if held else self.questions(knowledge, 1)
        i, j = pairs[first].tolist()
        found = [self._query(solution, i, j, float(odds[first]), False)]
        rows = set(found[0].rows)
        while len(rows) < size:
            inside = np.isin(pairs, list(rows))
            touching = np.flatnonzero(inside[:, 0] != inside[:, 1])
            order = touching[np.argsort(-odds[touching], kind="stable")]
            at = next((at for at in order.tolist() if knowledge.is_open(*pairs[at].tolist())), None)
            if at is None:
                break
            i, j = pairs[at].tolist()
            rows |= {i, j}
            found.append(self._query(solution, i, j, float(odds[at]), False))
        return found

    def _first_open(
        self,
        knowledge: Knowledge,
        solution: Solution,
        pairs: Int,
        order: Int,
        askable: NDArray[np.bool_],
        used: set[int],
    ) -> int | None:
        for at in order.tolist():
            i, j = pairs[at].tolist()
            touched = {int(solution.labels[i]), int(solution.labels[j])}
            if askable[at] and not used & touched and knowledge.is_open(i, j):
                return at
        return None

    def _novelty(self, knowledge: Knowledge, pairs: Int) -> Float:
        """1 for kinds of pairs that nobody was asked about, less for the others, (m,)."""
        asked = np.array([a.pair for a in knowledge.constraining], dtype=np.int64).reshape(-1, 2)
        classes, comparison = self.problem.classes, self.problem.comparison
        seen = classes.shares(comparison.levels(asked)).sum(axis=0)
        return classes.shares(comparison.levels(pairs)) @ (1.0 / np.sqrt(1.0 + seen))

    def _query(self, solution: Solution, i: int, j: int, log_odds: float, is_check: bool) -> Query:
        chance = float(1.0 / (1.0 + np.exp(-np.clip(log_odds, -700, 700))))
        aim = (
            "this question checks what seems sure"
            if is_check
            else "no answer may change the clusters more"
        )
        why = (
            f"The two are the same with probability {chance:.0%}; {aim}. "
            f"{self._by_field(solution, i, j)}."
        )
        return Query((i, j), "check" if is_check else "records", why, float(bits(chance)))

    def _by_field(self, solution: Solution, i: int, j: int) -> str:
        """What each field says of the pair, the weightiest first."""
        rows = np.array([[i, j]])
        levels = self.problem.comparison.levels(rows)
        lead = self.problem.rivals.lead(rows, self.problem.classes.log_odds(levels))
        names = self.problem.comparison.names
        return explain_levels(solution.belief, names, levels[0], float(lead[0]), 0.0).in_words()

    def twin(self) -> RecordPlanner:
        """The same comparisons, solved for itself."""
        return RecordPlanner(self.context, self.problem, self.error_rate, self.recall)

    def certainty(self, knowledge: Knowledge) -> Float:
        """Sum of the log-odds with the other records of the cluster, by the root of their number.

        Records that are alone are certain by how unlike all others they are: the largest log-odds
        they have with any, negated.
        """
        return own_odds(self.solution(knowledge))

    # -- when to stop ----------------------------------------------------------------------
    def _is_enough(self, knowledge: Knowledge, solution: Solution) -> bool:
        if self.recall >= 1 or len(knowledge.constraining) < _FIRST_CHECKS:
            return False
        found = expected_recall(solution, self.problem.exclusive), expected_precision(solution)
        if min(found) < self.recall:
            return False
        given = _constraints(self.problem.n, knowledge.constraining)
        return is_borne_out(self.problem, solution, given) and not self._is_surprised(
            knowledge, solution, given
        )

    def _is_surprised(self, knowledge: Knowledge, solution: Solution, given: Constraints) -> bool:
        """Whether pairs like one that an answer surprised by are still to be asked about."""
        worth = weigh(solution)
        followed = follow_ups(self.problem, solution, given, worth)
        askable = np.asarray(self.context.space.candidates[worth.pairs].all(axis=1))
        at = self._first_open(knowledge, solution, worth.pairs, followed, askable, set())
        return at is not None

    def ends_early(self, knowledge: Knowledge) -> bool:
        """Where the estimates have reached `recall`."""
        return self._is_enough(knowledge, self.solution(knowledge))

    def go_on(self) -> None:
        """Whatever the estimates say."""
        self.recall = 1.0

    def why_finished(self, knowledge: Knowledge) -> str:
        """The recall is reached, or nothing is left."""
        found = expected_recall(self.solution(knowledge), self.problem.exclusive)
        if self.recall < 1 and found >= self.recall:
            return f"by estimate {found:.1%} of the records that belong together are together"
        return "every pair of records that may be the same is answered"

    def labels(self, knowledge: Knowledge) -> Int:
        """The clusters by the answers so far."""
        return self.solution(knowledge).labels

    def n_found(self, knowledge: Knowledge) -> int:
        """How many clusters there are."""
        return int(self.solution(knowledge).labels.max()) + 1


def _is_check(n_told: int, flip: float, surprised: bool) -> bool:
    """Whether the next question is about a pair that seems sure.

    One in ten is. Where no answer is in doubt, by the probability `flip` that the best one
    overturns the clusters, most of what is to be learned is there, and two in three are. After an
    answer against a sure pair every second one is, or every one.
    """
    if n_told % _CHECK_EVERY == _CHECK_EVERY - 1:
        return True
    if surprised:
        return n_told % 2 == 0 or flip < UNLIKELY
    return n_told % 3 > 0 and flip < UNLIKELY


def _constraints(n: int, answers: list[Answer]) -> Constraints:
    said = [answer for answer in answers if answer.certainty != 0.5]
    return Constraints.from_arrays(
        n,
        np.array([answer.pair for answer in said], dtype=np.int64).reshape(-1, 2),
        [answer.sign for answer in said],
        certainty=np.array([np.nan if a.certainty is None else a.certainty for a in said]),
    )
