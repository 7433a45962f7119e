"""The K-Means family: one objective and one loop, of which each estimator is a setting."""

from coterie.cluster.kmeans.constrained_kmeans import ConstrainedKMeans
from coterie.cluster.kmeans.cop_kmeans import COPKMeans
from coterie.cluster.kmeans.hmrf_kmeans import HMRFKMeans
from coterie.cluster.kmeans.lcvqe import LCVQE
from coterie.cluster.kmeans.mpck_means import MPCKMeans
from coterie.cluster.kmeans.pckmeans import PCKMeans
from coterie.cluster.kmeans.seeded_kmeans import SeededKMeans
from coterie.cluster.kmeans.starts import neighborhoods

__all__ = [
    "LCVQE",
    "COPKMeans",
    "ConstrainedKMeans",
    "HMRFKMeans",
    "MPCKMeans",
    "PCKMeans",
    "SeededKMeans",
    "neighborhoods",
]
