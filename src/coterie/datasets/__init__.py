"""Data sets of the papers and benchmarks, each a scikit-learn Bunch, by one name each.

`load(name)` and `available()`. Some come with scikit-learn, some are generated, the others are
files of a folder (`data_home`); a file that is not there gives `MissingData`.
"""

from __future__ import annotations

from coterie.datasets._files import data_home
from coterie.datasets._pccc import pccc_constraints
from coterie.datasets._registry import available, load

__all__ = ["available", "data_home", "load", "pccc_constraints"]
