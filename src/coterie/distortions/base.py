"""What every distortion offers: how far a row is from a centre, and two rows from each other.

A distortion to the centres is computed as one matrix product,

    d(x_i, mu_k) = r_i + b_k + s_i <x_i, g_k>,

which serves a Bregman divergence phi(x) - phi(mu) - <grad phi(mu), x - mu> (r = phi(x),
g = -grad phi(mu), b = <grad phi(mu), mu> - phi(mu)), the cosine distance (r = 1, s = 1/|x|), and
dense and sparse rows alike: a CSR matrix is never filled.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie._typing import Array
from coterie.data import Rows
from coterie.exceptions import InvalidData, InvalidParameter

if TYPE_CHECKING:
    from coterie.distortions.learning import MetricProblem, MetricTask

__all__ = [
    "Bound",
    "ByColumn",
    "CenterTerms",
    "ConstantBound",
    "Distortion",
    "LinearBound",
    "gather_pairs",
    "row_sums",
    "slopes_of",
]


class Bound(ABC):
    """An upper bound of the distance between two rows, as a function of the parameters A."""

    @abstractmethod
    def value(self, A: Array | None) -> float | Array:
        """phi_max under A: a number, or (K,) where A differs by cluster."""

    @abstractmethod
    def gradient(self, A: Array) -> Array:
        """Derivative of the value, of the shape of A (a subgradient where two rows tie)."""


class LinearBound(Bound):
    """phi_max(a) = sum_m c_m a_m for diagonal metrics."""

    def __init__(self, coefficients: Array) -> None:
        self.coefficients = coefficients

    def value(self, A: Array | None) -> float | Array:
        """<c, a>, for each cluster's a where there are several."""
        if A is None:
            return float(self.coefficients.sum())
        value = A @ self.coefficients
        return float(value) if np.ndim(value) == 0 else value

    def gradient(self, A: Array) -> Array:
        """c."""
        return np.broadcast_to(self.coefficients, A.shape)


class ConstantBound(Bound):
    """phi_max that does not depend on A."""

    def __init__(self, constant: float) -> None:
        self.constant = constant

    def value(self, A: Array | None) -> float:
        """The constant."""
        return self.constant

    def gradient(self, A: Array) -> Array:
        """0."""
        return np.zeros_like(A)


class CenterTerms(NamedTuple):
    """What a distortion needs of the centres, computed once per pass over the rows.

    Attributes
    ----------
    slope : ndarray of shape (K, d)
        g above.
    offset : ndarray of shape (K,)
        b above.
    square : ndarray of shape (K, d) or (K, d, d), optional
        Curvature, for a squared distance whose metric differs from cluster to cluster.
    """

    slope: Array
    offset: Array
    square: Array | None = None


def _add_squares(X: Any, square: Array, out: Array) -> None:
    """Add x' A_k x of the rows to `out` (b, K), for diagonals (K, d) or full matrices."""
    if square.ndim == 2:
        out += (X.power(2) if sp.issparse(X) else X * X) @ square.T
        return
    rows = X.toarray() if sp.issparse(X) else X
    for k, matrix in enumerate(square):
        out[:, k] += np.einsum("ij,ij->i", rows @ matrix, rows)


