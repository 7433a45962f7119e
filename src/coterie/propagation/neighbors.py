"""The graph of nearest neighbours, exact for moderate data and approximate beyond."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import VALID_METRICS, NearestNeighbors
from sklearn.utils import check_random_state

from coterie._typing import Array
from coterie.data import num_threads, one_thread, thread_pool
from coterie.exceptions import InvalidData, MissingDependency
from coterie.parameters import check_arguments
from coterie.validation import check_choice, check_plain_rows

__all__ = ["neighbor_graph"]

EXACT_BELOW = 50_000  # rows; the exact graph costs n² distances
_ROWS = 2048  # at most in a block, so that threads have work
_BLOCK = 1 << 23  # distances that a thread holds at once


def neighbor_graph(
    X: Any,
    n_neighbors: int = 10,
    *,
    metric: str = "euclidean",
    approximate: Any = "auto",
    random_state: Any = None,
) -> sparse.csr_array:
    """Symmetric graph that joins each row to its nearest neighbours.

    The weight of an edge is exp(-d(i, j)² / (r_i r_j)), with r_i the distance of row i to its
    last neighbour: near and far are measured by how dense the rows lie there, so the graph needs
    no scale. Rows are neighbours if either is among the nearest of the other.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
    n_neighbors : int, default 10
    metric : str, default "euclidean"
        Any metric of scikit-learn's NearestNeighbors; "cosine" for text and embeddings.
    approximate : "auto" or bool, default "auto"
        Approximate neighbours need the extra `coterie[neighbors]` (pynndescent); "auto" uses them
        from 50,000 rows on.
    random_state : int, RandomState or None
        For approximate neighbours.

    Returns
    -------
    scipy.sparse.csr_array of shape (n_samples, n_samples)

    Examples
    --------
    >>> from coterie.propagation import neighbor_graph
    >>> neighbor_graph([[0.0], [1.0], [5.0], [5.5]], n_neighbors=1).toarray().round(2)
    array([[0.  , 0.37, 0.  , 0.  ],
           [0.37, 0.  , 0.  , 0.  ],
           [0.  , 0.  , 0.  , 0.37],
           [0.  , 0.  , 0.37, 0.  ]])
    """
    check_arguments(neighbor_graph, locals())
    X = check_plain_rows(X)
    check_choice("metric", metric, sorted(VALID_METRICS["brute"]))
    n = X.shape[0]
    k = min(n_neighbors, n - 1)
    if k < 1:
        return sparse.csr_array((n, n))
    rough = n >= EXACT_BELOW if approximate == "auto" else approximate
    near, distance = _approximate(X, k, metric, random_state) if rough else _exact(X, k, metric)
    return _symmetric(near, _edge_weights(near, distance))


def _exact(X: Any, k: int, metric: str) -> tuple[Array, Array]:
    """Neighbours (n, k), without the row itself, and their distances, a block of rows at a time."""
    n = X.shape[0]
    # One more than asked: the row itself is among them, or crowded out by its duplicates.
    search = NearestNeighbors(n_neighbors=k + 1, metric=metric).fit(X)
    block = max(1, min(_BLOCK // n, _ROWS))

    def find(at: int) -> tuple[Array, Array]:
        with one_thread():
            return search.kneighbors(X[at : at + block])

    found = list(thread_pool(num_threads()).map(find, range(0, n, block)))
    distance, near = (np.concatenate([part[m] for part in found]) for m in range(2))
    return _without_self(near, distance)


def _approximate(X: Any, k: int, metric: str, random_state: Any) -> tuple[Array, Array]:
    try:
        from pynndescent import NNDescent
    except ImportError as error:
        raise MissingDependency(
            f"approximate neighbours of {X.shape[0]} rows need pynndescent: install "
            "coterie[neighbors], or ask for exact ones with approximate=False (slow)."
        ) from error
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    near, distance = NNDescent(
        X, n_neighbors=k + 1, metric=metric, random_state=seed
    ).neighbor_graph
    return _without_self(near, distance)


def _without_self(near: Array, distance: Array) -> tuple[Array, Array]:
    """Drop the row itself, or the last neighbour where the row is not in its own list."""
    n, width = near.shape
    far = np.flatnonzero(~np.isfinite(distance).all(axis=1))
    if far.size:
        raise InvalidData(
            f"row {far[0]}: its distances to other rows overflow, so that it has no neighbours. "
            "Rescale the columns (for example with sklearn.preprocessing.StandardScaler)."
        )
    own = near == np.arange(n)[:, None]
    own[~own.any(axis=1), -1] = True
    kept = ~own
    return near[kept].reshape(n, width - 1), distance[kept].reshape(n, width - 1)


def _edge_weights(near: Array, distance: Array) -> Array:
    """exp(-d² / (r_i r_j)) (n, k); 1 between equal rows."""
    reach = distance[:, -1].astype(np.float64)
    scale = reach[:, None] * reach[near]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(distance == 0, 0.0, distance.astype(np.float64) ** 2 / scale)
    # A row among duplicates has no reach of its own; a bounded ratio keeps its edges.
    return np.exp(-np.minimum(ratio, 30.0))


def _symmetric(near: Array, weights: Array) -> sparse.csr_array:
    n, k = near.shape
    indptr = np.arange(0, n * k + 1, k)
    graph = sparse.csr_array((weights.ravel(), near.ravel().astype(np.int64), indptr), (n, n))
    graph = graph.maximum(graph.T).tocsr()
    graph.sort_indices()
    return graph
