"""What a fit has before its first iteration: rows, where starts begin, the covariances' prior."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from coterie._typing import FloatArray
from coterie.constraints import Constraints
from coterie.data import Rows, centered
from coterie.exceptions import InvalidData
from coterie.mixture.ppc.covariances import COVARIANCES
from coterie.mixture.ppc.em import PpcProblem, run, without_pairs
from coterie.mixture.ppc.model import Mixture, MixtureShape
from coterie.mixture.ppc.regularization import CovariancePrior, column_floor, prior_target
from coterie.mixture.ppc.start import (
    Start,
    StartRows,
    begins_without_pairs_too,
    column_moments,
    find_start,
    mixture_from_model,
    mixture_of,
    type_of,
    within_clusters,
)

__all__ = [
    "FitRows",
    "Starts",
    "find_starts",
    "fit_rows",
    "make_prior",
    "start_with_pairs",
]


class FitRows(NamedTuple):
    """The rows of a fit as they are, and as starts look at them."""

    rows: Rows
    given: StartRows


def fit_rows(X: Any, weights: FloatArray | None) -> FitRows:
    """Rows measured from near their mean; a copy with gaps filled is made only if there are any."""
    each = np.empty(0) if weights is None else weights
    if not isinstance(X, np.ndarray) or not np.isnan(X).any():
        rows = centered(X)
        return FitRows(rows, StartRows(rows, X, each, np.ones(rows.d)))
    gaps = np.isnan(X)
    nothing = np.flatnonzero(gaps.all(axis=0))
    if nothing.size:
        raise InvalidData(f"column {nothing[0]} of X has no value in any row; leave it out.")
    mean = np.nanmean(X, axis=0)
    filled = np.where(gaps, mean, X)
    given = StartRows(Rows(filled, shift=mean), filled, each, 1.0 - gaps.mean(axis=0))
    return FitRows(Rows(X, shift=mean), given)


class Starts(NamedTuple):
    """Where starts begin.

    `alone` is that of the mixture without pairs, one more start; `model` a fitted mixture to go on
    from, and then there is no other.
    """

    given: StartRows
    each: tuple[Start, ...] = ()
    alone: Start | None = None
    model: Any = None

    def within(self) -> FloatArray:
        """Covariance (d, d) within the clusters that the first start begins with."""
        if self.model is not None:
            return _model_within(self.model)
        return within_clusters(self.each[0], self.given)

    def mixtures(self, problem: PpcProblem, max_iter: int, tol: float) -> list[Mixture]:
        """The first mixtures of the problem's shape."""
        if self.model is not None:
            return [mixture_from_model(self.model, self.given.rows.origin, problem.shape)]
        out = [mixture_of(start, self.given, problem.shape) for start in self.each]
        if self.alone is not None:
            first = mixture_of(self.alone, self.given, problem.shape)
            out.append(run(without_pairs(problem), first, max_iter, tol).state.mixture)
        return out


def find_starts(
    given: StartRows,
    constraints: Constraints,
    shape: MixtureShape,
    init: Any,
    n_starts: int,
    rng: np.random.RandomState,
) -> Starts:
    """`n_starts` starts of the kind `init` names, and one without pairs if they may mislead."""
    alone_rng = np.random.RandomState()
    alone_rng.set_state(rng.get_state())  # the draws of a fit without pairs
    each = tuple(
        start_with_pairs(given, constraints, shape, init, rng, number) for number in range(n_starts)
    )
    alone = None
    heard = _heard(constraints)
    if isinstance(init, str) and init == "neighborhoods" and begins_without_pairs_too(heard):
        nothing = Constraints(constraints.n_samples)
        alone = start_with_pairs(given, nothing, shape, init, alone_rng)
    return Starts(given, each, alone)


def start_with_pairs(
    given: StartRows,
    constraints: Constraints,
    shape: MixtureShape,
    init: Any,
    rng: np.random.RandomState,
    number: int = 0,
) -> Start:
    """Start `number` by the pairs that say anything."""
    size = (shape.n_clusters, shape.n_components)
    return find_start(given, _heard(constraints), *size, init, rng, number)


def make_prior(rows: Rows, starts: Starts, prior_rows: Any) -> CovariancePrior | None:
    """The prior of covariances that counts as so many rows; "auto": as many as pin one down."""
    if prior_rows == 0:
        return None
    given, within = starts.given, starts.within()
    floor = column_floor(rows, given.weights, *column_moments(given))
    n_rows = float(given.weights.sum()) if given.weights.size else given.rows.n
    d = within.shape[0]
    return CovariancePrior(
        d + 1.0 if prior_rows == "auto" else float(prior_rows),
        prior_target(within, n_rows, floor),
        floor.least,
    )


def _model_within(model: Any) -> FloatArray:
    """Covariance (d, d) within the components of a fitted mixture."""
    covariance, d = COVARIANCES[type_of(model)], np.shape(model.means_)[1]
    each = [covariance.matrix(model.covariances_, g, d) for g in range(len(model.weights_))]
    return np.asarray(sum(w * one for w, one in zip(model.weights_, each, strict=True)))


def picked_for_being_apart(constraints: Constraints) -> bool:
    """Whether all pairs are cannot-links: they were not drawn from the rows at random.

    Rows of small clusters are then in pairs more often than others. Σ N log π − log Ω takes
    nothing about the weights from pairs, so that π is the share of a cluster among rows in *no*
    pair: right for those rows, and far too small for new ones. (Pairs of two rows each, two
    clusters, m of them: π_k = (N_k − m)/(n − 2m), 0 once each row of a cluster is in one.)
    """
    kinds = _heard(constraints).kind
    return bool(kinds.size and (kinds < 0).all())


def _heard(constraints: Constraints) -> Constraints:
    """The pairs that say anything: one of weight 0 is no pair."""
    heard = constraints.strength() > 0
    return constraints if heard.all() else constraints.pick(heard)
