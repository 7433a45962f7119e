"""Mosaic beside classifiers that are told the labels, and what more pairs and more rows change.

Where every two rows of a batch were compared, the pairs say as much as the labels of these rows.
So the yardstick is the better of two classifiers told those labels: an RBF SVM, and ridge
regression on Mosaic's own features. All are scored by the ARI over all rows, with the batch's rows
as they are.

``growth`` gives Mosaic 1,000 to 100,000 random true pairs of 10,000, 30,000 and 70,000 rows of
MNIST: more of either should not make it worse.

Each fit is a line of a CSV file that is made once, under the name of the code that made it
(``--as``); an interrupted run goes on where it stopped.

Run:    python benchmarks/mosaic_batches.py [--only letter growth ...] [--draws 1] [--as now]
Table:  python benchmarks/mosaic_batches.py --table [--out benchmarks/results/mosaic_batches.md]
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from coterie import Constraints
from coterie.cluster import Mosaic
from coterie.cluster.mosaic.field import build_field, place_prototypes
from coterie.cluster.mosaic.space import fit_space
from coterie.constraints import sample_pairs
from coterie.datasets import load

RESULTS = Path(__file__).parent / "results" / "mosaic_batches.csv"
FIELDS = ("name", "set", "rows", "told", "draw", "ari", "cpu")
SETS = ("digits", "letter", "pendigits", "shuttle", "mnist", "news_all_20")
SHARES = (0.005, 0.01, 0.02, 0.05)
ROWS, PAIRS = (10_000, 30_000, 70_000), (1_000, 10_000, 100_000)
RIVALS = ("SVM", "ridge")
CLEAR = 0.01  # of ARI: less is not called behind


class Cell(NamedTuple):
    """A set, how many of its rows (0: all), the share of them or number of pairs told, the draw."""

    set: str
    rows: int
    told: float
    draw: int

    def key(self) -> tuple[str, ...]:
        """As it stands in the file."""
        return self.set, str(self.rows), f"{self.told:g}", str(self.draw)


@cache
def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and groups: pixels / 255, 50 latent dimensions of text, standardised columns."""
    found = load(name)
    y = np.unique(found.target, return_inverse=True)[1]
    if name == "mnist":
        return np.asarray(found.data, dtype=np.float32) / 255, y
    if name.startswith("news"):
        return TruncatedSVD(50, random_state=0).fit_transform(found.data), y
    return StandardScaler().fit_transform(found.data), y


def batch(cell: Cell, n: int) -> np.ndarray:
    """The rows that were compared."""
    size = max(2, round(cell.told * n))
    return np.sort(np.random.default_rng(cell.draw).choice(n, size, replace=False))


def compared(rows: np.ndarray, y: np.ndarray) -> Constraints:
    """Every two of them."""
    first, other = np.triu_indices(rows.size, 1)
    pairs = np.column_stack([rows[first], rows[other]])
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return Constraints(y.size, must_link=pairs[same], cannot_link=pairs[~same])


