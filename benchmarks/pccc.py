"""The bars of Mosaic: quality and time on the sets of the PCCC study and on seed 002's protocol.

Every row of the table is the same constructor call but for the number of clusters:
``Mosaic(n_clusters=k, random_state=seed)``. Pairs are given as plain soft pairs; their noise rate
is estimated. Columns are standardised, as the study did; MNIST is given as pixels / 255 (its
columns are pixels of one unit; ``--mnist standardised`` does as the study did).

Run:  python benchmarks/pccc.py [--only mnist letter ...] [--seeds 3] [--draws 10] [--out table.md]
"""

from __future__ import annotations

import argparse
import subprocess
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import pair_confusion_matrix
from sklearn.preprocessing import StandardScaler

from coterie import Constraints
from coterie.cluster import Mosaic
from coterie.datasets import available, load, pccc_constraints

FRACTIONS = (0.005, 0.01, 0.05)
LARGE = {  # set: ARI to reach, seconds to stay under, ARI published, each by fraction
    "banana": ((0.58, 0.65, 1.000), (2, 2, 2), (0.014, 0.015, 1.000)),
    "letter": ((0.25, 0.45, 0.95), (10, 10, 30), (0.153, 0.162, 0.730)),
    "shuttle": ((0.99, 0.99, 1.000), (5, 6, 30), (0.692, 0.965, 1.000)),
    "mnist": ((0.92, 0.94, 1.000), (20, 20, 60), (0.381, 0.683, 1.000)),
}
SMALL = {0.05: (0.50, 0.413), 0.10: (0.82, 0.771), 0.15: (0.94, 0.923), 0.20: (0.97, 0.953)}
NOISY = {1.0: (0.95, 0.94), 0.95: (0.93, 0.92), 0.9: (0.90, 0.87), 0.8: (0.82, 0.75)}
NOISY_SETS = {"iris": 3, "wine": 3, "ecoli": 8, "glass": 7, "balance_scale": 3}


def verdict(value: float, bar: float, seconds: float = 0.0, limit: float = np.inf) -> str:
    """pass, or which of the two bars is missed; ARI to the three digits of the table."""
    missed = [] if round(value, 3) >= bar else ["quality"]
    missed += [] if seconds <= limit else ["time"]
    return "pass" if not missed else "misses " + " and ".join(missed)


def large_rows(name: str, seeds: int, mnist: str):
    """One row per fraction: median ARI and seconds over seeds, one warm-up fit before."""
    bunch = load(name)
    if name == "mnist" and mnist == "pixels":
        X = bunch.data.astype(np.float32) / 255.0
    else:
        X = StandardScaler().fit_transform(bunch.data.astype(np.float32))
    k = int(bunch.target.max()) + 1
    bars, limits, published = LARGE[name]
    for fraction, bar, limit, best in zip(FRACTIONS, bars, limits, published, strict=True):
        pairs = pccc_constraints(name, fraction, bunch.target)
        scores, times, work, broken = [], [], [], []
        for seed in range(seeds):
            start, used = time.perf_counter(), time.process_time()
            model = Mosaic(k, random_state=seed).fit(X, constraints=pairs)
            times.append(time.perf_counter() - start)
            work.append(time.process_time() - used)
            scores.append(adjusted_rand_score(bunch.target, model.labels_))
            broken.append(len(model.violations_))
        value, seconds = float(np.median(scores)), float(np.median(times))
        yield (
            f"{name} {fraction:g}",
            f"{value:.4f}",
            f"{bar:.3f}",
            f"{best:.3f}",
            f"{seconds:.1f} ({np.median(work):.1f})",
            f"{limit}",
            f"{int(np.median(broken))} of {pairs.n_pairs}",
            verdict(value, bar, seconds, limit),
        )


