"""MinMax: consolidate with the row that the skeleton describes worst."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.active.strategies.consolidate import ConsolidatePlanner, InTurn, explore_planner
from coterie.active.strategies.neighborhoods import Neighborhoods
from coterie.active.strategies.space import Float
from coterie.active.strategies.strategy import Context, Planner, Strategy

__all__ = ["MinMax"]


@dataclass(frozen=True)
class MinMax(Strategy):
    """`Explore`, then always the row whose greatest similarity to a placed row is least.

    Mallapragada, Jin and Jain (2008) choose argmin over x of max over placed y of s(x, y); with a
    similarity that falls with the distance this is the farthest row. Neighbourhoods are asked in
    order of their most similar member.

    Parameters
    ----------
    n_clusters : int
        K.
    density_weighted : bool, default=False
        In the first phase, see `Explore`.
    tries : int, default=3
        See `Explore`.
    """

    n_clusters: int
    density_weighted: bool = False
    tries: int = 3

    def prepare(self, context: Context) -> Planner:
        """Bind to rows."""
        second = MinMaxPlanner(context, self.n_clusters, self.tries)
        return InTurn(explore_planner(self, context), second)


class MinMaxPlanner(ConsolidatePlanner):
    """Consolidate with another choice of row."""

    phase = "min-max"

    def next_row(
        self, hoods: Neighborhoods, free: Any, rng: np.random.Generator
    ) -> tuple[int, str] | None:
        """argmin of the greatest similarity = argmax of the distance to the nearest placed row."""
        if not free.any() or self.n_clusters == 1:
            return None
        taken = np.flatnonzero(self.space.candidates & ~free).tolist()
        nearest = self.farthest.nearest(sorted(set(hoods.placed) | set(taken)))
        row = int(np.where(free, nearest, -1.0).argmax())
        return row, f"No placed row resembles row {row} much"

    def distances(self, row: int, hoods: Neighborhoods) -> Float:
        """Distance to the most similar member of each neighbourhood."""
        return np.array([self.space.to_set(row, members) for members in hoods.whole()])
