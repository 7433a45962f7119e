"""The command line against the library: `coterie fit` on a 1,000,000 × 20 Parquet file, within
1.3 × of reading it and calling `fit`; and `coterie --help`, within 0.4 s.

    python benchmarks/cli.py [rows [method ...]]

Processor time in one process, interleaved, least of several runs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from coterie import Constraints
from coterie.cli.main import main
from coterie.cli.methods import build

COLUMNS, CLUSTERS, PAIRS, RUNS = 20, 8, 1000, 3


def make(folder: Path, n: int) -> Constraints:
    """x.parquet, pairs.csv and the same pairs."""
    rng = np.random.default_rng(0)
    label = rng.integers(CLUSTERS, size=n)
    X = rng.normal(size=(n, COLUMNS)) + rng.normal(size=(CLUSTERS, COLUMNS))[label]
    parquet.write_table(pa.table({f"x{j}": X[:, j] for j in range(COLUMNS)}), folder / "x.parquet")
    pairs = rng.choice(n, size=(PAIRS, 2), replace=False)
    same = label[pairs[:, 0]] == label[pairs[:, 1]]
    lines = [f"{i},{j},{'must' if s else 'cannot'}" for (i, j), s in zip(pairs, same, strict=True)]
    (folder / "pairs.csv").write_text("\n".join(["a,b,kind", *lines]))
    return Constraints(n, pairs[same], pairs[~same])


def by_library(folder: Path, method: str, known: Constraints) -> None:
    """Read and fit."""
    table = parquet.read_table(folder / "x.parquet")
    X = np.column_stack([column.to_numpy() for column in table.columns])
    build(method, CLUSTERS, 0).fit(X, constraints=known)


def by_command(folder: Path, method: str, *more: str) -> None:
    """The same by `coterie fit`."""
    given = ["fit", str(folder / "x.parquet"), "--constraints", str(folder / "pairs.csv")]
    options = ["-k", str(CLUSTERS), "--method", method, "--seed", "0", "--quiet", "--force"]
    if main([*given, *options, *more], standalone_mode=False):
        raise SystemExit("the command failed")


def seconds(work, *arguments) -> float:
    """Processor time of one call."""
    begun = time.process_time()
    work(*arguments)
    return time.process_time() - begun


def help_time() -> float:
    """Wall time of `coterie --help`, least of several."""
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        code = "from coterie.cli.main import main; main(['--help'])"
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        times.append(time.perf_counter() - begun)
    return min(times)


def run(n: int, methods: list[str]) -> None:
    """Print the ratios."""
    print(f"coterie --help: {help_time():.2f} s (bar 0.4)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        known = make(folder, n)
        out = str(folder / "out.parquet")
        for method in methods:
            least = {"library": np.inf, "command": np.inf, "command, rows written": np.inf}
            for _ in range(RUNS):
                found = {
                    "library": seconds(by_library, folder, method, known),
                    "command": seconds(by_command, folder, method),
                    "command, rows written": seconds(by_command, folder, method, "-o", out),
                }
                least = {key: min(least[key], found[key]) for key in least}
            print(f"{method}, {n:,} x {COLUMNS}, {PAIRS} pairs")
            for key, value in least.items():
                print(f"  {key:24} {value:7.2f} s  {value / least['library']:.2f} x")


if __name__ == "__main__":
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    run(rows, sys.argv[2:] or ["pckmeans", "mosaic"])
