"""Clusterers of the K-Means family."""

from coterie.cluster.hmrf_kmeans import HMRFKMeans
from coterie.cluster.initialization import neighborhoods
from coterie.cluster.lcvqe import LCVQE
from coterie.cluster.mpck_means import MPCKMeans
from coterie.cluster.pckmeans import PCKMeans
from coterie.cluster.seeded_kmeans import ConstrainedKMeans, SeededKMeans

__all__ = [
    "LCVQE",
    "ConstrainedKMeans",
    "HMRFKMeans",
    "MPCKMeans",
    "PCKMeans",
    "SeededKMeans",
    "neighborhoods",
]
