"""Seed 004, chapter 4: GPK-Means against MPCK-Means, and graph propagation on text.

For each draw, five folds: pairs from the training folds, clustering of all rows, F and ARI on the
test fold (section 4.2). Every method gets the same pairs and the same seed. Writes results.csv, one
row a fit, and by `report.py` RESULTS.md and curves.png beside it. All settings get a draw before
any gets the next, and a run that was stopped goes on where it ended, as long as the commit is the
same: rows of other commits are dropped for the settings that are run.

Run with ``python experiments/gpk/run.py [--draws 50] [--data iris]``; ``--quick`` is 2 draws of
three settings and writes nothing.
"""

from __future__ import annotations

import csv
import subprocess
import warnings
from collections.abc import Container, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from report import summaries, write_report
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
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
    "data", "metric", "method", "n_pairs", "draw", "fold", "seed", "f", "ari",
    "n_propagated", "must_precision", "cannot_precision", "commit",
)  # fmt: skip

Row = dict[str, Any]


class Setting(NamedTuple):
    """A data set, the estimator that propagation goes around, and the threshold."""

    data: str
    metric: str
    threshold: float
    sizes: tuple[int, ...] = FEW

    @property
    def key(self) -> tuple[str, str]:
        """What tells settings apart in results.csv."""
        return self.data, self.metric

    def methods(self, k: int, seed: int, centers: bool = False) -> dict[str, Any]:
        """Fresh estimators; the first is the one the others are measured against."""
        g = self.threshold
        if self.metric == "cosine":
            plain = HMRFKMeans(k, distortion="cosine", random_state=seed)
            graph = GraphPropagation(plain, metric="cosine", threshold=g)
            fewer = clone(graph).set_params(reduce_dim=TruncatedSVD(10, random_state=seed))
            return {
                "HMRF-KMeans": plain,
                f"graph ({g:g}), SVD": fewer,
                f"graph ({g:g}), all words": graph,
            }
        plain = MPCKMeans(k, per_cluster=self.metric == "per cluster", random_state=seed)
        around = {f"GPK-Means ({g:g})": GPKMeans(plain, threshold=g)}
        # What running again does by itself: only rows equal to an end get pairs.
        around["control (1)"] = GPKMeans(plain, threshold=1.0)
        if centers:
            for name, model in list(around.items()):
                around[f"{name} from centres"] = clone(model).set_params(start="centers")
        return {"MPCK-Means": plain, **around}


SETTINGS = [
    Setting("iris", "single", 0.5),
    Setting("iris", "per cluster", 0.5),
    Setting("protein", "single", 0.01),
    Setting("protein", "per cluster", 0.01),
    Setting("crabs_sex", "single", 0.7),
    Setting("crabs_sex", "per cluster", 0.7),
    Setting("pendigits_389", "single", 0.5),
    Setting("pendigits_389", "per cluster", 0.5),
    Setting("letters_ijl", "single", 0.5),
    Setting("letters_ijl", "per cluster", 0.5),
    Setting("news_similar_3", "cosine", 0.1, TEXT),
]


@cache
def rows_of(name: str) -> tuple[Any, Any]:
    """Rows and classes; crabs by sex, as the thesis has it."""
    bunch = load("crabs" if name == "crabs_sex" else name)
    if name != "crabs_sex":
        return bunch.data, bunch.target
    sex = np.array([str(species_and_sex)[-1] for species_and_sex in bunch.target_names])
    return bunch.data, np.unique(sex[bunch.target], return_inverse=True)[1]


def one_draw(
    setting: Setting, draw: int, commit: str, *, centers: bool = False, done: Container[Any] = ()
) -> Iterator[Row]:
    """Rows of results.csv for each fold, number of pairs and method of a draw not `done` yet."""
    X, y = rows_of(setting.data)
    k = int(y.max()) + 1
    for fold, split in enumerate(learning_curve_pairs(y, setting.sizes, random_state=draw)):
        for size, pairs in zip(setting.sizes, split.constraints, strict=True):
            for method, model in setting.methods(k, draw, centers).items():
                if (*setting.key, method, draw) in done:
                    continue
                model.fit(X, constraints=pairs)
                truth, found = y[split.test], model.labels_[split.test]
                scores = [pairwise_f(truth, found), adjusted_rand_score(truth, found)]
                told: list[Any] = ["", "", ""]
                if hasattr(model, "diagnose"):
                    d = model.diagnose(y)
                    right = [d.must_precision, d.cannot_precision]
                    told = [
                        model.n_propagated_,
                        *("" if np.isnan(r) else f"{r:.4f}" for r in right),
                    ]
                values = [*setting.key, method, size, draw, fold, draw]
                values += [*(f"{score:.5f}" for score in scores), *told, commit]
                yield dict(zip(COLUMNS, values, strict=True))


def kept_rows(path: Path, settings: list[Setting], commit: str) -> list[Row]:
    """Rows already there that stay: those of this commit, and those of other settings."""
    if not path.exists():
        return []
    again = {setting.key for setting in settings}
    with path.open(encoding="utf-8") as stream:
        return [
            row
            for row in csv.DictReader(stream)
            if row["commit"] == commit or (row["data"], row["metric"]) not in again
        ]


def append(path: Path, rows: list[Row]) -> None:
    """Add rows to a file that has its header."""
    with path.open("a", newline="", encoding="utf-8") as stream:
        csv.DictWriter(stream, COLUMNS, lineterminator="\n").writerows(rows)


def run(path: Path, settings: list[Setting], draws: int, commit: str, centers: bool) -> None:
    """Take the draws that are missing; a draw of a setting is written when it is whole."""
    rows = kept_rows(path, settings, commit)
    path.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    append(path, rows)
    done = {(row["data"], row["metric"], row["method"], int(row["draw"])) for row in rows}
    for draw in range(draws):
        for setting in settings:
            append(path, list(one_draw(setting, draw, commit, centers=centers, done=done)))


def head() -> str:
    """The commit that is checked out, marked if the library differs from it."""
    ask = ["git", "describe", "--always", "--abbrev=7", "--exclude=*", "--dirty"]
    return subprocess.run(ask, cwd=HERE, check=True, capture_output=True, text=True).stdout.strip()


@click.command()
@click.option("--draws", default=50, show_default=True)
@click.option("--data", multiple=True, help="Only these data sets; others keep their results.")
@click.option("--commit", help="To record, where the tree is an export; default: ask git.")
@click.option("--centers", is_flag=True, help="Also rounds that start from centres alone.")
@click.option("--quick", is_flag=True, help="Two draws of three settings; writes nothing.")
def main(draws: int, data: tuple[str, ...], commit: str | None, centers: bool, quick: bool) -> None:
    """Run the experiment and write its results."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    commit = commit or head()
    if quick:
        rows = [row for s in SETTINGS[:3] for draw in range(2) for row in one_draw(s, draw, commit)]
        for s in summaries(rows):
            click.echo(f"{s.data} {s.metric}, {s.method}, {s.n_pairs}: F {s.f:.3f} {s.gain:+.4f}")
        return
    chosen = [setting for setting in SETTINGS if not data or setting.data in data]
    run(HERE / "results.csv", chosen, draws, commit, centers)
    write_report(HERE)


if __name__ == "__main__":
    main()
