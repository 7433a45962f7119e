"""Whether pairs make Mosaic worse than none: sets x numbers of pairs x wrong answers x draws.

A cell is one draw of random pairs of one set: ARI of Mosaic and of its rivals, over all rows and
over the rows that are in no pair. Rows are a sample of at most 1,500; columns are standardised,
text is measured by its cosine. Each fit is a line of a CSV file that is made once, under the name
of the code that made it (``--as``); an interrupted run goes on where it stopped.

Run:    python benchmarks/mosaic_harm.py --as before [--sets dev] [--pairs 50 20] [--wrong 0 .1]
Rivals: python benchmarks/mosaic_harm.py --as MPCKMeans --sets columns
Table:  python benchmarks/mosaic_harm.py --compare before now [--out results/mosaic_harm.md]
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler, normalize

from coterie import Constraints
from coterie.cluster import HMRFKMeans, Mosaic, MPCKMeans, PCKMeans
from coterie.constraints import sample_pairs
from coterie.datasets import available, load

DATA = Path(os.environ.get("COTERIE_DATA", Path(__file__).parents[2] / "shared" / "data"))
RESULTS = Path(__file__).parent / "results" / "mosaic_harm.csv"
FIELDS = ("name", "set", "pairs", "wrong", "draw", "ari", "free", "seconds")
PAIRS, WRONG = (50, 20, 5, 1), (0.0, 0.1, 0.2)  # rows a pair, share of wrong pairs
MOST_ROWS = 1_500
CLEAR = 0.02  # of ARI: less is not called harm
RIVALS = {"MPCKMeans": MPCKMeans, "HMRFKMeans": HMRFKMeans, "PCKMeans": PCKMeans}
SETS = {
    # Rules were judged on these, ...
    "dev": (
        "pccc/col2/n300-k10-s30",
        "pccc/col3/n1000-k5",
        "pccc/col3/n1000-k50",
        "dev/mammographic",
        "dev/vowel",
        "dev/splice",
        "shapes2d/aggregation",
        "shapes2d/compound",
        "shapes2d/engytime",
        "shapes2d/2d-20c-no0",
        "shapes2d/pathbased",
        "shapes2d/cluto-t4-8k",
    ),
    # ... and these were seen when all was done.
    "bar": (
        *(name for name in available() if name.startswith("pccc/col1/")),
        "dev/mammographic",
        "dev/vowel",
        "dev/splice",
        "digits",
        "letter",
        "pendigits",
        "news_similar_3",
        "classic3_subset",
        "shapes2d/aggregation",
        "shapes2d/jain",
    ),
    "columns": ("dev/splice", "waveform40", "wine + 40", "news_related_3"),
}
TEXT = ("news_", "classic3")


class Cell(NamedTuple):
    """A set, how many of its rows there are a pair, the share of wrong pairs, and the draw."""

    set: str
    pairs: float
    wrong: float
    draw: int

    def key(self) -> tuple[str, ...]:
        """As it stands in the file."""
        return self.set, f"{self.pairs:g}", f"{self.wrong:g}", str(self.draw)


class Found(NamedTuple):
    """ARI over all rows and over those in no pair, CPU seconds."""

    ari: float
    free: float
    seconds: float


@cache
def data(name: str) -> tuple[Any, np.ndarray]:
    """Rows and groups."""
    if name.startswith("dev/"):
        table = np.genfromtxt(DATA / f"{name}.csv.gz", delimiter=",", skip_header=1)
        X, y = table[:, :-1], table[:, -1]
    elif name == "wine + 40":
        X, y = load("wine").data, load("wine").target
        X = np.hstack([X, np.random.default_rng(0).normal(size=(len(X), 40))])
    else:
        X, y = load(name).data, load(name).target
    y = np.unique(y, return_inverse=True)[1]
    kept = np.sort(np.random.default_rng(0).permutation(y.size)[:MOST_ROWS])
    X, y = X[kept], y[kept]
    X = normalize(X) if sp.issparse(X) else StandardScaler().fit_transform(X)
    return X, np.unique(y, return_inverse=True)[1]


def fit(name: str, cell: Cell) -> Found:
    """One fit of the estimator `name`; a name that is none of the rivals is Mosaic's."""
    X, y = data(cell.set)
    k, text = int(y.max()) + 1, cell.set.startswith(TEXT)
    count = max(2, round(y.size / cell.pairs))
    known = sample_pairs(y, count, noise=cell.wrong, random_state=cell.draw)
    begun = time.process_time()
    if name == "KMeans":
        labels = KMeans(k, n_init=10, random_state=cell.draw).fit_predict(X)
    else:
        options: Any = {"distortion": "cosine"} if text else {}
        model = RIVALS.get(name, Mosaic)(k, random_state=cell.draw, **options)
        labels = model.fit_predict(X, constraints=known)
    return Found(*scores(y, labels, known), time.process_time() - begun)


