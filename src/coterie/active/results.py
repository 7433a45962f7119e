"""What came of a session so far: constraints, annotators, clusters."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from coterie.active.annotators.calls import CallLog
from coterie.active.annotators.rates import (
    AnnotatorTable,
    WeighedPair,
    estimate_annotators,
    weighed_pairs,
)
from coterie.active.cluster_answers import ClusterAnswers
from coterie.active.knowledge import Knowledge
from coterie.active.known import make_constraints
from coterie.active.labelled_elsewhere import LabelledElsewhere
from coterie.active.log.row_ids import RowChanges
from coterie.active.query import Answer
from coterie.active.refitting import Refit
from coterie.active.session_log import SessionLog
from coterie.active.strategies.strategy import Strategy
from coterie.active.strategies.trust import Trust
from coterie.constraints import Constraints
from coterie.exceptions import InvalidParameter

__all__ = ["Results"]


class Results(ClusterAnswers, LabelledElsewhere):
    """What can be read from a session; everything is a function of the answers in force.

    Parameters
    ----------
    rows : ndarray or CSR matrix of shape (n, d)
    strategy : Strategy
    estimator : estimator, optional
    log : SessionLog
    weigh_annotators : bool
    """

    def __init__(
        self,
        rows: Any,
        strategy: Strategy,
        estimator: Any,
        log: SessionLog,
        weigh_annotators: bool,
    ) -> None:
        self.strategy = strategy
        self.weigh_annotators = weigh_annotators
        self._rows = rows
        self._log = log
        self._knowledge = Knowledge(log.answers())
        self._refit = None if estimator is None else Refit(estimator)
        self._version = 0  # of the answers; rises with each event that changes them
        self._fitted_at: int | None = None
        self._labelings: list[NDArray[Any]] = []
        self._annotators: tuple[int, AnnotatorTable] | None = None
        self._trust = Trust(lambda knowledge: self._planner.labels(knowledge))
        self._told: tuple[int, Knowledge] | None = None
        self._work_here()

    @property
    def history(self) -> tuple[Answer, ...]:
        """The answers in force, oldest first; what was known at the start has the phase "known"."""
        return tuple(self._knowledge.answers)

    @property
    def rows(self) -> Any:
        """The rows that questions are about, (n, d) array or CSR matrix; not to be changed."""
        return self._rows

    @property
    def n_known(self) -> int:
        """Answers in force that were known at the start."""
        return len(self._knowledge.answers) - self._knowledge.words.total()

    @property
    def words(self) -> Counter[str]:
        """How often each answer was given, of those in force but for what was known."""
        return self._knowledge.words

    @property
    def given_by(self) -> Counter[str]:
        """How many of those everybody has given; "" for nobody in particular."""
        return self._knowledge.by

    @property
    def contradictions(self) -> list[tuple[Answer, ...]]:
        """Answers that cannot all be right, as minimal sets (kept with `despite_clash`)."""
        return self._knowledge.contradictions()

    @property
    def n_told(self) -> int:
        """Answers ever given, those that were taken back included."""
        return self._log.timeline.n_answers

    def copy_log(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of the log of this session; whole or not at all."""
        if self._log.store is None:
            raise InvalidParameter("copy_log(): the session has no store, so there is no log.")
        self._log.store.to_log(path)

    @property
    def set_aside(self) -> tuple[Answer, ...]:
        """Answers in the log about rows that are gone, which have negative numbers."""
        return tuple(self._log.answers(gone=True))

    @property
    def row_changes(self) -> RowChanges:
        """Rows added, removed or edited since the log was last opened with `ids`."""
        return self._log.row_changes

    @property
    def calls(self) -> CallLog:
        """Calls of programs that answered (`run_programs`): in the store, else in memory."""
        return self._log.calls

    def number_in_log(self, row: int) -> int:
        """The number by which the log knows a row, whatever its place is now."""
        return self._log.number(row)

    @property
    def random_state(self) -> int:
        """The seed in use."""
        return self._log.seed

    @property
    def constraints(self) -> Constraints:
        """The answers as constraints, with what the strategy infers by exclusion.

        The last answer about a pair counts (or all, by `weigh_annotators`). A certainty that was
        given is kept.
        """
        if self.weigh_annotators:
            pairs = weighed_pairs(self._knowledge.answers, self.annotators)
        else:
            pairs = self._plain_pairs()
        pairs += [(rows, 1, None) for rows in self._planner.inferred(self._told_to_planner)]
        return make_constraints(self._rows.shape[0], pairs)

    def _plain_pairs(self) -> list[WeighedPair]:
        return [(a.pair, a.sign, a.certainty) for a in self._knowledge.constraining]

    @property
    def annotators(self) -> AnnotatorTable:
        """Who answered, how much, and how often each is wrong, by kind, with intervals.

        Estimated from answers about the same pairs and, with the clustering that those lead to as
        one more annotator, from all others (Dawid and Skene 1979).
        """
        if self._annotators is None or self._annotators[0] != self._version:
            found = estimate_annotators(self._knowledge.answers, self._labels_for)
            self._annotators = self._version, found
        return self._annotators[1]

    def _labels_for(self, pairs: Sequence[WeighedPair]) -> NDArray[Any] | None:
        """A clustering by these pairs, (n,), or the strategy's own; None where there is neither."""
        if self._refit is None:
            return self._planner.labels(self._told_to_planner)
        constraints = make_constraints(self._rows.shape[0], list(pairs))
        return self._refit.fresh_labels(self._rows, constraints, self.n_found)

    @property
    def _told_to_planner(self) -> Knowledge:
        """The answers as the strategy sees them: each, or added up for each pair by `Trust`."""
        if not self.weigh_annotators:
            return self._knowledge
        if self._told is None or self._told[0] != self._version:
            self._told = self._version, self._trust.knowledge(self._knowledge.answers)
        return self._told[1]

    @property
    def n_found(self) -> int | None:
        """Clusters found so far by a strategy that was not told how many; None for others.

        Where `BackgroundRefits` plan, by the answers that the last plan knew.
        """
        if self.refits_elsewhere and self._ahead.plan is not None:
            return self._ahead.plan.n_found
        return self._planner.n_found(self._told_to_planner)

    def labels(self) -> NDArray[Any]:
        """Clusters of all rows by the answers so far, (n,).

        The estimator is refitted only if there are new answers, and starts from its last solution:
        cluster numbers stay. When `n_found` changed it starts anew, and clusters get the numbers
        of those that they share most rows with. Where `BackgroundRefits` are at work, the last
        clustering that they have finished.
        """
        late = self._fitted_at != self._version
        if late and not (self.refits_elsewhere and self._labelings):
            self._labelings = [*self._labelings[-1:], self._label()]
            self._fitted_at = self._version
        return self._labelings[-1]

    def _label(self) -> NDArray[Any]:
        if self._refit is not None:
            return self._refit.labels(self._rows, self.constraints, self.n_found)
        return self._own_labels(self._planner, self._told_to_planner)

    @property
    def stability(self) -> float | None:
        """Adjusted Rand index between the last two clusterings; None before there are two."""
        if len(self._labelings) < 2:
            return None
        return float(adjusted_rand_score(*self._labelings))
