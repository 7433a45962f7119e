"""What a session does with clusterings and questions that another thread makes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.active.background_plans import Planning
from coterie.active.background_refits import Labelled, Labelling
from coterie.active.forecast import Forecast
from coterie.active.knowledge import Knowledge
from coterie.active.query import Query
from coterie.active.refitting import Refit
from coterie.active.strategies.strategy import Planner, Strategy
from coterie.constraints import Constraints
from coterie.data import StoredRows
from coterie.exceptions import InvalidParameter
from coterie.stability import renumber

__all__ = ["LabelledElsewhere"]

_PATIENCE = 0.05  # seconds from an answer to the next question
_AHEAD = 30  # questions that are planned for later, and two more for each that was asked for
_FORETOLD = 20  # answers that a forecast is about


class LabelledElsewhere(ABC):
    """A session whose clusterings may be made by `BackgroundRefits`.

    Attributes
    ----------
    refits_elsewhere : bool
        Whether `labels` gives the last clustering that was handed in, however late it is.
    """

    strategy: Strategy
    _planner: Planner
    _new_planner: Callable[[], Planner]
    _rows: Any
    _refit: Refit | None
    _version: int
    _fitted_at: int | None
    _labelings: list[NDArray[Any]]
    _knowledge: Knowledge

    @property
    @abstractmethod
    def constraints(self) -> Constraints:
        """The answers as constraints."""

    @property
    @abstractmethod
    def n_found(self) -> int | None:
        """Clusters found so far."""

    @property
    @abstractmethod
    def _told_to_planner(self) -> Knowledge:
        """The answers as the strategy sees them."""

    def _work_here(self) -> None:
        """Until somebody else does it."""
        self.refits_elsewhere = False
        self._twin: Planner | None = None
        self._thinker: Planner | None = None
        self._ahead: list[Query] = []
        self._n_taken = self._n_needed = 0  # of those, since they came; before they came
        self._forecast: Forecast | None = None
        self._wanted = 1  # questions that were asked for last
        self._planning: list[tuple[int, float]] = []  # how many took how long, the last two times

    def work_here(self) -> None:
        """The session clusters, thinks over and plans itself again."""
        self._work_here()
        self._planner.take_time()

    def work_elsewhere(self) -> None:
        """`BackgroundRefits` cluster from now on, think over and plan what takes long."""
        self.refits_elsewhere = True
        self._planner.hurry()

    def labelling(self) -> Labelling:
        """The clustering by the answers of now, for another thread to make."""
        if self._refit is not None:
            refit, pairs, found = self._refit, self.constraints, self.n_found
            clustered = partial(refit.labels, self._rows, pairs, found)
            return Labelling(self._version, lambda: Labelled(clustered()))
        if self._twin is None:
            self._twin = self._planner.twin() or self._new_planner()
        twin, answers = self._twin, list(self._told_to_planner.answers)
        twin.follow(self._planner, self._told_to_planner)
        last = self._labelings[-1] if self._labelings else None

        def run() -> Labelled:
            knowledge = Knowledge(answers)
            own = self._own_labels(twin, knowledge)
            forecast = twin.forecast(knowledge, _FORETOLD) if knowledge.constraining else None
            return Labelled(own if last is None else renumber(own, last), forecast)

        return Labelling(self._version, run, False)

    def adopt_labels(self, found: Labelled, version: int) -> None:
        """Take in a clustering that `labelling` described and another thread has made."""
        self._labelings = [*self._labelings[-1:], found.labels]
        self._forecast = found.forecast
        self._fitted_at = version

    @property
    def expected_gain(self) -> Forecast | None:
        """How good the clusters are, and what 20 more answers would bring.

        None where an estimator clusters, or the strategy's model cannot say, and before the first
        answer. Where `BackgroundRefits` are at work, of the last clustering that they have
        finished.
        """
        if self.refits_elsewhere and self._labelings:
            return self._forecast
        if self._refit is not None or not self._told_to_planner.constraining:
            return None
        return self._planner.forecast(self._told_to_planner, _FORETOLD)

    def planning(self) -> Planning | None:
        """What is to be thought over or planned by another thread; None: nothing takes long."""
        slow = self._is_slow(self._wanted)
        if not (slow or self._planner.late):
            return None
        if self._thinker is None:
            self._thinker = self._planner.twin() or self._new_planner()
        thinker, answers = self._thinker, list(self._told_to_planner.answers)
        count = _AHEAD + 2 * (self._wanted + self._n_needed) if slow else 1
        return Planning(lambda: thinker.questions(Knowledge(answers), count), slow)

    def adopt_plans(self, questions: list[Query]) -> None:
        """Take in what `planning` described and another thread has thought and planned."""
        self._ahead = questions
        self._n_taken, self._n_needed = 0, self._n_taken
        if self._thinker is not None:
            self._planner.catch_up(self._thinker)

    def _questions_ahead(self, count: int) -> Iterator[Query]:
        """Those that are still open, where planning so many here would take too long."""
        self._wanted = count
        if not (self.refits_elsewhere and self._is_slow(count)):
            return
        self._n_taken += 1
        is_open = self._knowledge.is_open
        closed = next((t for t, q in enumerate(self._ahead) if is_open(*q.rows)), len(self._ahead))
        del self._ahead[:closed]  # the first are taken first, so most of those answered stand there
        yield from (query for query in self._ahead if is_open(*query.rows))

    def _more_than(self, count: int) -> int:
        """Questions to be planned here beside those that are wanted, for those who come next."""
        return _AHEAD if self.refits_elsewhere and self._is_slow(count) else 0

    def _is_slow(self, count: int) -> bool:
        """Whether planning took too long whenever there were no more questions to plan.

        So many questions are for as many people, who wait for each other.
        """
        times = [seconds for many, seconds in self._planning if many <= count]
        return min(times, default=0.0) > _PATIENCE / max(count, 1)

    def _own_labels(self, planner: Planner, knowledge: Knowledge) -> NDArray[Any]:
        own = planner.labels(knowledge)
        if own is None:
            raise InvalidParameter(
                f"{type(self.strategy).__name__} does not cluster{_kind(self._rows)}: give the "
                "session an estimator."
            )
        return own

    def certainty(self) -> NDArray[np.float64] | None:
        """How well each row fits its cluster, (n,), by the strategy's own model, where it says."""
        return self._planner.certainty(self._told_to_planner)

    @property
    def plans_slowly(self) -> bool:
        """Whether one question takes longer to plan than a person should wait."""
        return self._is_slow(1)

    @property
    def n_behind(self) -> int:
        """Changes of the answers since the last clustering."""
        return self._version - (0 if self._fitted_at is None else self._fitted_at)


def _kind(rows: Any) -> str:
    return " rows that are not in memory" if isinstance(rows, StoredRows) else ""
