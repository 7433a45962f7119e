"""Made-up data of five shapes, so that anyone can run the comparison; columns standardised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from coterie.datasets import load
from lab.protocol import Data

Generator = np.random.Generator
Rows = NDArray[np.float64]
CLASSES = 4


def _classes(n: int, rng: Generator) -> NDArray[np.int64]:
    """Classes as unequal as 1 : 2 : 3 : 4."""
    share = np.arange(1, CLASSES + 1) / (CLASSES * (CLASSES + 1) / 2)
    return np.sort(rng.choice(CLASSES, size=n, p=share))


def _centers(k: int, d: int, spread: float, rng: Generator) -> Rows:
    """Centres whose mean squared distance is 2 `spread`² whatever d."""
    return rng.normal(scale=spread / np.sqrt(d), size=(k, d))


def round_blobs(y: NDArray[np.int64], rng: Generator) -> Rows:
    """Equal spheres that overlap, 8 columns: what K-Means is made for."""
    return _centers(CLASSES, 8, 4.0, rng)[y] + rng.normal(size=(y.size, 8))


def stretched(y: NDArray[np.int64], rng: Generator) -> Rows:
    """Ellipsoids, each stretched ten to one in directions of its own, 6 columns."""
    X = rng.normal(size=(y.size, 6)) * np.geomspace(0.4, 4.0, 6)
    turn = np.array([np.linalg.qr(rng.normal(size=(6, 6)))[0] for _ in range(CLASSES)])
    return _centers(CLASSES, 6, 5.0, rng)[y] + np.einsum("nd,nde->ne", X, turn[y])


def irrelevant_columns(y: NDArray[np.int64], rng: Generator) -> Rows:
    """Clear spheres in 3 columns, and 17 that say nothing."""
    useful = _centers(CLASSES, 3, 6.0, rng)[y] + rng.normal(size=(y.size, 3))
    return np.hstack([useful, rng.normal(size=(y.size, 17))])


def curved(y: NDArray[np.int64], rng: Generator) -> Rows:
    """Two pairs of half circles that reach into each other, 2 columns."""
    angle = rng.uniform(0.0, np.pi, size=y.size)
    inner = y % 2 == 1
    moon = np.column_stack([np.cos(angle), np.sin(angle)])
    moon[inner] = np.array([1.0, 0.5]) - moon[inner]
    moon[:, 1] += 2.5 * (y // 2)
    return moon + rng.normal(scale=0.12, size=moon.shape)


def scattered(y: NDArray[np.int64], rng: Generator) -> Rows:
    """Every class is four spheres anywhere among those of the others, 5 columns."""
    centers = _centers(4 * CLASSES, 5, 6.0, rng)
    return centers[4 * y + rng.integers(4, size=y.size)] + rng.normal(size=(y.size, 5))


SHAPES: dict[str, Callable[[NDArray[np.int64], Generator], Rows]] = {
    "round": round_blobs,
    "stretched": stretched,
    "irrelevant columns": irrelevant_columns,
    "curved": curved,
    "scattered": scattered,
}


def make(shape: str, size: int, seed: int) -> Data:
    """Rows of a shape, in random order; or all of a real set of that name, the same every time."""
    rng = np.random.default_rng([seed, size])
    if shape in SHAPES:
        y = rng.permutation(_classes(size, rng))
        X: Any = SHAPES[shape](y, rng)
    else:
        bunch = load(shape)
        X, y = np.asarray(bunch.data, dtype=np.float64), bunch.target
    return Data(StandardScaler().fit_transform(X), y, len(np.unique(y)))
