"""Clusterers: the K-Means family, Mosaic, RDP-means and constrained complete linkage."""

from coterie.cluster.complete_link import ConstrainedCompleteLink
from coterie.cluster.kmeans import (
    LCVQE,
    ConstrainedKMeans,
    COPKMeans,
    HMRFKMeans,
    MPCKMeans,
    PCKMeans,
    SeededKMeans,
    neighborhoods,
)
from coterie.cluster.mosaic import Mosaic
from coterie.cluster.rdp import DPMeans, RDPMeans

__all__ = [
    "LCVQE",
    "COPKMeans",
    "ConstrainedCompleteLink",
    "ConstrainedKMeans",
    "DPMeans",
    "HMRFKMeans",
    "MPCKMeans",
    "Mosaic",
    "PCKMeans",
    "RDPMeans",
    "SeededKMeans",
    "neighborhoods",
]
