"""Small problems with extreme numbers, weights, pairs and shapes, from a seed."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from coterie import (
    LCVQE,
    ConstrainedKMeans,
    Constraints,
    COPKMeans,
    HMRFKMeans,
    Mosaic,
    MPCKMeans,
    PCKMeans,
    SeededKMeans,
)

CLASSES: list[Any] = [Mosaic, PCKMeans, MPCKMeans, HMRFKMeans, COPKMeans]
CLASSES += [SeededKMeans, ConstrainedKMeans, LCVQE]
_CELLS = [1e300, -1e300, 1e154, 1e200, 1e16]


class OddFit(NamedTuple):
    """An estimator and what it is to be fitted to."""

    model: Any
    rows: Any
    known: Constraints
    weights: Any


def odd_fit(seed: int) -> OddFit:
    """May raise what `Constraints` has to say about its pairs."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.choice([1, 2, 3, 5, 8, 20, 40, 90])), int(rng.choice([1, 2, 3, 10]))
    y = rng.integers(0, max(1, int(rng.integers(1, 5))), n)
    X = rng.normal(size=(n, d)) + 4 * rng.normal(size=(6, d))[y]
    with np.errstate(over="ignore"):
        for _ in range(int(rng.integers(0, 3))):
            X = _odd(X, rng)
    k = int(rng.choice([1, 2, 3, 5, n, max(1, n - 1)]))
    k = min(k, n) if rng.random() < 0.95 else n + 1
    cls = CLASSES[0 if rng.random() < 0.3 else int(rng.integers(len(CLASSES)))]
    known, weights = _pairs(y, rng), _weights(n, rng)
    return OddFit(cls(k, random_state=0), _stored(X, rng), known, weights)


def _odd(X: Any, rng: np.random.Generator) -> Any:
    n, d = X.shape
    X, i, j = X.copy(), int(rng.integers(n)), int(rng.integers(d))
    which = int(rng.integers(11))
    if which == 0:
        return X[rng.integers(0, max(1, n // 3), n)]
    if which == 1:
        X[:, j] = rng.choice([0, 7, 1e300, -1e-300])
    elif which == 2:
        X[:, j] *= rng.choice([1e300, 1e160, 1e-300])
    elif which == 3:
        X[i, j] = rng.choice(_CELLS)
    elif which == 4:
        return X * rng.choice([1e150, 1e-200])
    elif which == 5:
        X[i] = 1.7e308
    elif which == 6:
        return np.round(X)
    elif which == 7:
        X[rng.random((n, d)) < 0.8] = 0
    elif which == 8:
        return -np.abs(X) * 1e8
    elif which == 9:
        return (X > 0).astype(float)
    return X


def _stored(X: Any, rng: np.random.Generator) -> Any:
    how = int(rng.integers(5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = X.astype(np.float32) if how in (1, 2) else X
    if how in (2, 3):
        return sp.csr_array(X)
    return np.asfortranarray(X) if how == 4 else X


def _pairs(y: Any, rng: np.random.Generator) -> Constraints:
    n = y.size
    pairs = rng.integers(0, n, size=(int(rng.choice([0, 1, 3, n, 4 * n, n * n])), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if rng.random() < 0.25:  # a batch whose rows were all compared
        batch = rng.permutation(n)[:12]
        pairs = batch[np.column_stack(np.triu_indices(batch.size, 1))]
    wrong = rng.random(len(pairs)) < rng.choice([0, 0, 0.2, 1])
    same = (y[pairs[:, 0]] == y[pairs[:, 1]]) ^ wrong
    weights: dict[str, float] = {}
    if rng.random() < 0.2:
        weights = {"must_weight": np.inf, "cannot_weight": np.inf}
    elif rng.random() < 0.3:
        weights = {"must_weight": float(rng.choice([1e-300, 1e300, 3, 1e12]))}
    return Constraints(n, must_link=pairs[same], cannot_link=pairs[~same], **weights)


def _weights(n: int, rng: np.random.Generator) -> Any:
    if rng.random() < 0.65:
        return None
    if rng.random() < 0.3:
        return np.where(rng.random(n) < 0.7, 0.0, 1.0)
    return rng.choice([0, 0, 1, 1e-100, 1e25, 3], n).astype(float)
