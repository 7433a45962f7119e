"""F against the share of right answers for several estimators: docs/images/noisy-answers.png.

Run with ``python experiments/tvclust/noise_picture.py [--trials 3]``. Iris, wine, ecoli and balance
as in section 5.2 of seed 002, r = .03, every method with its defaults on standardised columns.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from protocol import DATASETS, draw_pairs, load_set
from rich.progress import track
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from coterie.cluster import LCVQE, MPCKMeans, PCKMeans, RDPMeans
from coterie.constraints import Constraints
from coterie.metrics import pairwise_f
from coterie.mixture import PPC, TVClust

HERE = Path(__file__).parent
IMAGE = HERE.parents[1] / "docs" / "images" / "noisy-answers.png"
RIGHT = (1.0, 0.95, 0.9, 0.8, 0.7)
SETS = ("iris", "wine", "ecoli", "balance_scale")


def _labels(method: str, X: Any, pairs: Constraints, k: int, seed: int) -> NDArray[Any]:
    models = {
        "TVClust": lambda: TVClust(random_state=seed),
        "RDPMeans": lambda: RDPMeans(n_clusters_hint=k, random_state=seed),
        "PPC": lambda: PPC(k, random_state=seed),
        "PCKMeans": lambda: PCKMeans(k, random_state=seed),
        "MPCKMeans": lambda: MPCKMeans(k, random_state=seed),
        "LCVQE": lambda: LCVQE(k, random_state=seed),
    }
    if method == "KMeans (no answers)":
        return KMeans(k, n_init=10, random_state=seed).fit_predict(X)
    return models[method]().fit(X, constraints=pairs).labels_


METHODS = ("TVClust", "PPC", "RDPMeans", "PCKMeans", "MPCKMeans", "LCVQE", "KMeans (no answers)")


def measure(trials: int) -> pd.DataFrame:
    """One row a fit."""
    jobs = [(m, s, p, t) for m in METHODS for s in SETS for p in RIGHT for t in range(trials)]
    rows = []
    for method, name, p, trial in track(jobs, description="noise"):
        X, y = load_set(name)
        pairs = draw_pairs(y, 0.03, p, trial)
        labels = _labels(method, StandardScaler().fit_transform(X), pairs, DATASETS[name], trial)
        rows.append({"method": method, "dataset": name, "p": p, "trial": trial})
        rows[-1]["f"] = round(pairwise_f(y, labels), 4)
    return pd.DataFrame(rows)


def draw(table: pd.DataFrame) -> None:
    """The picture: mean F of each method."""
    mpl.use("Agg")
    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    for method in METHODS:
        mean = table[table.method == method].groupby("p").f.mean()
        axes.plot(1 - np.asarray(mean.index), mean.to_numpy(), marker="o", label=method)
    axes.set(xlabel="share of answers that are wrong", ylabel="pairwise F", ylim=(0.2, 1.02))
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3)
    IMAGE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(IMAGE, dpi=120)


@click.command()
@click.option("--trials", default=3, show_default=True)
def main(trials: int) -> None:
    """Measure, write noise.csv, draw."""
    table = measure(trials)
    table.to_csv(HERE / "noise.csv", index=False)
    draw(table)
    click.echo(table.pivot_table("f", "method", "p").round(2).to_string())


if __name__ == "__main__":
    main()
