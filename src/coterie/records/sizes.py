"""How many records a thing has, as evidence about what a class of pairs is.

Two guides list a place once each: sure pairs hardly ever share a record. Pairs of a further class
that agree in less, and join three and more records nearly always, are then no places with another
name but rooms of a hotel. Where one sure thing in five has a third record this says nothing: then
most things with a slip may have.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, expit

from coterie.records.partition import components

__all__ = ["AsLarge", "compare_sizes"]

Int = NDArray[np.int64]

# Things of three records and more are likelier to have a pair of a further class than things of
# two, and to be seen in part by the sure pairs alone. With a share r of their pairs sure that makes
# (1 + r + r²) / (r (3 − 2 r)), 2 to 2.5 for most r; twice that, as things may be larger.
_ODDS_GROW = 5.0


class AsLarge(NamedTuple):
    """Whether pairs make things as large as the sure pairs do.

    Attributes
    ----------
    log_odds : float
        That they do; the other possibility is that a part of them is something else, and makes
        larger things always.
    part : float
        How many of them are as the sure pairs if not all are, as a share.
    """

    log_odds: float
    part: float

    @property
    def share(self) -> float:
        """How many of them are as the sure pairs, on average over both possibilities."""
        return float(1.0 - expit(-self.log_odds) * (1.0 - self.part))


_NOTHING_SAID = AsLarge(0.0, 1.0)


def compare_sizes(n: int, sure: Int, others: Int) -> AsLarge:
    """Of n records: whether `others` (m, 2) are as the `sure` pairs (·, 2), by sizes of things.

    A thing of two records has a third with some probability, then a fourth, and so on.
    """
    count, further, _ = _things(n, sure, sure)
    odds = _ODDS_GROW * (further + 0.5) / (count + 0.5)
    if odds >= 1.0 or not len(others):
        return _NOTHING_SAID
    count, further, share = _things(n, np.concatenate([sure, others]), others)
    expected = odds / (1.0 + odds)
    if share <= expected or further <= odds * count:
        return _NOTHING_SAID
    said = further * np.log(expected) + count * np.log1p(-expected)
    said -= betaln(further + 1, count + 1)  # beside any probability of a further record
    return AsLarge(float(said), (1.0 - share) / (1.0 - expected))


def _things(n: int, pairs: Int, some: Int) -> tuple[int, int, float]:
    """Of the components by `pairs` that hold `some`: how many, and their records beyond two each.

    And the share of `some` in those of more than two.
    """
    if not len(some):
        return 0, 0, 0.0
    _, of_row = components(n, pairs)
    size = np.bincount(of_row)
    held = size[np.unique(of_row[some[:, 0]])]
    return held.size, int((held - 2).sum()), float((size[of_row[some[:, 0]]] > 2).mean())
