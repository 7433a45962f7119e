"""The small sets of the PCCC study: our estimators beside its published numbers."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from coterie import Constraints, COPKMeans, Mosaic, MPCKMeans, PCKMeans
from lab import Row

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "benchmarks"))  # whose protocol this is

from pccc import Cell, pairs_of, rows_of  # noqa: E402

Fit = Callable[[Any, Constraints, int, int], Any]
METHODS: dict[str, Fit] = {
    "Mosaic": lambda X, pairs, k, seed: Mosaic(k, random_state=seed).fit(X, constraints=pairs),
    "PCKMeans": lambda X, pairs, k, seed: PCKMeans(k, random_state=seed).fit(X, constraints=pairs),
    "MPCKMeans": lambda X, pairs, k, seed: MPCKMeans(k, random_state=seed).fit(
        X, constraints=pairs
    ),
    "COPKMeans": lambda X, pairs, k, seed: COPKMeans(k, random_state=seed).fit(
        X, constraints=pairs.as_hard()
    ),
    "KMeans": lambda X, pairs, k, seed: KMeans(k, n_init=10, random_state=seed).fit(X),
}


@cache
def published() -> dict[tuple[str, float, str], float]:
    """ARI in the study by set, fraction and method; under Mosaic the best of its methods."""
    table = pd.read_csv(HERE / "published.csv")
    return {(row.set, row.fraction, row.method): row.ari for row in table.itertuples()}


def cell(part: str, set: str, fraction: float, draw: int, seed: int) -> Iterator[Row]:
    """Every method with the same pairs: all kinds true, as many as among a fraction of the rows."""
    name = f"pccc/col1/{set}"
    X, target = rows_of(name, "pixels")
    pairs = pairs_of(Cell("small", name, fraction, 0, seed), target)
    for method, fit in METHODS.items():
        begin = time.process_time()
        labels = fit(X, pairs, int(target.max()) + 1, seed).labels_
        seconds = time.process_time() - begin
        ari = float(adjusted_rand_score(target, labels))
        found = {"method": method, "ari": ari, "seconds": seconds}
        found["over_best"] = ari - published()[set, fraction, "Mosaic"]
        if method != "Mosaic" and (set, fraction, method) in published():
            found["over_theirs"] = ari - published()[set, fraction, method]
        yield found
