"""TVClust: a Dirichlet-process mixture of rows and pairs that are two views of one partition."""

from coterie.mixture.tvclust.tvclust import TVClust

__all__ = ["TVClust"]
