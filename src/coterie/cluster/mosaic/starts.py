"""Where Mosaic starts: clusters of prototypes, by position or by the evidence of the pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from coterie._typing import Array
from coterie.cluster.kmeans.starts import neighborhoods, with_single_rows
from coterie.cluster.mosaic.beliefs import MosaicState, form_beliefs, start_from
from coterie.cluster.mosaic.problem import MosaicProblem
from coterie.constraints import Constraints
from coterie.data import one_thread

__all__ = ["TOLD", "Joins", "StartKind", "knows_groups", "start_kinds", "start_labels", "try_start"]

TOLD = 0.0  # reach of a start from rows whose cluster the pairs tell by themselves


class StartKind(NamedTuple):
    """A kind of start.

    Attributes
    ----------
    seed : int
    reach : float
        How far around it a pair speaks; inf is by position alone, `TOLD` by groups of rows.
    labels : (n,) or None
        By position: the clusters to start from, if not those of K-Means.
    """

    seed: int
    reach: float
    labels: Array | None = None


def start_kinds(seeds: list[int], reaches: tuple[float, ...]) -> list[StartKind]:
    """Each kind once a seed."""
    return [StartKind(seed, reach) for seed in seeds for reach in (*reaches, np.inf)]


def start_labels(problem: MosaicProblem, kind: StartKind, n_clusters: int) -> NDArray[np.int64]:
    """Clusters (n,) of rows by their prototypes', joined by the pairs or by position."""
    if kind.labels is not None:
        return np.asarray(kind.labels)
    field = problem.ridge.field
    if kind.reach == TOLD:
        return _by_groups(problem, kind.seed, n_clusters)
    if np.isinf(kind.reach):
        points = field.landmarks.prototypes.astype(np.float64)
    else:
        points = Joins(problem, kind.reach).points(n_clusters)
    counts, starts = field.counts(problem.weights), problem.tuning.kmeans_starts
    return cluster_prototypes(points, counts, n_clusters, starts, kind.seed)[field.near]


def knows_groups(constraints: Constraints, n_clusters: int, seed: int) -> bool:
    """Whether the pairs alone part their rows into no more groups than there are clusters.

    So they do where every two rows of a batch were compared: that says as much as their labels.
    """
    _, group = _groups(constraints, n_clusters, seed)
    return 2 <= int(group.max(initial=-1)) + 1 <= n_clusters


def _groups(constraints: Constraints, n_clusters: int, seed: int) -> tuple[Array, Array]:
    """The rows (r,) in pairs, and the groups (r,) that these make of them, -1 for none."""
    rows = np.unique(constraints.pairs)
    inside = constraints.subset(rows)
    group = neighborhoods(inside, n_clusters, seed)
    return rows, with_single_rows(inside, group, n_clusters)


def _by_groups(problem: MosaicProblem, seed: int, n_clusters: int) -> NDArray[np.int64]:
    """Clusters (n,) by the field that is learned from the K largest groups alone, as labels."""
    field, ridge = problem.ridge.field, problem.ridge
    rows, group = _groups(problem.evidence.constraints, n_clusters, seed)
    sizes = np.bincount(group[group >= 0], minlength=1)
    largest = np.argsort(-sizes, kind="stable")[:n_clusters]
    number = np.full(sizes.size + 1, -1)  # the last for rows in no group
    number[largest] = np.arange(largest.size)
    told = number[group] >= 0
    rows, labels = rows[told], number[group[told]]
    own = field.features[rows].astype(np.float64)
    heavy = problem.weights[rows, None] * own
    inner = own.T @ heavy
    inner[np.diag_indices_from(inner)] += ridge.penalty
    weights = scipy.linalg.solve(inner, heavy.T @ np.eye(n_clusters)[labels], assume_a="pos")
    return np.asarray(field.values(weights).argmax(axis=1))


def try_start(problem: MosaicProblem, kind: StartKind, n_clusters: int, rounds: int) -> MosaicState:
    """What is believed some rounds after a start."""
    labels = start_labels(problem, kind, n_clusters)
    return form_beliefs(problem, start_from(problem, labels, n_clusters), rounds)


class Joins:
    """Directions of the field along which the pairs agree, strongest first.

    They solve Z' S Z v = mu (Z' W Z + lambda I) v with S the votes of the pairs and lambda the
    reach: among all fields of one size and smoothness, the ones whose values agree across
    must-links and disagree across cannot-links. S is summed between prototypes first, so the cost
    does not grow with the pairs.
    """

    def __init__(self, problem: MosaicProblem, reach: float) -> None:
        self.evidence, self.near = problem.evidence, problem.ridge.field.near
        self.votes = problem.evidence.votes()
        at_prototypes = problem.ridge.field.at_prototypes.T.astype(np.float64)
        # Features of the prototypes in which the right-hand side is the identity, (M, r).
        self.features = scipy.linalg.solve_triangular(
            problem.ridge.factor(reach), at_prototypes, lower=True
        ).T

    def leading(self, count: int, votes: Array) -> tuple[Array, Array]:
        """The `count` largest mu and prototypes' values (M, count) of their fields."""
        between = self.evidence.between(self.near, len(self.features), votes)
        matrix = self.features.T @ between @ self.features
        r = matrix.shape[0]
        count = min(count, r)
        mu, vectors = scipy.linalg.eigh((matrix + matrix.T) / 2, subset_by_index=[r - count, r - 1])
        return mu[::-1], (self.features @ vectors)[:, ::-1]

    def points(self, n_clusters: int) -> NDArray[np.float64]:
        """Prototypes (M, ·) along the leading directions, each as long as the pairs agree on it."""
        mu, values = self.leading(max(n_clusters - 1, 1), self.votes)
        return np.asarray(values * np.sqrt(np.maximum(mu, 0.0)))

    def n_clusters(self, shuffles: int, rng: np.random.Generator) -> int:
        """One more than the number of directions that stand out from chance.

        Chance is what the same pairs give when their kinds are shuffled (parallel analysis).
        """
        mu, _ = self.leading(self.near.size, self.votes)
        null = max(
            float(self.leading(1, rng.permutation(self.votes))[0][0]) for _ in range(shuffles)
        )
        return max(2, min(int(np.count_nonzero(mu > null)) + 1, self.near.size))


def cluster_prototypes(
    points: Array, counts: Array, n_clusters: int, n_init: int, seed: int
) -> NDArray[np.int64]:
    """K-Means labels (M,) of prototypes at `points` (M, ·), each as heavy as its rows, `counts`."""
    held = np.flatnonzero(counts > 0)
    if held.size <= n_clusters:
        return np.arange(len(points), dtype=np.int64) % n_clusters
    spread = np.sqrt(np.average((points[held] ** 2).sum(axis=1), weights=counts[held]))
    if not spread > 0:
        return np.arange(len(points), dtype=np.int64) % n_clusters  # no direction says anything
    with one_thread():  # the sum over threads would round by their number
        model = KMeans(n_clusters, n_init=n_init, random_state=seed)
        model.fit(points[held] / spread, sample_weight=counts[held])
        return model.predict(points / spread).astype(np.int64)
