"""Lambda, the price of a cluster, from the number of clusters one expects, and the other way."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.cluster.distances import own_distances
from coterie.cluster.rdp.problem import RdpProblem

__all__ = ["RULES", "farthest_first", "lambda_by_rule", "n_covering"]

RULES = ("farthest_first", "paper")
_MOST_STEPS = 256


def lambda_by_rule(problem: RdpProblem, rule: str, k: int) -> float:
    """Lambda by one of `RULES` for k clusters.

    "farthest_first" (Kulis and Jordan 2011): the distance at which the k-th row joins T = {mean},
    each the farthest from T; "paper": the k-th largest distance to the mean, as the authors ran.
    """
    to_mean = _to_center(problem, problem.mean())
    if rule == "paper":
        found = float(np.partition(to_mean, -k)[-k])
    else:
        found = float(farthest_first(problem, to_mean, k)[-1])
    return max(found, problem.resolution)


def n_covering(problem: RdpProblem, lambda_: float) -> int | None:
    """How many rows farthest-first traversal takes up before all are within lambda of one.

    The inverse of the rule: a lambda found for k clusters gives k back. At least 1; None for more
    than a few hundred.
    """
    steps = min(_MOST_STEPS, problem.n)
    joined = farthest_first(problem, _to_center(problem, problem.mean()), steps, stop=lambda_)
    if len(joined) == _MOST_STEPS:
        return None
    return max(len(joined), 1)


def _to_center(problem: RdpProblem, center: NDArray[Any]) -> NDArray[np.float64]:
    """D of every row to one centre (1, d), (n,); -1 for rows of weight 0, which do not count."""
    nearest = np.zeros(problem.n, dtype=np.int32)
    values = own_distances(problem.rows, nearest, center, problem.distortion, problem.A)
    if problem.root:
        np.sqrt(values, out=values)
    return np.where(problem.weights > 0, values, -1.0) if problem.weights.size else values


def farthest_first(
    problem: RdpProblem, to_mean: NDArray[np.float64], k: int, stop: float = 0.0
) -> NDArray[np.float64]:
    """Distances (k,) at which the first k rows join T = {mean}, each the farthest from T.

    Fewer where the next one is nearer than `stop`.
    """
    nearest = to_mean.copy()
    joined: list[float] = []
    while len(joined) < k:
        row = int(np.argmax(nearest))
        distance = max(float(nearest[row]), 0.0)
        if distance < stop:
            break
        joined.append(distance)
        if len(joined) < k:
            center = problem.center_of(np.array([row]))
            np.minimum(nearest, _to_center(problem, center), out=nearest)
    return np.array(joined)
