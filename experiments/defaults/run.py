"""Every estimator with its defaults on one set, with 0, n/10 and n true pairs."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "peers"))

from contestants import OURS, Fit
from sets import table
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import coterie
from coterie import Constraints
from coterie.constraints import sample_pairs
from coterie.exceptions import CoterieError, CoterieWarning
from lab import Row


def _dp_means(X: Any, pairs: Constraints, k: int, seed: int) -> Any:
    return coterie.DPMeans(n_clusters_hint=k, random_state=seed).fit(X).labels_


def _seeded(name: str) -> Fit:
    """K-Means from the groups that must-links join."""

    def fit(X: Any, pairs: Constraints, k: int, seed: int) -> Any:
        return getattr(coterie, name)(k, random_state=seed).fit(X, constraints=pairs).labels_

    return fit


def _kmeans(X: Any, pairs: Constraints, k: int, seed: int) -> Any:
    return KMeans(k, n_init=10, random_state=seed).fit_predict(X)


def _rca(X: Any, pairs: Constraints, k: int, seed: int) -> Any:
    """From as many starts as the K-Means beside it."""
    return _kmeans(coterie.RCA().fit_transform(X, constraints=pairs), pairs, k, seed)


FLOOR = "KMeans"
METHODS: dict[str, Fit] = {
    **OURS,
    "RCA + KMeans": _rca,
    "SeededKMeans": _seeded("SeededKMeans"),
    "ConstrainedKMeans": _seeded("ConstrainedKMeans"),
    "DPMeans": _dp_means,
    FLOOR: _kmeans,
}
NEEDS_PAIRS = {"RCA + KMeans"}  # without any it is K-Means


def cell(part: str, set: str, draw: int, seed: int, shares: list[float]) -> Iterator[Row]:
    """All methods on the same rows and pairs, for each number of pairs a row."""
    X, y, k = table(set, draw)
    for share in shares:
        count = round(share * y.size)
        pairs = sample_pairs(y, count, random_state=np.random.default_rng([seed, count]))
        for method in METHODS:
            run = FLOOR if not count and method in NEEDS_PAIRS else method
            begin = time.process_time()
            labels, status = fitted(METHODS[run], X, pairs, k, seed)
            seconds = time.process_time() - begin
            ari = float(adjusted_rand_score(y, labels)) if labels is not None else 0.0
            found = {"status": status, "ari": ari, "seconds": seconds}
            yield {"method": method, "share": share, **found}


def fitted(fit: Fit, X: Any, pairs: Constraints, k: int, seed: int) -> tuple[Any, str]:
    """Labels; or none and what the refusal is called. What is only warned of is let pass."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoterieWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            return fit(X, pairs, k, seed), "finished"
        except CoterieError as error:
            return None, f"refused: {type(error).__name__}"
