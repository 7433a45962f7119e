"""Figures 6 to 10 of seed 001 in shape: accuracy against pairs, and with noisy pairs.

    python experiments/ppc/run.py [--repeats 5] [--sets ppc_1 ...]

Writes curves.csv (figures 6-9), noise.csv (figure 10) and RESULTS.md with each claim of the paper
and whether it holds here. The paper averages 100 (figures 6-9) and 20 (figure 10) draws of pairs.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np
from protocol import (
    Data,
    accuracy,
    best_soft_kmeans,
    data_set,
    disjoint_pairs,
    fit_cop,
    fit_mixture,
    fit_ppc,
)
from report import write_report

HERE = Path(__file__).resolve().parent
ARTIFICIAL = {"ppc_1": (0, 20, 70, 130), "ppc_2": (0, 20, 70, 130), "ppc_3": (0, 20, 100, 170)}
REAL = {"iris": (0, 10, 30, 60), "waveform": (0, 50, 200, 400), "pendigits_0689": (0, 50, 200, 400)}
ROWS = 1000  # of the larger sets; pairs are scaled with them


def curves(data: Data, numbers: tuple[int, ...], repeats: int) -> list[dict[str, Any]]:
    """Train and held-out accuracy of hard-PPC, constrained EM and COP-KMeans (figures 6-9)."""
    out = []
    for m in numbers:
        for repeat in range(repeats):
            rng = np.random.default_rng([repeat, m])
            order = rng.permutation(data.y.size)
            train, test = order[data.y.size // 10 :], order[: data.y.size // 10]
            X, y = data.X[train], data.y[train]
            pairs = disjoint_pairs(y, m, rng).as_hard()
            ppc = fit_ppc(data, X, pairs, repeat)
            cem = fit_ppc(data, X, pairs, repeat, sampling="chunklet")
            cop = fit_cop(data, X, pairs, repeat)
            row: dict[str, Any] = {"data": data.name, "pairs": m, "repeat": repeat}
            for name, model in (("ppc", ppc), ("cem", cem), ("cop", cop)):
                row[f"{name}_train"] = accuracy(y, model.labels_)
                row[f"{name}_test"] = accuracy(data.y[test], model.predict(data.X[test]))
            out.append(row)
    return out


def noise(data: Data, q: float, repeats: int) -> list[dict[str, Any]]:
    """Accuracy with half of the rows in pairs, a share q of them wrong (figure 10)."""
    out = []
    for repeat in range(repeats):
        rng = np.random.default_rng([repeat, int(100 * q)])
        soft = disjoint_pairs(data.y, data.y.size // 4, rng, flip=q)
        out.append(
            {
                "data": data.name,
                "q": q,
                "repeat": repeat,
                "mixture": accuracy(data.y, fit_mixture(data, repeat).predict(data.X)),
                "soft_ppc": accuracy(data.y, fit_ppc(data, data.X, soft, repeat).labels_),
                "hard_ppc": accuracy(data.y, fit_ppc(data, data.X, soft.as_hard(), repeat).labels_),
                "soft_kmeans": best_soft_kmeans(data, soft, repeat),
                "hard_kmeans": accuracy(
                    data.y, fit_cop(data, data.X, soft.as_hard(), repeat).labels_
                ),
            }
        )
    return out


def kept(path: Path, chosen: list[str]) -> list[dict[str, Any]]:
    """Rows of an earlier run about other data sets."""
    if not path.exists():
        return []
    with path.open() as file:
        return [row for row in csv.DictReader(file) if row["data"] not in chosen]


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.4f}" if isinstance(v, float) else v for k, v in row.items()})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--sets", nargs="*", help="only these; results of others are kept")
    args = parser.parse_args()
    repeats, numbers = args.repeats, ARTIFICIAL | REAL
    chosen = args.sets or list(numbers)
    curve_rows = kept(HERE / "curves.csv", chosen)
    noise_rows = kept(HERE / "noise.csv", chosen)
    for name in chosen:
        pairs = numbers[name]
        data = data_set(name, ROWS)
        curve_rows += curves(data, pairs, repeats)
        for q in (0.15, 0.3):
            noise_rows += noise(data, q, repeats)
        write(HERE / "curves.csv", curve_rows)
        write(HERE / "noise.csv", noise_rows)
        write_report(HERE, repeats)


if __name__ == "__main__":
    main()
