"""How far a labeling keeps a set of constraints."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d

from coterie.constraints import Constraints
from coterie.constraints.exclusive import broken
from coterie.exceptions import InvalidData
from coterie.parameters import check_arguments


class ConstraintSatisfaction(NamedTuple):
    """How far a labeling keeps a set of constraints. Fractions of no pairs at all are 1."""

    kept: float
    """Fraction of all pairs that are kept."""
    must_kept: float
    """Fraction of the must-links that are kept."""
    cannot_kept: float
    """Fraction of the cannot-links that are kept."""
    n_broken: int
    """Number of pairs broken, of either kind, hard or soft."""
    n_hard_broken: int
    """Number of hard pairs broken: 0 for every estimator that promises to keep them."""
    cost: float
    """Summed cost of the broken soft pairs, a plain pair costing 1 (`Constraints.cost`)."""


def constraint_satisfaction(labels: ArrayLike, constraints: Constraints) -> ConstraintSatisfaction:
    """How far `labels` keep `constraints`.

    Parameters
    ----------
    labels : array-like of shape (n,)
        One label a row; a must-link is kept if both rows have the same one.
    constraints : Constraints
        Pairs over the same n rows; those that exclusive groups stand for count too.

    Returns
    -------
    ConstraintSatisfaction
        Fractions kept (all, must, cannot), pairs broken, hard pairs broken, cost of broken soft
        pairs.
    """
    check_arguments(constraint_satisfaction, locals())
    given: NDArray[Any] = np.asarray(column_or_1d(labels))
    if given.size != constraints.n_samples:
        raise InvalidData(
            f"There are {given.size} labels, but the constraints are about "
            f"{constraints.n_samples} rows; use constraints.subset(rows) for a part of the rows."
        )
    together = given[constraints.pairs[:, 0]] == given[constraints.pairs[:, 1]]
    must = constraints.kind > 0
    kept = together == must
    soft_broken = ~kept & ~constraints.is_hard
    in_groups, group_cost = broken(constraints.exclusive, given)
    n_broken = int((~kept).sum()) + len(in_groups)
    n_hard_broken = int((~kept & constraints.is_hard).sum()) + int(np.isinf(group_cost).sum())
    n_cannot = int((~must).sum()) + constraints.exclusive.n_pairs
    return ConstraintSatisfaction(
        kept=_share(n_broken, n_cannot + int(must.sum())),
        must_kept=_share(int((~kept[must]).sum()), int(must.sum())),
        cannot_kept=_share(int((~kept[~must]).sum()) + len(in_groups), n_cannot),
        n_broken=n_broken,
        n_hard_broken=n_hard_broken,
        cost=float(
            constraints.cost()[soft_broken].sum() + group_cost[np.isfinite(group_cost)].sum()
        ),
    )


def _share(n_broken: int, n_pairs: int) -> float:
    return 1.0 - n_broken / n_pairs if n_pairs else 1.0
