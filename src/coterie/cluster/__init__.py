"""Clusterers of the K-Means family."""

from coterie.cluster.complete_link import ConstrainedCompleteLink
from coterie.cluster.cop_kmeans import COPKMeans
from coterie.cluster.dp_means import DPMeans
from coterie.cluster.hmrf_kmeans import HMRFKMeans
from coterie.cluster.initialization import neighborhoods
from coterie.cluster.lcvqe import LCVQE
from coterie.cluster.mosaic import Mosaic
from coterie.cluster.mpck_means import MPCKMeans
from coterie.cluster.pckmeans import PCKMeans
from coterie.cluster.rdp_means import RDPMeans
from coterie.cluster.seeded_kmeans import ConstrainedKMeans, SeededKMeans

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