class Distortion(ABC):
    """A distortion measure, with parameters `A` that may be learned (None: the plain measure).

    Subclasses are small immutable objects: equal settings, equal behaviour, no state from data.
    """

    name: ClassVar[str]
    #: d(x + t, mu + t) = d(x, mu): dense rows may be measured from their mean.
    translation_invariant: ClassVar[bool] = False
    #: It is the plain squared Euclidean distance, whose kernel is XX'.
    euclidean: ClassVar[bool] = False
    #: It is (x - mu)' A (x - mu): A is a metric.
    quadratic: ClassVar[bool] = False
    #: Rows must hold no negative value.
    positive_only: ClassVar[bool] = False
    #: Forms of A that can be learned ("diagonal", "full"); empty where nothing can be.
    forms: ClassVar[tuple[str, ...]] = ()
    #: Whether A may differ from cluster to cluster.
    per_cluster: ClassVar[bool] = False
    #: What (2.1) of PCKMeans multiplies it by: half for squared distances.
    kmeans_factor: ClassVar[float] = 1.0

    def bind(self, X: Any, form: str | None = None) -> Distortion:
        """The distortion with whatever it takes from the rows fixed; itself for most.

        `form` is that of the metric to be learned from there, None if none is.
        """
        return self

    def initial(self, d: int) -> Array | None:
        """The parameters A to start from; None is the plain measure."""
        return None

    # -- rows and centres ------------------------------------------------------------------
    def check_rows(self, X: Any) -> None:
        """Raise `InvalidData`, naming row and column, if the rows are outside the domain."""

    @abstractmethod
    def row_term(self, X: Any, A: Array | None = None) -> NDArray[np.float64]:
        """r (b,): the part of the distortion that depends on the row alone."""

    def row_scale(self, X: Any, A: Array | None = None) -> Array | None:
        """s (b,), or None where it is 1 for every row."""
        return None

    @abstractmethod
    def center_terms(self, centers: Array, A: Array | None = None) -> CenterTerms:
        """g and b of the centres (K, d)."""

    def product(
        self, X: Any, terms: CenterTerms, scale: Array | None, out: Array | None = None
    ) -> Array:
        """s_i <x_i, g_k>, (b, K): the distortion without what depends on row or centre alone.

        And + x' A_k x where the metric differs by cluster. Of dense rows it may be written to
        `out`.
        """
        product = slopes_of(X, terms, out)
        if scale is not None:
            product *= scale[:, None]
        if terms.square is not None:
            _add_squares(X, terms.square, product)
        return product

    def cross(self, X: Any, terms: CenterTerms, scale: Array | None) -> Array:
        """b_k + s_i <x_i, g_k>, (b, K): the distortion without its row term."""
        values = self.product(X, terms, scale)
        values += terms.offset
        return values

    def to_centers(self, X: Any, centers: Array, A: Array | None = None) -> Array:
        """d(x_i, mu_k) for all rows and centres, (n, K), never below 0."""
        terms = self.center_terms(centers, A)
        distances = self.cross(X, terms, self.row_scale(X, A))
        distances += self.row_term(X, A)[:, None].astype(distances.dtype, copy=False)
        return np.maximum(distances, 0, out=distances)

    @abstractmethod
    def centroid(self, sums: Array, counts: Array, A: Array | None = None) -> Array:
        """The centres (K, d) that minimise the distortion, from sums of w s x and of w.

        Every count must be positive: the caller reseeds empty clusters first.
        """

    def allowed(self, centers: Array, A: Array | None = None) -> Array:
        """Given centres (K, d), moved as little as can be to where centres may lie."""
        return centers

    def prior_center(self, n_columns: int) -> Array | None:
        """The centre (d,) of a cluster without rows where centres have a prior, else None."""
        return None

    def center_costs(self, centers: Array, A: Array | None = None) -> Array:
        """-log P(mu_k) of each centre, (K,), up to a constant: 0 where centres have no prior.

        `centroid` minimises the distortion of the rows and this together.
        """
        return np.zeros(len(centers))

    def cooling(self) -> Sequence[Distortion]:
        """What to measure with in the first iterations of a fit, and last in all that follow.

        Under each of them the objective is at most what it is under the one before.
        """
        return [self]

    # -- pairs of rows ---------------------------------------------------------------------
    @abstractmethod
    def between(self, X: Any, i: Array, j: Array, A: Array | None = None) -> Array:
        """phi(x_i, x_j) of the listed pairs: (m,), or (m, K) where A differs by cluster.

        Symmetric, zero for equal rows, and the penalty of a broken must-link (3.11). `X` is an
        array, a CSR matrix or `Rows`.
        """

    def between_gradient(self, X: Any, i: Array, j: Array, A: Array) -> Array:
        """Derivative of `between` of one pair for each metric, of the shape of A."""
        raise InvalidParameter(f"{self.name} has no metric to learn; set learn_metric=False.")

    def keep_pairs(self, X: Any, i: Array, j: Array) -> Any | None:
        """What can be kept of pairs so that their distances under any diagonal A are one product.

        None where nothing can be, or where it would take too much memory.
        """
        return None

    def between_kept(
        self, kept: Any | None, X: Any, i: Array, j: Array, A: Array | None, scales: Array
    ) -> Array:
        """`between` from what `keep_pairs` kept, where it kept anything; `scales` (m,) are s_i s_j
        by `row_scale`, or (0,).
        """
        return self.between(X, i, j, A)

    @abstractmethod
    def bound(self, X: Any) -> Bound:
        """phi_max: a tight upper bound of `between` over all pairs of rows, as a function of A."""

    def paper_bound(self, X: Any, i: Array, j: Array) -> Bound:
        """phi_max as the paper prints it, given the cannot-linked pairs (i, j)."""
        raise InvalidParameter(
            f"phi_max='paper' is printed for sqeuclidean, cosine and kl, not for {self.name}; "
            "use phi_max='tight' or a number."
        )

    def phi_max(self, X: Any, A: Array | None = None) -> float | Array:
        """The tight bound under A: a number, or (K,)."""
        return self.bound(X).value(A)

    # -- learning A ------------------------------------------------------------------------
    def log_det(self, A: Array | None) -> Array:
        """What normalises the density that belongs to the distortion, (1,) or (K,): log det A of a
        Gaussian, 0 where A changes no normaliser.
        """
        return np.zeros(1)

    def weight_scale(self, rows: Rows, weights: Array, form: str) -> Array | None:
        """The unit that each column's weight is in, (d,): the inverse scatter of the column.

        None where weights have no unit, since the distortion does not change with the units of
        the columns, or rows have none. `weights` (n,) of the rows, or (0,) for ones; `form` is
        that of the metric to be learned.
        """
        return None

    def least_share(self, rows: Rows, weights: Array) -> Array:
        """Of each column's scatter (d,), what a cluster cannot be known to have less of."""
        return np.zeros(rows.d)

    def row_evidence(self, X: Any) -> Any | None:
        """What the clusters sum up of each row, (b, d), for learning a diagonal; None: nothing."""
        return None

    def metric_problem(self, task: MetricTask) -> MetricProblem:
        """The objective as a function of A, with labels and centres fixed."""
        raise InvalidParameter(f"{self.name} has no metric to learn; set learn_metric=False.")

    # -- settings --------------------------------------------------------------------------
    def _settings(self) -> dict[str, Any]:
        return dict(sorted(vars(self).items()))

    def __coterie_state__(self) -> dict[str, Any]:
        """What the constructor takes to make an equal distortion; models are saved so."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def __repr__(self) -> str:
        inside = ", ".join(f"{key}={value!r}" for key, value in self._settings().items())
        return f"{type(self).__name__}({inside})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash((type(self).__name__, repr(self)))


# -- helpers that treat dense and CSR rows alike ------------------------------------------------


def slopes_of(X: Any, terms: CenterTerms, out: Array | None = None) -> Array:
    """<x_i, g_k> of every row and centre, (b, K), of dense rows in `out` if it is given."""
    if sp.issparse(X):
        return np.asarray(X @ terms.slope.T)
    return np.asarray(np.matmul(X, terms.slope.T, out=out))


def row_sums(X: Any, weights: Array | None = None, power: int = 1) -> NDArray[np.float64]:
    """sum_m weights_m x_m^power of every row, (b,) float64."""
    if sp.issparse(X):
        values = X if power == 1 else X.power(power)
        weights = np.ones(X.shape[1]) if weights is None else weights
        return np.asarray(values @ weights, dtype=np.float64)
    if weights is None:
        if power == 2:
            # In the rows' own precision, as the products it is added to; twice as quick.
            return np.einsum("ij,ij->i", X, X).astype(np.float64, copy=False)
        return X.sum(axis=1, dtype=np.float64)
    if power == 2:
        return np.einsum("ij,ij,j->i", X, X, weights, dtype=np.float64)
    return np.asarray(X @ weights, dtype=np.float64)


_PAIR_BYTES = 1 << 25
_KEPT_BYTES = 1 << 27  # of memory for the pairs' distances by column, which each new metric needs
_SPARSE_STEP = 16_384


def gather_pairs(X: Any, i: Array, j: Array) -> Any:
    """Yield (lo, hi, rows x_i, rows x_j) over pieces of the pair list that fit in memory."""
    source = Rows.of(X).source
    step = _SPARSE_STEP if source.is_sparse else max(256, _PAIR_BYTES // (8 * source.d))
    for lo in range(0, len(i), step):
        hi = min(lo + step, len(i))
        yield lo, hi, source.take(i[lo:hi]), source.take(j[lo:hi])


class ByColumn(Distortion):
    """A distortion whose distance between two rows is put together from what each column says."""

    @abstractmethod
    def between_columns(self, xi: Any, xj: Any) -> Any:
        """What each column says of the distance of matching rows, (m, d), CSR for CSR rows."""

    @abstractmethod
    def from_columns(self, columns: Any, A: Array, scales: Array) -> Array:
        """`between` from kept `between_columns`, (m,), or (m, K) for A (K, d).

        `scales` are s_i s_j of the pairs, or (0,).
        """

    def keep_pairs(self, X: Any, i: Array, j: Array) -> Any | None:
        """`between_columns` of all pairs, (m, d), unless they are too large."""
        parts, kept = [], 0
        for _, _, xi, xj in gather_pairs(X, i, j):
            parts.append(self.between_columns(xi, xj))
            kept += 8 * (parts[-1].nnz if sp.issparse(parts[-1]) else parts[-1].size)
            if kept > _KEPT_BYTES:
                return None
        if not parts:
            return None
        return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.vstack(parts)

    def between_kept(
        self, kept: Any | None, X: Any, i: Array, j: Array, A: Array | None, scales: Array
    ) -> Array:
        """One product where columns were kept."""
        if kept is None or A is None:
            return self.between(X, i, j, A)
        return self.from_columns(kept, A, scales)


def first_bad(X: Any, bad: Any) -> tuple[int, int, float] | None:
    """Row, column and value of the first entry for which `bad(values)` holds, or None."""
    if sp.issparse(X):
        where = np.flatnonzero(bad(X.data))
        if not where.size:
            return None
        p = int(where[0])
        row = int(np.searchsorted(X.indptr, p, side="right")) - 1
        return row, int(X.indices[p]), float(X.data[p])
    for lo in range(0, X.shape[0], 65_536):
        found = np.argwhere(bad(X[lo : lo + 65_536]))
        if found.size:
            row, column = int(found[0, 0]) + lo, int(found[0, 1])
            return row, column, float(X[row, column])
    return None


def refuse(X: Any, bad: Any, what: str, remedy: str) -> None:
    """Raise `InvalidData` that names the first entry for which `bad` holds."""
    found = first_bad(X, bad)
    if found is not None:
        row, column, value = found
        why = f"is {value:g}: {what}. {remedy}"
        error = InvalidData(f"row {row}, column {column} {why}")
        error.entry = row, column, why
        raise error


def need_form(distortion: Distortion, form: str) -> None:
    """Raise `InvalidParameter` if `distortion` cannot learn a metric of that form."""
    if form not in distortion.forms:
        can = " or ".join(distortion.forms) or "none"
        raise InvalidParameter(
            f"{distortion.name} cannot learn a {form} metric (it can: {can}). "
            "Set learn_metric=False, or choose another distortion."
        )
