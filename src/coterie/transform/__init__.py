"""Transformers that learn from constraints which directions matter."""

from coterie.transform.rca import RCA

__all__ = ["RCA"]
