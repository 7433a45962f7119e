"""Explore: find one row of every cluster, farthest first.

Figure 2 of Basu et al. (2004), Figure 3.4 of Basu et al. (2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from coterie.active.knowledge import Knowledge
from coterie.active.query import Query
from coterie.active.strategies.neighborhoods import Neighborhoods, TwoPhase
from coterie.active.strategies.space import Float
from coterie.active.strategies.strategy import Context, Planner, Strategy

__all__ = ["Explore"]


@dataclass(frozen=True)
class Explore(Strategy):
    """Take the row farthest from all neighbourhoods and ask it against each, nearest first.

    A row that all refuse founds a new neighbourhood. With K known it stops when K are found; with
    K unknown it goes on, and every later row finds its neighbourhood.

    Parameters
    ----------
    n_clusters : int, optional
        K; None if nobody knows.
    density_weighted : bool, default=False
        Prefer far rows of dense regions, so that outliers do not spend the questions: the distance
        is divided by the row's local radius plus the median radius.
    tries : int, default=3
        How many members of a neighbourhood are asked about a row, one after the other, while the
        answer is "unknown": that bars the question, not the neighbourhood. 1 gives up at once.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.active import ActiveSession, Explore
    >>> X = np.array([[0.0], [1.0], [50.0]])
    >>> session = ActiveSession(X, strategy=Explore(2), random_state=0)
    >>> session.tell(session.ask(), "different").done
    'Explore found all 2 clusters'
    """

    counts: ClassVar[bool] = True
    n_clusters: int | None = None
    density_weighted: bool = False
    tries: int = 3

    def prepare(self, context: Context) -> Planner:
        """Bind to rows."""
        return ExplorePlanner(context, self.n_clusters, self.density_weighted, self.tries)


class ExplorePlanner(TwoPhase):
    """Farthest-first at work: O(n d) for every row that is placed."""

    phase = "explore"

    def __init__(
        self, context: Context, n_clusters: int | None, density_weighted: bool, tries: int
    ) -> None:
        super().__init__(context, n_clusters, tries)
        self._scale: Float | None = None
        if density_weighted:
            radius = self.space.local_radius(context.seed)
            self._scale = radius + max(float(np.median(radius)), np.finfo(np.float64).tiny)

    def complete(self, hoods: Neighborhoods) -> bool:
        """Whether K neighbourhoods have been found."""
        return self.n_clusters is not None and len(hoods.members) >= self.n_clusters

    def questions(self, knowledge: Knowledge, count: int) -> list[Query]:
        """Nothing once K neighbourhoods are found."""
        return [] if self.complete(self.read(knowledge)) else super().questions(knowledge, count)

    def next_row(
        self, hoods: Neighborhoods, free: Any, rng: np.random.Generator
    ) -> tuple[int, str] | None:
        """argmax over rows of min over members of the distance."""
        if not free.any():
            return None
        # Rows chosen a moment ago for the same batch count as members: the batch spreads out.
        taken = np.flatnonzero(self.space.candidates & ~free).tolist()
        nearest = self.farthest.nearest(sorted(set(hoods.placed) | set(taken)))
        score = np.where(free, nearest if self._scale is None else nearest / self._scale, -1.0)
        row = int(score.argmax())
        return row, f"Row {row} is the farthest from everything placed so far"

    def distances(self, row: int, hoods: Neighborhoods) -> Float:
        """Distance to the nearest member of each neighbourhood."""
        return np.array([self.space.to_set(row, members) for members in hoods.whole()])

    def why_finished(self, knowledge: Knowledge) -> str:
        """All found, or no rows left."""
        if self.complete(self.read(knowledge)):
            return f"Explore found all {self.n_clusters} clusters"
        return "every row has been asked about"
