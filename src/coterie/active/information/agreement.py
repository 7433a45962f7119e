"""How far a clustering agrees with the truth, estimated from the rows that were asked about."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.active.information.belief import Belief
from coterie.active.information.foresight import foreseen_by_partitions
from coterie.active.information.opinions import Described, squared_distances
from coterie.active.information.partitions import Partitions

__all__ = ["Outlook", "outlook", "weighted_rand"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_DOUBT = 4.0  # rows' worth of doubt that answers teach anything at all
_FIRST = 0.5  # what an unconstrained clustering of the best silhouette is given at first
_FAITH = 3.0  # log-odds that the best silhouette is worth before anybody has answered
_STRONG = 3.0  # log-odds, 20 to 1, by which another must foretell better than that of the start
_LEARNING = 4  # of so many answers the first is not held against who learns from answers
_TIE = 0.02  # log-probability an answer; closer than this, the clustering by the answers is shown
_CLOSE = 0.1  # an agreement that is estimated is known no better than this


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
    """Which clustering to show, and how good it is.

    How good a clustering is say the rows that were placed, each seen as if it were not and
    standing for the rows around it, since questions go where rows are uncertain. Doubt comes
    first: the answers' clustering begins at 0, an unconstrained one at half of its merit, and both
    are worth four rows beside the first of each group.

    The unconstrained clustering of the best silhouette, or another that foretold the answers
    better by 20 to 1 (`foresight`) and not by one answer alone, is shown if it foretold them better
    than the answers' own clustering did and is not clearly worse by that estimate, or if it is
    clearly better by it.
    Neither alone would do: questions are asked where the answers' clustering knows least, and few
    placed rows hold few that belong together.
    """
    at, own, foretold = belief.foretold()
    weight = _rows_around(belief.described, at)
    count = at.size - np.unique(own).size  # a row alone in its group shows nothing together
    # What was placed is right by its answers; what lies around it, as it is foretold.
    by_answers = weighted_rand(
        np.concatenate([foretold, own]),
        np.concatenate([own, own]),
        np.concatenate([np.maximum(weight - 1, 0), np.minimum(weight, 1)]),
    )
    doubted = count * by_answers / (count + _DOUBT)
    if not len(partitions.merit):
        return Outlook(doubted, None)
    which, ahead = _best_partition(belief, partitions)
    cells = partitions.clusters_of(which, belief.described.points[at])
    begun = _DOUBT * _FIRST * float(partitions.merit[which])
    plain = (count * weighted_rand(cells, own, weight) + begun) / (count + _DOUBT)
    needed = -_CLOSE if ahead else _CLOSE
    return Outlook(plain, which) if plain > doubted + needed else Outlook(doubted, None)


def _best_partition(belief: Belief, partitions: Partitions) -> tuple[int, bool]:
    """The unconstrained clustering to be thought of, and whether it foretells better."""
    points, heard = belief.described.points, belief.heard
    foreseen = foreseen_by_partitions(partitions, points, heard)
    first = int(partitions.merit.argmax())
    # One answer, lucky or wrong, is never enough: most questions are about rows that differ, so a
    # fine clustering foretells nearly all of them, and two rows that are the same decide.
    gain = foreseen - foreseen[first]
    total, most = gain.sum(axis=1), gain.max(axis=1, initial=0.0)
    strong = (total >= _STRONG) & (total - most >= _STRONG / 2)
    strong[first] = True
    score = foreseen.sum(axis=1) + _FAITH * partitions.merit
    which = int(np.where(strong, score, -np.inf).argmax())
    recent = slice(len(heard) // _LEARNING, None)
    behind = float(foreseen[which, recent].sum()) - sum(h.log_chance for h in heard[recent])
    return which, not heard or behind > _TIE * len(heard)


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
