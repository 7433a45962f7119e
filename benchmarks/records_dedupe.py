"""Records: F1 of dedupe (3.0.3) with its own questions, at the numbers `records.py answers` uses.

    VENV/bin/python benchmarks/records_dedupe.py [--sets products,publications] [--draws 2]

Needs a Python that has dedupe, BTrees below 6.2 (with later ones dedupe 3.0.3 fails) and NumPy;
nothing of Coterie is imported. Questions are answered truly; at each mark dedupe is trained with
the answers so far and joins at its own threshold of 0.5. Every field is a String, with missing
values where there are some.
"""

from __future__ import annotations

import argparse
import random
import time
import warnings

import dedupe
import dedupe.variables as variables
import numpy as np
from record_sets import SETS
from record_sets_classic import CLASSIC
from record_sets_fresh import FRESH
from record_sets_graded import GRADED
from record_sets_other import OTHER


def f1(labels: np.ndarray, truth: np.ndarray) -> float:
    """Pairwise F1."""

    def count(keys: np.ndarray) -> int:
        sizes = np.unique(keys, return_counts=True)[1].astype(np.int64)
        return int((sizes * (sizes - 1) // 2).sum())

    _, truth = np.unique(truth, return_inverse=True)
    both = count(labels.astype(np.int64) * (truth.max() + 1) + truth)
    return 2 * both / (count(labels) + count(truth))


def labels_of(linker: dedupe.Dedupe, data: dict[int, dict[str, str | None]]) -> np.ndarray:
    """The cluster of every record."""
    labels = np.arange(len(data)) + len(data)
    for number, (rows, _) in enumerate(linker.partition(data, 0.5)):
        labels[list(rows)] = number
    return labels


def prepared(data: dict[int, dict[str, str | None]], seed: int) -> dedupe.Dedupe:
    """A linker that knows the records, the same for the same seed."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (dedupe draws from it)
    names = list(data[0])
    fields = [
        variables.String(name, has_missing=any(record[name] is None for record in data.values()))
        for name in names
    ]
    linker = dedupe.Dedupe(fields, num_cores=1, in_memory=True)
    linker.prepare_training(data)
    return linker


def curve(name: str, seed: int, marks: list[int]) -> list[float]:
    """F1 at each mark."""
    columns, truth = {**SETS, **GRADED, **CLASSIC, **OTHER, **FRESH}[name](seed)
    data = {
        row: {key: str(value) or None for key, value in zip(columns, values, strict=True)}
        for row, values in enumerate(zip(*columns.values(), strict=True))
    }
    numbers = {tuple(record.items()): row for row, record in data.items()}
    asking = prepared(data, seed)
    told: list[tuple[str, tuple[dict[str, str | None], ...]]] = []
    while len(told) < marks[-1] and (pairs := asking.uncertain_pairs()):
        a, b = (numbers[tuple(record.items())] for record in pairs[0])
        kind = "match" if truth[a] == truth[b] else "distinct"
        asking.mark_pairs({"match": [], "distinct": [], kind: pairs[:1]})
        told.append((kind, pairs[0]))
    found = []
    for mark in marks:  # trained, a linker does not go on asking: each has one of its own
        linker = prepared(data, seed)
        answers = {
            kind: [pair for said, pair in told[:mark] if said == kind]
            for kind in ("match", "distinct")
        }
        try:
            linker.mark_pairs(answers)
            linker.train()
            found.append(f1(labels_of(linker, data), truth))
        except ValueError:  # it cannot train with answers of one kind alone
            found.append(float("nan"))
    return found


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default="restaurants,products,publications")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--marks", default="25,50,100,200", help="numbers of answers")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    marks = [int(mark) for mark in arguments.marks.split(",")]
    print("set          dedupe, F1 at " + " ".join(f"{mark:>6}" for mark in marks))
    for name in arguments.sets.split(","):
        used = time.process_time()
        curves = [curve(name, draw, marks) for draw in range(arguments.draws)]
        used = (time.process_time() - used) / arguments.draws
        mean = " ".join(f"{value:6.3f}" for value in np.nanmean(curves, axis=0))
        print(f"{name:<24} {mean}   {used:.0f} s CPU a draw", flush=True)


if __name__ == "__main__":
    main()
