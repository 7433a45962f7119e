"""What the user knows: must-link and cannot-link pairs, and the questions they answer."""

from __future__ import annotations

from coterie.constraints.constraints import Constraints
from coterie.constraints.pair_table import Pair, PairTable

__all__ = ["Constraints", "Pair", "PairTable"]
