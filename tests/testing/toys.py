"""A small honest clusterer, and copies of it that each break one promise."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from coterie.base import ConstrainedClusterer, broken_pairs
from coterie.constraints import Constraints


class Toy(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ConstrainedClusterer):
    """Pairwise-constrained K-Means in plain Python: slow, short, and keeps every promise."""

    def __init__(self, n_clusters=2, n_init=6, random_state=None, init=None):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X, y=None, *, constraints=None):
        X, pairs, _ = self._check_fit_input(X, y, constraints)
        X = X.astype(np.float64)
        pairs = self._read(pairs)
        middle = X.mean(axis=0)
        X = X - self._origin(middle)
        scale = max(X.var(axis=0).sum(), 1e-300)
        cost = pairs.cost(w=scale)
        start = None
        if pairs.is_hard.any():
            start = pairs.check_feasible(self.n_clusters, hard_only=True)
        runs = [self._run(X, pairs, cost, start, seed) for seed in self._seeds()]
        labels, centers, history = min(runs, key=lambda run: run[2][-1])
        self._publish(labels, centers + self._origin(middle), history, pairs, cost)
        return self

    def _seeds(self):
        return np.random.RandomState(self.random_state).randint(0, 2**31, self.n_init)

    def _read(self, pairs):
        return pairs

    def _origin(self, middle):
        return middle

    def _publish(self, labels, centers, history, pairs, cost):
        self.labels_ = labels
        self.cluster_centers_ = centers
        self.objective_history_ = history
        self.objective_ = history[-1]
        self.violations_ = broken_pairs(labels, pairs, cost)
        self._n_features_out = len(centers)

    def _run(self, X, pairs, cost, start, seed):
        rng = np.random.default_rng(seed)
        centers = _plus_plus(X, self.n_clusters, rng)
        labels = _squares(X, centers).argmin(axis=1)
        if start is not None:
            labels = np.asarray(start).copy()
        if start is not None or seed % 2:
            # From random or feasible labels, pairs alone lead the first sweep.
            labels = labels if start is not None else rng.integers(0, self.n_clusters, len(X))
            labels = _sweep(np.zeros((len(X), self.n_clusters)), labels, pairs, cost, rng)
            centers = _means(X, labels, centers)
        history = []
        while True:
            distances = _squares(X, centers)
            new = _sweep(distances, labels, pairs, cost, rng)
            broken = (new[pairs.pairs[:, 0]] == new[pairs.pairs[:, 1]]) != (pairs.kind > 0)
            history.append(float(distances[np.arange(len(X)), new].sum() + cost[broken].sum()))
            if len(history) > 1 and (new == labels).all():
                return new, centers, history
            labels, centers = new, _means(X, new, centers)

    def predict(self, X):
        check_is_fitted(self)
        return _squares(self._check_new_rows(X), self.cluster_centers_).argmin(axis=1)

    def transform(self, X):
        check_is_fitted(self)
        return np.sqrt(_squares(self._check_new_rows(X), self.cluster_centers_))


def _squares(X, centers):
    return ((X[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)


def _plus_plus(X, k, rng):
    chosen = [int(rng.integers(len(X)))]
    while len(chosen) < k:
        nearest = _squares(X, X[chosen]).min(axis=1)
        p = nearest / nearest.sum() if nearest.sum() > 0 else np.full(len(X), 1 / len(X))
        chosen.append(int(rng.choice(len(X), p=p)))
    return X[chosen].astype(np.float64)


def _means(X, labels, centers):
    return np.array(
        [X[labels == k].mean(axis=0) if (labels == k).any() else c for k, c in enumerate(centers)]
    )


def _sweep(distances, labels, pairs, cost, rng):
    """Move hard must-link groups, one at a time, to their cheapest cluster until none moves."""
    n, k = distances.shape
    labels = labels.copy()
    tie = pairs.is_hard & (pairs.kind > 0)
    graph = sparse.coo_matrix(
        (np.ones(tie.sum()), (pairs.pairs[tie, 0], pairs.pairs[tie, 1])), shape=(n, n)
    )
    group = connected_components(graph, directed=False)[1]
    ends = group[pairs.pairs]
    outside = (ends[:, 0] != ends[:, 1]) & (pairs.weight > 0)
    groups = [
        (np.flatnonzero(group == g), np.flatnonzero(outside & (ends == g).any(axis=1)))
        for g in range(group.max() + 1)
    ]
    moved = True
    while moved:
        moved = False
        for g in rng.permutation(len(groups)):
            members, touching = groups[g]
            price = distances[members].sum(axis=0)
            for p in touching:
                i, j = pairs.pairs[p]
                differs = np.arange(k) != labels[j if group[i] == g else i]
                price = price + np.where(differs == (pairs.kind[p] > 0), cost[p], 0.0)
            best = int(price.argmin())
            if price[best] < price[labels[members[0]]] - 1e-12 * abs(price).min():
                labels[members], moved = best, True
    return labels


class TakesNoPairs(Toy):
    """K-Means: `fit` has no parameter for pairs."""

    def fit(self, X, y=None):
        return super().fit(X, y)


class ForgetsOnFailure(TakesNoPairs):
    """Drops its labels before it looks at the rows."""

    def fit(self, X, y=None):
        vars(self).pop("labels_", None)
        return super().fit(X, y)


class IgnoresConstraints(Toy):
    def _read(self, pairs):
        return Constraints(pairs.n_samples)


class IgnoresWeights(Toy):
    def _read(self, pairs):
        must, cannot = pairs.must_link, pairs.cannot_link
        return Constraints(pairs.n_samples, must, cannot, must_weight=5.0, cannot_weight=5.0)


class BreaksHardPairs(Toy):
    def _read(self, pairs):
        return pairs.as_soft(0.01)


class DependsOnPairOrder(Toy):
    """Clusters the data, then obeys the pairs one after the other, first row over second."""

    def fit(self, X, y=None, *, constraints=None):
        super().fit(X, y)
        pairs = Constraints(len(self.labels_)) if constraints is None else constraints
        for (i, j), kind in zip(pairs.pairs, pairs.kind, strict=True):
            if kind > 0:
                self.labels_[j] = self.labels_[i]
            elif self.labels_[j] == self.labels_[i]:
                self.labels_[j] = (self.labels_[i] + 1) % self.n_clusters
        self.violations_ = broken_pairs(self.labels_, pairs, pairs.cost())
        return self


class MutatesParameters(Toy):
    def fit(self, X, y=None, *, constraints=None):
        super().fit(X, y, constraints=constraints)
        self.n_init += 1
        return self


class MutatesRows(Toy):
    def fit(self, X, y=None, *, constraints=None):
        X -= X.mean(axis=0)
        return super().fit(X, y, constraints=constraints)


class UsesY(Toy):
    def fit(self, X, y=None, *, constraints=None):
        super().fit(X, y, constraints=constraints)
        if y is not None:
            self.labels_ = np.asarray(y).copy()
        return self


class NanObjective(Toy):
    def _publish(self, labels, centers, history, pairs, cost):
        super()._publish(labels, centers, [*history[:-1], float("nan")], pairs, cost)


class RisingObjective(Toy):
    def _publish(self, labels, centers, history, pairs, cost):
        super()._publish(labels, centers, [history[-1] - 1.0, *history], pairs, cost)


class Unseeded(Toy):
    def _seeds(self):
        return np.random.default_rng().integers(0, 2**31, 1)


class HidesViolations(Toy):
    def _publish(self, labels, centers, history, pairs, cost):
        super()._publish(labels, centers, history, pairs, cost)
        self.violations_ = broken_pairs(labels, Constraints(len(labels)), cost[:0])


class AcceptsOtherRows(Toy):
    def fit(self, X, y=None, *, constraints=None):
        if constraints is not None and constraints.n_samples != len(X):
            constraints = Constraints(len(X))
        return super().fit(X, y, constraints=constraints)


class LosesConstraintsInY(Toy):
    def fit(self, X, y=None, *, constraints=None):
        return super().fit(X, constraints=constraints)


class RemembersEarlierFits(Toy):
    def _publish(self, labels, centers, history, pairs, cost):
        if hasattr(self, "labels_"):
            self.refitted_ = True
        super()._publish(labels, centers, history, pairs, cost)


class FarFromTheOrigin(Toy):
    """Expands the square without centring first."""

    def _origin(self, middle):
        return np.zeros_like(middle)

    def _run(self, X, pairs, cost, start, seed):
        _, centers, history = super()._run(X, pairs, cost, start, seed)
        expanded = (X**2).sum(1)[:, None] - 2 * X @ centers.T + (centers**2).sum(1)
        return expanded.argmin(axis=1), centers, history


class PredictsFromPrivateState(Toy):
    def _publish(self, labels, centers, history, pairs, cost):
        super()._publish(labels, centers, history, pairs, cost)
        self._private_centers = self.cluster_centers_

    def predict(self, X):
        return _squares(self._check_new_rows(X), self._private_centers).argmin(axis=1)


class Weighted(Toy):
    """Plain K-Means from given centres, for row weights."""

    def fit(self, X, y=None, *, constraints=None, sample_weight=None):
        X, pairs, _ = self._check_fit_input(X, y, constraints)
        weights = np.ones(len(X)) if sample_weight is None else self._weights(sample_weight)
        centers = np.asarray(self.init, dtype=float)
        for _ in range(50):
            labels = _squares(X, centers).argmin(axis=1)
            rows = np.eye(len(centers))[labels] * weights[:, None]
            mass = rows.sum(axis=0)[:, None]
            centers = np.where(mass > 0, rows.T @ X / np.maximum(mass, 1e-300), centers)
        self._publish(labels, centers, [0.0], pairs, pairs.cost())
        return self

    def _weights(self, sample_weight):
        return np.asarray(sample_weight)


class IgnoresRowWeights(Weighted):
    def _weights(self, sample_weight):
        return np.ones(len(sample_weight))
