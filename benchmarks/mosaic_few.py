"""Mosaic with few pairs or none, beside K-Means and PCKMeans, on sets it was not built on.

2-D shapes of shapes2d, four sets of scikit-learn and three draws of Gaussian blobs; columns
standardised, the true number of clusters given. Mean ARI over draws of random pairs.

Run:  python benchmarks/mosaic_few.py [--draws 3] [--out benchmarks/results/mosaic_few.md]
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from pccc import random_pairs
from sklearn import datasets
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from coterie.cluster import Mosaic, PCKMeans

DATA = Path(os.environ.get("COTERIE_DATA", Path(__file__).parents[2] / "shared" / "data"))
SHAPES = (
    "aggregation",
    "D31",
    "R15",
    "compound",
    "2d-10c",
    "2d-20c-no0",
    "elliptical_10_2",
    "3-spiral",
    "pathbased",
    "jain",
    "cluto-t4-8k",
    "complex9",
    "diamond9",
    "sizes1",
    "twodiamonds",
    "2d-4c-no4",
    "flame",
    "s-set1",
    "fourty",
    "engytime",
)
BLOBS = ((5, 2, 1.0), (10, 10, 3.0), (30, 5, 1.0))  # clusters, columns, spread
COUNTS = (0, 10, 50, 200)
CLEAR = 0.02  # of ARI: less is not called a loss


def shape(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and groups of one of the 2-D sets: the last column is the group."""
    with gzip.open(DATA / "shapes2d" / f"{name}.csv.gz", "rt") as file:
        lines = list(csv.reader(file))
    if not lines[0][0].replace(".", "").replace("-", "").replace("e", "").isdigit():
        lines = lines[1:]
    rows = np.array([line[:-1] for line in lines], dtype=float)
    return rows, np.unique([line[-1] for line in lines], return_inverse=True)[1]


def sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, rows and groups of every set."""
    for name in SHAPES:
        yield name, *shape(name)
    for name in ("iris", "wine", "digits", "breast_cancer"):
        yield name, *getattr(datasets, f"load_{name}")(return_X_y=True)
    for k, d, spread in BLOBS:
        options = {"n_features": d, "centers": k, "cluster_std": spread, "random_state": k}
        yield f"{k} blobs in {d}", *datasets.make_blobs(1000, **options)


def row(name: str, X: np.ndarray, y: np.ndarray, draws: int) -> tuple[str, np.ndarray]:
    """A line of the table, and its numbers (counts, 3): Mosaic, K-Means, PCKMeans."""
    X, k = StandardScaler().fit_transform(X), int(y.max()) + 1
    score = adjusted_rand_score
    plain = np.mean(
        [score(y, KMeans(k, n_init=10, random_state=s).fit_predict(X)) for s in range(draws)]
    )
    numbers = []
    for count in COUNTS:
        ours, theirs = [], []
        for draw in range(draws):
            known = random_pairs(y, count, np.random.default_rng(draw))
            ours.append(score(y, Mosaic(k, random_state=draw).fit_predict(X, constraints=known)))
            peer = PCKMeans(k, random_state=draw).fit_predict(X, constraints=known)
            theirs.append(score(y, peer))
        numbers.append((np.mean(ours), plain, np.mean(theirs)))
    found = np.array(numbers)
    shown = [
        f"**{m:.3f}** ({p:.3f})" if m < plain - CLEAR else f"{m:.3f} ({p:.3f})" for m, _, p in found
    ]
    return f"| {name} | {len(X)} | {k} | {plain:.3f} | " + " | ".join(shown) + " |", found


def main() -> None:
    """Print the table; write it too with --out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", category=UserWarning)  # K-Means and PCKMeans at max_iter
    heads = [f"{count} pairs" for count in COUNTS]
    lines = [
        f"Mean ARI of Mosaic (PCKMeans), {options.draws} draws; bold: more than {CLEAR} below "
        "K-Means with 10 starts.\n",
        "| set | n | K | K-Means | " + " | ".join(heads) + " |",
        "|" + "---|" * (4 + len(heads)),
    ]
    print("\n".join(lines), flush=True)
    found = []
    for name, X, y in sets():
        line, numbers = row(name, X, y, options.draws)
        lines.append(line)
        found.append(numbers)
        print(line, flush=True)
    mean = np.mean(found, axis=0)
    cells = [f"{m:.3f} ({p:.3f})" for m, _, p in mean]
    lines.append(f"| mean | | | {mean[0, 1]:.3f} | " + " | ".join(cells) + " |")
    print(lines[-1])
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
