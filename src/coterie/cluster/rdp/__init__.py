"""DP-means and RDP-means: K-Means in which a row that is far from every centre founds a cluster."""

from coterie.cluster.rdp.dp_means import DPMeans
from coterie.cluster.rdp.rdp_means import RDPMeans

__all__ = ["DPMeans", "RDPMeans"]
