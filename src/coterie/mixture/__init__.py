"""Mixture models that take pairs: PPC and TVClust."""

from __future__ import annotations

from coterie.mixture.ppc import PPC
from coterie.mixture.tvclust import TVClust

__all__ = ["PPC", "TVClust"]
