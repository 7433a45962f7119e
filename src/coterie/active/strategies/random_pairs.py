"""RandomPairs: the baseline every strategy is compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coterie.active.knowledge import Knowledge
from coterie.active.query import Query, ordered
from coterie.active.strategies.strategy import Context, Planner, Strategy

__all__ = ["RandomPairs"]

_ENUMERATE = 50_000  # so many pairs are listed; of more, some are drawn


@dataclass(frozen=True)
class RandomPairs(Strategy):
    """Pairs drawn at random, none twice.

    Parameters
    ----------
    skip_implied : bool, default=True
        Leave out pairs whose answer follows from earlier ones. The baseline of
        Basu et al. (2004) asks those too: False.
    """

    skip_implied: bool = True

    def prepare(self, context: Context) -> Planner:
        """Bind to rows."""
        return RandomPlanner(context, self.skip_implied)


class RandomPlanner(Planner):
    """Draws from the candidate rows."""

    def __init__(self, context: Context, skip_implied: bool) -> None:
        self.context = context
        self.rows = np.flatnonzero(context.space.candidates)
        self.skip_implied = skip_implied

    def _open(self, knowledge: Knowledge, pair: tuple[int, int]) -> bool:
        if self.skip_implied:
            return knowledge.is_open(*pair)
        return pair not in knowledge.of_pair

    def questions(self, knowledge: Knowledge, count: int) -> list[Query]:
        """Pairs that share no row with each other, so that no answer implies another."""
        rng = self.context.rng(knowledge)
        r = self.rows.size
        if r * (r - 1) // 2 <= _ENUMERATE:
            drawn = self._all_shuffled(rng)
        else:
            drawn = self.rows[rng.integers(r, size=(64 * count + len(knowledge.of_pair), 2))]
        found: list[Query] = []
        used: set[int] = set()
        for i, j in drawn.tolist():
            if len(found) == count:
                break
            if i == j or used & {i, j} or not self._open(knowledge, ordered(i, j)):
                continue
            used |= {i, j}
            found.append(Query((i, j), "random", "The pair was drawn at random."))
        return found

    def _all_shuffled(self, rng: np.random.Generator) -> np.ndarray:
        left, right = np.triu_indices(self.rows.size, 1)
        order = rng.permutation(left.size)
        return np.column_stack([self.rows[left[order]], self.rows[right[order]]])

    def why_finished(self, knowledge: Knowledge) -> str:
        """Every pair is answered or implied."""
        return "every pair is answered or follows from the answers"
