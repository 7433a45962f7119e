"""Distances against the printed formulas, dense and sparse, plain and weighted."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from coterie.distortions import (
    DISTORTIONS,
    Bregman,
    Cosine,
    IDivergence,
    KLDivergence,
    Mahalanobis,
    SquaredEuclidean,
    get_distortion,
)
from coterie.exceptions import InvalidData, InvalidParameter
from reference import distortions as naive

RNG = np.random.default_rng(0)
N, D, K = 40, 6, 3


def sparse_rows(low: float = 0.0) -> np.ndarray:
    X = RNG.random((N, D)) + low
    X[RNG.random((N, D)) < 0.4] = low
    X[:, 0] += 0.1  # no row is all zeros
    return X


CASES = {
    "sqeuclidean": (SquaredEuclidean(), naive.sqeuclidean, RNG.normal(size=(N, D))),
    "cosine": (Cosine(), naive.cosine, RNG.normal(size=(N, D))),
    "correlation": (get_distortion("correlation"), naive.correlation, RNG.normal(size=(N, D))),
    "i-divergence": (IDivergence(smoothing=0), naive.i_divergence, sparse_rows()),
    "itakura-saito": (get_distortion("itakura-saito"), naive.itakura_saito, sparse_rows(0.2)),
    "bregman": (Bregman(lambda x: x**2, lambda x: 2 * x), naive.sqeuclidean, sparse_rows()),
}
WEIGHTED = [name for name in CASES if name != "correlation"]


def centers_for(X: np.ndarray) -> np.ndarray:
    return np.stack([X[k::K].mean(axis=0) for k in range(K)])


def dense_and_sparse(X: np.ndarray, name: str):
    return [X] if name == "itakura-saito" else [X, sp.csr_matrix(X), sp.csr_array(X)]


@pytest.mark.parametrize(
    ("name", "weighted"), [(name, False) for name in CASES] + [(name, True) for name in WEIGHTED]
)
def test_distance_to_centers_is_the_printed_one(name, weighted):
    distortion, formula, X = CASES[name]
    A = RNG.random(D) + 0.5 if weighted else None
    centers = centers_for(X)
    expected = np.array([[formula(x, c, A) for c in centers] for x in X])
    for rows in dense_and_sparse(X, name):
        np.testing.assert_allclose(distortion.to_centers(rows, centers, A), expected, atol=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_distance_between_rows_is_the_printed_one(name):
    distortion, formula, X = CASES[name]
    if name in ("i-divergence", "itakura-saito", "bregman"):
        formula = naive.to_the_mean(formula)
    A = RNG.random(D) + 0.5 if name in WEIGHTED else None
    i, j = RNG.integers(N, size=(2, 30))
    expected = [formula(X[a], X[b], A) for a, b in zip(i, j, strict=True)]
    for rows in dense_and_sparse(X, name):
        found = distortion.between(rows, i, j, A)
        np.testing.assert_allclose(found, expected, atol=1e-7)
        np.testing.assert_allclose(distortion.between(rows, j, i, A), found, atol=1e-12)
        assert (found <= np.asarray(distortion.phi_max(rows, A)) + 1e-9).all()


@pytest.mark.parametrize("name", ["sqeuclidean", "cosine", "i-divergence", "itakura-saito"])
def test_distances_from_kept_columns_are_those_from_rows(name):
    distortion, _, X = CASES[name]
    A = RNG.random(D) + 0.5
    i, j = np.arange(0, 20), np.arange(20, 40)
    for rows in dense_and_sparse(X, name):
        columns = distortion.between_columns(rows[i], rows[j])
        scale = distortion.row_scale(rows, A)
        scales = np.empty(0) if scale is None else scale[i] * scale[j]
        np.testing.assert_allclose(
            distortion.from_columns(columns, A, scales),
            distortion.between(rows, i, j, A),
            rtol=1e-9,
            atol=1e-12,
        )


@pytest.mark.parametrize("A", [None, "diagonal", "full", "per-diagonal", "per-full"])
def test_euclidean_under_every_form_of_metric(A):
    X = RNG.normal(size=(N, D))
    centers = centers_for(X)
    roots = RNG.normal(size=(K, D, D))
    full = roots @ roots.transpose(0, 2, 1) + np.eye(D)
    metric, each = {
        None: (None, [np.eye(D)] * K),
        "diagonal": (np.arange(1.0, D + 1), [np.diag(np.arange(1.0, D + 1))] * K),
        "full": (full[:1], [full[0]] * K),
        "per-diagonal": (full[:, 0] ** 2 + 0.1, [np.diag(row) for row in full[:, 0] ** 2 + 0.1]),
        "per-full": (full, list(full)),
    }[A]
    expected = [[naive.sqeuclidean(x, centers[k], each[k]) for k in range(K)] for x in X]
    distortion = SquaredEuclidean()
    for rows in (X, sp.csr_matrix(X)):
        np.testing.assert_allclose(
            distortion.to_centers(rows, centers, metric), expected, atol=1e-9
        )
        found = distortion.between(rows, np.array([0, 1]), np.array([2, 3]), metric)
        pairs = [
            [naive.sqeuclidean(X[a], X[b], each[k]) for k in range(K)] for a, b in [(0, 2), (1, 3)]
        ]
        np.testing.assert_allclose(np.broadcast_to(found.reshape(2, -1), (2, K)), pairs, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_centroid_minimises_the_distortion(name):
    distortion, _, X = CASES[name]
    scale = distortion.row_scale(X)
    scaled = X if scale is None else X * scale[:, None]
    center = distortion.centroid(scaled.sum(axis=0, keepdims=True), np.array([float(N)]))
    best = distortion.to_centers(X, center).sum()
    for _ in range(50):
        moved = center + 0.05 * RNG.normal(size=center.shape)
        moved = np.maximum(moved, 1e-3) if name in ("i-divergence", "itakura-saito") else moved
        assert distortion.to_centers(X, moved).sum() >= best - 1e-9


def test_kl_takes_counts_as_distributions():
    counts = RNG.poisson(2.0, size=(N, D)).astype(float) + np.eye(D)[RNG.integers(D, size=N)]
    rows = counts / counts.sum(axis=1, keepdims=True)
    kl, raw = KLDivergence(), IDivergence()
    centers = centers_for(rows) + 1e-3
    np.testing.assert_allclose(kl.to_centers(counts, centers), raw.to_centers(rows, centers))
    i, j = np.arange(10), np.arange(10, 20)
    np.testing.assert_allclose(
        kl.between(sp.csr_matrix(counts), i, j), raw.between(rows, i, j), atol=1e-12
    )


def test_zero_in_a_centre_costs_more_than_any_other_and_is_no_nan():
    plain = IDivergence(smoothing=0)
    gaps = plain.to_centers(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([[1.0, 0.0], [0.9, 0.1]]))
    assert np.isfinite(gaps).all()
    assert gaps[0, 0] > 100 > gaps[0, 1]
    assert gaps[1, 0] == 0


@pytest.mark.parametrize("name", ["sqeuclidean", "cosine", "correlation", "i-divergence"])
def test_float32_stays_float32(name):
    distortion, _, X = CASES[name]
    small = X.astype(np.float32)
    gaps = distortion.to_centers(small, centers_for(small))
    assert gaps.dtype == np.float32
    np.testing.assert_allclose(gaps, distortion.to_centers(X, centers_for(X)), atol=1e-4)


def test_mahalanobis_takes_its_metric_from_the_rows():
    X = RNG.normal(size=(200, 3)) @ RNG.normal(size=(3, 3))
    bound = Mahalanobis().bind(X)
    np.testing.assert_allclose(bound.initial(3)[0], np.linalg.inv(np.cov(X.T)), rtol=1e-6)
    assert Mahalanobis(np.ones(3)).initial(3).shape == (3,)


@pytest.mark.parametrize(
    ("distortion", "X", "words"),
    [
        (Cosine(), [[1.0, 0.0], [0.0, 0.0]], "row 1 is all zeros"),
        (get_distortion("correlation"), [[2.0, 2.0], [1.0, 0.0]], "row 0 is constant"),
        (KLDivergence(), [[1.0, 0.0], [0.5, -1.0]], "row 1, column 1 is -1"),
        (KLDivergence(), [[0.0, 0.0], [0.5, 1.0]], "row 0 is all zeros"),
        (get_distortion("itakura-saito"), [[1.0, 0.0]], "row 0, column 1 is 0"),
        (SquaredEuclidean(), [[1.0, 1e300]], "row 0, column 1 is 1e\\+300.*overflow"),
        (Bregman(np.log, lambda x: 1 / x, low=1), [[0.5]], "row 0, column 0 is 0.5"),
    ],
)
def test_rows_outside_the_domain_are_named(distortion, X, words):
    with pytest.raises(InvalidData, match=words):
        distortion.check_rows(np.array(X))


def test_sparse_rows_outside_the_domain_are_named():
    X = sp.csr_matrix(np.array([[1.0, 0.0, 2.0], [0.0, -3.0, 1.0]]))
    with pytest.raises(InvalidData, match="row 1, column 1 is -3"):
        KLDivergence().check_rows(X)
    with pytest.raises(InvalidData, match="sparse matrix has zeros"):
        get_distortion("itakura-saito").check_rows(X)
    with pytest.raises(InvalidData, match="phi minus phi\\(0\\)"):
        Bregman(lambda x: x**2 + 1, lambda x: 2 * x).check_rows(X)


def test_names():
    assert set(DISTORTIONS) >= {"sqeuclidean", "mahalanobis", "cosine", "correlation", "kl"}
    with pytest.raises(InvalidParameter, match="Did you mean 'cosine'"):
        get_distortion("cosin")
    with pytest.raises(InvalidParameter, match="positive definite"):
        Mahalanobis([[1.0, 2.0], [2.0, 1.0]])
    assert get_distortion("cosine") == Cosine()
    assert IDivergence(0.1) != IDivergence(0.2)
