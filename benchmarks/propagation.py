"""Propagation: time against a NumPy version of the definition, and against the size of the output.

Run with ``python benchmarks/propagation.py``. The definition compares every source with every pair
of rows; it is timed on a slice of both and extrapolated, as 500 sources on 20,000 rows are 2·10¹¹
weights. Ratios are of runs in the same process.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

from coterie import Constraints
from coterie.constraints import sample_pairs
from coterie.propagation import neighbor_graph, propagate_gaussian, propagate_graph

N, D, K, SOURCES, SEED = 20_000, 5, 10, 500, 0


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and result of one call."""
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def definition(X: Any, ends: Any, widths: Any, threshold: float, block: int) -> int:
    """Weights of both orientations for the first `block` rows i against all j; kept pairs."""
    kept = 0
    for (a, b), (wa, wb) in zip(ends, widths, strict=True):
        qa = ((X - X[a]) ** 2).sum(axis=1) / wa
        qb = ((X - X[b]) ** 2).sum(axis=1) / wb
        one = np.exp(-0.5 * (qa[:block, None] + qb))
        two = np.exp(-0.5 * (qb[:block, None] + qa))
        kept += int((np.maximum(one, two) >= threshold).sum())
    return kept


def problem() -> tuple[Any, Any, Any, Constraints]:
    """Overlapping blobs, their labels and centres, and true pairs."""
    X, y = make_blobs(N, D, centers=K, cluster_std=2.0, random_state=SEED)
    centers = np.array([X[y == h].mean(axis=0) for h in range(K)])
    return X, y, centers, sample_pairs(y, SOURCES, random_state=SEED)


def main() -> None:
    """Print the numbers."""
    X, y, centers, pairs = problem()
    print(f"n={N} d={D} K={K} sources={SOURCES} seed={SEED}")
    propagate_gaussian(X[:50], y[:50], centers, None, pairs.subset(np.arange(50)), 0.9)  # compile
    print("\nGaussian: threshold, propagated pairs, seconds, microseconds a pair")
    runs = []
    for threshold in (0.7, 0.6, 0.5, 0.45, 0.4):
        seconds, found = timed(
            lambda g=threshold: propagate_gaussian(X, y, centers, None, pairs, g)
        )
        new = found.n_pairs - pairs.n_pairs
        print(f"  {threshold:4.2f} {new:10d} {seconds:8.2f} {1e6 * seconds / new:8.2f}")
        runs.append((abs(new - 1e6), seconds, new, threshold))
    _, seconds, new, threshold = min(runs)
    rows, sources = 200, 4
    widths = np.ones((sources, 2))
    slice_seconds, _ = timed(lambda: definition(X, pairs.pairs[:sources], widths, threshold, rows))
    whole = slice_seconds * (N / 2 / rows) * (SOURCES / sources)  # pairs i < j: half of all
    print(
        f"\ndefinition, extrapolated from {sources} sources and {rows} rows: {whole:.0f} s; "
        f"at threshold {threshold} ({new} pairs) {whole / seconds:.0f} times as long"
    )
    graph_seconds, graph = timed(lambda: neighbor_graph(X, 10))
    spread_seconds, found = timed(lambda: propagate_graph(graph, pairs, 0.1))
    print(
        f"\ngraph: neighbours {graph_seconds:.2f} s, propagation {spread_seconds:.2f} s, "
        f"{found.n_pairs - pairs.n_pairs} pairs"
    )


if __name__ == "__main__":
    main()
