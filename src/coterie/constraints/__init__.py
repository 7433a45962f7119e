"""What the user knows: must-link and cannot-link pairs, and the questions they answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coterie.constraints.constraints import Constraints
from coterie.constraints.exclusive import ExclusiveGroups
from coterie.constraints.folds import PairRows
from coterie.constraints.grid import estimate_flip_rate, grid_neighbors
from coterie.constraints.pair_table import Pair, PairTable
from coterie.constraints.sampling import LearningCurveSplit, learning_curve_pairs, sample_pairs

if TYPE_CHECKING:
    from coterie.constraints.closure import Closure, Link, Relation
    from coterie.constraints.conflicts import Conflicts
    from coterie.constraints.core import Core

__all__ = [
    "Closure",
    "Conflicts",
    "Constraints",
    "Core",
    "ExclusiveGroups",
    "LearningCurveSplit",
    "Link",
    "Pair",
    "PairRows",
    "PairTable",
    "Relation",
    "estimate_flip_rate",
    "grid_neighbors",
    "learning_curve_pairs",
    "sample_pairs",
]

# These modules bring in numba, which takes longer to import than everything else together.
_LAZY = {
    "Closure": "closure",
    "Link": "closure",
    "Relation": "closure",
    "Conflicts": "conflicts",
    "Core": "core",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