# -- who is told what -----------------------------------------------------------------------------
def by_pairs(cell: Cell, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Mosaic, told the pairs."""
    known = (
        sample_pairs(y, int(cell.told), random_state=cell.draw)
        if cell.told > 1
        else compared(batch(cell, y.size), y)
    )
    model = Mosaic(int(y.max()) + 1, random_state=cell.draw)
    return model.fit_predict(X, constraints=known)


def by_svm(cell: Cell, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """An RBF SVM, told the labels."""
    rows = batch(cell, y.size)
    labels = SVC(C=10.0).fit(X[rows], y[rows]).predict(X)
    labels[rows] = y[rows]
    return labels


def by_ridge(cell: Cell, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Ridge regression on Mosaic's features, told the labels."""
    rows, tuning = batch(cell, y.size), Mosaic.tuning
    rng, n = np.random.default_rng(cell.draw), y.size
    ones = np.ones(n)
    _, coordinates = fit_space(X, "sqeuclidean", ones, 50, tuning.most_numbers, 0)
    count = int(min(max(tuning.pilot_prototypes, 8 * np.sqrt(n)), tuning.most_prototypes, n))
    prototypes = place_prototypes(coordinates, count, tuning, rng)
    features = build_field(coordinates, prototypes, tuning.steepness).features
    own = features[rows].astype(float)
    inner = own.T @ own
    inner[np.diag_indices_from(inner)] += 0.1  # Mosaic's smoothness
    weights = np.linalg.solve(inner, own.T @ np.eye(int(y.max()) + 1)[y[rows]])
    labels = (features @ weights.astype(np.float32)).argmax(axis=1)
    labels[rows] = y[rows]
    return np.asarray(labels)


def fit(name: str, cell: Cell) -> tuple[float, float]:
    """ARI and CPU seconds of one fit; a name that is none of the rivals is Mosaic's."""
    X, y = data(cell.set)
    if cell.rows:
        kept = np.sort(np.random.default_rng(0).permutation(y.size)[: cell.rows])
        X, y = X[kept], y[kept]
    told: dict[str, Callable[..., np.ndarray]] = {"SVM": by_svm, "ridge": by_ridge}
    begun = time.process_time()
    labels = told.get(name, by_pairs)(cell, X, y)
    return adjusted_rand_score(y, labels), time.process_time() - begun


# -- the file and the table -----------------------------------------------------------------------
def cells(only: list[str], draws: int) -> Iterator[Cell]:
    """All that were asked for."""
    for name in SETS:
        if name in only:
            for share in SHARES:
                yield from (Cell(name, 0, share, draw) for draw in range(draws))
    if "growth" in only:
        for rows in ROWS:
            for pairs in PAIRS:
                yield from (Cell("mnist", rows, pairs, draw) for draw in range(draws))


def read(path: Path) -> dict[tuple[str, ...], tuple[float, float]]:
    """What was measured, by name and cell."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {tuple(line[:5]): (float(line[5]), float(line[6])) for line in csv.reader(file)}


def run(options: argparse.Namespace) -> None:
    """Make the fits that the file does not hold yet."""
    done = read(options.csv)
    with options.csv.open("a", newline="") as file:
        writer = csv.writer(file)
        for cell in cells(options.only, options.draws):
            names = (options.name,) if cell.told > 1 else (options.name, *RIVALS)
            for name in names:
                if (name, *cell.key()) not in done:
                    found = fit(name, cell)
                    writer.writerow([name, *cell.key(), *(f"{value:.4f}" for value in found)])
                    file.flush()
                    print(name, *cell.key(), *(f"{value:.3f}" for value in found), flush=True)


def table(options: argparse.Namespace) -> str:
    """Markdown: batches beside classifiers, then growth."""
    done: Any = read(options.csv)

    def mean(name: str, *key: str) -> float:
        draws = [v[0] for k, v in done.items() if k[:4] == (name, *key)]
        return float(np.mean(draws)) if draws else np.nan

    lines = ["| set | batch | SVM | ridge | Mosaic | behind |", "|---|---|---|---|---|---|"]
    for name in SETS:
        for share in SHARES:
            key = (name, "0", f"{share:g}")
            svm, ridge, ours = (mean(who, *key) for who in (*RIVALS, options.name))
            if not np.isnan(ours):
                gap = max(svm, ridge) - ours
                behind = f"**{gap:.3f}**" if gap > CLEAR else f"{max(gap, 0):.3f}"
                lines.append(
                    f"| {name} | {share:.1%} | {svm:.3f} | {ridge:.3f} | {ours:.3f} | {behind} |"
                )
    heads = " | ".join(f"{pairs:,} pairs" for pairs in PAIRS)
    lines += ["", f"| rows of MNIST | {heads} |", "|---|" + "---|" * len(PAIRS)]
    for rows in ROWS:
        found = [mean(options.name, "mnist", str(rows), f"{pairs:g}") for pairs in PAIRS]
        lines.append(f"| {rows:,} | " + " | ".join(f"{value:.3f}" for value in found) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--csv", type=Path, default=RESULTS)
    parser.add_argument("--as", dest="name", default="now")
    parser.add_argument("--only", nargs="*", default=[*SETS, "growth"])
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.table:
        run(options)
        return
    text = table(options)
    print(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
