"""The bars of Mosaic: quality and time on the sets of the PCCC study and with noisy pairs.

Every fit is the same constructor call but for the number of clusters:
``Mosaic(n_clusters=k, random_state=seed)``. Pairs are given as plain soft pairs; their noise rate
is estimated. Columns are standardised, as the study did; MNIST is given as pixels / 255 (its
columns are pixels of one unit; ``--mnist standardised`` does as the study did).

Each fit is one line of a CSV file (gzip), with the commit that last touched ``src``, its seed, and
wall and CPU seconds. Run again, and only the fits that this commit has no line for are made.

Run:    python benchmarks/pccc.py [--only mnist letter ...] [--seeds 3] [--draws 10] [--trials 5]
Table:  python benchmarks/pccc.py --table benchmarks/results/mosaic_table.md
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import subprocess
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import pair_confusion_matrix
from sklearn.preprocessing import StandardScaler

from coterie import Constraints
from coterie.cluster import Mosaic
from coterie.datasets import available, load, pccc_constraints

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "mosaic.csv.gz"
FRACTIONS = (0.005, 0.01, 0.05)
LARGE = {  # set: ARI to reach, seconds to stay under, ARI published, each by fraction
    "banana": ((0.58, 0.65, 1.000), (2, 2, 2), (0.014, 0.015, 1.000)),
    "letter": ((0.25, 0.45, 0.95), (10, 10, 30), (0.153, 0.162, 0.730)),
    "shuttle": ((0.99, 0.99, 1.000), (5, 6, 30), (0.692, 0.965, 1.000)),
    "mnist": ((0.92, 0.94, 1.000), (20, 20, 60), (0.381, 0.683, 1.000)),
}
SMALL = {0.05: (0.50, 0.413), 0.10: (0.82, 0.771), 0.15: (0.94, 0.923), 0.20: (0.97, 0.953)}
NOISY = {1.0: (0.95, 0.94), 0.95: (0.93, 0.92), 0.9: (0.90, 0.87), 0.8: (0.82, 0.75)}
NOISY_SETS = {"iris": 3, "wine": 3, "ecoli": 8, "glass": 7, "balance_scale": 3}
NOISY_SHARES = (0.01, 0.03, 0.05)  # r: pairs over n^2
FIELDS = ("commit", "group", "set", "level", "share", "seed", "value", "wall", "cpu", "broken")
GROUPS = (*LARGE, "small", "noisy")


class Cell(NamedTuple):
    """One fit: `level` is the fraction of rows, or p; `share` is r of the noisy protocol."""

    group: str
    set: str
    level: float
    share: float
    seed: int

    def key(self) -> tuple[str, ...]:
        """As it stands in the file."""
        return self.group, self.set, f"{self.level:g}", f"{self.share:g}", str(self.seed)


def cells(groups: list[str], seeds: int, draws: int, trials: int) -> Iterator[Cell]:
    """All fits, the timed ones first."""
    for name in LARGE:
        if name in groups:
            for level in FRACTIONS:
                yield from (Cell("large", name, level, 0, seed) for seed in range(seeds))
    if "small" in groups:
        names = [name for name in available() if name.startswith("pccc/col1/")]
        for level in SMALL:
            for name in names:
                yield from (Cell("small", name, level, 0, draw) for draw in range(draws))
    if "noisy" in groups:
        for level in NOISY:
            for name in NOISY_SETS:
                for share in NOISY_SHARES:
                    yield from (Cell("noisy", name, level, share, t) for t in range(trials))


@cache
def rows_of(name: str, mnist: str) -> tuple[np.ndarray, np.ndarray]:
    """Columns as the study had them, and the groups."""
    bunch = load(name)
    if name == "mnist" and mnist == "pixels":
        return bunch.data.astype(np.float32) / 255.0, bunch.target
    data = bunch.data.astype(np.float32) if name in LARGE else bunch.data
    return StandardScaler().fit_transform(data), bunch.target


def random_pairs(target: np.ndarray, count: int, rng: np.random.Generator) -> Constraints:
    """`count` distinct pairs of distinct rows, each of its true kind."""
    n = target.size
    code = rng.choice(n * (n - 1) // 2, size=count, replace=False)
    j = np.floor((1.0 + np.sqrt(1.0 + 8.0 * code)) / 2.0).astype(np.int64)
    i = code - j * (j - 1) // 2
    same = target[i] == target[j]
    pairs = np.column_stack([i, j])
    return Constraints(n, must_link=pairs[same], cannot_link=pairs[~same])


def noisy_pairs(target: np.ndarray, p: float, r: float, rng: np.random.Generator) -> Constraints:
    """r n^2 random pairs, each right with probability p (Khashabi et al. 2015, §5)."""
    n = target.size
    count = round(r * n * n)
    i = rng.integers(0, n, count)
    j = (i + rng.integers(1, n, count)) % n
    said = (target[i] == target[j]) ^ (rng.random(count) >= p)
    pairs = np.column_stack([i, j])
    return Constraints(n, must_link=pairs[said], cannot_link=pairs[~said])


def pairs_of(cell: Cell, target: np.ndarray) -> Constraints:
    """The pairs of a fit: the study's own for the large sets."""
    rng = np.random.default_rng(cell.seed)
    if cell.group == "large":
        return pccc_constraints(cell.set, cell.level, target)
    if cell.group == "small":
        size = int(np.ceil(cell.level * target.size))
        return random_pairs(target, size * (size - 1) // 2, rng)
    return noisy_pairs(target, cell.level, cell.share, rng)


def pairwise_f(target: np.ndarray, labels: np.ndarray) -> float:
    """F of the pairs of rows put together."""
    (_, false), (missed, true) = pair_confusion_matrix(target, labels)
    return float(2 * true / (2 * true + false + missed))


def measure(cell: Cell, mnist: str) -> dict[str, str]:
    """One fit."""
    X, target = rows_of(cell.set, mnist)
    k = NOISY_SETS[cell.set] if cell.group == "noisy" else int(target.max()) + 1
    known = pairs_of(cell, target)
    start, used = time.perf_counter(), time.process_time()
    model = Mosaic(k, random_state=cell.seed).fit(X, constraints=known)
    wall, cpu = time.perf_counter() - start, time.process_time() - used
    judge = pairwise_f if cell.group == "noisy" else adjusted_rand_score
    value = judge(target, model.labels_)
    figures = (f"{value:.5f}", f"{wall:.3f}", f"{cpu:.3f}", str(len(model.violations_)))
    return dict(zip(FIELDS[1:], (*cell.key(), *figures), strict=True))


def commit() -> str:
    """The commit that last touched the package, with + if it has been changed since."""
    ask = ["git", "-C", str(ROOT)]
    last = subprocess.check_output([*ask, "log", "-1", "--format=%h", "--", "src"], text=True)
    changed = subprocess.run([*ask, "diff", "--quiet", "HEAD", "--", "src"], check=False)
    return last.strip() + ("+" if changed.returncode else "")


def read(path: Path) -> list[dict[str, str]]:
    """Lines of the file; none if there is none."""
    if not path.exists():
        return []
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path: Path, lines: list[dict[str, str]]) -> None:
    """Write beside it and rename; the same lines are the same bytes, as no time is among them."""
    text = io.StringIO()
    writer = csv.DictWriter(text, FIELDS)
    writer.writeheader()
    writer.writerows(lines)
    beside = path.with_suffix(".part")
    with (
        beside.open("wb") as file,
        gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed,
    ):
        packed.write(text.getvalue().encode("utf-8"))
    beside.replace(path)


