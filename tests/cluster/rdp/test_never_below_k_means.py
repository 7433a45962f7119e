"""The bar of RDPMeans' defaults: with true pairs never below K-Means told the number it finds."""

from __future__ import annotations

import numpy as np
import pytest
from common.pairs import true_pairs
from sklearn.cluster import KMeans
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_moons,
)
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from coterie.cluster import RDPMeans

DRAWS = 4


def scaled(X, y):
    return StandardScaler().fit_transform(X), y


def stretched():
    X, y = make_blobs(400, centers=4, random_state=7)
    return X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y


def useless_columns():
    X, y = make_blobs(500, centers=4, n_features=3, random_state=4)
    noise = np.random.default_rng(0).normal(size=(500, 20))
    return scaled(np.hstack([X, 3 * noise]), y)


def few_values():
    """Eight columns of four values each."""
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=500)
    chances = rng.dirichlet(np.ones(4), size=(4, 8))
    return np.array([[rng.choice(4, p=chances[k, c]) for c in range(8)] for k in y], float), y


def few_digits():
    X, y = load_digits(return_X_y=True)
    return X[:700], y[:700]


SETS = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: scaled(*load_wine(return_X_y=True)),
    "cancer": lambda: scaled(*load_breast_cancer(return_X_y=True)),
    "digits": few_digits,
    "five that overlap": lambda: make_blobs(500, centers=5, cluster_std=1.5, random_state=1),
    "twenty": lambda: make_blobs(1_500, 16, centers=20, cluster_std=3.0, random_state=1),
    "unequal": lambda: make_blobs([500, 200, 60, 30], 4, cluster_std=2.5, random_state=3),
    "useless columns": useless_columns,
    "moons": lambda: make_moons(400, noise=0.1, random_state=0),
    "stretched": stretched,
    "few values": few_values,
    "no clusters": lambda: (
        np.random.default_rng(0).normal(size=(400, 5)),
        np.random.default_rng(1).integers(3, size=400),
    ),
}


SHARES = (0.1, 1.0, 4.0)  # pairs a row
#: K-Means merges two classes of four whatever its number; pairs between them, not yet enough to
#: part them, push rows away (ARI -.03).
FALLS_SHORT = {("useless columns", 1.0)}


def cells():
    for name in SETS:
        for share in SHARES:
            short = (name, share) in FALLS_SHORT
            marks = [pytest.mark.xfail(reason="see FALLS_SHORT", strict=True)] if short else []
            yield pytest.param(name, share, marks=marks, id=f"{name}, {share:g} pairs a row")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::coterie.exceptions.CoterieWarning")
@pytest.mark.parametrize(("name", "share"), list(cells()))
def test_with_true_pairs_never_below_k_means_told_the_number_found(name, share):
    X, y = SETS[name]()
    gains = []
    for draw in range(DRAWS):
        pairs = true_pairs(y, round(share * len(y)), seed=draw)
        model = RDPMeans(random_state=draw).fit(X, constraints=pairs)
        plain = KMeans(model.n_clusters_, n_init=10, random_state=draw).fit(X)
        gains.append(adjusted_rand_score(y, model.labels_) - adjusted_rand_score(y, plain.labels_))
    assert np.mean(gains) >= -0.02, f"ARI beside K-Means: {np.round(gains, 3)}"
