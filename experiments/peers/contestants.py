"""Everyone who takes part: a function from rows, pairs, number of clusters and seed to labels.

Every method has its defaults and is told the number of clusters; nobody is told how many of the
answers are wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.utils
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

import coterie
from coterie import Constraints

Labels = NDArray[Any]
Fit = Callable[[Any, Constraints, int, int], Labels]


def _ours(name: str, **settings: Any) -> Fit:
    def fit(X: Any, pairs: Constraints, k: int, seed: int) -> Labels:
        model = getattr(coterie, name)(k, random_state=seed, **settings)
        return model.fit(X, constraints=pairs).labels_

    return fit


def _complete_link(X: Any, pairs: Constraints, k: int, seed: int) -> Labels:
    model = coterie.ConstrainedCompleteLink(k)
    return model.fit(X, constraints=pairs).labels_


def _tvclust(X: Any, pairs: Constraints, k: int, seed: int) -> Labels:
    """Finds the number of clusters itself."""
    return coterie.TVClust(random_state=seed).fit(X, constraints=pairs).labels_


def _rdp_means(X: Any, pairs: Constraints, k: int, seed: int) -> Labels:
    model = coterie.RDPMeans(n_clusters_hint=k, random_state=seed)
    return model.fit(X, constraints=pairs).labels_


def _around(wrapper: str, inner: str) -> Fit:
    def fit(X: Any, pairs: Constraints, k: int, seed: int) -> Labels:
        estimator = getattr(coterie, inner)(k, random_state=seed)
        return getattr(coterie, wrapper)(estimator).fit(X, constraints=pairs).labels_

    return fit


def _kmeans(X: Any, k: int, seed: int) -> Labels:
    return KMeans(k, random_state=seed).fit_predict(X)


def _rca(X: Any, pairs: Constraints, k: int, seed: int) -> Labels:
    return _kmeans(coterie.RCA().fit_transform(X, constraints=pairs), k, seed)


def _mixture(X: Any, pairs: Constraints, k: int, seed: int) -> Labels:
    return GaussianMixture(k, random_state=seed).fit_predict(X)


def _semi_supervised(name: str) -> Fit:
    """A class of active-semi-supervised-clustering; it draws from numpy's global state."""

    def fit(X: Any, pairs: Constraints, k: int, seed: int) -> Labels:
        from active_semi_clustering.semi_supervised import pairwise_constraints

        np.random.seed(seed)  # noqa: NPY002
        model = getattr(pairwise_constraints, name)(n_clusters=k)
        with np.errstate(all="raise"):  # as it sets NumPy for its whole process
            model.fit(X, ml=pairs.must_link.tolist(), cl=pairs.cannot_link.tolist())
        return np.asarray(model.labels_)

    return fit


def _metric_learn_package() -> Any:
    """metric-learn; its last release calls scikit-learn by a keyword renamed in 1.6, so translate.

    Without this every learner of it fails with a TypeError, which would say nothing about them.
    """
    import metric_learn

    util = metric_learn._util
    for name in ("check_array", "check_X_y"):
        check = getattr(sklearn.utils, name)

        def translated(*args: Any, _check: Any = check, **options: Any) -> Any:
            if "force_all_finite" in options:
                options["ensure_all_finite"] = options.pop("force_all_finite")
            return _check(*args, **options)

        setattr(util, name, translated)
    return metric_learn


def _metric_learn_rca(X: Any, pairs: Constraints, k: int, seed: int) -> Labels:
    package = _metric_learn_package()
    group = pairs.only("must").closure(hard_only=False).component
    together = np.bincount(group)[group] > 1
    chunks = np.full(group.size, -1)
    chunks[together] = np.unique(group[together], return_inverse=True)[1]
    return _kmeans(package.RCA().fit(X, chunks).transform(X), k, seed)


def _metric_learn(name: str) -> Fit:
    """A learner of metric-learn that takes pairs, then K-Means in its space."""

    def fit(X: Any, pairs: Constraints, k: int, seed: int) -> Labels:
        learner = getattr(_metric_learn_package(), name)(preprocessor=X, random_state=seed)
        return _kmeans(learner.fit(pairs.pairs, pairs.kind.astype(int)).transform(X), k, seed)

    return fit


OURS: dict[str, Fit] = {
    "Mosaic": _ours("Mosaic"),
    "PCKMeans": _ours("PCKMeans"),
    "MPCKMeans": _ours("MPCKMeans"),
    "HMRFKMeans": _ours("HMRFKMeans"),
    "COPKMeans": _ours("COPKMeans"),
    "LCVQE": _ours("LCVQE"),
    "PPC": _ours("PPC"),
    "TVClust": _tvclust,
    "RDPMeans": _rdp_means,
    "GPKMeans": _around("GPKMeans", "MPCKMeans"),
    "GraphPropagation": _around("GraphPropagation", "PCKMeans"),
    "ConstrainedCompleteLink": _complete_link,
    "RCA + KMeans": _rca,
}
FLOORS: dict[str, Fit] = {
    "sklearn KMeans": lambda X, pairs, k, seed: _kmeans(X, k, seed),
    "sklearn GaussianMixture": _mixture,
}
PEERS: dict[str, Fit] = {
    "active-semi PCKMeans": _semi_supervised("PCKMeans"),
    "active-semi MPCKMeans": _semi_supervised("MPCKMeans"),
    "active-semi COPKMeans": _semi_supervised("COPKMeans"),
    "metric-learn RCA + KMeans": _metric_learn_rca,
    "metric-learn ITML + KMeans": _metric_learn("ITML"),
    "metric-learn MMC + KMeans": _metric_learn("MMC"),
}
GROUPS = {"ours": OURS, "floor": FLOORS, "peer": PEERS}
EVERYONE = OURS | FLOORS | PEERS
GROUP_OF = {name: group for group, members in GROUPS.items() for name in members}
