"""Lambda, the price of a cluster, from the number of clusters one expects."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.cluster.labelling import own_distances
from coterie.cluster.rdp.problem import RdpProblem
from coterie.exceptions import InvalidParameter
from coterie.validation import check_choice, check_count, check_real

__all__ = ["RULES", "choose_lambda"]

RULES = ("farthest_first", "paper")
_ELBOW = 20  # farthest-first steps looked at where no number of clusters is expected


def choose_lambda(problem: RdpProblem, rule: Any, hint: Any) -> float:
    """Lambda by name, with `hint` clusters expected (None: as many as the data suggest), or given.

    Raises
    ------
    InvalidParameter
        For a number that is not above 0, an unknown name, or a hint above the number of rows.
    """
    if not isinstance(rule, str):
        return check_real("lambda_", rule, strict=True)
    check_choice("lambda_", rule, RULES)
    if hint is not None and check_count("n_clusters_hint", hint) > problem.n:
        raise InvalidParameter(
            f"n_samples={problem.n} should be >= n_clusters_hint={hint}: lower the hint."
        )
    to_mean = _to_center(problem, problem.mean())
    k = _elbow(problem, to_mean) if hint is None else hint
    if rule == "paper":
        found = float(np.partition(to_mean, -k)[-k])
    else:
        found = float(_farthest_first(problem, to_mean, k)[-1])
    return max(found, _least(problem))


def _counting(problem: RdpProblem) -> NDArray[np.bool_] | None:
    return problem.weights > 0 if problem.weights.size else None


def _to_center(problem: RdpProblem, center: NDArray[Any]) -> NDArray[np.float64]:
    """D of every row to one centre (1, d), (n,); -1 for rows of weight 0, which do not count."""
    nearest = np.zeros(problem.n, dtype=np.int32)
    values = own_distances(problem.rows, nearest, center, problem.distortion, problem.A)
    if problem.root:
        np.sqrt(values, out=values)
    counting = _counting(problem)
    return values if counting is None else np.where(counting, values, -1.0)


def _farthest_first(
    problem: RdpProblem, to_mean: NDArray[np.float64], k: int
) -> NDArray[np.float64]:
    """Distances (k,) at which the first k rows join T = {mean}, each the farthest from T."""
    nearest = to_mean.copy()
    joined = np.empty(k)
    for step in range(k):
        row = int(np.argmax(nearest))
        joined[step] = max(nearest[row], 0.0)
        if step + 1 < k:
            center = problem.center_of(np.array([row]))
            np.minimum(nearest, _to_center(problem, center), out=nearest)
    return joined


def _elbow(problem: RdpProblem, to_mean: NDArray[np.float64]) -> int:
    """The number of clusters after which the farthest-first distance falls most, as a ratio."""
    steps = _farthest_first(problem, to_mean, min(_ELBOW, problem.n))
    if len(steps) < 3 or steps[1] <= 0:
        return 1
    floor = steps[1] * np.finfo(problem.rows.dtype).eps
    ratio = steps[1:-1] / np.maximum(steps[2:], floor)
    return 2 + int(np.argmax(ratio))


def _least(problem: RdpProblem) -> float:
    """The smallest price that rounding errors between equal rows cannot reach."""
    scale = np.abs(problem.row_terms.term).max()
    least = 64 * float(np.finfo(problem.rows.dtype).eps) * float(scale)
    if problem.root:
        least = np.sqrt(least)
    return max(least, float(np.finfo(np.float64).tiny))
