"""Centres move to where they are missed: no start may leave a large class cut in two."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from coterie import LCVQE, COPKMeans, HMRFKMeans, MPCKMeans, PCKMeans
from coterie.cluster.kmeans import relocation
from coterie.cluster.kmeans.run import run
from coterie.constraints import sample_pairs


@pytest.fixture(scope="module")
def unequal():
    """Rows (1200, 6) of four classes, 70, 20, 7 and 3 of 100."""
    rng = np.random.default_rng(77)
    y = rng.choice(4, p=[0.7, 0.2, 0.07, 0.03], size=1200)
    return rng.normal(size=(4, 6))[y] * 2.2 + rng.normal(size=(1200, 6)), y


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [PCKMeans, HMRFKMeans, LCVQE, COPKMeans])
def test_few_true_pairs_do_not_hide_small_classes(unequal, kind, seed):
    X, y = unequal
    known = sample_pairs(y, 120, random_state=seed)
    plain = adjusted_rand_score(y, KMeans(4, n_init=10, random_state=seed).fit(X).labels_)
    found = kind(4, random_state=seed).fit(X, constraints=known)
    assert adjusted_rand_score(y, found.labels_) >= plain - 0.02


@pytest.mark.parametrize("seed", range(2))
def test_of_many_clusters_each_has_its_centre(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(60, size=3000)
    X = rng.normal(size=(60, 8))[y] * 3 + rng.normal(size=(3000, 8)) * 0.5
    found = PCKMeans(60, random_state=seed).fit(X)
    centers = np.stack([X[y == k].mean(axis=0) for k in range(60)])
    true = ((X - centers[y]) ** 2).sum() / 2
    assert found.objective_ <= true * (1 + 1e-6)


@pytest.mark.parametrize(
    "model",
    [
        *(PCKMeans(6, distortion=name) for name in ("sqeuclidean", "cosine", "kl")),
        *(HMRFKMeans(6, distortion=name) for name in ("sqeuclidean", "cosine", "kl")),
        MPCKMeans(6),
    ],
    ids=str,
)
def test_the_objective_of_what_is_kept_never_rises(model):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.dirichlet(np.ones(5), size=90) + 0.01
        known = sample_pairs(rng.integers(3, size=90), 30, random_state=seed)
        found = clone(model).set_params(random_state=seed).fit(X, constraints=known)
        history = found.objective_history_
        slack = 1e-9 * np.abs(history).max()
        assert (np.diff(history) <= slack).all()
        assert found.objective_ == history[-1]


def test_as_many_clusters_as_rows_and_equal_rows():
    X = np.repeat(np.arange(5.0), 2)[:, None]
    assert np.unique(PCKMeans(5, random_state=0).fit(X).labels_).size == 5
    every = np.arange(7.0)[:, None]
    assert np.unique(PCKMeans(7, random_state=0).fit(every).labels_).size == 7


@pytest.mark.parametrize(("model", "runs"), [(PCKMeans(2), 1), (MPCKMeans(2), 2)], ids=str)
def test_where_no_centre_is_left_to_move_nothing_is_run(monkeypatch, model, runs):
    """Two clusters are one pair: when that has been tried, the next run would begin at its end.

    Under a metric that is learned it begins with the first metric, which is another run, once.
    """
    begun = []

    def counted(problem, start, *given, **limits):
        begun.append(start)
        return run(problem, start, *given, **limits)

    monkeypatch.setattr(relocation, "run", counted)
    X = np.concatenate([np.arange(10.0), np.arange(100.0, 110.0)])[:, None]
    clone(model).set_params(random_state=0).fit(X)
    assert len(begun) == runs


@pytest.mark.parametrize(("k", "runs"), [(2, 1), (3, 1), (4, 2), (6, 3)])
def test_no_run_moves_nothing(k, runs, monkeypatch):
    """With two or three clusters only one pair can be joined; the same run was made three times."""
    moved = []

    def counted(problem, start, *rest, **how):
        moved.append(start)
        return run(problem, start, *rest, **how)

    monkeypatch.setattr(relocation, "run", counted)
    X = np.repeat(np.eye(k) * 9, 5, axis=0) + np.random.default_rng(0).normal(size=(5 * k, k))
    PCKMeans(k, random_state=0).fit(X)
    assert len(moved) == runs  # every one fails: the clusters are as they should be
