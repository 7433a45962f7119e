"""The protocol of seed 001 §5.1: pairs that share no row, train and held-out accuracy."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from coterie.cluster import COPKMeans, PCKMeans
from coterie.constraints import Constraints
from coterie.datasets import load
from coterie.metrics import matched_accuracy
from coterie.mixture import PPC

STARTS = 8


class Data(NamedTuple):
    name: str
    X: np.ndarray
    y: np.ndarray
    k: int


def data_set(name: str, rows: int | None = None) -> Data:
    """A data set by name, at most `rows` random rows of it; columns of real ones standardised."""
    bunch = load(name)
    X, y = np.asarray(bunch.data, dtype=float), np.unique(bunch.target, return_inverse=True)[1]
    if rows is not None and rows < len(X):
        chosen = np.random.default_rng(0).permutation(len(X))[:rows]
        X, y = X[chosen], y[chosen]
    if not name.startswith("ppc_"):
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    return Data(name, X, y, int(y.max()) + 1)


def disjoint_pairs(
    y: np.ndarray, m: int, rng: np.random.Generator, *, flip: float = 0.0
) -> Constraints:
    """`m` pairs of rows drawn without replacement, of the kind that `y` says, some flipped."""
    rows = rng.permutation(y.size)[: 2 * m].reshape(-1, 2)
    same = (y[rows[:, 0]] == y[rows[:, 1]]) ^ (rng.random(len(rows)) < flip)
    certainty = 1.0 - flip if flip else None
    return Constraints(
        y.size,
        rows[same],
        rows[~same],
        must_certainty=certainty,
        cannot_certainty=certainty,
    )


def accuracy(y: np.ndarray, labels: np.ndarray) -> float:
    """Share of rows in the right class, clusters matched to classes as well as possible."""
    return float(matched_accuracy(y, labels))


def fit_ppc(data: Data, X: np.ndarray, pairs: Constraints, seed: int, **params: object) -> PPC:
    """The best of a few starts by penalised likelihood; random starts as in the paper.

    In two dimensions EM is cheap and leaves flat stretches late: more starts, a finer tolerance.
    """
    small = X.shape[1] == 2
    model = PPC(
        data.k,
        n_init=2 * STARTS if small else STARTS,
        tol=1e-5 if small else 1e-3,
        max_iter=300,
        random_state=seed,
        reg_covar=1e-4,
        **params,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, constraints=pairs)


def fit_cop(data: Data, X: np.ndarray, pairs: Constraints, seed: int) -> COPKMeans:
    return COPKMeans(data.k, n_init=STARTS, random_state=seed).fit(X, constraints=pairs)


def fit_mixture(data: Data, seed: int) -> GaussianMixture:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = GaussianMixture(data.k, n_init=STARTS, random_state=seed, reg_covar=1e-4)
        return model.fit(data.X)


def best_soft_kmeans(data: Data, pairs: Constraints, seed: int) -> float:
    """Accuracy of soft-constrained K-Means with the weight that does best, as the paper allows."""
    return max(
        accuracy(
            data.y,
            PCKMeans(data.k, w=w, n_init=2, random_state=seed)
            .fit(data.X, constraints=pairs)
            .labels_,
        )
        for w in (0.3, 1.0, 3.0, 10.0)
    )
