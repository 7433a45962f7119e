"""What was said about whole clusters, carried out on a clustering of the session's own model.

Pairs of representatives are evidence for a model, which may outweigh it. Whoever merges or splits
clusters is looking at them and is obeyed: statements are applied to whatever clustering is shown,
one after the other, by the rows that they name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
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
    """Part every cluster that holds rows which are not the same, around the rows named."""
    named = np.unique([row for answer in statement for row in answer.rows])
    at = {int(row): t for t, row in enumerate(named)}
    same = [(at[a.rows[0]], at[a.rows[1]]) for a in statement if a.sign > 0]
    pile, _ = connected(np.array(same, dtype=np.int64).reshape(-1, 2), named.size)
    for cluster in np.unique(labels[named]).tolist():
        inside = np.flatnonzero(labels[named] == cluster)
        piles, first = np.unique(pile[inside], return_index=True)
        rows = np.flatnonzero(labels == cluster)
        of_row = pile[inside][gaps(rows, named[inside]).argmin(axis=1)]
        stays = pile[inside][first.argmin()]
        for part in piles[piles != stays].tolist():
            labels[rows[of_row == part]] = labels.max() + 1
