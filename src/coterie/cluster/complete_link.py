"""Constrained complete-link clustering (Klein et al. 2002; Eaton 2005, 2.5.3)."""

from __future__ import annotations

import logging
import os
import time
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, issparse, vstack
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted

from coterie._typing import Array
from coterie.base import broken_pairs
from coterie.cluster import _complete_link_kernels as kernels
from coterie.constraints import Constraints, Core
from coterie.constraints.coloring import color_graph
from coterie.data import one_thread
from coterie.exceptions import InvalidData
from coterie.extension import ExtensibleClusterer, Placed, Places
from coterie.validation import check_choice, check_n_clusters
from coterie.words import warn

__all__ = ["ConstrainedCompleteLink"]

logger = logging.getLogger(__name__)
_METRICS = ("euclidean", "manhattan", "chebyshev", "cosine")
_CHUNK = 256


class ConstrainedCompleteLink(ExtensibleClusterer):
    """Complete-link clustering of a space that the pairs have bent.

    Must-linked rows are put at distance 0, and every other distance becomes the shortest way there
    is now: rows near one end of a must-link come near the rows around the other end. Cannot-linked
    rows are put infinitely far apart, so that complete linkage, which looks at the largest distance
    between two clusters, never joins them. Every pair is kept, whatever its weight.

    Needs the distances of all rows at once, 4 n^2 bytes: 400 MB for 10,000 rows.

    Parameters
    ----------
    n_clusters : int, default=8
    metric : {"euclidean", "manhattan", "chebyshev", "cosine"}, default="euclidean"
    time_limit : float, default=10.0
        Seconds for deciding whether the cannot-links can be kept with `n_clusters` clusters, where
        that is in doubt.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters are numbered by their first row.
    merges_ : ndarray of shape (n_merges, 2)
        The dendrogram: a row of either cluster, one merge a line, lowest first. Rows that
        must-links join are not listed.
    heights_ : ndarray of shape (n_merges,)
        Largest (bent) distance within each merged cluster, rising.
    violations_ : PairTable
        Empty.
    rows_ : ndarray or CSR matrix of shape (n_samples, n_features)
        The rows, for `predict`.

    Notes
    -----
    Merging greedily may end with more than `n_clusters` clusters none of which may be joined,
    though another way of merging would have gone on. Merges after which the rest cannot be
    brought to `n_clusters` clusters are then undone and avoided, so that what can be clustered is.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import ConstrainedCompleteLink, Constraints
    >>> X = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> known = Constraints(4, must_link=[(0, 3)], cannot_link=[(0, 1)])
    >>> ConstrainedCompleteLink(2).fit_predict(X, constraints=known).tolist()
    [0, 1, 0, 0]
    """

    _instead = (
        "It compares every two rows; COPKMeans keeps every pair too, and reads rows in files."
    )
    _keeps_groups = True

    def __init__(
        self, n_clusters: int = 8, *, metric: str = "euclidean", time_limit: float = 10.0
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.time_limit = time_limit

    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n_samples, n_features)
        y : ignored
        constraints : Constraints, optional
        """
        X, given, _ = self._check_fit_input(X, y, constraints)
        k = check_n_clusters(self.n_clusters, X.shape[0])
        check_choice("metric", self.metric, _METRICS)
        # Written out: all distances between rows are held anyway.
        given = given.expanded(max_pairs=given.exclusive.n_pairs)
        hard = given.as_hard()
        nodes = Nodes(hard)
        if nodes.count < k:
            warn(
                f"must-links leave {nodes.count} groups of rows, fewer than n_clusters={k}.",
            )
        merges, heights = self._merges(X, nodes, hard, k)
        labels = components_after(merges, nodes.count)[nodes.of_row]
        first = np.unique(labels, return_index=True)[1]
        rank = np.empty(first.size, dtype=np.int64)
        rank[np.argsort(first)] = np.arange(first.size)
        self.labels_ = rank[labels]
        self.merges_ = nodes.first_row[merges]
        self.heights_ = heights
        self.violations_ = broken_pairs(self.labels_, given, given.cost())
        self.rows_ = X
        return self

    def _merges(self, X: Any, nodes: Nodes, hard: Constraints, k: int) -> tuple[Array, Array]:
        """The merges that lead to k clusters, and their heights."""
        wanted = max(nodes.count - k, 0)
        merges, heights = dendrogram(bent_distances(X, nodes, self.metric))
        if len(merges) >= wanted:
            return merges[:wanted], heights[:wanted]
        hard.check_feasible(k, hard_only=True, time_limit=self.time_limit)  # says what clashes
        deadline = time.monotonic() + self.time_limit
        good = last_good(nodes.cannot, merges, nodes.count, k, deadline)
        logger.info("%d of %d merges led to a dead end", len(merges) - good, len(merges))
        rest, above = careful_merges(
            bent_distances(X, nodes, self.metric),
            nodes.cannot,
            components_after(merges[:good], nodes.count),
            k,
            deadline,
        )
        return np.concatenate([merges[:good], rest]), np.concatenate([heights[:good], above])

    def predict(self, X: Any) -> Array:
        """The cluster of the nearest of the fitted rows, (n,).

        The bent distance to the nearest row is the plain one: ways through a must-link are longer.
        """
        check_is_fitted(self)
        X = self._check_new_rows(X)
        fitted, new = _near_origin(self.rows_, X) if self.metric != "cosine" else (self.rows_, X)
        with one_thread():
            return self.labels_[pairwise_distances_argmin(new, fitted, metric=self.metric)]

    def _places(self, X: Any) -> Places:
        """The distance to the nearest fitted row of each cluster; every pair is kept."""
        fitted, new = _near_origin(self.rows_, X) if self.metric != "cosine" else (self.rows_, X)
        gaps = pairwise_distances(new, fitted, metric=self.metric)
        count = int(self.labels_.max()) + 1
        costs = np.column_stack([gaps[:, self.labels_ == k].min(axis=1) for k in range(count)])

        def found(rows: Array) -> Array:
            return np.asarray(pairwise_distances(new, new[rows], metric=self.metric).min(axis=1))

        return Places(costs, 1.0, np.inf, found)

    def _pairs_of_new_rows(self, pairs: Constraints) -> Constraints:
        return pairs.as_hard()

    def _admit(self, X: Any, placed: Placed) -> None:
        stack = vstack if issparse(X) or issparse(self.rows_) else np.concatenate
        self.rows_ = stack([self.rows_, X])

    def _by_cluster(self) -> tuple[str, ...]:
        return ()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Nodes:
    """Rows joined by must-links as one node, and the cannot-links between nodes."""

    def __init__(self, hard: Constraints) -> None:
        core: Core = hard.core()
        n = hard.n_samples
        first = np.arange(n)
        first[core.rows] = core.rows[np.unique(core.node, return_index=True)[1]][core.node]
        self.first_row, self.of_row = np.unique(first, return_inverse=True)
        self.count = self.first_row.size
        self.sizes = np.bincount(self.of_row, minlength=self.count)
        node = np.zeros(core.n_nodes, dtype=np.int64)
        node[core.node] = self.of_row[core.rows]
        self.cannot = node[core.edges]  # (E, 2)


def bent_distances(X: Any, nodes: Nodes, metric: str) -> Array:
    """Distances (s, s) between nodes: shortest ways through must-links, inf for cannot-links.

    A shortest way passes through nodes of two or more rows only: between two plain rows the
    straight line is shorter than any detour over a third.
    """
    D = _node_distances(X, nodes, metric)
    joined = np.flatnonzero(nodes.sizes > 1)
    if joined.size:
        between = np.ascontiguousarray(D[np.ix_(joined, joined)])
        kernels.all_shortest(between)
        to_all = np.empty((joined.size, nodes.count), dtype=D.dtype)
        kernels.min_plus(between, np.ascontiguousarray(D[joined]), to_all)
        fill = np.arange(-joined.size % 4) % joined.size
        kernels.shorten(np.concatenate([to_all, to_all[fill]]), D)
    a, b = nodes.cannot.T
    D[a, b] = D[b, a] = np.inf
    return D


def _node_distances(X: Any, nodes: Nodes, metric: str) -> Array:
    """Least distance (s, s), float32, between the rows of two nodes."""
    D = _allocate(nodes.count)
    order = np.argsort(nodes.of_row, kind="stable")
    starts = np.cumsum(nodes.sizes) - nodes.sizes
    rows = X[order] if metric == "cosine" else _near_origin(X, X)[0][order]
    ends = np.append(starts, X.shape[0])
    first = 0
    while first < nodes.count:  # whole nodes at a time, about _CHUNK rows
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + _CHUNK, side="right")) - 1)
        part = pairwise_distances(rows[ends[first] : ends[last]], rows, metric=metric)
        part = np.minimum.reduceat(part, starts, axis=1)
        D[first:last] = np.minimum.reduceat(part, starts[first:last] - ends[first], axis=0)
        first = last
    np.fill_diagonal(D, 0.0)
    return D


def _near_origin(X: Any, Y: Any) -> tuple[Any, Any]:
    """Both shifted by the mean of X, so that distances keep their digits; sparse rows as is."""
    if issparse(X) or issparse(Y):
        return X, Y
    mean = X.mean(axis=0)
    return X - mean, Y - mean


def _allocate(s: int) -> NDArray[np.float32]:
    """An (s, s) matrix, or an error that says how much memory it takes."""
    needed = 4 * s * s
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not every system tells
        free = needed
    try:
        if needed <= free:
            return np.empty((s, s), dtype=np.float32)
    except MemoryError:
        pass
    raise InvalidData(
        f"the distances of {s:,} rows need {needed / 1e9:.1f} GB of memory, more than is free. "
        "Use COPKMeans or PCKMeans, which need none of them, or fewer rows."
    )


def dendrogram(distances: Array) -> tuple[Array, Array]:
    """All merges (m, 2) of node numbers and heights (m,), lowest first; destroys `distances`."""
    most = max(len(distances) - 1, 0)
    left, right = np.empty((2, most), dtype=np.int64)
    height = np.empty(most, dtype=distances.dtype)
    count = kernels.complete_linkage(distances, left, right, height)
    order = np.argsort(height[:count], kind="stable")  # equal heights: children stay first
    return np.column_stack([left[order], right[order]]), height[order].astype(np.float64)


def components_after(merges: Array, s: int) -> Array:
    """Cluster (s,) of each node after some merges, numbered from 0."""
    ones = np.ones(len(merges), dtype=np.int8)
    graph = coo_array((ones, (merges[:, 0], merges[:, 1])), shape=(s, s))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def coloring(cannot: Array, cluster: Array, k: int, deadline: float) -> Array | None:
    """Colours 0..k-1 of the clusters so that none is apart from itself; None if there are none."""
    count = int(cluster.max()) + 1
    a, b = cluster[cannot].T
    ones = np.ones(2 * a.size, dtype=np.int8)
    ends = (np.concatenate([a, b]), np.concatenate([b, a]))
    graph = coo_array((ones, ends), shape=(count, count)).tocsr()
    found = color_graph(graph.indptr.astype(np.int64), graph.indices.astype(np.int64), k, deadline)
    return found.labels


def last_good(cannot: Array, merges: Array, s: int, k: int, deadline: float) -> int:
    """How many of the merges, in order, leave a way to k clusters (fewer merges leave more)."""
    good, bad = 0, len(merges) + 1
    while bad - good > 1:
        middle = (good + bad) // 2
        if coloring(cannot, components_after(merges[:middle], s), k, deadline) is None:
            bad = middle
        else:
            good = middle
    return good


def careful_merges(
    distances: Array, cannot: Array, cluster: Array, k: int, deadline: float
) -> tuple[Array, Array]:
    """Merge `cluster` (s,) on to k by complete linkage, passing over merges that lead nowhere.

    Two clusters that the colouring at hand colours alike may be merged; for others another
    colouring is searched for, and where there is none the two are apart from now on.
    """
    names = np.unique(cluster, return_index=True)[1]  # a node of each cluster
    D = _largest_between(distances, cluster)
    np.fill_diagonal(D, np.inf)
    colors = coloring(cannot, cluster, k, deadline)
    assert colors is not None, "the merges so far leave a way"
    merges: list[tuple[int, int]] = []
    heights: list[float] = []
    while len(D) - len(merges) > k:
        a, b = sorted(divmod(int(D.argmin()), len(D)))
        joined = components_after(np.array([*merges, (a, b)]), len(D))
        if colors[a] != colors[b]:
            now = coloring(cannot, joined[cluster], k, deadline)
            if now is None:
                D[a, b] = D[b, a] = np.inf
                continue
            colors = now[joined]
        merges.append((a, b))
        heights.append(float(D[a, b]))
        D[a] = D[:, a] = np.maximum(D[a], D[b])
        D[b] = D[:, b] = D[a, a] = np.inf
    return names[np.array(merges).reshape(-1, 2)], np.array(heights)


def _largest_between(distances: Array, cluster: Array) -> Array:
    """Largest distance (c, c) between the nodes of two clusters."""
    order = np.argsort(cluster, kind="stable")
    sizes = np.bincount(cluster)
    starts = np.cumsum(sizes) - sizes
    out = np.empty((len(sizes), len(sizes)))
    for number, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        largest = distances[order[start : start + size]].max(axis=0)
        out[number] = np.maximum.reduceat(largest[order], starts)
    return out
