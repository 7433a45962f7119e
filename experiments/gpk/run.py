"""Seed 004, chapter 4: GPK-Means against MPCK-Means, and graph propagation on text.

For each draw, five folds: pairs from the training folds, clustering of all rows, F and ARI on the
test fold (section 4.2). Every method gets the same pairs and the same seed. Writes results.csv and,
by `report.py`, RESULTS.md and curves.png beside it. Draws are taken until there are `--draws`, or
until `--minutes` are over, whichever comes first, and all settings get a draw before any gets the
next; results.csv says how many there were.

Run with ``python experiments/gpk/run.py [--draws 50] [--minutes 60] [--data iris]``; ``--quick`` is
2 draws of three settings.
"""

from __future__ import annotations

import csv
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from report import write_report
from scipy.stats import ttest_rel
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from coterie.cluster import HMRFKMeans, MPCKMeans
from coterie.constraints import learning_curve_pairs
from coterie.datasets import load
from coterie.metrics import pairwise_f
from coterie.propagation import GPKMeans, GraphPropagation

HERE = Path(__file__).parent
FEW = (10, 20, 40, 60)  # numbers of pairs
TEXT = (50, 100, 200)
COLUMNS = (
    "data", "metric", "method", "n_pairs", "draws", "f", "ari", "f_gain", "p_value",
    "n_propagated", "must_precision", "cannot_precision",
)  # fmt: skip


class Setting(NamedTuple):
    """A data set, the estimator that propagation goes around, and the thresholds to try."""

    data: str
    metric: str
    thresholds: tuple[float, ...]
    sizes: tuple[int, ...] = FEW

    def methods(self, k: int, seed: int) -> dict[str, Any]:
        """Fresh estimators; the first is the one the others are measured against."""
        if self.metric == "cosine":
            plain = HMRFKMeans(k, distortion="cosine", random_state=seed)
            around = {
                f"graph ({g})": GraphPropagation(plain, metric="cosine", threshold=g)
                for g in self.thresholds
            }
            return {"HMRF-KMeans": plain, **around}
        plain = MPCKMeans(k, per_cluster=self.metric == "per cluster", random_state=seed)
        return {
            "MPCK-Means": plain,
            "GPK-Means (1)": GPKMeans(plain, threshold=1.0),  # what running again does by itself
            **{f"GPK-Means ({g})": GPKMeans(plain, threshold=g) for g in self.thresholds},
        }


SETTINGS = [
    Setting("iris", "single", (0.5,)),
    Setting("iris", "per cluster", (0.5,)),
    Setting("protein", "single", (0.01,)),
    Setting("protein", "per cluster", (0.01,)),
    Setting("crabs_sex", "single", (0.7,)),
    Setting("crabs_sex", "per cluster", (0.7,)),
    Setting("pendigits_389", "single", (0.5,)),
    Setting("pendigits_389", "per cluster", (0.5,)),
    Setting("letters_ijl", "single", (0.5,)),
    Setting("letters_ijl", "per cluster", (0.5,)),
    Setting("news_similar_3", "cosine", (0.1,), TEXT),
]
QUICK = [SETTINGS[0], SETTINGS[1], SETTINGS[2]]


@cache
def rows_of(name: str) -> tuple[Any, Any]:
    """Rows and classes; crabs by sex, as the thesis has it."""
    bunch = load("crabs" if name == "crabs_sex" else name)
    if name != "crabs_sex":
        return bunch.data, bunch.target
    sex = np.array([str(species_and_sex)[-1] for species_and_sex in bunch.target_names])
    return bunch.data, np.unique(sex[bunch.target], return_inverse=True)[1]


def one_draw(setting: Setting, draw: int) -> Iterator[tuple[tuple[str, int], list[float]]]:
    """((method, number of pairs), scores) for each fold of a draw."""
    X, y = rows_of(setting.data)
    k = int(y.max()) + 1
    for split in learning_curve_pairs(y, setting.sizes, random_state=draw):
        for size, pairs in zip(setting.sizes, split.constraints, strict=True):
            for name, model in setting.methods(k, draw).items():
                model.fit(X, constraints=pairs)
                truth, found = y[split.test], model.labels_[split.test]
                told = [np.nan] * 3
                if hasattr(model, "diagnose"):
                    d = model.diagnose(y)
                    told = [model.n_propagated_, d.must_precision, d.cannot_precision]
                scores = [pairwise_f(truth, found), adjusted_rand_score(truth, found), *told]
                yield (name, size), scores


def summarise(
    setting: Setting, scores: dict[tuple[str, int], list[np.ndarray]]
) -> Iterator[dict[str, Any]]:
    """One row a method and number of pairs; a draw's five folds are one observation."""
    plain = next(iter(scores))[0]
    for (method, size), draws in scores.items():
        values, base = np.array(draws), np.array(scores[plain, size])
        gain = values[:, 0] - base[:, 0]
        same = method == plain or len(gain) < 2 or not gain.any()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no propagated pairs of a kind: their precision is NaN
            mean = np.nanmean(values, axis=0)
        numbers = [
            *mean[:2],
            gain.mean(),
            1.0 if same else ttest_rel(values[:, 0], base[:, 0]).pvalue,
            *mean[2:],
        ]
        row = [setting.data, setting.metric, method, size, len(draws)]
        yield dict(zip(COLUMNS, row + [f"{number:.4g}" for number in numbers], strict=True))


def run(settings: list[Setting], draws: int, minutes: float) -> list[dict[str, Any]]:
    """Rows of results.csv."""
    everything: list[dict[tuple[str, int], list[np.ndarray]]] = [
        defaultdict(list) for _ in settings
    ]
    stop = time.monotonic() + 60 * minutes
    for draw in range(draws):
        for setting, scores in zip(settings, everything, strict=True):
            if draw and time.monotonic() > stop:
                break
            folds = defaultdict(list)
            for key, values in one_draw(setting, draw):
                folds[key].append(values)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for key, of_draw in folds.items():
                    scores[key].append(np.nanmean(of_draw, axis=0))
    return [
        row
        for setting, scores in zip(settings, everything, strict=True)
        for row in summarise(setting, scores)
    ]


@click.command()
@click.option("--draws", default=50, show_default=True)
@click.option("--minutes", default=60.0, show_default=True, help="Stop after so long.")
@click.option("--data", multiple=True, help="Only these data sets; others keep their results.")
@click.option("--quick", is_flag=True, help="Two draws of three settings; writes nothing.")
def main(draws: int, minutes: float, data: tuple[str, ...], quick: bool) -> None:
    """Run the experiment and write its results."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    if quick:
        for row in run(QUICK, 2, minutes):
            click.echo(row)
        return
    chosen = [setting for setting in SETTINGS if not data or setting.data in data]
    rows = run(chosen, draws, minutes)
    if data and (HERE / "results.csv").exists():
        with (HERE / "results.csv").open(encoding="utf-8") as stream:
            rows += [row for row in csv.DictReader(stream) if row["data"] not in data]
    with (HERE / "results.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    write_report(HERE)


if __name__ == "__main__":
    main()
