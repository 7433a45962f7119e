"""Several estimators on the same rows and pairs, fitted with several seeds, as one table."""

from __future__ import annotations

from coterie.comparison.contest import compare
from coterie.comparison.outcome import Compared, Comparison

__all__ = ["Compared", "Comparison", "compare"]
