"""Mosaic: many prototypes per cluster, joined by pairs as far as these can be trusted."""

from coterie.cluster.mosaic.mosaic import Mosaic

__all__ = ["Mosaic"]
