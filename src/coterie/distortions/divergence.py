"""Divergences of non-negative rows, with smoothed centres: I-divergence and Kullback-Leibler.

A centre that is zero where a row is not is infinitely far from it, and one of few short rows is
zero nearly everywhere. (3.23) makes centres (mean + alpha u) / (1 + alpha), u the uniform row.
With rows as they are these are not the minimisers of the objective. Two priors on each centre
give smoothed ones that are, so that every step lowers J:

- "floor": all centres that are nowhere below what (3.23) leaves them, alpha/(1 + alpha) u, are
  equally likely. A centre is the nearest to its rows of these.
- "dirichlet": a centre is the mode of a Dirichlet prior and its rows,
  (sum of rows + alpha u) / (their number + alpha): (3.23) with alpha over that number. J has
  alpha d_A(u, mu) for each centre, which large clusters bear more easily than small ones.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import xlogy

from coterie._typing import Array
from coterie.data import Block, Rows, fold, map_blocks
from coterie.distortions.base import Bound, LinearBound
from coterie.distortions.bounds import GrowingBound
from coterie.distortions.bregman import SeparableBregman, apply_entries
from coterie.distortions.learning import MetricTask
from coterie.distortions.rows import refuse, row_sums
from coterie.exceptions import InvalidData
from coterie.parameters import check_arguments

__all__ = ["IDivergence", "KLDivergence"]

_FLOOR_SHARE = 0.75  # of a centre's mass, were rows all zeros: the rest follows the rows
_LEAST_SMOOTHING = 0.01  # a zero in a centre is never infinitely far
_NEWTON_STEPS = 50


class IDivergence(SeparableBregman):
    """I-divergence sum_m a_m [x_m log(x_m / mu_m) - x_m + mu_m] of non-negative rows, (3.19).

    Rows are taken as they are; centres are smoothed.

    Parameters
    ----------
    smoothing : "auto" or float, default="auto"
        alpha of (3.23). "auto" goes by how sparse the rows are (the longer rows are, the fewer
        zeros they have), from 0.01 where there are no zeros: for "floor", three quarters of the
        share of zeros is the part of a centre's mass that is spread evenly, so that text has an
        alpha of about 3; for "dirichlet", one count for each column that a row has none of, over
        the row's length (its sum where all values are whole numbers, else how many are not
        zero). 0 turns it off; a zero in a centre then costs a row with a positive entry there
        more than any other centre does.
    prior : {"floor", "dirichlet"}, default="floor"
        "floor" keeps centres at alpha/(1 + alpha)/d or above, the least that (3.23) gives, and
        else as near to their rows as can be. "dirichlet" makes them
        (sum of rows + alpha u) / (their number + alpha), alpha in rows; it draws rows to large
        clusters. Under both the objective never rises.
    annealed_from : float, optional
        alpha to begin with; it is halved in every iteration of a fit until it is `smoothing`
        (the deterministic annealing of section 3.3.7.1).
    """

    name: ClassVar[str] = "i-divergence"
    positive_only: ClassVar[bool] = True
    _distributions: ClassVar[bool] = False  # rows are divided by their sums
    _least = 1e-300  # stands for a zero in a centre, so that 0 * log 0 is 0 and not NaN
    _mass = 1.0  # sum of the uniform row; that of a mean row once bound

    def __init__(
        self, smoothing: Any = "auto", *, prior: str = "floor", annealed_from: float | None = None
    ) -> None:
        check_arguments(IDivergence, locals())
        self.smoothing: Any = smoothing
        self.prior = prior
        self.annealed_from = annealed_from

    def bind(self, X: Any, form: str | None = None) -> Self:
        """The distortion with its smoothing, and what a uniform row sums to, fixed by the rows."""
        bound = copy(self)
        found = fold(map_blocks(Rows(X), _fill_block, None))
        if self.smoothing == "auto":
            bound.smoothing = found.smoothing(self.prior, X.shape[0] * X.shape[1])
        if not self._distributions:
            bound._mass = found.mass / X.shape[0]
        return bound

    def __coterie_state__(self) -> dict[str, Any]:
        """What the constructor takes; what 0.1 did not know is left out where it is the default,
        so that a model that needs nothing new is written as it was.
        """
        state = super().__coterie_state__()
        news = {"prior": "floor", "annealed_from": None}
        return {key: value for key, value in state.items() if news.get(key, ...) != value}

    def cooling(self) -> list[Self]:
        """The same distortion with less and less smoothing, from `annealed_from` to `smoothing`."""
        stages, alpha = [], self.annealed_from or 0.0
        while alpha > self.smoothing and alpha > _LEAST_SMOOTHING:
            stage = copy(self)
            stage.smoothing = alpha
            stages.append(stage)
            alpha /= 2
        return [*stages, self]

    def check_rows(self, X: Any) -> None:
        """No entry may be negative, no row all zero."""
        refuse(
            X,
            lambda v: v < 0,
            f"Negative values in data; {self.name} needs 0 or more",
            "Shift or drop the column.",
        )
        empty = np.flatnonzero(row_sums(X) <= 0)
        if empty.size:
            raise InvalidData(
                f"row {empty[0]} is all zeros ({empty.size} such rows): {self.name} cannot place "
                "it. Drop those rows."
            )

    def phi(self, x: Array) -> Array:
        """x log x - x, with 0 log 0 = 0."""
        return xlogy(x, x) - x

    def phi_prime(self, x: Array) -> Array:
        """log x."""
        return np.log(np.maximum(x, self._least))

    def row_evidence(self, X: Any) -> Any:
        """phi of every entry of the rows as they are measured."""
        return apply_entries(self.phi, self._scaled(X))

    def _scaled(self, X: Any) -> Any:
        return X

    # -- centres and their prior -----------------------------------------------------------
    def _uniform(self, n_columns: int) -> float:
        """u of a column."""
        assert self.smoothing != "auto", "bind the distortion to the rows first"
        return self._mass / n_columns

    def centroid(self, sums: Array, counts: Array, A: Array | None = None) -> Array:
        """The centres of least J among those that the prior allows, near to (3.23)."""
        alpha, uniform = self.smoothing, self._uniform(sums.shape[1])
        if self.prior == "dirichlet":
            return (sums + alpha * uniform) / (counts[:, None] + alpha)
        mean, floor = sums / counts[:, None], alpha / (1 + alpha) * uniform
        if self._distributions and alpha > 0:
            return _floored_distributions(mean, floor, np.ones(mean.shape[1]) if A is None else A)
        return np.maximum(mean, floor)

    def allowed(self, centers: Array, A: Array | None = None) -> Array:
        """The centroids of the centres themselves, where they have a floor."""
        if self.prior == "dirichlet":
            return centers
        return self.centroid(centers, np.ones(len(centers)), A).astype(centers.dtype)

    def prior_center(self, n_columns: int) -> Array | None:
        """u, (d,), under a Dirichlet prior."""
        if self.prior == "floor" or self.smoothing == 0:
            return None
        return np.full(n_columns, self._uniform(n_columns))

    def center_costs(self, centers: Array, A: Array | None = None) -> Array:
        """alpha d_A(u, mu_k) under a Dirichlet prior, (K,)."""
        weights = np.ones(centers.shape[1]) if A is None else A
        return self._prior_divergences(np.asarray(centers, dtype=np.float64)) @ weights

    def _prior_divergences(self, centers: Array) -> Array:
        """alpha d(u, mu) by column, (K, d)."""
        prior = self.prior_center(centers.shape[1])
        if prior is None:
            return np.zeros_like(centers)
        gaps = self.phi(prior) - self.phi(centers) - self.phi_prime(centers) * (prior - centers)
        return self.smoothing * np.maximum(gaps, 0.0)

    def within(self, task: MetricTask) -> Array:
        """Divergence of the rows of each cluster from its centre, and of the prior, by column.

        sum_i phi(x_im) - n_k phi(mu_km) - phi'(mu_km) (sum_i x_im - n_k mu_km): a smoothed centre
        is not the mean.
        """
        centers, counts = np.asarray(task.centers, dtype=np.float64), task.counts[:, None]
        slack = self.phi_prime(centers) * (task.sums - counts * centers)
        rows = task.evidence - counts * self.phi(centers) - slack
        return np.maximum(rows, 0.0) + self._prior_divergences(centers)

    # -- pairs -----------------------------------------------------------------------------
    def between_columns(self, xi: Any, xj: Any) -> Any:
        """x log 2x/(x+y) + y log 2y/(x+y) of each column, (3.20)."""
        return super().between_columns(self._scaled(xi), self._scaled(xj))

    def bound(self, X: Any) -> Bound:
        """log 2 times the two greatest sums_m a_m x_m."""
        return MassBound(Rows.of(X), self._scaled)

    def paper_bound(self, X: Any, i: Array, j: Array) -> Bound:
        """sum_m a_m (section 3.3.3.3), which bounds distributions; more for heavier rows."""
        return GrowingBound(self, X, i, j, LinearBound(np.ones(Rows.of(X).d)))


class _Filled(NamedTuple):
    """How rows are filled: their sum, how many values are not zero, how many not whole."""

    mass: float
    filled: float
    broken: float

    def smoothing(self, prior: str, entries: int) -> float:
        """alpha for the prior, from the share of zeros among all entries and the rows' lengths."""
        zeros = entries - self.filled
        if prior == "dirichlet":
            alpha = zeros / (self.filled if self.broken else self.mass)
        else:
            spread = _FLOOR_SHARE * zeros / entries
            alpha = spread / (1 - spread)
        return max(alpha, _LEAST_SMOOTHING)


