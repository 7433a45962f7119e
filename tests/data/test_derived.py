"""What `transform` gives for files: rows made as they are read, and never held as a whole."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from coterie import RCA, DPMeans, PCKMeans, TVClust
from coterie.cluster.kmeans.problem import KMeansProblem
from coterie.cluster.kmeans.screening import stage_of
from coterie.cluster.kmeans.values import KMeansSettings
from coterie.constraints import Constraints, sample_pairs
from coterie.data import DerivedRows, open_rows
from coterie.distortions import get_distortion

N, D, K = 9_000, 5, 3


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.setattr("coterie.data.passes._BLOCK_ROWS", 1_000)
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=N)
    X = (3 * rng.standard_normal((K, D))[y] + rng.standard_normal((N, D))).astype(np.float32)
    np.save(tmp_path / "rows.npy", X)
    return X, sample_pairs(y, 200, random_state=0), open_rows(tmp_path / "rows.npy")


def test_a_row_has_the_same_bits_whichever_stretch_it_is_read_with(made):
    X, _, rows = made
    model = PCKMeans(K, random_state=0).fit(X)
    wanted, found = model.transform(X), model.transform(rows)
    assert isinstance(found, DerivedRows)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    for start, stop in [(0, N), (0, 1), (999, 1_001), (1_000, 2_000), (4_321, 8_765), (70, 70)]:
        np.testing.assert_array_equal(found.read(start, stop), wanted[start:stop])
    part = found.cut(1_500, 4_500)
    np.testing.assert_array_equal(part.read(10, 2_900), wanted[1_510:4_400])
    at = np.array([2_999, 0, 0, 1_717])
    np.testing.assert_array_equal(part.take(at), wanted[1_500 + at])
    assert part.cut(7, 9).place(1) == rows.place(1_508)


def test_derived_rows_are_rows_for_another_estimator(made):
    X, known, rows = made
    rca = RCA(2).fit(X, constraints=known)
    there = PCKMeans(K, random_state=0).fit(rca.transform(rows), constraints=known)
    here = PCKMeans(K, random_state=0).fit(rca.transform(X), constraints=known)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    assert there.objective_ == here.objective_


def test_a_pipeline_reads_files_from_end_to_end(made):
    X, _, rows = made
    here = make_pipeline(RCA(2), DPMeans(n_clusters_hint=K, random_state=0)).fit(X)
    there = make_pipeline(RCA(2), DPMeans(n_clusters_hint=K, random_state=0)).fit(rows)
    np.testing.assert_array_equal(there[-1].labels_, here[-1].labels_)
    np.testing.assert_array_equal(there.predict(rows), here.predict(X))


def test_nothing_is_read_before_it_is_asked_for(made, monkeypatch):
    X, _, rows = made
    model = TVClust(covariance_type="diag", truncation=4, random_state=0).fit(X[:500])
    monkeypatch.setattr(type(rows), "_read", None)
    assert model.predict_proba(rows).shape == (N, model.n_clusters_)


def peak(function, *arguments):
    """Bytes that numpy and Python held at most while it ran."""
    tracemalloc.start()
    try:
        function(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("estimator", [PCKMeans(40, random_state=0), DPMeans(init="single")])
def test_scores_and_labels_need_no_n_by_k(tmp_path, estimator):
    n, k = 200_000, 40
    X = np.random.default_rng(0).standard_normal((n, 2)).astype(np.float32)
    np.save(tmp_path / "rows.npy", X)
    rows = open_rows(tmp_path / "rows.npy")
    if isinstance(estimator, DPMeans):
        estimator.set_params(init=np.arange(2_000) % k, lambda_=9.0, max_iter=1)
    model = estimator.fit(X[:2_000])
    table = n * len(model.cluster_centers_) * 4
    assert peak(model.predict, rows) < table / 2
    if hasattr(model, "score"):
        assert peak(model.score, rows) < table / 2


def test_the_stage_of_many_rows_holds_no_list_of_them(tmp_path):
    n = 2_000_000
    np.save(tmp_path / "rows.npy", np.zeros((n, 1), dtype=np.float32))
    settings = KMeansSettings(n_clusters=3)
    known = Constraints(n, must_link=[(0, 5), (7, n - 1)])
    rows = open_rows(tmp_path / "rows.npy")
    problem = KMeansProblem(rows, known, None, get_distortion("sqeuclidean"), settings)
    assert peak(stage_of, problem, 0) < 8 * n
    found = stage_of(problem, 0).rows
    assert np.isin([0, 5, 7, n - 1], found).all()
    assert (np.diff(found) > 0).all()
    assert found.size == 10_000
