"""Where rows and pairs go on a flat map, and which of them are drawn. No matplotlib here.

Large data are thinned by fixed rules, so that the same input gives the same map: rows in pairs
first, then others at random with a fixed seed; broken pairs first, then others at random.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from coterie.constraints import Constraints
from coterie.exceptions import InvalidData, MissingDependency
from coterie.plot.inputs import as_rows, broken_mask, names_of
from coterie.validation import check_choice, check_count

__all__ = ["MAX_PAIRS", "MAX_POINTS", "FlatMap", "Projection", "lay_out", "project"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

MAX_POINTS = 5000  # more dots than that hide each other on any screen
MAX_PAIRS = 2000  # their 4,000 rows at most are then among the dots
FIT_ROWS = 10_000  # rows that decide where the axes lie: two directions need no more
PROJECTIONS = ("auto", "pca", "umap")


class Projection(NamedTuple):
    """A way to put rows on a plane."""

    method: str
    axes: tuple[str, str]
    coordinates: Callable[[IntArray], FloatArray]  # rows (r,) → (r, 2)


class FlatMap(NamedTuple):
    """What is drawn and where."""

    rows: IntArray  # (r,) rows that are drawn, rising
    points: FloatArray  # (r, 2)
    pairs: IntArray  # (p,) numbers of the pairs that are drawn, rising
    segments: FloatArray  # (p, 2, 2) both ends of each
    broken: NDArray[np.bool_]  # (p,)
    projection: Projection


def project(X: Any, projection: Any = "auto", feature_names: Any = None) -> Projection:
    """A plane for the rows of X.

    Parameters
    ----------
    X : array-like, frame or CSR matrix of shape (n, d)
    projection : {"auto", "pca", "umap"} or array of shape (n, 2)
        Two columns are shown as they are, and so is an array of coordinates. Otherwise "auto" is
        UMAP if the package umap-learn is installed, else the first two principal components. The
        axes are fitted on at most 10,000 rows, drawn with a fixed seed.
    feature_names : sequence of str, optional
    """
    names = names_of(X, feature_names) if hasattr(X, "shape") else None
    X = as_rows(X)
    names = names or names_of(X, feature_names)
    if not isinstance(projection, str):
        return _given(projection, X.shape[0])
    check_choice("projection", projection, PROJECTIONS)
    if X.shape[1] <= 2:
        return _as_it_is(X, names)
    if projection == "auto":
        projection = "umap" if importlib.util.find_spec("umap") else "pca"
    if X.shape[0] < 3:  # a plane goes through any two rows, and UMAP needs neighbours
        projection = "pca"
    return (_umap if projection == "umap" else _pca)(X)


def _given(coordinates: Any, n: int) -> Projection:
    plane = np.asarray(coordinates, dtype=np.float64)
    if plane.shape != (n, 2) or not np.isfinite(plane).all():
        raise InvalidData(f"projection must be finite and of shape ({n}, 2), got {plane.shape}.")
    return Projection("coordinates that were given", ("", ""), lambda rows: plane[rows])


def _as_it_is(X: Any, names: list[str]) -> Projection:
    plane = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    if plane.shape[1] == 2:
        return Projection("the two columns", (names[0], names[1]), lambda rows: plane[rows])
    # One column: rows are spread out across it, or they would all lie on one line.
    plane = np.column_stack([plane[:, 0], np.random.default_rng(0).random(len(plane))])
    return Projection(
        "the only column, spread out at random", (names[0], ""), lambda rows: plane[rows]
    )


def _fit_sample(X: Any) -> Any:
    if X.shape[0] <= FIT_ROWS:
        return X
    rows = np.random.default_rng(0).choice(X.shape[0], FIT_ROWS, replace=False)
    return X[np.sort(rows)]


def _pca(X: Any) -> Projection:
    if sp.issparse(X) and X.shape[0] < 4:  # the sparse solver needs more rows than directions
        X = X.toarray()
    sample = _fit_sample(X)
    if sample.shape[0] == 1:
        return Projection("one row", ("", ""), lambda rows: np.zeros((len(rows), 2)))
    solver = "arpack" if sp.issparse(X) else "auto"
    with np.errstate(invalid="ignore"):  # 0 / 0 where all rows are equal
        pca = PCA(2, svd_solver=solver, random_state=0).fit(sample)
    share = np.nan_to_num(pca.explained_variance_ratio_)
    axes = [f"component {a + 1} ({share[a]:.0%} of the variance)" for a in (0, 1)]
    return Projection(
        "principal components",
        (axes[0], axes[1]),
        lambda rows: np.asarray(pca.transform(X[rows]), dtype=np.float64),
    )


def _umap(X: Any) -> Projection:
    try:
        from umap import UMAP
    except ImportError as error:
        raise MissingDependency(
            "projection='umap' needs the package umap-learn: pip install umap-learn, "
            "or use projection='pca'."
        ) from error
    sample = _fit_sample(X)
    neighbors = min(15, sample.shape[0] - 1)
    init = "random" if sample.shape[0] < 20 else "spectral"  # too few rows for eigenvectors
    umap = UMAP(n_neighbors=neighbors, init=init, random_state=0, n_jobs=1).fit(sample)

    def coordinates(rows: IntArray) -> FloatArray:
        everything = np.asarray(
            umap.embedding_ if sample is X else umap.transform(X[rows]), dtype=np.float64
        )
        return everything[rows] if sample is X else everything

    return Projection("UMAP", ("", ""), coordinates)


def lay_out(
    projection: Projection,
    constraints: Constraints,
    labels: NDArray[Any] | None,
    *,
    max_points: int = MAX_POINTS,
    max_pairs: int = MAX_PAIRS,
) -> FlatMap:
    """Choose rows and pairs to draw and find their places. Without labels nothing is broken."""
    check_count("max_points", max_points)
    check_count("max_pairs", max_pairs, least=0)
    n, m = constraints.n_samples, constraints.n_pairs
    broken = np.zeros(m, dtype=bool) if labels is None else broken_mask(constraints, labels)
    pairs = keep_first(np.flatnonzero(broken), m, max_pairs)
    ends = constraints.pairs[pairs]
    rows = keep_first(np.unique(ends), n, max_points)
    needed = np.union1d(rows, ends)
    places = projection.coordinates(needed)
    points, segments = (places[np.searchsorted(needed, wanted)] for wanted in (rows, ends))
    return FlatMap(rows, points, pairs, segments, broken[pairs], projection)


def keep_first(first: IntArray, n: int, limit: int) -> IntArray:
    """At most `limit` of 0 … n − 1, rising: those of `first` before all others, else at random."""
    if n <= limit:
        return np.arange(n)
    rng = np.random.default_rng(0)
    if first.size >= limit:
        return np.sort(rng.choice(first, limit, replace=False))
    others = np.setdiff1d(np.arange(n), first, assume_unique=True)
    return np.sort(np.r_[first, rng.choice(others, limit - first.size, replace=False)])
