"""Known pairs carried over to their neighbourhoods: by Gaussians, or along a graph."""

from coterie.propagation.diagnose import Diagnosis, diagnose
from coterie.propagation.gaussian import propagate_gaussian
from coterie.propagation.gpk_means import GPKMeans
from coterie.propagation.graph import propagate_graph
from coterie.propagation.graph_propagation import GraphPropagation
from coterie.propagation.neighbors import neighbor_graph

__all__ = [
    "Diagnosis",
    "GPKMeans",
    "GraphPropagation",
    "diagnose",
    "neighbor_graph",
    "propagate_gaussian",
    "propagate_graph",
]
