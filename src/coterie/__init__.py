"""Coterie: clustering for people who know some things about which items belong together.

>>> from coterie import Constraints, PCKMeans
>>> import numpy as np
>>> X = np.array([[0.0], [0.2], [5.0], [5.3]])
>>> PCKMeans(2, random_state=0).fit(X, constraints=Constraints(4, must_link=[(0, 1)])).n_iter_ > 0
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

__all__ = [
    "LCVQE",
    "PPC",
    "RCA",
    "ActiveSession",
    "COPKMeans",
    "ConstrainedCompleteLink",
    "ConstrainedKMeans",
    "Constraints",
    "DPMeans",
    "Dossier",
    "GPKMeans",
    "GraphPropagation",
    "HMRFKMeans",
    "MPCKMeans",
    "Mosaic",
    "PCKMeans",
    "PairKFold",
    "PairTable",
    "RDPMeans",
    "SeededKMeans",
    "TVClust",
    "choose_n_clusters",
    "compare",
    "config",
    "diff",
    "engine",
    "load",
    "pair_score",
    "renumber",
    "save",
]

# Public names and where they live. Loaded when first asked for, so that `import coterie` is quick
# and nothing is compiled before it is needed. Type checkers and editors, which run nothing, read
# the imports below instead; tests/test_public_names.py holds the three lists together.
_HOMES = {
    "Constraints": "coterie.constraints",
    "PairTable": "coterie.constraints",
    "PCKMeans": "coterie.cluster",
    "SeededKMeans": "coterie.cluster",
    "ConstrainedKMeans": "coterie.cluster",
    "HMRFKMeans": "coterie.cluster",
    "MPCKMeans": "coterie.cluster",
    "COPKMeans": "coterie.cluster",
    "LCVQE": "coterie.cluster",
    "ConstrainedCompleteLink": "coterie.cluster",
    "RCA": "coterie.transform",
    "ActiveSession": "coterie.active",
    "GPKMeans": "coterie.propagation",
    "GraphPropagation": "coterie.propagation",
    "RDPMeans": "coterie.cluster",
    "DPMeans": "coterie.cluster",
    "Mosaic": "coterie.cluster",
    "PPC": "coterie.mixture",
    "TVClust": "coterie.mixture",
    "Dossier": "coterie.records",
    "choose_n_clusters": "coterie.comparison",
    "compare": "coterie.comparison",
    "config": "coterie.data",
    "engine": "coterie.data",
    "load": "coterie.persistence",
    "save": "coterie.persistence",
    "PairKFold": "coterie.model_selection",
    "pair_score": "coterie.model_selection",
    "diff": "coterie.stability",
    "renumber": "coterie.stability",
}

if TYPE_CHECKING:
    from coterie.active import ActiveSession
    from coterie.cluster import (
        LCVQE,
        ConstrainedCompleteLink,
        ConstrainedKMeans,
        COPKMeans,
        DPMeans,
        HMRFKMeans,
        Mosaic,
        MPCKMeans,
        PCKMeans,
        RDPMeans,
        SeededKMeans,
    )
    from coterie.comparison import choose_n_clusters, compare
    from coterie.constraints import Constraints, PairTable
    from coterie.data import config, engine
    from coterie.mixture import PPC, TVClust
    from coterie.model_selection import PairKFold, pair_score
    from coterie.persistence import load, save
    from coterie.propagation import GPKMeans, GraphPropagation
    from coterie.records import Dossier
    from coterie.stability import diff, renumber
    from coterie.transform import RCA
else:  # a module `__getattr__` that type checkers saw would make every misspelt name `Any`

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module 'coterie' has no attribute {name!r}")
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
