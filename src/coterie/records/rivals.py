"""Whether a record has other records that are more like it: what a pair alone does not show.

Where things come in lines (models that differ in a digit), a record is alike to all of its line and
the same as one: the most alike. Where a thing has many records, another that is more alike says
nothing. Which it is only answers tell; and questions are about records with rivals above all, so
without this their answers would be held against pairs that have none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rivals", "find_rivals"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_CLEAR = 2.0  # nats: a lead beyond this is no clearer


class Rivals(NamedTuple):
    """The records most like each record, by the log-odds without answers.

    Attributes
    ----------
    partner : (n,) int64
        The most alike, −1 if there is none.
    best, second : (n,)
        Log-odds with it, and with the next; −inf if there is none.
    """

    partner: Int
    best: Float
    second: Float

    def lead(self, pairs: Int, log_odds: Float) -> Float:
        """How far each pair (m, 2) is before all others of its two records, from −1 to 1, (m,).

        Its log-odds less those of the best other pair of either record, by `_CLEAR`.
        """
        of_others = [
            np.where(self.partner[here] == there, self.second[here], self.best[here])
            for here, there in (pairs.T, pairs.T[::-1])
        ]
        return np.clip((log_odds - np.maximum(*of_others)) / _CLEAR, -1.0, 1.0)

    def beside(self, n_more: int, pairs: Int, log_odds: Float) -> Rivals:
        """With `n_more` records after these, and further pairs (m, 2) with their log-odds (m,)."""
        rows = np.arange(self.partner.size)
        none = np.full(rows.size, -1)
        known = [(rows, self.partner, self.best), (rows, none, self.second)]
        return _top_two(self.partner.size + n_more, [*known, *_both_ways(pairs, log_odds)])


_Directed = tuple[Int, Int, Float]


def find_rivals(n: int, pairs: Int, log_odds: Float) -> Rivals:
    """Of n records the most alike, among the pairs (m, 2) with these log-odds (m,)."""
    return _top_two(n, _both_ways(pairs, log_odds))


def _both_ways(pairs: Int, log_odds: Float) -> list[_Directed]:
    low, high = pairs.T
    return [(low, high, log_odds), (high, low, log_odds)]


def _top_two(n: int, lists: list[_Directed]) -> Rivals:
    """Of each record the two most alike; of equal ones the first row."""
    here, there, odds = (np.concatenate(parts) for parts in zip(*lists, strict=True))
    order = np.lexsort((there, -odds, here))
    here, there, odds = here[order], there[order], odds[order]
    first = np.flatnonzero(np.concatenate([[True], here[1:] != here[:-1]])[: here.size])
    partner = np.full(n, -1, dtype=np.int64)
    best, second = np.full(n, -np.inf), np.full(n, -np.inf)
    partner[here[first]], best[here[first]] = there[first], odds[first]
    again = first[first + 1 < np.append(first[1:], here.size)] + 1
    second[here[again]] = odds[again]
    return Rivals(partner, best, second)
