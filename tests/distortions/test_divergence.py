"""Smoothed centres of I-divergence and Kullback-Leibler: priors, defaults, annealing."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.metrics import normalized_mutual_info_score

from coterie import HMRFKMeans, PCKMeans
from coterie.constraints import sample_pairs
from coterie.distortions import IDivergence, KLDivergence
from coterie.exceptions import InvalidParameter
from reference.distortions import i_divergence

RNG = np.random.default_rng(0)
D = 6


def texts(
    seed: int = 0, n: int = 90, d: int = 60, length: int = 12
) -> tuple[np.ndarray, np.ndarray]:
    """Short texts of three topics, as counts."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n)
    topics = rng.dirichlet(np.full(d, 0.3), size=3)
    return np.stack([rng.multinomial(length, topics[k]) for k in truth]).astype(float), truth


def rows_of(count: int = 8) -> np.ndarray:
    X = RNG.random((count, D)) * (RNG.random((count, D)) < 0.5)
    X[:, 0] += 0.1
    return X / X.sum(axis=1, keepdims=True)


def total(X: np.ndarray, center: np.ndarray, A: np.ndarray | None) -> float:
    return sum(i_divergence(x, center, A) for x in X)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [0.01, 0.5, 3.0, 40.0])
def test_a_floored_centre_is_the_nearest_distribution_above_the_floor(alpha, weighted):
    for _ in range(5):
        X = rows_of()
        A = RNG.random(D) + 0.2 if weighted else None
        kl = KLDivergence(smoothing=alpha)
        center = kl.centroid(X.sum(axis=0, keepdims=True), np.array([8.0]), A)[0]
        floor = alpha / (1 + alpha) / D
        assert center.sum() == pytest.approx(1)
        assert (center >= floor * (1 - 1e-12)).all()
        # The same by a general solver, from the smoothed mean that (3.23) prints.
        found = minimize(
            lambda mu, X=X, A=A: total(X, np.maximum(mu, 1e-9), A),
            (X.mean(axis=0) + alpha / D) / (1 + alpha),
            bounds=[(floor, 1)] * D,
            constraints={"type": "eq", "fun": lambda mu: mu.sum() - 1},
            options={"ftol": 1e-12, "maxiter": 300},
        )
        assert total(X, center, A) <= found.fun + 1e-9
        np.testing.assert_allclose(center, found.x, atol=1e-3)


def test_a_centre_above_the_floor_is_the_mean():
    X = rows_of() + 0.05
    X /= X.sum(axis=1, keepdims=True)
    center = KLDivergence(smoothing=0.01).centroid(X.sum(axis=0, keepdims=True), np.array([8.0]))
    np.testing.assert_allclose(center[0], X.mean(axis=0))
    raw = IDivergence(smoothing=1.0).bind(3 * rows_of())
    np.testing.assert_allclose(
        raw.centroid(np.array([[4.0, 0, 0, 0, 0, 2.0]]), np.array([2.0])),
        [[2.0, 0.25, 0.25, 0.25, 0.25, 1.0]],  # half of what a uniform row of mass 3 has
    )


@pytest.mark.parametrize("alpha", [0.5, 20.0])
def test_a_centre_with_a_dirichlet_prior_minimises_the_rows_and_the_prior(alpha):
    X, A = rows_of(), RNG.random(D) + 0.2
    kl = KLDivergence(smoothing=alpha, prior="dirichlet")
    center = kl.centroid(X.sum(axis=0, keepdims=True), np.array([8.0]), A)
    printed = (X.mean(axis=0) + alpha / 8 / D) / (1 + alpha / 8)  # (3.23) with alpha / n
    np.testing.assert_allclose(center[0], printed)
    uniform = np.full(D, 1 / D)
    assert kl.center_costs(center, A)[0] == pytest.approx(
        alpha * i_divergence(uniform, center[0], A)
    )

    def loss(mu: np.ndarray) -> float:
        return total(X, mu, A) + kl.center_costs(mu[None], A)[0]

    for _ in range(30):
        moved = np.maximum(center[0] * (1 + 0.1 * RNG.normal(size=D)), 1e-4)
        assert loss(moved) >= loss(center[0])


def test_rows_are_as_they_are_whatever_the_smoothing():
    X, centers = rows_of(), rows_of(3) + 0.02
    expected = [[i_divergence(x, c) for c in centers] for x in X]
    for alpha in (0.0, 0.1, 100.0):
        for rows in (X, sp.csr_matrix(X)):
            found = KLDivergence(smoothing=alpha).to_centers(rows, centers)
            np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_default_goes_by_sparsity_and_length():
    dense = RNG.random((20, 5)) + 0.1
    assert KLDivergence().bind(dense).smoothing == 0.01
    counts = np.zeros((20, 100))
    counts[:, :10] = 2.0  # 90 % zeros, ten words of length 20
    alpha = KLDivergence().bind(counts).smoothing
    assert alpha / (1 + alpha) == pytest.approx(0.75 * 0.9)
    assert KLDivergence().bind(sp.csr_matrix(counts)).smoothing == pytest.approx(alpha)
    rows = KLDivergence(prior="dirichlet").bind
    assert rows(counts).smoothing == pytest.approx(90 / 20)
    assert rows(10 * counts).smoothing == pytest.approx(90 / 200)
    assert rows(0.1 * counts).smoothing == pytest.approx(90 / 10)  # not counts: ten words
    assert KLDivergence(0.3).bind(counts).smoothing == 0.3


