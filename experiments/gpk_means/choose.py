"""Which neighbours to propagate along on text, chosen on other data than is reported.

News-Similar-3 is what the study reports, so nothing is chosen on it. Here are other groups of 20
Newsgroups, near and far, and Classic3; draws from 100 on, which the study does not take. Scored is
F over the rows in no given pair. Writes choice.csv and prints means over sets and draws.

Run with ``python experiments/gpk_means/choose.py [--draws 3]``.
"""

from __future__ import annotations

import csv
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from coterie.cluster import HMRFKMeans
from coterie.constraints import learning_curve_pairs
from coterie.datasets import load
from coterie.metrics import pairwise_f
from coterie.propagation import GraphPropagation

HERE = Path(__file__).parent
SIZES = (50, 100, 200)
GROUPS = {
    "religion": ["alt.atheism", "soc.religion.christian", "talk.religion.misc"],
    "hardware": ["comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware", "misc.forsale"],
    "wheels": ["rec.autos", "rec.motorcycles", "sci.electronics"],
    "sport": ["rec.sport.baseball", "rec.sport.hockey", "rec.autos"],
}
SETS = [*GROUPS, "news_related_3", "news_different_3", "classic3_subset"]
VARIANTS = {  # dimensions of the space of neighbours (None: all words), threshold
    "all words, 0.1": (None, 0.1),
    "all words, 0.05": (None, 0.05),
    "SVD 10, 0.1": (10, 0.1),
    "SVD 10, 0.05": (10, 0.05),
    "SVD 20, 0.1": (20, 0.1),
}


def rows_of(name: str) -> tuple[Any, Any]:
    """Documents and classes."""
    if name not in GROUPS:
        bunch = load(name)
        return bunch.data, bunch.target
    bunch = load("news_all_20")
    rows = np.flatnonzero(np.isin(np.asarray(bunch.target_names)[bunch.target], GROUPS[name]))
    X = bunch.data[rows]
    common = np.asarray((X > 0).sum(axis=0)).ravel() >= 3  # documents a word must be in
    return normalize(X[:, common]), np.unique(bunch.target[rows], return_inverse=True)[1]


def methods(k: int, seed: int) -> dict[str, Any]:
    """HMRF-KMeans, and graph propagation around it."""
    plain = HMRFKMeans(k, distortion="cosine", random_state=seed)
    found = {"plain": plain}
    for name, (dimensions, threshold) in VARIANTS.items():
        space = None if dimensions is None else TruncatedSVD(dimensions, random_state=seed)
        found[name] = GraphPropagation(
            plain, metric="cosine", threshold=threshold, reduce_dim=space
        )
    return found


def one_draw(name: str, draw: int) -> Iterator[dict[str, Any]]:
    """F of every method with every number of pairs, from the first fold of a draw."""
    X, y = rows_of(name)
    split = next(iter(learning_curve_pairs(y, SIZES, random_state=draw)))
    for size, pairs in zip(SIZES, split.constraints, strict=True):
        free = np.setdiff1d(np.arange(len(y)), pairs.pairs)
        for method, model in methods(int(y.max()) + 1, draw).items():
            found = model.fit(X, constraints=pairs).labels_
            f = f"{pairwise_f(y[free], found[free]):.5f}"
            yield {"data": name, "method": method, "n_pairs": size, "draw": draw, "f": f}


@click.command()
@click.option("--draws", default=3, show_default=True)
def main(draws: int) -> None:
    """Compare the variants."""
    warnings.simplefilter("ignore")
    gains: dict[Any, list[float]] = defaultdict(list)
    with (HERE / "choice.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(
            stream, ["data", "method", "n_pairs", "draw", "f"], lineterminator="\n"
        )
        writer.writeheader()
        for draw in range(100, 100 + draws):
            for name in SETS:
                rows = list(one_draw(name, draw))
                writer.writerows(rows)
                stream.flush()
                plain = {
                    row["n_pairs"]: float(row["f"]) for row in rows if row["method"] == "plain"
                }
                for row in rows:
                    gain = float(row["f"]) - plain[row["n_pairs"]]
                    gains[row["method"], row["n_pairs"]].append(gain)
    for method in VARIANTS:
        each = [np.array(gains[method, size]) for size in SIZES]
        click.echo(
            f"{method:16s}"
            + "  ".join(f"{g.mean():+.3f} ± {g.std(ddof=1) / len(g) ** 0.5:.3f}" for g in each)
        )


if __name__ == "__main__":
    main()
