"""How far the rows are from the centres they start with: the scale of lambda and xi."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.cluster.labelling import own_distances
from coterie.cluster.rdp.problem import RdpProblem

__all__ = ["Reach"]

_ROOM = 2.0


class Reach(NamedTuple):
    """How far the rows are from the centres of a start.

    Attributes
    ----------
    mean : float
        Mean D of a row to its nearest centre.
    nat : float
        theta of the Gamma distribution that fits D best: what D grows by where the density of the
        rows falls by a factor e (2 sigma^2 of a round Gaussian cluster under squared distances).
    farthest : float
        The most that a row, or rows joined by hard must-links, must pay at the least.
    """

    mean: float
    nat: float
    farthest: float

    @property
    def roomy(self) -> float:
        """lambda="auto": twice what the farthest pays. No row opens a cluster because of where it
        lies, only because strangers crowd it out of all that there are.
        """
        return _ROOM * self.farthest

    @classmethod
    def of(cls, problem: RdpProblem, centers: Array) -> Reach:
        """Measured at the centres (K, d)."""
        found = problem.label_rows(centers, np.inf)
        gaps = own_distances(problem.rows, found.labels, centers, problem.distortion, problem.A)
        gaps = np.sqrt(gaps) if problem.root else gaps
        weights = problem.weights if problem.weights.size else np.ones(problem.n)
        farthest = float((weights * gaps).max())
        core = problem.core
        if core.n_nodes < core.rows.size:
            nodes = core.contract(found.unary) - problem.alone[:, None]
            farthest = max(farthest, float(nodes.min(axis=1).max()))
        least = problem.resolution()
        mean = max(float(gaps @ weights / weights.sum()), least)
        return cls(mean, _gamma_scale(gaps[(weights > 0) & (gaps > least)]), max(farthest, least))


def _gamma_scale(values: Array) -> float:
    """The scale of a Gamma distribution of the values (all above 0), by likelihood (Minka 2002).

    Infinite where they are too few or all the same, and say nothing.
    """
    if values.size < 2:
        return np.inf
    gap = float(np.log(values.mean()) - np.log(values).mean())
    if gap <= 0:
        return np.inf
    shape = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    return float(values.mean() / shape)
