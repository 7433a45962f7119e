"""NPU: normalised point-wise uncertainty (Xiong, Azimi and Fern, 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from coterie.active.strategies.consolidate import ConsolidatePlanner, InTurn, explore_planner
from coterie.active.strategies.neighborhoods import Neighborhoods
from coterie.active.strategies.space import Float
from coterie.active.strategies.strategy import Context, Planner, Strategy

__all__ = ["NPU"]


@dataclass(frozen=True)
class NPU(Strategy):
    """`Explore`, then the row whose neighbourhood is most uncertain per question it will cost.

    A random forest learns the current clustering; the share of trees in which two rows fall into
    one leaf is their similarity; a row belongs to a neighbourhood with probability proportional to
    its mean similarity to the members (4). The row with the largest entropy divided by the
    expected number of questions is asked about (6, 7), most probable neighbourhood first.

    Parameters
    ----------
    n_clusters : int
        K.
    n_trees : int, default=50
    density_weighted : bool, default=False
        In the first phase, see `Explore`.
    tries : int, default=3
        See `Explore`.
    """

    n_clusters: int
    n_trees: int = 50
    density_weighted: bool = False
    tries: int = 3

    def prepare(self, context: Context) -> Planner:
        """Bind to rows."""
        second = NPUPlanner(context, self.n_clusters, self.tries, self.n_trees)
        return InTurn(explore_planner(self, context), second)


class NPUPlanner(ConsolidatePlanner):
    """Consolidate with the forest's choice of row and of neighbourhoods."""

    phase = "npu"

    def __init__(self, context: Context, n_clusters: int, tries: int, n_trees: int) -> None:
        super().__init__(context, n_clusters, tries)
        self.n_trees = n_trees
        self._of: tuple[bytes, NDArray[np.int32]] | None = None

    def _leaves(self) -> NDArray[np.int32]:
        """Leaf of every row in every tree, (n, trees), grown on the current clustering."""
        labels = self.context.labels()
        key = np.ascontiguousarray(labels).tobytes()
        if self._of is None or self._of[0] != key:
            forest = RandomForestClassifier(self.n_trees, random_state=self.context.seed)
            self._of = key, forest.fit(self.space.X, labels).apply(self.space.X).astype(np.int32)
        return self._of[1]

    def _similarity(self, rows: Any, groups: list[list[int]]) -> Float:
        """Mean similarity of the rows to each group's members, (rows, G)."""
        leaves = self._leaves()
        found = np.empty((len(rows), len(groups)))
        for g, members in enumerate(groups):
            total = np.zeros(len(rows))
            for tree in range(leaves.shape[1]):
                # Members by leaf: O(n + members) a tree, never rows × members.
                count = np.bincount(leaves[members, tree], minlength=leaves[:, tree].max() + 1)
                total += count[leaves[rows, tree]]
            found[:, g] = total / (len(members) * leaves.shape[1])
        return found

    def next_row(
        self, hoods: Neighborhoods, free: Any, rng: np.random.Generator
    ) -> tuple[int, str] | None:
        """argmax of H(neighbourhood | row) / E[questions]."""
        rows = np.flatnonzero(free)
        if not rows.size or self.n_clusters == 1:
            return None
        p = self._similarity(rows, hoods.whole()) + 1e-9
        p /= p.sum(axis=1, keepdims=True)
        entropy = -(p * np.log2(p)).sum(axis=1)
        best_first = -np.sort(-p, axis=1)
        questions = np.minimum(np.arange(1, p.shape[1] + 1), p.shape[1] - 1)
        row = int(rows[(entropy / (best_first @ questions)).argmax()])
        return row, f"Of row {row} the clustering is the least sure, for what asking costs"

    def distances(self, row: int, hoods: Neighborhoods) -> Float:
        """Most probable neighbourhood first."""
        return -self._similarity(np.array([row]), hoods.whole())[0]