def random_pairs(target: np.ndarray, count: int, rng: np.random.Generator) -> Constraints:
    """`count` distinct pairs of distinct rows, each of its true kind."""
    n = target.size
    code = rng.choice(n * (n - 1) // 2, size=count, replace=False)
    j = np.floor((1.0 + np.sqrt(1.0 + 8.0 * code)) / 2.0).astype(np.int64)
    i = code - j * (j - 1) // 2
    same = target[i] == target[j]
    pairs = np.column_stack([i, j])
    return Constraints(n, must_link=pairs[same], cannot_link=pairs[~same])


def small_rows(draws: int):
    """One row per fraction: mean ARI over the 23 sets of pccc/col1."""
    names = [name for name in available() if name.startswith("pccc/col1/")]
    for fraction, (bar, best) in SMALL.items():
        scores = []
        start = time.perf_counter()
        for name in names:
            bunch = load(name)
            X = StandardScaler().fit_transform(bunch.data)
            size = int(np.ceil(fraction * len(X)))
            k = int(bunch.target.max()) + 1
            for draw in range(draws):
                rng = np.random.default_rng(draw)
                pairs = random_pairs(bunch.target, size * (size - 1) // 2, rng)
                labels = Mosaic(k, random_state=draw).fit(X, constraints=pairs).labels_
                scores.append(adjusted_rand_score(bunch.target, labels))
        value = float(np.mean(scores))
        spent = (time.perf_counter() - start) / len(scores)
        yield (
            f"{len(names)} sets of col1, {fraction:g} (mean of {draws} draws)",
            f"{value:.4f}",
            f"{bar:.3f}",
            f"{best:.3f}",
            f"{spent:.2f}",
            "-",
            "-",
            verdict(value, bar),
        )


def pairwise_f(target: np.ndarray, labels: np.ndarray) -> float:
    """F of the pairs of rows put together."""
    (_, false), (missed, true) = pair_confusion_matrix(target, labels)
    return float(2 * true / (2 * true + false + missed))


def noisy_rows(draws: int):
    """One row per p: mean F over the sets, r and trials of BENCHMARKS 1a."""
    for p, (bar, best) in NOISY.items():
        scores = []
        start = time.perf_counter()
        for name, k in NOISY_SETS.items():
            bunch = load(name)
            X = StandardScaler().fit_transform(bunch.data)
            n = len(X)
            for r in (0.01, 0.03, 0.05):
                for draw in range(draws):
                    rng = np.random.default_rng(draw)
                    count = round(r * n * n)
                    i = rng.integers(0, n, count)
                    j = (i + rng.integers(1, n, count)) % n
                    said = (bunch.target[i] == bunch.target[j]) ^ (rng.random(count) >= p)
                    pairs = np.column_stack([i, j])
                    known = Constraints(n, must_link=pairs[said], cannot_link=pairs[~said])
                    labels = Mosaic(k, random_state=draw).fit(X, constraints=known).labels_
                    scores.append(pairwise_f(bunch.target, labels))
        value = float(np.mean(scores))
        spent = (time.perf_counter() - start) / len(scores)
        yield (
            f"seed 002 protocol, p={p:g} (mean F, {draws} trials)",
            f"{value:.4f}",
            f"{bar:.3f}",
            f"{best:.3f}",
            f"{spent:.2f}",
            "-",
            "-",
            verdict(value, bar),
        )


HEADER = (
    "set, fraction",
    "value",
    "bar",
    "published",
    "seconds (CPU)",
    "limit",
    "broken",
    "verdict",
)


def main() -> None:
    """Print the table; write it too with --out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[*LARGE, "small", "noisy"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--mnist", choices=("pixels", "standardised"), default="pixels")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    tiny = np.random.default_rng(0).normal(size=(60, 3))
    Mosaic(2, random_state=0).fit(tiny, constraints=Constraints(60, [(0, 1)], [(2, 3)]))  # warm
    rows = []
    print(" | ".join(HEADER), flush=True)
    for what in options.only:
        if what == "small":
            found = small_rows(options.draws)
        elif what == "noisy":
            found = noisy_rows(options.trials)
        else:
            found = large_rows(what, options.seeds, options.mnist)
        for row in found:
            rows.append(row)
            print(" | ".join(row), flush=True)
    if options.out:
        commit = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
        ).stdout.strip()
        lines = [
            f"Commit {commit}, {options.seeds} seeds (0..), MNIST as {options.mnist}.",
            "",
            "| " + " | ".join(HEADER) + " |",
            "|" + "---|" * len(HEADER),
            *("| " + " | ".join(row) + " |" for row in rows),
        ]
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