def _fill_block(block: Block, _: None) -> _Filled:
    values = block.rows.data if sp.issparse(block.rows) else block.rows
    return _Filled(
        float(values.sum(dtype=np.float64)),
        float(np.count_nonzero(values)),
        float(np.count_nonzero(values != np.floor(values))),
    )


def _floored_distributions(means: Array, floor: float, weights: Array) -> Array:
    """The distributions mu (p, d), nowhere below the floor, of least d_A from rows of these means.

    mu_m = max(floor, a_m mean_m / (a_m + t)) with t >= 0 such that mu sums to 1.
    """
    centers = np.full(means.shape, floor)
    for center, mean in zip(centers, means, strict=True):
        above = np.flatnonzero(mean > floor)  # the others are at the floor whatever t is
        kept, a = mean[above], weights[above]
        t = _excess_multiplier(kept, a, floor, 1 - floor * (mean.size - above.size))
        center[above] = np.maximum(a / (a + t) * kept, floor)
    return centers


def _excess_multiplier(kept: Array, a: Array, floor: float, room: float) -> float:
    """t >= 0 for which sum_m max(floor, a_m kept_m / (a_m + t)) is `room`; 0 if it is less.

    The sum is convex and falls in t, so that Newton's steps from 0 come near from one side.
    """
    t = 0.0
    for _ in range(_NEWTON_STEPS):
        value = a * kept / (a + t)
        free = value > floor
        excess = np.maximum(value, floor).sum() - room
        if excess <= 1e-15 or not free.any():
            break
        t += excess / (value[free] / (a[free] + t)).sum()
    return t


