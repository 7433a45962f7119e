"""Centres move to where they are missed: no start may leave a large class cut in two."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from coterie import LCVQE, Constraints, COPKMeans, HMRFKMeans, MPCKMeans, PCKMeans
from coterie.cluster.kmeans import relocation
from coterie.cluster.kmeans.halving import cut_in_two
from coterie.cluster.kmeans.problem import KMeansProblem
from coterie.cluster.kmeans.run import run
from coterie.cluster.kmeans.values import KMeansSettings
from coterie.constraints import sample_pairs
from coterie.distortions import get_distortion


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


@pytest.mark.parametrize("seed", range(2))
def test_in_many_columns_two_clusters_in_one_are_seen(seed):
    """A row is a poor centre there, even of two clusters: halves show where one is missed."""
    rng = np.random.default_rng(seed)
    y = rng.integers(120, size=6000)
    X = 1.2 * rng.normal(size=(120, 32))[y] + rng.normal(size=(6000, 32))
    centers = np.stack([X[y == k].mean(axis=0) for k in range(120)])
    true = ((X - centers[y]) ** 2).sum() / 2
    assert PCKMeans(120, random_state=seed).fit(X).objective_ <= true  # .4 and .7 % above it before


@pytest.mark.parametrize("distortion", ["sqeuclidean", "cosine", "kl"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_halves_save_what_they_are_said_to_save(distortion, sparse):
    rng = np.random.default_rng(0)
    X = rng.dirichlet(np.ones(6), size=200) * (rng.random((200, 6)) < 0.8) + 0.001
    labels = rng.integers(3, size=200).astype(np.int32)
    rows = sp.csr_array(X) if sparse else X
    settings = KMeansSettings(3)
    problem = KMeansProblem(rows, Constraints(200), None, get_distortion(distortion), settings)
    kind = problem.distortion
    measure = problem.measure(problem.initial_metric())
    origin = np.asarray(problem.rows.origin)
    centers = np.stack([_centroid(kind, X[labels == k] - origin) for k in range(3)])
    halves = cut_in_two(problem, measure, labels, centers, rng)
    for k in range(3):
        own = X[labels == k] - origin
        before = kind.to_centers(own, centers[k : k + 1]).sum()
        after = kind.to_centers(own, np.stack([halves.one[k], halves.other[k]])).min(axis=1).sum()
        assert halves.saved[k] == pytest.approx(before - after, rel=1e-6, abs=1e-9)
        assert halves.saved[k] > 0


def _centroid(distortion, rows):
    scale = distortion.row_scale(rows, None)
    scaled = rows if scale is None else scale[:, None] * rows
    return distortion.centroid(scaled.sum(axis=0)[None], np.array([float(len(rows))]), None)[0]
