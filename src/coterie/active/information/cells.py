"""Rows that were asked about, where an unconstrained clustering is shown: in their cells or not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.active.information.belief import Belief
from coterie.active.information.foresight import called_same
from coterie.active.information.partitions import Partitions
from coterie.active.information.tally import log_odds

__all__ = ["out_of_cells"]

_LEAST = 0.01  # nothing that was learned from few answers is surer than this


def out_of_cells(belief: Belief, partitions: Partitions, which: int) -> dict[int, int]:
    """Placed rows that belong with their group rather than with their cell, and those groups.

    A cell is a cluster of the clustering that is shown. How often rows of one cell, and of two, are
    the same is what the answers about such pairs say, less the wrong ones among them. With that as
    the prior, a row is with the group that leads among the others of its cell, or where its own
    answers put it; one wrong answer does not take it out of a cell that is right as a rule.
    """
    points, rows = belief.described.points, list(belief.home)
    at = np.array([belief.position(row) for row in rows], dtype=np.int64)
    own = np.fromiter(belief.home.values(), np.int64, len(rows))
    cells = partitions.clusters_of(which, points[at])
    inside = np.zeros((int(cells.max()) + 1, len(belief.groups)))
    np.add.at(inside, (cells, own), 1.0)
    others = inside[cells]
    others[np.arange(len(rows)), own] -= 1
    total = others.sum(axis=1, keepdims=True)
    apart, together = _truly_same(called_same(partitions, which, points, belief.heard), belief)
    prior = np.maximum(apart, together * others / np.maximum(total, 1))
    evidence = belief.tally.evidence(log_odds(belief.error_rate), rows)
    score = np.where(inside.sum(axis=0) > 0, np.log(prior) + evidence, -np.inf)
    best = score.argmax(axis=1)
    alone = total[:, 0] == 0
    stays = np.where(alone, np.log(together) >= score.max(axis=1), best == others.argmax(axis=1))
    return {rows[t]: int(best[t]) for t in np.flatnonzero(~stays)}


def _truly_same(said: NDArray[np.float64], belief: Belief) -> NDArray[np.float64]:
    """How often pairs are the same that are called so this often, some of them wrongly."""
    wrong = min(belief.error_rate, 0.45)
    return np.clip((said - wrong) / (1 - 2 * wrong), _LEAST, 1 - _LEAST)
