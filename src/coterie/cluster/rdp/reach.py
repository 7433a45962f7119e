"""How far the rows are from the centres they start with: the scale of lambda and xi."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.cluster.distances import CentersOf, centers_of, own_block
from coterie.cluster.rdp.problem import RdpProblem
from coterie.data import Block, fold, map_blocks

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
        least = problem.resolution
        spread = _spread(problem, found.labels, centers, least)
        farthest = float(spread.farthest.max())
        core = problem.core
        if core.n_nodes < core.rows.size:
            nodes = core.contract(found.unary) - problem.alone[:, None]
            farthest = max(farthest, float(nodes.min(axis=1).max()))
        mean = max(spread.total / spread.weight, least)
        return cls(mean, _gamma_scale(spread), max(farthest, least))


class _Spread(NamedTuple):
    """Sums of the rows' D to their centres.

    Attributes
    ----------
    weight, total : float
        Summed w, and w D.
    farthest : (blocks,)
        The largest w D of each block.
    n_above, above, logs : float
        Of rows that have a weight and a D above rounding: how many, summed D and ln D.
    """

    weight: float
    total: float
    farthest: Array
    n_above: int
    above: float
    logs: float


class _Own(NamedTuple):
    labels: Array
    weight: Array


class _Least(NamedTuple):
    centers: CentersOf
    least: float


def _spread(problem: RdpProblem, labels: Array, centers: Array, least: float) -> _Spread:
    to = centers_of(problem.rows, centers, problem.distortion, problem.A, problem.root)
    state = _Own(labels, problem.weights)
    blocks = map_blocks(problem.rows, _spread_block, _Least(to, least), state=state)
    return fold(blocks, joined=("farthest",))


def _spread_block(block: Block, task: _Least) -> _Spread:
    gaps = own_block(block, task.centers)
    weights = block.state.weight if block.state.weight.size else np.ones(gaps.size)
    paid = weights * gaps
    above = gaps[(weights > 0) & (gaps > task.least)]
    return _Spread(
        float(weights.sum()), float(paid.sum()), np.array([paid.max()]),
        above.size, float(above.sum()), float(np.log(above).sum()),
    )  # fmt: skip


def _gamma_scale(spread: _Spread) -> float:
    """The scale of a Gamma distribution of the D above rounding, by likelihood (Minka 2002).

    Infinite where they are too few or all the same, and say nothing.
    """
    if spread.n_above < 2:
        return np.inf
    mean = spread.above / spread.n_above
    gap = float(np.log(mean) - spread.logs / spread.n_above)
    if gap <= 0:
        return np.inf
    shape = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    return float(mean / shape)
