"""A group that may be two: the better of its partings that answers within it suggest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_parting"]

Float = NDArray[np.float64]

_SWEEPS = 10


def best_parting(evidence: Float, alike: Float) -> tuple[NDArray[np.bool_], float]:
    """The parting of a group that its answers speak for most, and by how much.

    Parameters
    ----------
    evidence : (g, g)
        Symmetric log-odds by the answers that two members belong together; 0 where none is.
    alike : (g, g)
        How alike members are by geometry. Around two members that were called different it
        proposes the sides; a member may be on the other one, at a price of log g.

    Returns
    -------
    away : (g,) bool
        The members that would leave.
    odds : float
        −Σ of the evidence between the two sides, less the price of members that geometry would put
        on the other side, and less log of the pairs that were tried: of many partings the best one
        looks good by chance.
    """
    best: tuple[NDArray[np.bool_], float] = np.zeros(len(evidence), dtype=bool), -np.inf
    pairs = np.argwhere(np.triu(evidence) < 0).tolist()
    price = np.log(len(evidence))
    for u, v in pairs:
        proposed = np.where(alike[:, v] > alike[:, u], -1.0, 1.0)
        proposed[[u, v]] = 1.0, -1.0
        side = _settled(evidence, proposed, price)
        n_away = int((side < 0).sum())
        if not 0 < n_away < len(side):
            continue
        odds = float(-evidence[np.ix_(side > 0, side < 0)].sum())
        odds -= price * int((side != proposed).sum()) + np.log(len(pairs))
        if odds > best[1]:
            best = ((side < 0) if 2 * n_away <= len(side) else (side > 0)), odds
    return best


def _settled(evidence: Float, proposed: Float, price: float) -> Float:
    """Sides (g,) of ±1 from which no single change makes the parting better."""
    side = proposed.copy()
    for _ in range(_SWEEPS):
        before = side.copy()
        for row in range(len(side)):
            # −Σ across as a change of this row makes it: its evidence with one side for the other.
            pull = evidence[row] @ side + price * proposed[row]
            side[row] = np.sign(pull) or side[row]
        if (side == before).all():
            break
    return side