def scores(y: np.ndarray, labels: np.ndarray, known: Constraints) -> tuple[float, float]:
    """ARI over all rows, and over those in no pair."""
    free = np.setdiff1d(np.arange(y.size), known.pairs)
    return adjusted_rand_score(y, labels), adjusted_rand_score(y[free], labels[free])


def cells(options: argparse.Namespace) -> Iterator[Cell]:
    """All that were asked for."""
    for name in [each for group in options.sets for each in SETS.get(group, (group,))]:
        for pairs in options.pairs:
            for wrong in options.wrong:
                yield from (Cell(name, pairs, wrong, draw) for draw in range(options.draws))


def read(path: Path) -> dict[str, dict[tuple[str, ...], Found]]:
    """What was measured, by name and cell."""
    found: dict[str, dict[tuple[str, ...], Found]] = defaultdict(dict)
    if path.exists():
        with path.open(newline="") as file:
            for name, *key, ari, free, seconds in list(csv.reader(file))[1:]:
                found[name][tuple(key)] = Found(float(ari), float(free), float(seconds))
    return found


def run(options: argparse.Namespace) -> None:
    """Make the fits that the file does not hold yet, those of K-Means too."""
    done, fresh = read(options.csv), not options.csv.exists()
    with options.csv.open("a", newline="") as file:
        writer = csv.writer(file)
        if fresh:
            writer.writerow(FIELDS)
        for cell in cells(options):
            for name in ("KMeans", options.name):
                if cell.key() not in done[name]:
                    found = fit(name, cell)
                    writer.writerow([name, *cell.key(), *(f"{value:.4f}" for value in found)])
                    file.flush()


def compare(options: argparse.Namespace) -> str:
    """Markdown: means and share of harmed cells by number and noise of pairs, then every set."""
    done, names = read(options.csv), options.compare
    wanted = [cell.key() for cell in cells(options)]
    keys = [key for key in wanted if all(key in done[name] for name in ("KMeans", *names))]
    sets = list(dict.fromkeys(key[0] for key in keys))
    head = ["rows a pair", "wrong", "K-Means", *names, *(f"harmed by {name}" for name in names)]
    lines = [
        f"Mean ARI (over rows in no pair) of {len(keys)} cells of {len(sets)} sets; harmed: share "
        f"of cells more than {CLEAR} below K-Means (over rows in no pair).\n",
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
    ]
    for pairs in dict.fromkeys(key[1] for key in keys):
        for wrong in dict.fromkeys(key[2] for key in keys):
            part = [key for key in keys if key[1:3] == (pairs, wrong)]
            lines.append(_line(done, names, part, f"{pairs} | {wrong}"))
    lines.append(_line(done, names, keys, "all | all"))
    lines += ["", "| set | rows a pair | wrong | K-Means | " + " | ".join(names) + " |"]
    lines.append("|" + "---|" * (4 + len(names)))
    for name in sets:
        for pairs in dict.fromkeys(key[1] for key in keys):
            for wrong in dict.fromkeys(key[2] for key in keys):
                part = [key for key in keys if key[:3] == (name, pairs, wrong)]
                if part:
                    plain, *ours = (
                        np.mean([done[each][key].ari for key in part])
                        for each in ("KMeans", *names)
                    )
                    shown = [f"**{v:.3f}**" if v < plain - CLEAR else f"{v:.3f}" for v in ours]
                    lines.append(
                        f"| {name} | {pairs} | {wrong} | {plain:.3f} | " + " | ".join(shown) + " |"
                    )
    return "\n".join(lines) + "\n"


def _line(done: Any, names: list[str], keys: list[tuple[str, ...]], start: str) -> str:
    """One line of means over some cells."""
    plain, *ours = (np.array([done[name][key][:2] for key in keys]) for name in ("KMeans", *names))
    means = [f"{a:.3f} ({b:.3f})" for a, b in (part.mean(axis=0) for part in (plain, *ours))]
    harm = [f"{a:.1%} ({b:.1%})" for a, b in ((o < plain - CLEAR).mean(axis=0) for o in ours)]
    return f"| {start} | " + " | ".join([*means, *harm]) + " |"


def main() -> None:
    """Run or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--csv", type=Path, default=RESULTS)
    parser.add_argument("--as", dest="name", default="now")
    parser.add_argument("--sets", nargs="*", default=["dev"])
    parser.add_argument("--pairs", nargs="*", type=float, default=PAIRS, help="rows a pair")
    parser.add_argument("--wrong", nargs="*", type=float, default=WRONG)
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--compare", nargs="*")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.compare is None:
        run(options)
        return
    text = compare(options)
    print(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
