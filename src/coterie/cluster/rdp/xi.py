"""How xi, what a pair is worth beside a distance, grows from round to round."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from coterie.cluster.rdp.fit import Schedule
from coterie.cluster.rdp.problem import RdpProblem
from coterie.cluster.rdp.reach import Reach

__all__ = ["XiRule"]

_FIRST = 1e-3  # xi0="auto" in units of a row's mean divergence
_OUTWEIGHS = 1e3  # without a bound xi ends so many times above every distance
_LEAST_COST = 1e-6
_ODDS = float(np.log(0.95 / 0.05))


class XiRule(NamedTuple):
    """xi0, its rate of growth and its bound as the user gave them; "auto" waits for the start."""

    xi0: Any
    rate: float
    most: Any
    ratio: float
    patience: int
    max_iter: int

    @classmethod
    def default(cls) -> XiRule:
        """As `RDPMeans` has it."""
        return cls("auto", 2.0, "auto", 1.0, 20, 300)

    @classmethod
    def without_pairs(cls, max_iter: int) -> XiRule:
        """For DP-means: xi is 0."""
        return cls(0.0, 1.0, 0.0, 1.0, 1, max_iter)

    @property
    def most_given(self) -> float:
        """The bound, if it is a number."""
        return np.inf if self.most is None or _is_auto(self.most) else self.most

    def schedule(self, problem: RdpProblem, lambda_: float, reach: Reach) -> Schedule:
        """The rule in units of the data.

        "auto": log(p / (1 - q)) / gamma (section 4.3) with 95 in 100 answers right and gamma as
        the rows have it, but not more than a row's mean divergence from its centre. No bound: xi
        grows until one pair outweighs every distance and lambda, when more would change nothing.
        """
        if self.most is None:
            soft = problem.pair_cost[np.isfinite(problem.pair_cost) & (problem.pair_cost > 0)]
            least = max(float(soft.min()), _LEAST_COST) if soft.size else 1.0
            most = _OUTWEIGHS * (lambda_ + reach.farthest) / min(least, 1.0)
        else:
            most = min(_ODDS * reach.nat, reach.mean) if _is_auto(self.most) else self.most
        xi0 = _FIRST * reach.mean if _is_auto(self.xi0) else self.xi0
        return Schedule(xi0, self.rate, most, self.ratio, self.patience, self.max_iter)


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"
