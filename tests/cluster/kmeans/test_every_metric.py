"""Every distortion with every form of metric, with and without pairs, on dense and CSR rows."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from coterie import Constraints, HMRFKMeans, PCKMeans
from coterie.constraints import sample_pairs
from coterie.distortions import DISTORTIONS, Bregman, Mahalanobis, get_distortion
from coterie.exceptions import CoterieWarning, InvalidData, InvalidParameter

N, D, K = 60, 4, 3
MATRIX = np.array([[2.0, 0.5, 0, 0], [0.5, 1, 0, 0], [0, 0, 3, -1], [0, 0, -1, 1]])
MEASURES = {
    **{name: get_distortion(name) for name in DISTORTIONS},
    "mahalanobis-diagonal": Mahalanobis([1, 2, 3, 4]),
    "mahalanobis-full": Mahalanobis(MATRIX),
    "cubic": Bregman(lambda x: x**3, lambda x: 3 * x**2, low=0),
}
FORMS = [None, "diagonal", "full"]
SETTINGS = list(product(MEASURES, FORMS, [False, True], [False, True], [False, True]))


def rows_and_pairs(seed: int, *, paired: bool) -> tuple[np.ndarray, Constraints]:
    """Rows without negative values in three clusters, and pairs of which one in five is wrong."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(K, size=N)
    X = rng.random((N, D)) + 0.05 + 0.8 * np.eye(D)[truth]
    pairs = sample_pairs(truth, 40, noise=0.2, random_state=seed).as_soft()
    return X, pairs if paired else Constraints(N)


def can_learn(name: str, form: str | None, per_cluster: bool) -> bool:
    distortion = MEASURES[name]
    if form is None:
        return True
    return form in distortion.forms and (distortion.per_cluster or not per_cluster)


def fitted(name: str, form: str | None, per_cluster: bool, seed: int, X, known) -> HMRFKMeans:
    model = HMRFKMeans(
        K,
        distortion=MEASURES[name],
        learn_metric=form is not None,
        metric_form=form or "diagonal",
        per_cluster=per_cluster,
        prior="rayleigh" if seed % 2 else None,
        init=X[:K].toarray() if sp.issparse(X) else X[:K],
        max_iter=25,
        tol=0.0,
        random_state=seed,
    )
    return model.fit(X, constraints=known)


@pytest.mark.parametrize(("name", "form", "per_cluster", "paired", "sparse"), SETTINGS)
def test_the_objective_never_rises(name, form, per_cluster, paired, sparse):
    for seed in range(2):
        X, known = rows_and_pairs(seed, paired=paired)
        rows = sp.csr_matrix(X) if sparse else X
        if not can_learn(name, form, per_cluster):
            with pytest.raises(InvalidParameter, match=r"cannot learn|per_cluster=True is for"):
                fitted(name, form, per_cluster, seed, rows, known)
            continue
        if sparse and name == "itakura-saito":
            with pytest.raises(InvalidData, match="sparse"):
                fitted(name, form, per_cluster, seed, rows, known)
            continue
        model = fitted(name, form, per_cluster, seed, rows, known)
        history = model.objective_history_
        assert np.isfinite(history).all()
        assert (np.diff(history) <= 1e-9 * np.abs(history[:-1])).all(), history
        normalizer = model._log_normalizer()
        np.testing.assert_array_equal(
            model.predict(rows), (model.transform(rows) - normalizer).argmin(axis=1)
        )
        if sparse:
            dense = fitted(name, form, per_cluster, seed, X, known)
            assert model.objective_ == pytest.approx(dense.objective_, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("form", ["diagonal", "full"])
@pytest.mark.parametrize("pairs", [0, 50])
def test_mahalanobis_learns_on_iris(form, pairs):
    X, y = load_iris(return_X_y=True)
    known = sample_pairs(y, pairs, random_state=0) if pairs else None
    for matrix in (None, [1, 2, 3, 4], np.linalg.inv(np.cov(X.T))):
        distortion = "mahalanobis" if matrix is None else Mahalanobis(matrix)
        model = HMRFKMeans(3, distortion=distortion, metric_form=form, random_state=0)
        history = model.fit(X, constraints=known).objective_history_
        assert (np.diff(history) <= 1e-9 * np.abs(history[:-1])).all()
        assert model.distortion_params_.shape == ((4,) if form == "diagonal" else (1, 4, 4))


def test_a_diagonal_starts_from_the_inverse_variances():
    X, _ = load_iris(return_X_y=True)
    variances = X.var(axis=0, ddof=1)
    for distortion in (Mahalanobis(), Mahalanobis(np.linalg.inv(np.cov(X.T)))):
        for rows in (X, sp.csr_matrix(X)):
            bound = distortion.bind(rows, "diagonal")
            np.testing.assert_allclose(bound.initial(4), 1 / variances, rtol=1e-9)


def test_the_covariance_of_sparse_rows_is_theirs_and_they_are_not_filled(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.random((9000, 12)) * (rng.random((9000, 12)) < 0.2)
    filled = []
    monkeypatch.setattr(
        sp.csr_matrix, "toarray", lambda self: filled.append(self.shape) or self.todense().A
    )
    bound = Mahalanobis().bind(sp.csr_matrix(X))
    np.testing.assert_allclose(bound.initial(12)[0], np.linalg.inv(np.cov(X.T)), rtol=1e-8)
    assert all(shape[0] <= 12 for shape in filled)  # products of columns only


def test_sparse_text_is_measured_and_what_is_wrong_with_it_is_said():
    counts = sp.random(30, 200, density=0.05, random_state=0, format="csr")
    with pytest.warns(CoterieWarning, match="30 rows in 200 columns is singular"):
        model = PCKMeans(2, metric="mahalanobis", random_state=0).fit(counts)
    assert np.isfinite(model.objective_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learned = HMRFKMeans(2, distortion="mahalanobis", random_state=0).fit(counts)
    assert np.isfinite(learned.distortion_params_).all()
    wide = sp.random(20, 20_000, density=0.001, random_state=0, format="csr")
    with pytest.raises(InvalidParameter, match="covariance of 20000 columns"):
        PCKMeans(2, metric="mahalanobis").fit(wide)


def test_constant_rows_and_columns_have_a_mahalanobis_distance():
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[:, 1] = 7.0
    for form in ("diagonal", "full"):
        model = HMRFKMeans(2, distortion="mahalanobis", metric_form=form, random_state=0)
        assert np.isfinite(model.fit(X).objective_)
        assert np.isfinite(model.fit(np.ones((10, 3))).cluster_centers_).all()
