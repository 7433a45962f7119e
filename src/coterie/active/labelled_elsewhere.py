"""What a session does with clusterings and questions that another thread makes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.active.background_refits import Labelling
from coterie.active.knowledge import Knowledge
from coterie.active.query import Query
from coterie.active.refitting import Refit
from coterie.active.strategies.strategy import Context, Planner, Strategy
from coterie.constraints import Constraints
from coterie.exceptions import InvalidParameter
from coterie.stability import renumber

__all__ = ["LabelledElsewhere"]

_PATIENCE = 0.05  # seconds from an answer to the next question


class LabelledElsewhere(ABC):
    """A session whose clusterings may be made by `BackgroundRefits`.

    Attributes
    ----------
    refits_elsewhere : bool
        Whether `labels` gives the last clustering that was handed in, however late it is.
    """

    strategy: Strategy
    _planner: Planner
    _context: Context
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
        self._ahead: list[Query] = []
        self._planning: list[float] = []  # seconds that the last two questions took

    def labelling(self) -> Labelling:
        """The clustering by the answers of now, for another thread to make."""
        if self._refit is not None:
            refit, pairs, found = self._refit, self.constraints, self.n_found
            return Labelling(self._version, lambda: refit.labels(self._rows, pairs, found))
        if self._twin is None:
            self._twin = self._planner.twin() or self.strategy.prepare(self._context)
        twin, known = self._twin, Knowledge(self._told_to_planner.answers)
        last = self._labelings[-1] if self._labelings else None

        def run() -> NDArray[Any]:
            own = self._own_labels(twin, known)
            return own if last is None else renumber(own, last)

        return Labelling(self._version, run, False, lambda count: twin.questions(known, count))

    def adopt_labels(self, labels: NDArray[Any], version: int) -> None:
        """Take in a clustering that `labelling` described and another thread has made."""
        self._labelings = [*self._labelings[-1:], labels]
        self._fitted_at = version

    def adopt_questions(self, questions: list[Query]) -> None:
        """Take in questions that another thread has planned; see `BackgroundRefits`."""
        self._ahead = questions

    def _questions_ahead(self) -> list[Query]:
        """Those that are still open, where planning others would take too long."""
        if not (self.refits_elsewhere and self.plans_slowly):
            return []
        return [query for query in self._ahead if self._knowledge.is_open(*query.rows)]

    def _own_labels(self, planner: Planner, knowledge: Knowledge) -> NDArray[Any]:
        own = planner.labels(knowledge)
        if own is None:
            raise InvalidParameter(
                f"{type(self.strategy).__name__} does not cluster: give the session an estimator."
            )
        return own

    def certainty(self) -> NDArray[np.float64] | None:
        """How well each row fits its cluster, (n,), by the strategy's own model, where it says."""
        return self._planner.certainty(self._told_to_planner)

    @property
    def plans_slowly(self) -> bool:
        """Whether the last questions took longer to plan than a person should wait."""
        return min(self._planning, default=0.0) > _PATIENCE

    @property
    def n_behind(self) -> int:
        """Changes of the answers since the last clustering."""
        return self._version - (0 if self._fitted_at is None else self._fitted_at)
