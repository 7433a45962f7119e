"""Clusterings of the rows that no answer has a part in, from coarse to fine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

from coterie.active.information.opinions import squared_distances
from coterie.data import one_thread

__all__ = ["Partitions"]

Float = NDArray[np.float64]

_COUNTS = (2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 28, 36, 50, 70, 100)
_ROWS_EACH = 5  # at least so many rows for a cluster
_STARTS = 2
_JUDGED = 500  # rows of which the silhouette is taken
_STRUCTURE = 0.25  # a silhouette below it shows no structure (Kaufman and Rousseeuw 1990)


class Partitions:
    """K-Means with several numbers of clusters, on the points of the anchors.

    Parameters
    ----------
    points : (P, q)
    share : (P,)
        How many rows each stands for.
    seed : int

    Attributes
    ----------
    merit : (L,) float64
        Silhouette of each, over the largest (over 1/4 if that is less): what speaks for it before
        anybody has answered.
    """

    def __init__(self, points: Float, share: Float, seed: int) -> None:
        scale = float(np.abs(points).max(initial=0.0)) or 1.0
        n_distinct = len(
            np.unique(np.round(points / scale, 9), axis=0)
        )  # copies differ by rounding
        counts = [k for k in _COUNTS if k <= len(points) // _ROWS_EACH and k < n_distinct]
        with one_thread():
            fits = [
                KMeans(k, n_init=_STARTS, random_state=seed).fit(points, sample_weight=share)
                for k in counts
            ]
        self._centers = [fit.cluster_centers_ for fit in fits]
        silhouettes = np.array([_silhouette(points, fit.labels_, seed) for fit in fits])
        self.merit: Float = np.maximum(silhouettes, 0) / max(silhouettes.max(initial=0), _STRUCTURE)

    @property
    def sizes(self) -> list[int]:
        """How many clusters each has."""
        return [len(centers) for centers in self._centers]

    def clusters_of(self, which: int, points: Float) -> NDArray[np.int64]:
        """The clusters of points in one of them: of the nearest centres, (b,)."""
        return squared_distances(points, self._centers[which]).argmin(axis=1)


def _silhouette(points: Float, labels: NDArray[np.int64], seed: int) -> float:
    size = min(_JUDGED, len(points))
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(points), size, replace=False)
    if not 1 < len(np.unique(labels[rows])) < size:
        return 0.0
    return float(silhouette_score(points[rows], labels[rows]))
