"""How well each clustering would have foretold the answers, before they were given.

Whoever has seen an answer explains it easily, and a wrong one too. So each clustering is judged
by the probabilities that it gave to answers in advance, one after the other (Dawid 1984).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.active.information.partitions import Partitions
from coterie.active.query import Answer

if TYPE_CHECKING:
    from coterie.active.information.belief import Belief

__all__ = ["Heard", "called_same", "foreseen", "foreseen_by_partitions"]

Float = NDArray[np.float64]

#: Pairs' worth of belief that a partition has at first: [apart, together] × [same, different].
_FIRST = np.array([[1.0, 4.0], [2.0, 1.0]])
_LEAST = 1e-6


class Heard(NamedTuple):
    """An answer "same" or "different", and how far it was expected.

    Attributes
    ----------
    first, second : int
        Positions of its rows (`Belief.position`).
    same : bool
    log_chance : float
        Of this answer, by what was believed before it.
    """

    first: int
    second: int
    same: bool
    log_chance: float


def foreseen(belief: Belief, answer: Answer) -> Heard:
    """What the belief expects of an answer that it has not learned yet."""
    row, other = answer.rows
    if row in belief.home and belief.home.get(other, belief.home[row]) != belief.home[row]:
        odds = belief.links()[belief.home[row], belief.home[other]]
        chance = 1 / (1 + np.exp(-odds))
    elif other in belief.home:
        chance = belief.posterior(row)[belief.home[other]]
    else:
        chance = (belief.posterior(row) * belief.posterior(other))[:-1].sum()
    wrong = belief.error_rate if answer.certainty is None else 1 - answer.certainty
    same = chance * (1 - wrong) + (1 - chance) * wrong
    given = same if answer.sign > 0 else 1 - same
    return Heard(
        belief.position(row),
        belief.position(other),
        answer.sign > 0,
        float(np.log(max(given, _LEAST))),
    )


def foreseen_by_partitions(partitions: Partitions, points: Float, heard: list[Heard]) -> Float:
    """Log-probability of each answer in each partition, by the answers before it, (L, N).

    How often two rows of one cluster, and of two, are called the same is learned on the way: by
    the rule of succession, from two pairs in three and one in five.

    Parameters
    ----------
    partitions : Partitions
        L of them.
    points : (P, q)
        Of the rows, by position.
    heard : list of Heard
        N of them.
    """
    same = np.array([h.same for h in heard], dtype=np.bool_)
    found = np.empty((len(partitions.merit), len(heard)))
    for t in range(len(found)):
        found[t] = _succession(_together(partitions, t, points, heard), same)
    return found


def called_same(partitions: Partitions, which: int, points: Float, heard: list[Heard]) -> Float:
    """How often rows of two clusters, and of one, are called the same by all answers, (2,)."""
    together = _together(partitions, which, points, heard)
    counts = _FIRST.copy()
    said = np.array([0 if h.same else 1 for h in heard], dtype=np.int64)
    np.add.at(counts, (together, said), 1.0)
    return np.asarray(counts[:, 0] / counts.sum(axis=1))


def _together(
    partitions: Partitions, which: int, points: Float, heard: list[Heard]
) -> NDArray[np.int64]:
    """Whether the rows of each answer are in one cluster, 0 or 1, (N,)."""
    first, second = (
        np.array([getattr(h, side) for h in heard], dtype=np.int64) for side in ("first", "second")
    )
    a, b = (partitions.clusters_of(which, points[side]) for side in (first, second))
    return (a == b).astype(np.int64)


def _succession(together: NDArray[np.int64], same: NDArray[np.bool_]) -> Float:
    """Of each answer by the earlier ones about pairs that are together, or apart, as it is."""
    found = np.empty(len(same))
    for kind in (0, 1):
        at = np.flatnonzero(together == kind)
        said = np.where(same[at], 0, 1)
        before = np.arange(at.size)
        same_before = np.cumsum(said == 0) - (said == 0)
        alike = np.where(said == 0, same_before, before - same_before)
        found[at] = np.log((_FIRST[kind][said] + alike) / (_FIRST[kind].sum() + before))
    return found