SETTINGS = [
    {"smoothing": 0.0},
    {},
    {"smoothing": 30.0},
    {"annealed_from": 100.0},
    {"prior": "dirichlet"},
    {"prior": "dirichlet", "smoothing": 200.0},
    {"prior": "dirichlet", "annealed_from": 500.0},
]


@pytest.mark.parametrize("kind", [KLDivergence, IDivergence])
@pytest.mark.parametrize("settings", SETTINGS)
def test_the_objective_never_rises(settings, kind):
    for seed in range(3):
        X, truth = texts(seed)
        known = sample_pairs(truth, 40, noise=0.2, random_state=seed).as_soft()
        weights = np.random.default_rng(seed).random(len(X)) if seed % 2 else None
        for model in (
            PCKMeans(6, metric=kind(**settings)),
            HMRFKMeans(3, distortion=kind(**settings)),
            HMRFKMeans(3, distortion=kind(**settings), prior=None, init=X[:3]),
        ):
            model.set_params(random_state=seed, tol=0.0, max_iter=30)
            model.fit(sp.csr_matrix(X), constraints=known, sample_weight=weights)
            history = model.objective_history_
            assert np.isfinite(history).all()
            assert (np.diff(history) <= 1e-9 * np.abs(history[:-1])).all(), history


@pytest.mark.parametrize("prior", ["floor", "dirichlet"])
def test_the_objective_is_the_printed_one_with_the_prior(prior):
    X, truth = texts()
    kind = KLDivergence(smoothing=2.0, prior=prior)
    known = sample_pairs(truth, 40, random_state=0).as_soft()
    model = PCKMeans(3, w=0.5, metric=kind, random_state=0).fit(X, constraints=known)
    rows = X / X.sum(axis=1, keepdims=True)
    expected = sum(
        i_divergence(x, model.cluster_centers_[k]) for x, k in zip(rows, model.labels_, strict=True)
    )
    expected += model.violations_.value.sum()
    if prior == "dirichlet":
        uniform = np.full(60, 1 / 60)
        expected += 2 * sum(i_divergence(uniform, mu) for mu in model.cluster_centers_)
    assert model.objective_ == pytest.approx(expected)


def test_annealing_ends_with_the_smoothing_asked_for():
    kind = KLDivergence(smoothing=0.5, annealed_from=8.0)
    assert [stage.smoothing for stage in kind.cooling()] == [8.0, 4.0, 2.0, 1.0, 0.5]
    assert [stage.smoothing for stage in KLDivergence(0.5).cooling()] == [0.5]
    X, _ = texts()
    annealed = PCKMeans(3, metric=kind, random_state=0).fit(X)
    assert annealed.n_iter_ > 5
    again = PCKMeans(3, metric=KLDivergence(smoothing=0.5), init=annealed).fit(X)
    np.testing.assert_array_equal(again.labels_, annealed.labels_)


def test_an_empty_cluster_that_a_strong_prior_does_not_pay_for_stays_empty():
    X, _ = texts(n=20)
    kind = KLDivergence(smoothing=1e4, prior="dirichlet")
    model = PCKMeans(5, metric=kind, random_state=0).fit(X)
    empty = np.setdiff1d(np.arange(5), model.labels_)
    assert empty.size
    np.testing.assert_allclose(model.cluster_centers_[empty], 1 / 60)
    assert np.unique(PCKMeans(5, metric=KLDivergence(), random_state=0).fit(X).labels_).size == 5


@pytest.mark.parametrize("kind", [KLDivergence, IDivergence])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"smoothing": [1, 0.1]}, r"smoothing=\[1, 0.1\] must be .*a finite number"),
        ({"smoothing": -1}, "smoothing=-1"),
        ({"smoothing": np.nan}, "smoothing=nan"),
        ({"smoothing": "atuo"}, "Did you mean 'auto'"),
        ({"prior": "Dirichlet"}, "Did you mean 'dirichlet'"),
        ({"annealed_from": -2}, "annealed_from=-2"),
    ],
)
def test_bad_settings_are_named(kind, arguments, words):
    with pytest.raises(InvalidParameter, match=words):
        kind(**arguments)


def test_short_texts_are_told_apart():
    scores = {"auto": [], 0.01: []}
    for seed in range(6):
        X, truth = texts(seed, n=150, d=800, length=15)
        known = sample_pairs(truth, 40, random_state=seed)
        for alpha, found in scores.items():
            model = PCKMeans(3, metric=KLDivergence(alpha), random_state=seed)
            labels = model.fit(sp.csr_matrix(X), constraints=known).labels_
            found.append(normalized_mutual_info_score(truth, labels))
    assert np.mean(scores["auto"]) > np.mean(scores[0.01]) + 0.1
