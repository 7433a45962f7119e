"""Mosaic's time beside PCKMeans, and the memory it takes beyond the rows.

    python benchmarks/mosaic_speed.py            # every case, each in a process of its own
    python benchmarks/mosaic_speed.py 300 1000   # some

Blobs that overlap, true random pairs, everything as it is by default; the second fit of each
estimator in a process is timed, since the first may compile. Memory is the most that the process
held during the fit beyond what it held before.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
import warnings
from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """What is fitted, and what is asked of it."""

    n: int
    d: int
    k: int
    pairs: int
    bar: str


CASES = {
    "1e5": Case(100_000, 32, 20, 10_000, "at most 4 s"),
    "1e6": Case(1_000_000, 32, 20, 100_000, "at most 15 s and .6 GB"),
    "300": Case(20_000, 32, 300, 20_000, "at most 10 times PCKMeans, ARI no less"),
    "1000": Case(100_000, 32, 1_000, 100_000, "at most 10 times PCKMeans, ARI no less"),
}


def blobs(case: Case) -> tuple[Any, Any]:
    """Rows and their classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(case.k, size=case.n)
    X = rng.standard_normal((case.n, case.d), dtype=np.float32)
    X += 1.2 * rng.standard_normal((case.k, case.d), dtype=np.float32)[y]
    return X, y


def peak() -> float:
    """The most this process has held, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def run(name: str) -> None:
    """One case, here."""
    from sklearn.metrics import adjusted_rand_score

    from coterie import Mosaic, PCKMeans
    from coterie.constraints import sample_pairs

    warnings.simplefilter("ignore")
    case = CASES[name]
    small, labels = blobs(case._replace(n=2_000, k=5))
    X, y = blobs(case)
    known = sample_pairs(y, case.pairs, random_state=0)
    found = {}
    for kind in (Mosaic, PCKMeans):
        few = sample_pairs(labels, 500, random_state=0)
        kind(5, random_state=0).fit(small, constraints=few)
        before, begun = peak(), time.perf_counter()
        model = kind(case.k, random_state=0).fit(X, constraints=known)
        taken = time.perf_counter() - begun
        found[kind] = taken, peak() - before, adjusted_rand_score(y, model.labels_)
    ours, plain = found[Mosaic], found[PCKMeans]
    print(
        f"{case.n:,} x {case.d}, K = {case.k:,}, {case.pairs:,} pairs: {ours[0]:.1f} s, "
        f"{ours[0] / plain[0]:.2f} x PCKMeans, {ours[1]:.2f} GB beyond the rows, "
        f"ARI {ours[2]:.3f} (PCKMeans {plain[2]:.3f}); bar: {case.bar}",
        flush=True,
    )


def main() -> None:
    """Run the cases asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=list(CASES), help=", ".join(CASES))
    parser.add_argument("--here", action="store_true", help="in this process")
    options = parser.parse_args()
    for name in options.cases:
        if options.here:
            run(name)
        else:
            subprocess.run([sys.executable, __file__, "--here", name], check=True)


if __name__ == "__main__":
    main()
