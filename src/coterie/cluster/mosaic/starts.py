"""Where Mosaic starts: clusters of prototypes, by position or by the evidence of the pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.field import Field, Ridge
from coterie.data import one_thread

Array = NDArray[Any]

_MOST_CLUSTERS = 100  # looked for when the number is not given
_NULL_DRAWS = 3


class Joins:
    """Directions of the field along which the pairs agree, strongest first.

    They solve Z' S Z v = mu (Z' W Z + lambda I) v with S the votes of the pairs: among all fields
    of one size and smoothness, the ones whose values agree across must-links and disagree across
    cannot-links. S is summed between prototypes first, so the cost does not grow with the pairs.
    """

    def __init__(self, ridge: Ridge, evidence: Evidence, penalty: float) -> None:
        self.field: Field = ridge.field
        self.evidence = evidence
        gram = ridge.gram.copy()
        gram[np.diag_indices_from(gram)] += penalty
        # Features of the prototypes in which the right-hand side is the identity, (M, r).
        self.features = scipy.linalg.solve_triangular(
            np.linalg.cholesky(gram), self.field.at_prototypes.T.astype(np.float64), lower=True
        ).T
        self.votes = evidence.votes()

    def leading(self, count: int, votes: Array | None = None) -> tuple[Array, Array]:
        """The `count` largest mu and prototypes' values (M, count) of their fields."""
        votes = self.votes if votes is None else votes
        between = self.evidence.between(self.field.near, len(self.features), votes)
        matrix = self.features.T @ between @ self.features
        r = matrix.shape[0]
        count = min(count, r)
        mu, vectors = scipy.linalg.eigh((matrix + matrix.T) / 2, subset_by_index=[r - count, r - 1])
        return mu[::-1], (self.features @ vectors)[:, ::-1]

    def n_clusters(self, rng: np.random.Generator, most: int) -> int:
        """One more than the number of directions that stand out from chance.

        Chance is what the same pairs give when their kinds are shuffled (parallel analysis).
        """
        most = min(most, _MOST_CLUSTERS)
        mu, _ = self.leading(most)
        null = max(
            float(self.leading(1, rng.permutation(self.votes))[0][0]) for _ in range(_NULL_DRAWS)
        )
        return int(np.clip(np.count_nonzero(mu > null) + 1, 2, most))

    def labels(self, n_clusters: int, counts: Array, seed: int) -> NDArray[np.int64]:
        """Cluster (M,) of each prototype: K-Means on the leading directions."""
        mu, values = self.leading(max(n_clusters - 1, 1))
        points = values * np.sqrt(np.maximum(mu, 0.0))
        return cluster_prototypes(points, counts, n_clusters, seed)


def cluster_prototypes(
    points: Array, counts: Array, n_clusters: int, seed: int
) -> NDArray[np.int64]:
    """K-Means labels (M,) of prototypes at `points` (M, ·), each as heavy as its rows, `counts`."""
    held = np.flatnonzero(counts > 0)
    if held.size <= n_clusters:
        return np.arange(len(points), dtype=np.int64) % n_clusters
    spread = np.sqrt(np.average((points[held] ** 2).sum(axis=1), weights=counts[held]))
    if not spread > 0:
        return np.arange(len(points), dtype=np.int64) % n_clusters  # no direction says anything
    with one_thread():  # the sum over threads would round by their number
        model = KMeans(n_clusters, n_init=5, random_state=seed)
        model.fit(points[held] / spread, sample_weight=counts[held])
        return model.predict(points / spread).astype(np.int64)
