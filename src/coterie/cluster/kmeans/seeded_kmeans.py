"""SeededKMeans: K-Means from labelled rows (Basu, Banerjee and Mooney 2002)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from coterie._typing import Array
from coterie.base import broken_pairs
from coterie.cluster.kmeans.pckmeans import PCKMeans
from coterie.cluster.kmeans.starts import neighborhoods, with_single_rows
from coterie.constraints import Constraints
from coterie.exceptions import InvalidConstraints
from coterie.validation import check_n_clusters

__all__ = ["SeededKMeans"]

_STARTS = 10  # where k-means++ places some centres, as in scikit-learn


class SeededKMeans(PCKMeans):
    """K-Means whose centres start at the centroids of labelled rows, the seeds.

    Seeds place the start only: a seed may end in another cluster than its label says, which is
    right where labels may be wrong. `PCKMeans` with w = 0 is its pairwise form.

    Parameters
    ----------
    n_clusters : int, default=8
        May be more than the seeds have labels; the other centres start by k-means++.
    distortion : str or Distortion, default="sqeuclidean"
    n_init : "auto" or int, default="auto"
        Number of whole runs; the one with the lowest objective is kept. "auto" is 1 where the
        seeds place every centre, and 10 where k-means++ places some.
    max_iter, tol, random_state
        As in `PCKMeans`.
    metric : str or Distortion, optional
        Another name for `distortion`; give one of the two.

    Attributes
    ----------
    labels_, cluster_centers_, objective_, objective_history_, violations_, n_iter_, converged_
        As in `PCKMeans`. Cluster k starts from the seeds with the k-th smallest label.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import SeededKMeans
    >>> X = np.array([[0.0], [0.1], [9.0], [9.2]])
    >>> SeededKMeans(2).fit(X, seeds=[-1, 1, 0, -1]).labels_.tolist()
    [1, 1, 0, 0]
    """

    # What it fixes of PCKMeans.
    w: Any = 0.0
    inference = "icm"
    exact_assignment = False
    time_limit = 10.0
    init = "neighborhoods"
    warm_start = False
    _keeps_seeds = False

    _keeps_groups = False  # pairs only place its start

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        distortion: Any = "sqeuclidean",
        n_init: Any = "auto",
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Any = None,
        metric: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distortion = distortion
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.metric = metric

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        seeds: Any = None,
        constraints: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n_samples, n_features)
        y : ignored
        seeds : array-like of int of shape (n_samples,), optional
            Label of each seed, -1 for every other row.
        constraints : Constraints, optional
            Pairs in place of labels (or beside them): must-linked rows seed a cluster together.
            Of more than `n_clusters` such groups the largest are taken that cannot-links keep
            apart, as two of one cluster would be one seed too many.
        sample_weight : array-like of shape (n_samples,), optional
        """
        X, constraints, weights = self._check_fit_input(X, y, constraints, sample_weight)
        k = check_n_clusters(self.n_clusters, X.shape[0])
        self._check_common()
        classes = check_seeds(seeds, X.shape[0], k)
        known = constraints
        if classes.max(initial=-1) >= 0:
            known = constraints + Constraints.from_labels(classes)
        groups = classes
        if not (classes >= 0).any():
            groups = groups_apart(known, with_single_rows(known, neighborhoods(known, k), k), k)
        binding = known.as_hard() if self._keeps_seeds else Constraints(X.shape[0])
        self._solve(X, binding, weights, k, groups)
        self._report(known)
        if self._keeps_seeds:
            self._number_by_seeds(classes)
        return self

    def _n_starts(self, groups: Array | None) -> int:
        assert groups is not None
        if self.n_init == "auto" and groups.max(initial=-1) + 1 < self.n_clusters:
            return _STARTS
        return super()._n_starts(groups)

    def _report(self, known: Constraints) -> None:
        """Tell which of the user's pairs the result breaks (each costs nothing here)."""
        self.violations_ = broken_pairs(self.labels_, known, np.zeros(known.n_pairs))

    def _number_by_seeds(self, classes: Array) -> None:
        """Renumber clusters so that cluster k holds the seeds of the k-th label."""
        k = len(self.cluster_centers_)
        count = int(classes.max(initial=-1)) + 1
        holder = np.full(count, -1)
        holder[classes[classes >= 0]] = self.labels_[classes >= 0]
        order = np.concatenate([holder, np.setdiff1d(np.arange(k), holder)]).astype(np.int64)
        rank = np.empty(k, dtype=self.labels_.dtype)
        rank[order] = np.arange(k)
        self.labels_ = rank[self.labels_]
        self.cluster_centers_ = self.cluster_centers_[order]


def check_seeds(seeds: Any, n_samples: int, n_clusters: int) -> Array:
    """Seeds (n,) renumbered 0.. in the order of their labels, -1 where there is none."""
    if seeds is None:
        return np.full(n_samples, -1, dtype=np.int64)
    labels = np.asarray(seeds)
    if labels.shape != (n_samples,) or labels.dtype.kind not in "iu":
        raise InvalidConstraints(
            f"seeds must be integers of shape ({n_samples},), -1 where a row has no label; "
            f"got {labels.dtype} of shape {labels.shape}."
        )
    known = labels >= 0
    names, number = np.unique(labels[known], return_inverse=True)
    if len(names) > n_clusters:
        raise InvalidConstraints(
            f"the seeds have {len(names)} labels but n_clusters={n_clusters}; raise n_clusters."
        )
    classes = np.full(n_samples, -1, dtype=np.int64)
    classes[known] = number
    return classes


def groups_apart(constraints: Constraints, group: Array, most: int) -> Array:
    """At most so many groups (n,), numbered from the largest; -1 elsewhere.

    Where there are more, each is the largest that cannot-links keep apart from all before it.
    """
    sizes = np.bincount(group[group >= 0])
    order = np.argsort(-sizes, kind="stable")
    if len(sizes) > most:
        ends = group[constraints.cannot_link]
        ends = np.unique(ends[(ends >= 0).all(axis=1)], axis=0)
        ends = np.unique(np.concatenate([ends, ends[:, ::-1]]), axis=0)
        first = np.searchsorted(ends[:, 0], np.arange(len(sizes) + 1))
        met = np.zeros(len(sizes), dtype=np.int64)  # of how many chosen each is known to be apart
        chosen: list[int] = []
        for number in order.tolist():
            if len(chosen) < most and met[number] == len(chosen):
                chosen.append(number)
                met[ends[first[number] : first[number + 1], 1]] += 1
        order = np.array(chosen)
    rank = np.full(len(sizes) + 1, -1, dtype=np.int64)  # the last is that of no group
    rank[order] = np.arange(len(order))
    return rank[group]
