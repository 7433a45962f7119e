"""How much each number inside Mosaic matters: every number of `Tuning` halved and doubled.

Rows of the table: mean change of ARI over the benchmark rows, the row that loses most, and CPU
seconds. The rows are small sets of the PCCC study, sets with few random pairs, sets with 10 and
20 % of the pairs wrong, and 3,000 rows of MNIST and shuttle; ``--full`` takes all small sets, three
draws and more rows.

Each fit is a line of a CSV file that is made once: an interrupted run goes on where it stopped.
Delete the file when the code has changed.

Run:    python benchmarks/mosaic_tuning.py [--full] [--only sweeps folds ...]
Ideas:  python benchmarks/mosaic_tuning.py --set free_weight=1.0 --set patience=100,tol=0
Table:  python benchmarks/mosaic_tuning.py --table benchmarks/results/mosaic_tuning.md
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from coterie import Constraints
from coterie.cluster import Mosaic
from coterie.cluster.mosaic.tuning import Tuning
from coterie.constraints import sample_pairs
from coterie.data import use_threads
from coterie.datasets import available, load

RESULTS = Path(__file__).parent / "results" / "mosaic_tuning.csv"
FIELDS = ("variant", "row", "ari", "seconds")
BASE = "as it is"
SMALL = ("appendicitis", "circles", "ecoli", "glass", "ionosphere", "iris", "moons", "wine", "zoo")
FEW = {"digits": 300, "letters_ijl": 60, "shapes2d/compound": 50, "shapes2d/R15": 50}
NOISY = ("shapes2d/aggregation", "shapes2d/jain", "shapes2d/pathbased", "iris")
LARGE = {"banana": 300, "mnist": 600, "shuttle": 300}
BATCHES = {"banana": 0.0, "digits": 0.1, "shuttle": 0.2}  # share of wrong pairs
BATCH = 60  # rows of which every two were compared
LARGE_ROWS = 3_000


class Row(NamedTuple):
    """One fit: a set, its pairs (how many, or as many as there are among a share of the rows), the
    share that is wrong, the draw, and whether the pairs are all those of a batch of rows.
    """

    set: str
    pairs: float
    wrong: float = 0.0
    draw: int = 0
    batch: bool = False

    def name(self) -> str:
        """As it stands in the file."""
        wrong = f", {self.wrong:.0%} wrong" if self.wrong else ""
        pairs = f"a batch of {self.pairs:g} rows" if self.batch else f"{self.pairs:g} pairs"
        return f"{self.set}, {pairs}{wrong}, draw {self.draw}"


def rows(full: bool) -> Iterator[Row]:
    """The fits of one variant."""
    draws = range(3 if full else 1)
    small = [name for name in available() if name.startswith("pccc/col1/")]
    for name in small if full else [f"pccc/col1/{name}" for name in SMALL]:
        for share in (0.05, 0.1, 0.15, 0.2) if full else (0.05, 0.1):
            yield Row(name, share)
    for draw in draws:
        yield from (Row(name, count, draw=draw) for name, count in FEW.items())
        for wrong in (0.1, 0.2):
            yield from (Row(name, 300, wrong, draw) for name in NOISY)
        yield from (Row(name, count, draw=draw) for name, count in LARGE.items())
        yield from (Row(name, BATCH, wrong, draw, True) for name, wrong in BATCHES.items())


@cache
def data(name: str, full: bool) -> tuple[np.ndarray, np.ndarray]:
    """Standardised columns (MNIST: pixels / 255) and classes; of large sets a sample."""
    found = load(name)
    X, y = np.asarray(found.data, dtype=np.float64), np.asarray(found.target)
    if len(X) > LARGE_ROWS and not full:
        kept = np.sort(np.random.default_rng(0).permutation(len(X))[:LARGE_ROWS])
        X, y = X[kept], y[kept]
    return X / 255 if name == "mnist" else StandardScaler().fit_transform(X), y


def known_of(row: Row, y: np.ndarray) -> Constraints:
    """The pairs of a row."""
    count = int(row.pairs)
    if row.batch:
        return batch_of(y, count, row.wrong, row.draw)
    if row.pairs < 1:
        size = int(np.ceil(row.pairs * y.size))
        count = size * (size - 1) // 2
    return sample_pairs(y, count, noise=row.wrong, random_state=row.draw)


def batch_of(y: np.ndarray, size: int, wrong: float, draw: int) -> Constraints:
    """Every pair of `size` random rows, a share of them of the wrong kind."""
    rng = np.random.default_rng(draw)
    chosen = rng.permutation(y.size)[:size]
    i, j = (chosen[end] for end in np.triu_indices(size, 1))
    same = (y[i] == y[j]) ^ (rng.random(i.size) < wrong)
    pairs = np.column_stack([i, j])
    return Constraints(y.size, must_link=pairs[same], cannot_link=pairs[~same])


def fit(row: Row, tuning: Tuning, full: bool) -> tuple[float, float]:
    """ARI and CPU seconds."""
    X, y = data(row.set, full)
    known = known_of(row, y)

    class Variant(Mosaic):
        """Mosaic with other numbers."""

    Variant.tuning = tuning
    begun = time.process_time()
    labels = Variant(len(np.unique(y)), random_state=row.draw).fit_predict(X, constraints=known)
    return float(adjusted_rand_score(y, labels)), time.process_time() - begun


def scaled(value: Any, factor: float) -> Any:
    """A number, or each of some, times a factor; whole numbers stay above 0, shares below 1."""
    if isinstance(value, tuple):
        return tuple(scaled(each, factor) for each in value)
    if isinstance(value, int):
        return max(1, round(value * factor))
    return min(value * factor, (1.0 + value) / 2) if value < 1 else value * factor


def variants(only: list[str]) -> Iterator[tuple[str, Tuning]]:
    """Each number halved and doubled."""
    standard = Tuning()
    for name, value in standard._asdict().items():
        if only and name not in only:
            continue
        for factor, word in ((0.5, "halved"), (2.0, "doubled")):
            new = scaled(value, factor)
            if name == "ladder":
                new = tuple(rate for rate in new if rate < 0.5)
            if new != value:
                yield f"{name} {word}", standard._replace(**{name: new})


def parsed(setting: str) -> tuple[str, Tuning]:
    """A variant given as "name=value,name=value"."""
    changes = dict(part.split("=") for part in setting.split(","))
    standard = Tuning()._asdict()
    return setting, Tuning()._replace(
        **{name: type(standard[name])(float(value)) for name, value in changes.items()}
    )


def read(path: Path) -> dict[tuple[str, str], tuple[float, float]]:
    """ARI and seconds by variant and row."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    return {(x["variant"], x["row"]): (float(x["ari"]), float(x["seconds"])) for x in lines}


