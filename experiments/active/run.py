"""Run the experiments and write their tables: `python experiments/active/run.py [part ...]`.

Parts: own (InformationGain against ExploreConsolidate), noise (the same with 10 % wrong answers),
cobras (against the package cobras-ts). Each writes `results_<part>.csv`. The claims of Basu
et al. (2004) about ExploreConsolidate are in `experiments/pckmeans`.
"""

from __future__ import annotations

import csv
import logging
import sys
from pathlib import Path

from protocol import COBRAS_SETS, MARKS, OWN_SETS, rows

from coterie import PCKMeans
from coterie.active import (
    ExploreConsolidate,
    InformationGain,
    learning_curve,
)

HERE = Path(__file__).parent
log = logging.getLogger("experiments.active")


def run(sets, strategies, budgets, **options):
    """One line a set, strategy, fold and budget."""
    for name in sets:
        X, y, metric = rows(name)
        k = len(set(y.tolist()))
        for label, make in strategies.items():
            strategy, estimator = make(k, metric)
            curve = learning_curve(
                strategy, estimator, X, y, budgets, name=label, distortion=metric, **options
            )
            log.info("%s %s: area %.3f (ARI)", name, label, curve.area("ari"))
            for fold, (nmi, ari) in enumerate(
                zip(curve.values["nmi"], curve.values["ari"], strict=True)
            ):
                for b, budget in enumerate(curve.budgets.tolist()):
                    yield [name, label, fold, budget, f"{nmi[b]:.4f}", f"{ari[b]:.4f}"]


def pck(strategy):
    """PCKMeans told K, with the set's distortion."""
    return lambda k, metric: (strategy(k), PCKMeans(k, metric=metric))


def own(error_rate):
    """Our strategy with its own clustering; K is not told."""
    return lambda k, metric: (InformationGain(error_rate=error_rate), None)


DEFAULT = {"InformationGain": own("estimate")}
TRUSTING = {"InformationGain(0)": own(0.0)}
PAPERS = {"ExploreConsolidate": pck(ExploreConsolidate)}

PARTS = {
    "own": lambda: run(OWN_SETS, DEFAULT | PAPERS, MARKS, folds=None, repeats=3),
    "noise": lambda: run(OWN_SETS, DEFAULT | PAPERS, MARKS, folds=None, repeats=3, error_rate=0.1),
    # One run: with no more than 2,000 rows and true answers nothing is drawn at random.
    "cobras": lambda: run(COBRAS_SETS, DEFAULT | TRUSTING, MARKS, folds=None, repeats=1),
}


def main(parts):
    """Write the table of each part."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    for part in parts or PARTS:
        with open(HERE / f"results_{part}.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["set", "strategy", "fold", "questions", "nmi", "ari"])
            writer.writerows(PARTS[part]())


if __name__ == "__main__":
    main(sys.argv[1:])
