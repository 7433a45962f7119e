"""Seed 002, Tables 1-3 and Figure 3. Writes results.csv, figure3.csv and RESULTS.md beside it.

Run with ``python experiments/tvclust/run.py [--trials 5]``.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from protocol import DATASETS, NOISE, RATES, TRIALS, draw_pairs, load_set
from report import write_report
from rich.progress import Progress
from sklearn.cluster import KMeans

from coterie.cluster import DPMeans, RDPMeans
from coterie.constraints import Constraints
from coterie.metrics import evaluate
from coterie.mixture import TVClust

HERE = Path(__file__).parent
SCORES = ("f", "ari", "nmi")
Fit = Callable[[Any, Constraints, int, int], NDArray[Any]]


def _kmeans(X: Any, pairs: Constraints, k: int, seed: int) -> NDArray[Any]:
    return KMeans(k, n_init=1, random_state=seed).fit_predict(X)


def _dp_means(X: Any, pairs: Constraints, k: int, seed: int) -> NDArray[Any]:
    return DPMeans("paper", k, divergence="euclidean", random_state=seed).fit(X).labels_


def _rdp_means(X: Any, pairs: Constraints, k: int, seed: int) -> NDArray[Any]:
    model = RDPMeans("paper", k, divergence="euclidean", random_state=seed)
    return model.fit(X, constraints=pairs).labels_


def _tvclust(X: Any, pairs: Constraints, k: int, seed: int) -> NDArray[Any]:
    return TVClust(truncation=15, random_state=seed).fit(X, constraints=pairs).labels_


METHODS: dict[str, Fit] = {
    "K-means": _kmeans,
    "DP-means": _dp_means,
    "TVClust": _tvclust,
    "RDP-means": _rdp_means,
}
#: Methods told a number of clusters: the ones Figure 3 perturbs.
TOLD = ("K-means", "DP-means", "RDP-means")


def _row(method: str, name: str, k: int, rate: float, p: float, trial: int) -> dict[str, Any]:
    X, y = load_set(name)
    labels = METHODS[method](X, draw_pairs(y, rate, p, trial), k, trial)
    found = evaluate(y, labels)
    row: dict[str, Any] = {"method": method, "dataset": name, "k": k, "r": rate, "p": p}
    row |= {"trial": trial, "n_clusters": len(np.unique(labels))}
    return row | {score: round(found[score], 4) for score in SCORES}


def _tables(trials: int) -> list[tuple[Any, ...]]:
    return [
        (method, name, k, rate, p, trial)
        for method in METHODS
        for name, k in DATASETS.items()
        for rate in RATES
        for p in NOISE
        for trial in range(trials)
    ]


def _figure3(trials: int) -> list[tuple[Any, ...]]:
    """p = 1, r = .03, and k - deviation clusters announced."""
    return [
        (method, name, k - deviation, 0.03, 1.0, trial)
        for method in TOLD
        for name, k in DATASETS.items()
        for deviation in (-3, -2, -1, 0, 1, 2, 3)
        if k - deviation >= 1
        for trial in range(trials)
    ]


def _run(jobs: list[tuple[Any, ...]], path: Path, title: str) -> None:
    with Progress() as progress, path.open("w", newline="") as stream:
        writer: Any = None
        for job in progress.track(jobs, description=title):
            row = _row(*job)
            if writer is None:
                writer = csv.DictWriter(stream, list(row))
                writer.writeheader()
            writer.writerow(row)


@click.command()
@click.option("--trials", default=TRIALS, show_default=True, help="Draws of pairs a setting.")
def main(trials: int) -> None:
    """Run everything and write the report."""
    _run(_tables(trials), HERE / "results.csv", "Tables 1-3")
    _run(_figure3(trials), HERE / "figure3.csv", "Figure 3")
    write_report(HERE)


if __name__ == "__main__":
    main()
