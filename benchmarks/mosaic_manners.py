"""Mosaic's manners: how many clusters it finds by itself, and how far its doubts can be believed.

``clusters``: `Mosaic(None)` on 20 sets with true pairs, one or five a row: how many it finds.
``suspects``: on noisy pairs, a pair a row, how many of the first ten and thirty `suspect_pairs` are
really wrong, and of the pairs that are called so or so doubtful.

Rows, columns and text are as in `mosaic_harm.py`. Every line is printed as it is measured.

Run:  python benchmarks/mosaic_manners.py clusters|suspects [--draws 1]
"""

from __future__ import annotations

import argparse
import warnings
from itertools import pairwise
from typing import Any

import numpy as np
from mosaic_harm import TEXT, data

from coterie.cluster import Mosaic
from coterie.constraints import sample_pairs

COUNTED = (
    *(f"pccc/col1/{name}" for name in ("iris", "wine", "ecoli", "heart", "sonar", "vehicle")),
    *(f"shapes2d/{name}" for name in ("aggregation", "compound", "flame", "jain", "pathbased")),
    *(f"shapes2d/{name}" for name in ("R15", "3-spiral", "2d-4c-no4")),
    "pccc/col3/n1000-k5",
    "dev/mammographic",
    "dev/splice",
    "digits",
    "pendigits",
    "news_different_3",
)
NOISY = (  # set, share of wrong pairs
    ("digits", 0.1),
    ("pccc/col3/n1000-k5", 0.15),
    ("dev/mammographic", 0.15),
    ("dev/splice", 0.1),
    ("news_related_3", 0.1),
)
EDGES = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)  # of doubts that are taken together


def options_of(name: str) -> dict[str, Any]:
    """Text by its cosine."""
    return {"distortion": "cosine"} if name.startswith(TEXT) else {}


def clusters(draws: int) -> None:
    """How many are found, with a pair and with five a row."""
    print("| set | clusters | a pair a row | five pairs a row |\n|---|---|---|---|", flush=True)
    right = {1: 0, 5: 0}
    for name in COUNTED:
        X, y = data(name)
        found = {}
        for many in right:
            found[many] = []
            for draw in range(draws):
                known = sample_pairs(y, many * y.size, random_state=draw)
                model = Mosaic(None, random_state=draw, **options_of(name))
                found[many].append(model.fit(X, constraints=known).n_clusters_)
            right[many] += sum(count == y.max() + 1 for count in found[many])
        shown = " | ".join(", ".join(map(str, found[many])) for many in right)
        print(f"| {name} | {y.max() + 1} | {shown} |", flush=True)
    print(f"| right | | {right[1]} | {right[5]} | of {draws * len(COUNTED)}", flush=True)


def suspects(draws: int) -> None:
    """How many doubts are right."""
    bins = [f"{lo:.0%} to {hi:.0%}" for lo, hi in pairwise(EDGES)]
    print("| set | wrong | noise_ | first 10 | first 30 | " + " | ".join(bins) + " |")
    print("|" + "---|" * (5 + len(bins)), flush=True)
    for name, wrong in NOISY:
        X, y = data(name)
        tops, doubts, truths, rates = [], [], [], []
        for draw in range(draws):
            known = sample_pairs(y, y.size, noise=wrong, random_state=draw)
            model = Mosaic(int(y.max()) + 1, random_state=draw, **options_of(name))
            table = model.fit(X, constraints=known).suspect_pairs(1000)
            bad = (y[table.i] == y[table.j]) != (table.kind > 0)
            tops.append((bad[:10].mean(), bad[:30].mean()))
            doubts.append(table.value)
            truths.append(bad)
            rates.append(model.noise_)
        doubt, bad = np.concatenate(doubts), np.concatenate(truths)
        shown = []
        for lo, hi in pairwise(EDGES):
            inside = (doubt > lo) & (doubt <= hi)
            called, share = (
                part[inside].mean() if inside.any() else np.nan for part in (doubt, bad)
            )
            shown.append(f"{share:.0%} of {inside.sum()} ({called:.0%})")
        ten, thirty = np.mean(tops, axis=0)
        print(
            f"| {name} | {wrong:.0%} | {np.mean(rates):.3f} | {ten:.0%} | {thirty:.0%} | "
            + " | ".join(shown)
            + " |",
            flush=True,
        )


def main() -> None:
    """Measure one of the two."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=("clusters", "suspects"))
    parser.add_argument("--draws", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    {"clusters": clusters, "suspects": suspects}[options.what](options.draws)


if __name__ == "__main__":
    main()
