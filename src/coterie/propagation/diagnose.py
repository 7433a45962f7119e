"""How many of the propagated pairs are right, where the truth is known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from coterie.constraints import Constraints
from coterie.exceptions import InvalidData
from coterie.parameters import check_arguments

__all__ = ["Diagnosis", "diagnose"]


class Diagnosis(NamedTuple):
    """Propagated pairs against true labels; precisions are NaN where there are no pairs."""

    n_must: int
    n_cannot: int
    must_precision: float
    cannot_precision: float
    precision: float
    weighted_precision: float


def diagnose(propagated: Constraints, sources: Constraints, y: Any) -> Diagnosis:
    """Precision of the pairs of `propagated` that are not pairs of `sources`, by true labels.

    Parameters
    ----------
    propagated, sources : Constraints
    y : array-like of shape (n_samples,)
        True classes; pairs with an end of class -1 (unknown) are left out.

    Returns
    -------
    Diagnosis
        Counts by kind, the share of right pairs by kind and over both, and the share of their
        weight.

    Examples
    --------
    >>> from coterie import Constraints
    >>> from coterie.propagation import diagnose
    >>> sources = Constraints(4, must_link=[(0, 1)])
    >>> propagated = Constraints(4, must_link=[(0, 1), (0, 2), (2, 3)])
    >>> diagnose(propagated, sources, [0, 0, 0, 1]).precision
    0.5
    """
    check_arguments(diagnose, locals())
    truth = np.asarray(y)
    if truth.shape != (propagated.n_samples,):
        raise InvalidData(
            f"y has shape {truth.shape}, expected ({propagated.n_samples},): one class a row."
        )
    ends = truth[propagated.pairs]
    told = is_new(propagated, sources)
    if truth.dtype.kind in "if":
        told &= (ends != -1).all(axis=1)
    must = propagated.kind[told] > 0
    right = (ends[told, 0] == ends[told, 1]) == must
    return Diagnosis(
        int(must.sum()),
        int((~must).sum()),
        _share(right[must]),
        _share(right[~must]),
        _share(right),
        _share(right, propagated.weight[told]),
    )


def is_new(propagated: Constraints, sources: Constraints) -> np.ndarray:
    """Which pairs (m,) of `propagated` are no pairs of `sources` of that kind."""
    return ~np.isin(pair_keys(propagated), pair_keys(sources))


def pair_keys(constraints: Constraints) -> np.ndarray:
    """One number (m,) for each two rows and kind."""
    i, j = constraints.pairs.T
    return 2 * (i * constraints.n_samples + j) + (constraints.kind > 0)


def _share(right: np.ndarray, weight: np.ndarray | None = None) -> float:
    if not right.size or (weight is not None and not weight.sum() > 0):
        return float("nan")
    return float(np.average(right, weights=weight))