def run(todo: list[Cell], path: Path, mnist: str) -> None:
    """Make the fits that this commit has no line for, one line each, at once on disk."""
    now = commit()
    lines = read(path)
    done = {tuple(line[f] for f in FIELDS[1:6]) for line in lines if line["commit"] == now}
    todo = [cell for cell in todo if cell.key() not in done]
    warm()
    for number, cell in enumerate(todo, 1):
        line = {"commit": now, **measure(cell, mnist)}
        lines.append(line)
        write(path, lines)
        print(f"{number}/{len(todo)}", *line.values(), flush=True)


def warm() -> None:
    """Compile everything there is to compile."""
    tiny = np.random.default_rng(0).normal(size=(60, 3))
    known = Constraints(60, [(0, 1)], [(2, 3)])
    for engine in ("belief_propagation", "mean_field"):
        Mosaic(2, inference=engine, random_state=0).fit(tiny, constraints=known)


def verdict(value: float, bar: float, seconds: float = 0.0, limit: float = np.inf) -> str:
    """pass, or which of the two bars is missed; values to the three digits of the table."""
    missed = [] if round(value, 3) >= bar else ["**quality**"]
    missed += [] if seconds <= limit else ["**time**"]
    return "pass" if not missed else "misses " + " and ".join(missed)


