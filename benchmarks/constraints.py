"""Closure and core of 5,000,000 random pairs over 1,000,000 rows, beside scipy and one sort.

Run: python benchmarks/constraints.py [number of pairs]
The bar: at most 3 × (connected_components + one sort of the pairs), at most 1 GB extra memory,
and time linear in the number of pairs. Construction is shown for information.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from coterie.constraints import Constraints


def best_time(call: Callable[[], object], repeats: int = 3) -> float:
    """The shortest of a few runs, in seconds."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)


def extra_megabytes(call: Callable[[], object]) -> float:
    """How far resident memory rises above its level before the call (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    before = _resident("VmRSS")
    call()
    return (_resident("VmHWM") - before) / 1024


def _resident(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


def random_constraints(n: int, m: int, hard_fraction: float, seed: int = 0) -> Constraints:
    """Random soft pairs, half of each kind; the first must-links are hard."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(n, size=(m + m // 100, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]][:m]
    half = m // 2
    weight = np.where(np.arange(half) < hard_fraction * half, np.inf, 1.0)
    return Constraints(n, pairs[:half], pairs[half:], must_weight=weight)


def scipy_baseline(c: Constraints) -> tuple[float, float]:
    """Seconds for connected_components on the whole pair graph, and for one sort of the pairs."""
    ones = np.ones(c.n_pairs, dtype=np.int8)
    graph = coo_array((ones, tuple(c.pairs.T)), shape=(c.n_samples,) * 2).tocsr()
    shuffled = np.random.default_rng(1).permutation(c.pairs)
    key = shuffled[:, 0] * c.n_samples + shuffled[:, 1]
    components = best_time(lambda: connected_components(graph, directed=False))
    return components, best_time(lambda: np.sort(key))


def report(n: int, m: int, hard_fraction: float) -> float:
    """Print one line; return the ratio."""
    began = time.perf_counter()
    c = random_constraints(n, m, hard_fraction)
    built = time.perf_counter() - began
    closure = best_time(lambda: c.closure(hard_only=False).cannot)
    core = best_time(c.core)
    extra = extra_megabytes(lambda: (c.closure(hard_only=False).cannot, c.core()))
    components, one_sort = scipy_baseline(c)
    ratio = (closure + core) / (components + one_sort)
    print(
        f"{m:>9,} pairs, {hard_fraction:4.0%} of must-links hard: closure {closure:.2f} s + core "
        f"{core:.2f} s; scipy {components:.2f} s + sort {one_sort:.2f} s; ratio {ratio:.2f} "
        f"(bar 3); extra peak {extra:.0f} MB (bar 1000); built in {built:.2f} s"
    )
    return ratio


def main() -> None:
    """Warm up, then small to large: linear means equal time a pair."""
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000
    small = random_constraints(100, 200, 0.0)
    _ = small.closure(hard_only=False).cannot, small.core()
    for m in (largest // 25, largest // 5, largest):
        report(max(m // 5, 10), m, 0.0)
    report(largest // 5, largest, 0.02)


if __name__ == "__main__":
    main()