def run(path: Path, wanted: list[tuple[str, Tuning]], full: bool) -> None:
    """Make the fits that the file does not hold yet."""
    done = read(path)
    fresh = not path.exists()
    with path.open("a", newline="") as file, use_threads(1):
        writer = csv.writer(file)
        if fresh:
            writer.writerow(FIELDS)
        for name, tuning in wanted:
            for row in rows(full):
                if (name, row.name()) not in done:
                    ari, seconds = fit(row, tuning, full)
                    writer.writerow([name, row.name(), f"{ari:.6f}", f"{seconds:.3f}"])
                    file.flush()


def table(path: Path) -> str:
    """Markdown: one line a variant that is complete, those that lose most first."""
    done = read(path)
    base = {row: found for (name, row), found in done.items() if name == BASE}
    lines = []
    for name in dict.fromkeys(name for name, _ in done):
        here = {row: done[name, row] for row in base if (name, row) in done}
        if len(here) < len(base):
            continue
        change = {row: ari - base[row][0] for row, (ari, _) in here.items()}
        worst = min(change, key=lambda row: change[row])
        differ = sum(abs(gap) > 1e-9 for gap in change.values())
        mean, seconds = np.mean(list(change.values())), sum(s for _, s in here.values())
        lost = f"{change[worst]:+.3f} {worst}" if change[worst] < 0 else "none"
        lines.append((mean, f"| {name} | {mean:+.4f} | {differ} | {lost} | {seconds:.1f} |"))
    ari = np.mean([found[0] for found in base.values()])
    head = (
        "# Mosaic's numbers, halved and doubled\n\n"
        "By `benchmarks/mosaic_tuning.py`. A row of the benchmark is one fit; chance alone moves "
        "single rows by .1 and more, and so the mean by about .005.\n"
        "What was left out, and what that did: [mosaic_tuning_removed.md](mosaic_tuning_removed.md)"
        ".\nNo change here need not be no effect: no row reaches the limits of work or leaves "
        "the number of clusters open (`shuffles`)."
        f"\n\nMean ARI as it is: {ari:.4f} over {len(base)} rows; {len(lines)} of "
        f"{1 + len(list(variants([])))} variants measured.\n\n"
        "| number | mean change of ARI | rows that change | worst row | CPU seconds |\n"
        "|---|---|---|---|---|\n"
    )
    return head + "\n".join(line for _, line in sorted(lines)) + "\n"


def main() -> None:
    """Run or tabulate."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--csv", type=Path, default=RESULTS)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", nargs="*", default=[], metavar="NUMBER")
    parser.add_argument("--set", action="append", default=[], metavar="NUMBER=VALUE,...")
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.table:
        options.table.write_text(table(options.csv))
        return
    some = [parsed(setting) for setting in options.set] or list(variants(options.only))
    run(options.csv, [(BASE, Tuning()), *some], options.full)


if __name__ == "__main__":
    main()
