"""Consolidate: grow the neighbourhoods (Basu et al. 2004, Fig. 3; Basu et al. 2006, Fig. 3.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from coterie.active.knowledge import Knowledge
from coterie.active.query import Query
from coterie.active.strategies.explore import ExplorePlanner
from coterie.active.strategies.neighborhoods import Neighborhoods, TwoPhase
from coterie.active.strategies.space import Float, GroupSums
from coterie.active.strategies.strategy import Context, Planner, Strategy

__all__ = ["Consolidate", "ExploreConsolidate"]


@dataclass(frozen=True)
class Consolidate(Strategy):
    """Place a random row by asking the K neighbourhoods, nearest centroid first.

    At most K − 1 questions a row: what K − 1 refuse is in the last. It needs K neighbourhoods to
    begin with, so it goes on where `Explore` with the same `random_state` ended.

    Parameters
    ----------
    n_clusters : int
        K.
    tries : int, default=3
        See `Explore`.
    """

    n_clusters: int
    tries: int = 3

    def prepare(self, context: Context) -> Planner:
        """Bind to rows."""
        return ConsolidatePlanner(context, self.n_clusters, self.tries)


@dataclass(frozen=True)
class ExploreConsolidate(Strategy):
    """`Explore` until all K clusters are found, then `Consolidate`; Explore only if K is unknown.

    Parameters
    ----------
    n_clusters : int, optional
        K; None if nobody knows.
    density_weighted : bool, default=False
        See `Explore`.
    tries : int, default=3
        See `Explore`.
    """

    counts: ClassVar[bool] = True
    n_clusters: int | None = None
    density_weighted: bool = False
    tries: int = 3

    def prepare(self, context: Context) -> Planner:
        """Bind to rows."""
        explore = explore_planner(self, context)
        if self.n_clusters is None:
            return explore
        return InTurn(explore, ConsolidatePlanner(context, self.n_clusters, self.tries))


def explore_planner(strategy: Any, context: Context) -> ExplorePlanner:
    """The first phase of a two-phase strategy."""
    return ExplorePlanner(context, strategy.n_clusters, strategy.density_weighted, strategy.tries)


class InTurn(Planner):
    """Explore until it has found all clusters, then the second planner."""

    def __init__(self, explore: ExplorePlanner, second: ConsolidatePlanner) -> None:
        self.explore = explore
        self.second = second

    def _now(self, knowledge: Knowledge) -> TwoPhase:
        complete = self.explore.complete(self.explore.read(knowledge))
        return self.second if complete else self.explore

    def questions(self, knowledge: Knowledge, count: int) -> list[Query]:
        """Of the phase that the answers have reached."""
        return self._now(knowledge).questions(knowledge, count)

    def why_finished(self, knowledge: Knowledge) -> str:
        """Of the phase that the answers have reached."""
        return self._now(knowledge).why_finished(knowledge)

    def inferred(self, knowledge: Knowledge) -> list[tuple[int, int]]:
        """Of the phase that the answers have reached."""
        return self._now(knowledge).inferred(knowledge)


class ConsolidatePlanner(TwoPhase):
    """Random rows, nearest centroid first."""

    phase = "consolidate"

    def __init__(self, context: Context, n_clusters: int, tries: int) -> None:
        super().__init__(context, n_clusters, tries)
        self._sums = GroupSums(context.space)

    def questions(self, knowledge: Knowledge, count: int) -> list[Query]:
        """Nothing before there are K neighbourhoods."""
        if self._missing(knowledge):
            return []
        return super().questions(knowledge, count)

    def _missing(self, knowledge: Knowledge) -> int:
        assert self.n_clusters is not None
        return self.n_clusters - len(self.read(knowledge).members)

    def next_row(
        self, hoods: Neighborhoods, free: Any, rng: np.random.Generator
    ) -> tuple[int, str] | None:
        """Any row that has no neighbourhood, each as likely as the other (2a)."""
        rows = np.flatnonzero(free)
        if not rows.size or self.n_clusters == 1:
            return None
        row = int(rng.choice(rows))
        return row, f"Row {row} was drawn at random from those without a cluster"

    def distances(self, row: int, hoods: Neighborhoods) -> Float:
        """Distortion to the centroid of each neighbourhood (2b)."""
        groups = hoods.whole()
        return self.space.to_centroids(row, self._sums.sums(groups), list(map(len, groups)))

    def why_finished(self, knowledge: Knowledge) -> str:
        """Every row is placed, or there was nothing to begin with."""
        missing = self._missing(knowledge)
        if missing > 0:
            return (
                f"Consolidate needs {self.n_clusters} neighbourhoods and {missing} are missing: "
                "use ExploreConsolidate, or run Explore first"
            )
        return "every row has its cluster or was set aside"
