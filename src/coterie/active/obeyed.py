"""What was said about whole clusters, carried out on a clustering of the session's own model.

Pairs of representatives are evidence for a model, which may outweigh it. Whoever merges or splits
clusters is looking at them and is obeyed: statements are applied to whatever clustering is shown,
one after the other, by the rows that they name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations, groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.active.query import OF_CLUSTERS, Answer
from coterie.constraints.graph import connected

__all__ = ["obeyed"]

Labels = NDArray[np.int64]
#: Squared distances (b, k) of rows (b,) from other rows (k,).
Gaps = Callable[[Labels, Labels], NDArray[Any]]


def obeyed(labels: Labels, answers: Iterable[Answer], gaps: Gaps) -> Labels:
    """The clustering (n,) after all statements about clusters, in the order they were made.

    Parameters
    ----------
    labels : (n,)
    answers : iterable of Answer
        In order; others than those about clusters change nothing.
    gaps : callable
        By which rows of a parted cluster go to the nearest row that was named.
    """
    said = [answer for answer in answers if answer.phase in OF_CLUSTERS]
    labels = labels.copy() if said else labels
    for _, step in groupby(said, key=lambda answer: answer.step):
        statement = list(step)
        pairs = [answer.rows for answer in statement if answer.sign > 0]
        phase = statement[0].phase
        if phase == "merge":
            for row, other in pairs:
                labels[labels == labels[row]] = labels[other]
        elif phase in ("move", "pin"):
            for row, target in reversed(pairs):  # the representative that came first decides
                labels[row] = labels[target]
        else:
            _part(labels, statement, gaps)
    return labels


def _part(labels: Labels, statement: list[Answer], gaps: Gaps) -> None:
    """Part every cluster that holds rows which are not the same, around the rows named.

    A pile has one cluster: that which holds most of its rows, or a new one if that is another's.
    """
    named = np.unique([row for answer in statement for row in answer.rows])
    pile = _piles(statement, named)
    before = labels[named]
    cluster_of: dict[int, int] = {}
    for part in dict.fromkeys(pile.tolist()):  # in the order of their first rows
        found, count = np.unique(before[pile == part], return_counts=True)
        best = int(found[count.argmax()])
        fresh = max(int(labels.max()), *cluster_of.values(), -1) + 1
        cluster_of[part] = fresh if best in cluster_of.values() else best
    for cluster in np.unique(before).tolist():
        inside = np.flatnonzero(before == cluster)
        several = np.unique(pile[inside]).size > 1
        rows = np.flatnonzero(labels == cluster) if several else named[inside]
        of_row = pile[inside][gaps(rows, named[inside]).argmin(axis=1)]
        labels[rows] = [cluster_of[part] for part in of_row.tolist()]


def _piles(statement: list[Answer], named: Labels) -> Labels:
    """The pile of each row named: those called the same, and all that is on no side otherwise.

    Rows that stand for the rest of a cluster are told apart from a pile, not from each other.
    """
    at = {int(row): t for t, row in enumerate(named)}
    said = {
        sign: [(at[a.rows[0]], at[a.rows[1]]) for a in statement if a.sign == sign]
        for sign in (1, -1)
    }
    paired = {t for pair in said[1] for t in pair}
    apart = {frozenset(pair) for pair in said[-1]}
    lone = [t for t in range(named.size) if t not in paired]
    rest = [pair for pair in combinations(lone, 2) if frozenset(pair) not in apart]
    pile, _ = connected(np.array(said[1] + rest, dtype=np.int64).reshape(-1, 2), named.size)
    return pile
