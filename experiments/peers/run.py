"""The same rows and pairs through our estimators, other packages, and methods without pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from contestants import GROUP_OF, GROUPS
from shapes import make
from sklearn.metrics import adjusted_rand_score
from worker import Problem, Worker

from coterie.constraints import sample_pairs
from lab import Row

WORKER = Worker()  # started with the first fit of this process, ends with it


def cell(
    part: str,
    draw: int,
    seed: int,
    shape: str,
    size: int,
    per_100: int,
    noise: float,
    groups: list[str],
    limit: float,
) -> Iterator[Row]:
    """Every method of some groups on one draw of rows and pairs."""
    rows = make(shape, size, seed)
    count = per_100 * rows.y.size // 100
    key = [seed, size, per_100, round(100 * noise)]
    rng = np.random.default_rng(key)
    pairs = sample_pairs(rows.y, count, noise=noise, random_state=rng)
    problem = Problem(rows.X, pairs, rows.k, seed)
    for method in (name for group in groups for name in GROUPS[group]):
        labels, seconds, status = WORKER.fit(method, problem, limit)
        found: dict[str, Any] = {"group": GROUP_OF[method], "method": method, "status": status}
        if labels is not None:
            found["ari"] = float(adjusted_rand_score(rows.y, labels))
        yield {**found, "seconds": float(seconds), "rows": rows.y.size, "pairs": count}