class MassBound(Bound):
    """x log 2x/(x+y) + y log 2y/(x+y) <= log 2 (x + y), so phi_max is log 2 times the two greatest
    masses sum_m a_m x_m of any rows.
    """

    def __init__(self, rows: Rows, scaled: Callable[[Any], Any]) -> None:
        self.rows = rows
        self.scaled = scaled

    def _heaviest(self, A: Array | None) -> _Heaviest:
        """The two greatest masses of any rows, and these rows."""
        found = fold(
            map_blocks(self.rows, _mass_block, _MassTask(self.scaled, A)), joined=("mass", "row")
        )
        top = np.argpartition(found.mass, -min(2, found.mass.size))[-2:]
        return _Heaviest(found.mass[top], found.row[top])

    def value(self, A: Array | None) -> float:
        """log 2 (m_1 + m_2)."""
        return float(np.log(2) * self._heaviest(A).mass.sum())

    def gradient(self, A: Array) -> Array:
        """log 2 (x_1 + x_2) of the heaviest rows."""
        rows = self.scaled(self.rows.source.take(self._heaviest(A).row))
        return np.log(2) * np.asarray(rows.sum(axis=0), dtype=np.float64).ravel()


class _MassTask(NamedTuple):
    scaled: Callable[[Any], Any]
    A: Array | None


class _Heaviest(NamedTuple):
    mass: Array
    row: Array


def _mass_block(block: Block, task: _MassTask) -> _Heaviest:
    mass = row_sums(task.scaled(block.rows), task.A)
    top = np.argpartition(mass, -min(2, mass.size))[-2:]
    return _Heaviest(mass[top], block.start + top)


class KLDivergence(IDivergence):
    """Kullback-Leibler divergence of rows taken as distributions: each is divided by its sum.

    The I-divergence (3.19) of the normalised rows; word counts go in as they are.

    Parameters
    ----------
    smoothing, prior, annealed_from
        As in `IDivergence`.
    """

    name: ClassVar[str] = "kl"
    _distributions: ClassVar[bool] = True

    def paper_bound(self, X: Any, i: Array, j: Array) -> Bound:
        """sum_m a_m (section 3.3.3.3): a column adds at most log 2 |x_m - y_m| a_m."""
        return LinearBound(np.ones(Rows.of(X).d))

    def weight_scale(self, rows: Rows, weights: Array, form: str) -> Array | None:
        """None: distributions have no unit."""
        return None

    def row_scale(self, X: Any, A: Array | None = None) -> Array | None:
        """1 / sum of the row."""
        return 1.0 / row_sums(X)

    def _scaled(self, X: Any) -> Any:
        scale = 1.0 / row_sums(X)
        return sp.csr_matrix(sp.diags_array(scale) @ X) if sp.issparse(X) else X * scale[:, None]