def table(lines: list[dict[str, str]]) -> str:
    """The bars beside what was measured: medians over seeds, means over draws and trials."""

    def column(field: str, group: str, level: float, name: str = "") -> np.ndarray:
        return np.array(
            [
                float(line[field])
                for line in lines
                if line["group"] == group
                and line["level"] == f"{level:g}"
                and (not name or line["set"] == name)
            ]
        )

    head = ("set", "fraction", "value", "bar", "published", "seconds", "limit", "CPU s")
    out = [[*head, "broken", "fits", "verdict"]]
    for name, (bars, limits, published) in LARGE.items():
        for level, bar, limit, best in zip(FRACTIONS, bars, limits, published, strict=True):
            value, wall, cpu, broken = (
                column(field, "large", level, name) for field in ("value", "wall", "cpu", "broken")
            )
            if value.size:
                figures = f"{np.median(value):.3f} ({value.min():.3f}–{value.max():.3f})"
                row = [name, f"{level:g}", figures, f"{bar:.3f}", f"{best:.3f}"]
                row += [f"{np.median(wall):.1f}", str(limit), f"{np.median(cpu):.1f}"]
                row += [f"{int(np.median(broken))}", str(value.size)]
                out.append([*row, verdict(np.median(value), bar, np.median(wall), limit)])
    for group, bars, title in (
        ("small", SMALL, "23 sets of col1"),
        ("noisy", NOISY, "noisy pairs, F"),
    ):
        for level, (bar, best) in bars.items():
            value, wall, cpu = (column(f, group, level) for f in ("value", "wall", "cpu"))
            if value.size:
                row = [title, f"{level:g}", f"{value.mean():.3f}", f"{bar:.3f}", f"{best:.3f}"]
                row += [f"{wall.mean():.2f}", "–", f"{cpu.mean():.2f}", "–", str(value.size)]
                out.append([*row, verdict(value.mean(), bar)])
    rows = ["| " + " | ".join(row) + " |" for row in out]
    return "\n".join([rows[0], "|" + "---|" * len(out[0]), *rows[1:]]) + "\n"


def main() -> None:
    """Run what is missing, or write the table of the last commit in the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--mnist", choices=("pixels", "standardised"), default="pixels")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", type=Path, help="write the table there and fit nothing")
    options = parser.parse_args()
    if options.table is None:
        todo = list(cells(options.only, options.seeds, options.draws, options.trials))
        run(todo, options.results, options.mnist)
        return
    lines = read(options.results)
    last = lines[-1]["commit"]
    text = table([line for line in lines if line["commit"] == last])
    options.table.write_text(
        f"Commit {last}; large sets: median (least–most) of the seeds 0, 1, …; others: mean over "
        f"draws or trials. Wall seconds of one fit; CPU seconds over all threads.\n\n{text}",
        encoding="utf-8",
    )
    print(text)


if __name__ == "__main__":
    main()
