"""How far a clustering agrees with the truth, estimated from the rows that were asked about."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.active.information.belief import Belief
from coterie.active.information.opinions import Described, squared_distances
from coterie.active.information.partitions import Partitions

__all__ = ["Outlook", "outlook", "weighted_rand"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_DOUBT = 4.0  # rows' worth of doubt that answers teach anything at all
_FIRST = 0.5  # what an unconstrained clustering of the best silhouette is given at first
_CHANCE = 0.1  # the best of many partitions looks better than it is by about so much


class Outlook(NamedTuple):
    """What is thought of the clusterings there are.

    Attributes
    ----------
    agreement : float
        Estimated adjusted Rand index of the one to be shown with the truth.
    partition : int or None
        The unconstrained clustering that is to be shown; None: the one by the answers.
    """

    agreement: float
    partition: int | None


def outlook(belief: Belief, partitions: Partitions) -> Outlook:
    """Which clustering to show, and how good it is: doubt before trust.

    Rows that were placed, each seen as if it were not, say how well answers carry to others; each
    stands for the rows around it, since questions go where rows are uncertain. The answers'
    clustering must have proved itself: its estimate begins at 0, that of an unconstrained one at
    half of its merit, and both are worth four rows.
    """
    at, own, foretold = belief.foretold()
    weight = _rows_around(belief.described, at)
    count = at.size
    # What was placed is right by its answers; what lies around it, as it is foretold.
    by_answers = weighted_rand(
        np.concatenate([foretold, own]),
        np.concatenate([own, own]),
        np.concatenate([np.maximum(weight - 1, 0), np.minimum(weight, 1)]),
    )
    doubted = count * by_answers / (count + _DOUBT)
    n_plain = len(partitions.merit)
    if not n_plain:
        return Outlook(doubted, None)
    placed = belief.described.points[at]
    plain = np.array(
        [weighted_rand(partitions.clusters_of(t, placed), own, weight) for t in range(n_plain)]
    )
    plain = (count * plain + _DOUBT * _FIRST * partitions.merit) / (count + _DOUBT)
    best = int(plain.argmax())
    if plain[best] > doubted + _CHANCE:
        return Outlook(float(plain[best]) - _CHANCE, best)
    return Outlook(doubted, None)


def weighted_rand(a: Int, b: Int, weight: Float) -> float:
    """Adjusted Rand index over pairs of different items, each pair counted w_i w_j times.

    0 where it is not defined: both have one cluster, or none has two items in one.
    """
    _, a = np.unique(a, return_inverse=True)
    _, b = np.unique(b, return_inverse=True)
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), weight)
    with_itself = (weight**2).sum()

    def pairs(counts: Float) -> float:
        return float((counts**2).sum() - with_itself)

    total = pairs(weight.sum(keepdims=True))
    both, in_a, in_b = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    expected = in_a * in_b / total if total > 0 else 0.0
    room = (in_a + in_b) / 2 - expected
    return (both - expected) / room if room > 1e-9 * max(total, 1.0) else 0.0


def _rows_around(rows: Described, at: Int) -> Float:
    """For how many rows each placed one is the nearest that was placed, (R,)."""
    nearest = squared_distances(rows.points, rows.points[at]).argmin(axis=1)
    found = np.bincount(nearest, weights=rows.share, minlength=at.size)
    return found.astype(np.float64)
