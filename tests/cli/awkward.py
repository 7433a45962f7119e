"""Tables of two groups that lie far apart, for what people do to their files."""

from __future__ import annotations

import csv

import numpy as np

N = 60
RNG = np.random.default_rng(0)
GROUP = np.arange(N) % 2


def write(name, columns, delimiter=",", encoding="utf-8"):
    """A CSV file of these columns."""
    with open(name, "w", newline="", encoding=encoding) as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def numbers(gap=50.0):
    """Two groups that lie far apart."""
    return gap * GROUP + RNG.normal(size=N) + 100
