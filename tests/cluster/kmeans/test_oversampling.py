"""k-means||: draws that depend on rows and seed alone, in proportion to the distance."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from coterie.cluster.kmeans.oversampling import oversampled, thinned, uniforms
from coterie.cluster.kmeans.problem import KMeansProblem
from coterie.cluster.kmeans.values import KMeansSettings
from coterie.constraints import Constraints
from coterie.data import open_rows, use_threads
from coterie.distortions import Cosine, SquaredEuclidean


def problem(X, k=3, weights=None, distortion=None) -> KMeansProblem:
    chosen = SquaredEuclidean() if distortion is None else distortion
    return KMeansProblem(X, Constraints(X.shape[0]), weights, chosen, KMeansSettings(k))


@pytest.fixture
def X() -> np.ndarray:
    rng = np.random.default_rng(0)
    return 20 * rng.standard_normal((8, 3))[rng.integers(8, size=30_000)] + rng.random((30_000, 3))


def test_uniform_numbers_are_uniform_and_belong_to_rows():
    drawn = uniforms(5, np.arange(200_000))
    assert drawn.min() > 0
    assert drawn.max() < 1
    counts = np.histogram(drawn, bins=20, range=(0, 1))[0]
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 50  # chi-square with 19 degrees of freedom
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.01
    assert abs(np.corrcoef(drawn, uniforms(6, np.arange(200_000)))[0, 1]) < 0.01
    np.testing.assert_array_equal(uniforms(5, np.arange(100, 200)), drawn[100:200])


def test_candidates_find_every_group_and_weigh_its_rows(X):
    task = problem(X, 8)
    candidates, near = oversampled(task, np.empty((0, 3)), None, 0)
    assert len(candidates) == 1 + 5 * 8
    assert near.sum() == len(X)
    centers = thinned(task.distortion, None, candidates, near, 0, 8, np.random.default_rng(0))
    gaps = ((X[:, None] - centers[None]) ** 2).sum(axis=2).min(axis=1)
    assert gaps.mean() < 2  # a group missed would cost hundreds


def test_known_centres_come_first_and_stay(X):
    task = problem(X, 8)
    known = X[:2]
    candidates, near = oversampled(task, known, None, 0)
    np.testing.assert_array_equal(candidates[:2], known)
    centers = thinned(task.distortion, None, candidates, near, 2, 8, np.random.default_rng(0))
    np.testing.assert_array_equal(centers[:2], known)


def test_the_same_for_any_threads_and_from_files(X, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    with use_threads(1):
        one = oversampled(problem(X), np.empty((0, 3)), None, 7)
    for rows in (X, open_rows(tmp_path / "rows.npy")):
        with use_threads(3):
            two = oversampled(problem(rows), np.empty((0, 3)), None, 7)
        np.testing.assert_array_equal(one[0], two[0])
        np.testing.assert_array_equal(one[1], two[1])


def test_rows_without_weight_are_never_drawn(X):
    weights = np.zeros(len(X))
    weights[:5] = 1.0
    candidates, near = oversampled(problem(X, 3, weights), np.empty((0, 3)), None, 0)
    assert {tuple(row) for row in candidates} <= {tuple(row) for row in X[:5]}
    assert near.sum() == 5


def test_draws_are_in_proportion_to_the_distance():
    # One row at distance 3 (squared 9) against nine at distance 1: it is drawn half of the time.
    X = np.array([[0.0], *[[1.0]] * 9, [3.0]])
    hits = 0
    for seed in range(400):
        candidates, _ = oversampled(problem(X, 1), X[:1], None, 100 * seed)
        hits += candidates[1, 0] == 3.0
    assert 160 < hits < 240  # 200 expected, standard deviation 10


def test_fewer_different_rows_than_clusters():
    X = np.zeros((10, 2))
    task = problem(X, 4)
    candidates, near = oversampled(task, np.empty((0, 2)), None, 0)
    assert len(candidates) == 1
    assert near.tolist() == [10]
    centers = thinned(task.distortion, None, candidates, near, 0, 4, np.random.default_rng(0))
    np.testing.assert_array_equal(centers, np.zeros((4, 2)))


def test_directions_of_sparse_rows():
    rng = np.random.default_rng(1)
    X = sp.random(500, 30, density=0.2, format="csr", random_state=1)
    X = sp.csr_matrix(X + sp.csr_matrix(np.eye(500, 30)[rng.permutation(500)] + 0.001))
    task = problem(X, 5, distortion=Cosine())
    candidates, near = oversampled(task, np.empty((0, 30)), None, 0)
    assert candidates.shape == (26, 30)
    np.testing.assert_allclose(np.linalg.norm(candidates, axis=1), 1.0)
    assert near.sum() == 500
