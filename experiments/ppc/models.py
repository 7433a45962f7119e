"""What is compared in section 5.1, with the settings of this study."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.mixture import GaussianMixture

from coterie import PPC, Constraints, COPKMeans, PCKMeans
from coterie.metrics import matched_accuracy
from lab.protocol import Data, data

STARTS = 8
REG_COVAR = 1e-4
PAPER = {"covariance_type": "full", "prior_rows": 0}  # the paper's covariances: no prior on them
WEIGHTS = (0.3, 1.0, 3.0, 10.0)  # of soft K-Means, of which the paper takes the best


@cache
def scaled(name: str, rows: int | None = None) -> Data:
    """At most `rows` random rows; columns of the real sets standardised.

    The artificial sets stay as they are: their shape is the point of them.
    """
    X, y, k = data(name)
    X = np.asarray(X, dtype=np.float64)
    if rows is not None and rows < y.size:
        chosen = np.random.default_rng(0).permutation(y.size)[:rows]
        X, y = X[chosen], y[chosen]
    if not name.startswith("ppc_"):
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    return Data(X, y, k)


def disjoint_pairs(
    y: NDArray[Any], count: int, rng: np.random.Generator, *, flip: float = 0.0
) -> Constraints:
    """Pairs of rows drawn without replacement, of the kind that `y` says, a share flipped.

    Flipped pairs carry the certainty that is true of them (5.1).
    """
    rows = rng.permutation(y.size)[: 2 * count].reshape(-1, 2)
    same = (y[rows[:, 0]] == y[rows[:, 1]]) ^ (rng.random(len(rows)) < flip)
    certainty = 1.0 - flip if flip else None
    return Constraints(
        y.size, rows[same], rows[~same], must_certainty=certainty, cannot_certainty=certainty
    )


def accuracy(y: NDArray[Any], labels: NDArray[Any]) -> float:
    """Share of rows in the right class, clusters matched to classes as well as possible."""
    return float(matched_accuracy(y, labels))


def fit_ppc(k: int, X: NDArray[Any], pairs: Constraints, seed: int, **options: Any) -> PPC:
    """The best of some starts by penalised likelihood, with the paper's covariances.

    In two dimensions EM is cheap and leaves flat stretches late: more starts, a finer tolerance.
    """
    model = PPC(k, random_state=seed, **PAPER, **search(X), **options)
    return model.fit(X, constraints=pairs)


def search(X: NDArray[Any]) -> dict[str, Any]:
    """How long EM runs and how often it starts, for every mixture alike."""
    small = X.shape[1] == 2
    return {
        "n_init": 2 * STARTS if small else STARTS,
        "tol": 1e-5 if small else 1e-3,
        "max_iter": 300,
        "reg_covar": REG_COVAR,
    }


def fit_cop(k: int, X: NDArray[Any], pairs: Constraints, seed: int) -> COPKMeans:
    """K-Means that breaks no pair."""
    return COPKMeans(k, n_init=STARTS, random_state=seed).fit(X, constraints=pairs)


def fit_mixture(k: int, X: NDArray[Any], seed: int) -> NDArray[Any]:
    """The mixture that knows no pairs."""
    return GaussianMixture(k, random_state=seed, **search(X)).fit_predict(X)


def soft_kmeans(rows: Data, pairs: Constraints, seed: int) -> float:
    """Accuracy of soft-constrained K-Means with the weight that does best, as the paper allows."""
    return max(
        accuracy(
            rows.y,
            PCKMeans(rows.k, w=w, n_init=2, random_state=seed)
            .fit(rows.X, constraints=pairs)
            .labels_,
        )
        for w in WEIGHTS
    )
