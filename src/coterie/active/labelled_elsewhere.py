"""What a session does with clusterings and questions that another thread makes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.active.ahead import Ahead, Plan
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
    _planned: tuple[int, int, list[Query]] | None
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
        self._ahead = Ahead()
        self._forecast: Forecast | None = None
        self._certainty: NDArray[np.float64] | None = None

    def work_here(self) -> None:
        """The session clusters, learns and plans itself again."""
        thinker = self._thinker
        self._work_here()
        if thinker is not None:
            self._planner.follow(thinker, self._told_to_planner)

    def work_elsewhere(self) -> None:
        """`BackgroundRefits` cluster from now on, learn from answers and plan."""
        self.refits_elsewhere = True
        if self._planned is not None and self._planned[0] == self._version:
            self._ahead.seed(self._planned[2], self._knowledge)

    def labelling(self) -> Labelling:
        """The clustering by the answers of now, for another thread to make."""
        if self._twin is None:
            self._twin = self._planner.twin() or self._new_planner()
        twin, answers, refit = self._twin, list(self._told_to_planner.answers), self._refit
        twin.follow(self._thinker or self._planner, self._told_to_planner)
        if refit is not None:
            pairs = self.constraints

            def clustered() -> Labelled:
                return Labelled(refit.labels(self._rows, pairs, twin.n_found(Knowledge(answers))))

            return Labelling(self._version, clustered)
        last = self._labelings[-1] if self._labelings else None

        def run() -> Labelled:
            knowledge = Knowledge(answers)
            own = self._own_labels(twin, knowledge)
            forecast = twin.forecast(knowledge, _FORETOLD) if knowledge.constraining else None
            own = own if last is None else renumber(own, last)
            return Labelled(own, forecast, twin.certainty(knowledge))

        return Labelling(self._version, run, False)

    def adopt_labels(self, found: Labelled, version: int) -> None:
        """Take in a clustering that `labelling` described and another thread has made."""
        self._labelings = [*self._labelings[-1:], found.labels]
        self._forecast, self._certainty = found.forecast, found.certainty
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

    def planning(self) -> Callable[[], Plan] | None:
        """What another thread should learn and plan; None: the last plan will do.

        It touches nothing of the session that `tell` and `ask` do, so that it may run beside them.
        """
        if self._ahead.is_enough(self._version):
            return None
        if self._thinker is None:
            self._thinker = self._planner.twin() or self._new_planner()
            self._thinker.follow(self._planner, self._told_to_planner)
        thinker, answers = self._thinker, list(self._told_to_planner.answers)
        version, wish = self._version, self._ahead.wish
        return lambda: Plan.of(thinker, Knowledge(answers), version, wish)

    def adopt_plan(self, plan: Plan) -> None:
        """Take in what `planning` described and another thread has made."""
        self._ahead.take_in(plan)

    def adopt_failure(self, error: Exception) -> None:
        """Nothing could be planned by the answers of now."""
        self._ahead.take_in(Plan.failed(self._version, self._ahead.wish, error))

    def _go_on(self) -> None:
        for planner in (self._planner, self._twin, self._thinker):
            if planner is not None:
                planner.go_on()
        self._planned = None
        self._ahead.drop()

    @property
    def _plan_of_now(self) -> Plan | None:
        plan = self._ahead.plan
        return plan if plan is not None and plan.version == self._version else None

    def _own_labels(self, planner: Planner, knowledge: Knowledge) -> NDArray[Any]:
        own = planner.labels(knowledge)
        if own is None:
            raise InvalidParameter(
                f"{type(self.strategy).__name__} does not cluster{_kind(self._rows)}: give the "
                "session an estimator."
            )
        return own

    def certainty(self) -> NDArray[np.float64] | None:
        """How well each row fits its cluster, (n,), by the strategy's own model, where it says.

        Where `BackgroundRefits` are at work, of the last clustering that they have finished.
        """
        if self.refits_elsewhere and self._labelings:
            return self._certainty
        return self._planner.certainty(self._told_to_planner)

    @property
    def n_behind(self) -> int:
        """Changes of the answers since the last clustering."""
        return self._version - (0 if self._fitted_at is None else self._fitted_at)


def _kind(rows: Any) -> str:
    return " rows that are not in memory" if isinstance(rows, StoredRows) else ""
