"""What a strategy is: parameters that a person sets, and a planner bound to one set of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coterie.active.forecast import Forecast
from coterie.active.knowledge import Knowledge
from coterie.active.query import Query
from coterie.active.strategies.space import Space
from coterie.parameters import check_parameters

__all__ = ["Context", "Planner", "Strategy", "bits"]


@dataclass(frozen=True)
class Context:
    """What a planner may use.

    Attributes
    ----------
    space : Space
    seed : int
        All randomness comes from it and from the number of answers, so that the next question is
        a function of the answers and nothing else.
    labels : callable
        The clustering by the answers so far, (n,).
    """

    space: Space
    seed: int
    labels: Callable[[], NDArray[Any]]

    def rng(self, knowledge: Knowledge, salt: int = 0) -> np.random.Generator:
        """A generator for the next question."""
        return np.random.default_rng([self.seed, len(knowledge.answers), salt])


class Planner(ABC):
    """A strategy at work on one set of rows.

    What it returns depends on the answers alone; what it remembers between calls is a cache.
    """

    @abstractmethod
    def questions(self, knowledge: Knowledge, count: int) -> list[Query]:
        """Up to `count` questions that can be answered independently; fewer when it runs out."""

    def questions_ahead(self, knowledge: Knowledge, best: int, spare: int) -> list[Query]:
        """Up to `best` questions as those of `questions`, and some more, `spare` at most.

        Those more are for people who come before the next plan is made: they may be chosen with
        less care.
        """
        return self.questions(knowledge, best + spare)

    def set_questions(
        self, knowledge: Knowledge, size: int, held: Collection[int] = ()
    ) -> list[Query]:
        """Questions whose rows are worth asking about at once; none: those of `questions`.

        `held` are rows that others are asked about.
        """
        return []

    def why_finished(self, knowledge: Knowledge) -> str:
        """Why `questions` came back empty."""
        return "no open pair is left to ask about"

    def ends_early(self, knowledge: Knowledge) -> bool:
        """Whether it has questions left and ends because more would hardly change anything."""
        return False

    def go_on(self) -> None:
        """From now on ask until nothing is left."""
        return

    def inferred(self, knowledge: Knowledge) -> list[tuple[int, int]]:
        """Pairs that belong together by what the strategy was told besides the answers."""
        return []

    def n_found(self, knowledge: Knowledge) -> int | None:
        """Clusters found so far, by a strategy that looks for them and was not told how many."""
        return None

    def labels(self, knowledge: Knowledge) -> NDArray[np.int64] | None:
        """A clustering of all rows by the strategy's own model, if it has one."""
        return None

    def twin(self) -> Planner | None:
        """A planner for another thread that shares what does not change with this one.

        None: the strategy has to `prepare` another.
        """
        return None

    def follow(self, other: Planner, knowledge: Knowledge) -> None:
        """Begin with what the other has learned of answers that this one does not know yet.

        The other may be at work in another thread meanwhile.
        """
        return

    def forecast(self, knowledge: Knowledge, more: int) -> Forecast | None:
        """How good its clustering is, and after so `more` answers, if it can say so."""
        return None

    def certainty(self, knowledge: Knowledge) -> NDArray[np.float64] | None:
        """How well each row fits its cluster, (n,), by the strategy's own model, if it says so.

        The least certain ones are the first to look at.
        """
        return None


class Strategy(ABC):
    """Parameters of a way to choose questions; `prepare` binds it to rows.

    Attributes
    ----------
    clusters : bool
        Whether its planner has a clustering of its own (`Planner.labels`).
    counts : bool
        Whether its planner finds how many clusters there are when nobody says (`Planner.n_found`).
    """

    clusters: ClassVar[bool] = False
    counts: ClassVar[bool] = False

    def __post_init__(self) -> None:  # strategies are dataclasses, checked when they are made
        check_parameters(self)

    @abstractmethod
    def prepare(self, context: Context) -> Planner:
        """A planner for these rows."""


def bits(p: Any) -> Any:
    """Entropy of a yes-or-no answer that is yes with probability p."""
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return -(p * np.log2(p) + (1 - p) * np.log2(1 - p))
