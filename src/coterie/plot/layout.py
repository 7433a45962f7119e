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
from sklearn.manifold import TSNE
from sklearn.neighbors import NearestNeighbors

from coterie._typing import FloatArray, IntArray
from coterie.constraints import Constraints
from coterie.data import one_blas_thread
from coterie.exceptions import InvalidData, MissingDependency
from coterie.plot.inputs import as_rows, broken_mask, names_of
from coterie.validation import check_choice, check_count

__all__ = ["MAX_PAIRS", "MAX_POINTS", "FlatMap", "Projection", "lay_out", "project"]

MAX_POINTS = 5000  # more dots than that hide each other on any screen
MAX_PAIRS = 2000  # their 4,000 rows at most are then among the dots
PCA_ROWS = 10_000  # rows that decide where the axes lie: two directions need no more
UMAP_ROWS = 3000  # rows that are embedded, in seconds
TSNE_ROWS = 1500
ENOUGH = 0.5  # share of the variance that makes principal components a fair picture
_BETWEEN = 5  # neighbours that place a row which was not embedded
_TSNE_DIRECTIONS = 50
PROJECTIONS = ("auto", "pca", "tsne", "umap")


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
    projection : {"auto", "pca", "tsne", "umap"}, array of shape (n, 2) or Projection
        Two columns are shown as they are, and so is an array of coordinates. Otherwise "auto" is
        the first two principal components if they hold half of the variance; if not, UMAP where
        the package umap-learn is installed. The axes are fitted on a sample of large data, drawn
        with a fixed seed.
    feature_names : sequence of str, optional
    """
    names = names_of(X, feature_names) if hasattr(X, "shape") else None
    X = as_rows(X)
    names = names or names_of(X, feature_names)
    if isinstance(projection, Projection):
        return projection
    if not isinstance(projection, str):
        return _given(projection, X.shape[0])
    check_choice("projection", projection, PROJECTIONS)
    if X.shape[1] <= 2:
        return _as_it_is(X, names)
    if projection == "umap" and X.shape[0] > 2:  # a plane goes through any two rows
        return _umap(X)
    if projection == "tsne" and X.shape[0] > 4:
        return _tsne(X)
    linear, share = _pca(X)
    if projection in ("pca", "tsne") or share >= ENOUGH or not importlib.util.find_spec("umap"):
        return linear
    return _umap(X)


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


def _sample(n: int, limit: int) -> IntArray:
    """At most `limit` of n rows, rising, with a fixed seed."""
    if n <= limit:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, limit, replace=False))


def _pca(X: Any) -> tuple[Projection, float]:
    """Principal components, and the share of the variance they hold."""
    if sp.issparse(X) and X.shape[0] < 4:  # the sparse solver needs more rows than directions
        X = X.toarray()
    sample = X[_sample(X.shape[0], PCA_ROWS)]
    if not (sample.max(axis=0) != sample.min(axis=0)).sum():
        return Projection("nothing: all are equal", ("", ""), lambda r: np.zeros((len(r), 2))), 1.0
    solver = "arpack" if sp.issparse(X) else "auto"
    pca = PCA(2, svd_solver=solver, random_state=0).fit(sample)
    share = pca.explained_variance_ratio_
    axes = [f"component {a + 1} ({share[a]:.0%} of the variance)" for a in (0, 1)]
    plane = Projection(
        "principal components",
        (axes[0], axes[1]),
        lambda rows: np.asarray(pca.transform(X[rows]), dtype=np.float64),
    )
    return plane, float(share.sum())


def _umap(X: Any) -> Projection:
    """UMAP of a sample; other rows go between their nearest neighbours in it.

    UMAP's own `transform` starts from the same place and takes minutes to refine it.
    """
    try:
        from umap import UMAP
    except ImportError as error:
        raise MissingDependency(
            "projection='umap' needs the package umap-learn: pip install umap-learn, "
            "or use projection='pca'."
        ) from error

    def embed(sample: Any) -> Any:
        few = sample.shape[0] < 20  # too few rows for eigenvectors
        umap = UMAP(
            n_neighbors=min(15, sample.shape[0] - 1),
            init="random" if few else "spectral",
            random_state=0,
            n_jobs=1,
        )
        return umap.fit(sample).embedding_

    return _embedded(X, "UMAP", embed, UMAP_ROWS)


def _tsne(X: Any) -> Projection:
    """t-SNE of a sample, by its 50 leading directions; other rows as for UMAP."""
    from sklearn.decomposition import TruncatedSVD

    def embed(sample: Any) -> Any:
        if min(sample.shape) > _TSNE_DIRECTIONS:
            sample = TruncatedSVD(_TSNE_DIRECTIONS, random_state=0).fit_transform(sample)
        sample = sample.toarray() if sp.issparse(sample) else sample
        perplexity = min(30.0, (sample.shape[0] - 1) / 3)
        with one_blas_thread():
            tsne = TSNE(perplexity=perplexity, init="pca", random_state=0, n_jobs=1)
            return tsne.fit_transform(sample)

    return _embedded(X, "t-SNE", embed, TSNE_ROWS)


def _embedded(X: Any, method: str, embed: Callable[[Any], Any], most: int) -> Projection:
    """A sample is embedded; other rows go between their nearest neighbours in it."""
    chosen = _sample(X.shape[0], most)
    sample = X[chosen]
    plane = np.asarray(embed(sample), dtype=np.float64)
    near = NearestNeighbors(n_neighbors=min(_BETWEEN, chosen.size)).fit(sample)

    def coordinates(rows: IntArray) -> FloatArray:
        distance, neighbor = near.kneighbors(X[rows])
        exact = distance[:, :1] == 0  # a row of the sample, or one equal to it
        weight = np.where(exact, distance == 0, 1 / np.where(distance > 0, distance, 1))
        places = np.einsum("rk,rkc->rc", weight, plane[neighbor]) / weight.sum(axis=1)[:, None]
        known = np.searchsorted(chosen, rows)
        known[known == chosen.size] = 0
        own = chosen[known] == rows
        places[own] = plane[known[own]]
        return places

    return Projection(method, ("", ""), coordinates)


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
