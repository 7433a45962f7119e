"""The estimators by name: what `coterie fit --method` offers and `coterie warmup` warms.

Names only, nothing heavy: classes are loaded when they are asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from coterie.exceptions import InvalidParameter
from coterie.words import nearest

__all__ = ["ESTIMATORS", "estimator_class", "reads_stored_rows", "register_estimator"]

#: Name to class, or to "module:Class" of one that is loaded later. What an estimator takes is read
#: from its signature: the number of clusters, pairs, an estimator within.
ESTIMATORS: dict[str, str | type] = {
    "mosaic": "coterie.cluster:Mosaic",
    "pckmeans": "coterie.cluster:PCKMeans",
    "mpckmeans": "coterie.cluster:MPCKMeans",
    "hmrfkmeans": "coterie.cluster:HMRFKMeans",
    "copkmeans": "coterie.cluster:COPKMeans",
    "lcvqe": "coterie.cluster:LCVQE",
    "seededkmeans": "coterie.cluster:SeededKMeans",
    "constrainedkmeans": "coterie.cluster:ConstrainedKMeans",
    "completelink": "coterie.cluster:ConstrainedCompleteLink",
    "ppc": "coterie.mixture:PPC",
    "tvclust": "coterie.mixture:TVClust",
    "rdpmeans": "coterie.cluster:RDPMeans",
    "dpmeans": "coterie.cluster:DPMeans",
    "dossier": "coterie.records:Dossier",
    "gpkmeans": "coterie.propagation:GPKMeans",
    "graphpropagation": "coterie.propagation:GraphPropagation",
}


def register_estimator(name: str, estimator: type | str) -> None:
    """Offer an estimator by name on the command line of this process.

    A program of your own registers and then calls `coterie.cli.main.main()`.

    Parameters
    ----------
    name : str
        A new one, of small letters and digits.
    estimator : class or "module:Class"
        Made without arguments, `fit(X, *, constraints=None)`. The number of clusters is its
        parameter `n_clusters`, `n_components` or `n_clusters_hint`, if it has one of them; one
        annotated as `int | None` may be left out.
    """
    if name in ESTIMATORS:
        raise InvalidParameter(f"an estimator named {name!r} is registered already.")
    if not (name.isalnum() and name == name.lower()):
        raise InvalidParameter(f"the name {name!r} must be of small letters and digits.")
    ESTIMATORS[name] = estimator


def estimator_class(name: str) -> Any:
    """The class of this name.

    >>> from coterie.estimators import estimator_class
    >>> estimator_class("pckmeans").__name__
    'PCKMeans'
    """
    if name not in ESTIMATORS:
        raise InvalidParameter(
            f"there is no estimator {name!r}.{nearest(name, ESTIMATORS)} Choose from "
            f"{', '.join(ESTIMATORS)}."
        )
    found = ESTIMATORS[name]
    if isinstance(found, str):
        module, _, cls = found.partition(":")
        return getattr(import_module(module), cls)
    return found


def reads_stored_rows(estimator: Any) -> bool:
    """Whether an estimator, with the parameters it has, takes rows in files (`coterie.data`).

    >>> from coterie import PCKMeans
    >>> from coterie.estimators import reads_stored_rows
    >>> reads_stored_rows(PCKMeans(3))
    True
    """
    return bool(getattr(estimator, "_reads_stored_rows", False))
