"""Rows in files give the bits that the same rows in memory give, whoever reads them."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from coterie import (
    LCVQE,
    ConstrainedKMeans,
    COPKMeans,
    HMRFKMeans,
    Mosaic,
    MPCKMeans,
    PCKMeans,
    SeededKMeans,
)
from coterie.constraints import sample_pairs
from coterie.data import engine, open_rows, use_threads
from coterie.exceptions import InvalidData, RowsChanged

N, D, K = 20_000, 4, 3


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=N)
    X = (3 * rng.standard_normal((K, D))[y] + rng.standard_normal((N, D)) + 50).astype(np.float32)
    return X, sample_pairs(y, 300, random_state=0)


ESTIMATORS = {
    "pckmeans": PCKMeans(K, random_state=0),
    "pckmeans k-means++": PCKMeans(K, init="k-means++", random_state=1),
    "hmrf": HMRFKMeans(K, random_state=0),
    "mpck": MPCKMeans(K, random_state=0),
    "hmrf cosine": HMRFKMeans(K, distortion="cosine", random_state=0),
    "hmrf full": HMRFKMeans(K, metric_form="full", random_state=0),
    "pckmeans kl": PCKMeans(K, distortion="kl", random_state=0),
    "pckmeans mahalanobis": PCKMeans(K, distortion="mahalanobis", random_state=0),
    "cop": COPKMeans(K, random_state=0),
    "seeded": SeededKMeans(K, random_state=0),
    "constrained": ConstrainedKMeans(K, random_state=0),
    "lcvqe": LCVQE(K, random_state=0),
    "mpck full": MPCKMeans(K, metric_form="full", per_cluster=False, random_state=0),
}


def written(folder, X, kind):
    if kind == "npy":
        np.save(folder / "rows.npy", X)
        return open_rows(folder / "rows.npy")
    names = [f"c{m}" for m in range(D)]
    table = pa.table({name: X[:, m] for m, name in enumerate(names)})
    size = {"parquet": 5_000, "parquet, small groups": 333}[kind]
    pq.write_table(table.slice(0, 7_001), folder / "a.parquet", row_group_size=size)
    pq.write_table(table.slice(7_001), folder / "b.parquet", row_group_size=size)
    return open_rows(folder)


def assert_same(one, two):
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.cluster_centers_, two.cluster_centers_)
    assert one.objective_ == two.objective_


@pytest.mark.parametrize("kind", ["npy", "parquet", "parquet, small groups"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_files_give_the_bits_of_memory(tmp_path, made, name, kind):
    X, known = made
    estimator = ESTIMATORS[name]
    rows = written(tmp_path, X, kind)
    in_memory = type(estimator)(**estimator.get_params()).fit(X, constraints=known)
    for threads in (1, 2):
        with use_threads(threads):
            from_files = type(estimator)(**estimator.get_params()).fit(rows, constraints=known)
            assert_same(in_memory, from_files)
            np.testing.assert_array_equal(from_files.predict(rows), in_memory.predict(X))


def test_very_many_rows_start_alike_from_files_and_memory(tmp_path, made, monkeypatch):
    X, known = made
    plain = PCKMeans(K, init="k-means++", random_state=1).fit(X, constraints=known)
    monkeypatch.setattr("coterie.cluster.kmeans.starts._MANY_ROWS", 1_000)
    rows = written(tmp_path, X, "parquet")
    here, there = (
        PCKMeans(K, init="k-means++", random_state=1).fit(data, constraints=known)
        for data in (X, rows)
    )
    assert_same(here, there)
    assert here.objective_ <= 1.001 * plain.objective_


def test_a_row_outside_the_domain_is_named_by_its_place(tmp_path, made):
    X = made[0].copy()
    X[9_000] = 0.0
    rows = written(tmp_path, X, "parquet")
    with pytest.raises(InvalidData, match=r"parquet, row group \d+, row \d+ on.*all zeros"):
        PCKMeans(K, distortion="cosine").fit(rows)


def test_processes_give_the_bits_of_memory(tmp_path, made):
    X, known = made
    rows = written(tmp_path, X, "parquet")
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawn) as pool, engine(pool):
        there = HMRFKMeans(K, random_state=0).fit(rows, constraints=known)
    assert_same(HMRFKMeans(K, random_state=0).fit(X, constraints=known), there)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_cluster_gives_the_bits_of_memory(tmp_path, made, workers):
    distributed = pytest.importorskip("distributed")
    X, known = made
    rows = written(tmp_path, X, "parquet, small groups")
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
        engine(client),
    ):
        there = PCKMeans(K, random_state=0).fit(rows, constraints=known)
        labels = there.predict(rows)
    here = PCKMeans(K, random_state=0).fit(X, constraints=known)
    assert_same(here, there)
    np.testing.assert_array_equal(labels, here.predict(X))


def test_sparse_parts_give_the_bits_of_one_matrix(tmp_path, made):
    X, known = made
    sparse = sp.csr_matrix(np.where(np.abs(X - 50) < 2, 0, X))
    for number, (start, stop) in enumerate([(0, 12_345), (12_345, N)]):
        sp.save_npz(tmp_path / f"part-{number}.npz", sparse[start:stop])
    rows = open_rows(tmp_path / "part-*.npz")
    model = PCKMeans(K, random_state=0).fit(rows, constraints=known)
    assert_same(PCKMeans(K, random_state=0).fit(sparse, constraints=known), model)


def test_names_of_columns_are_kept_and_checked(tmp_path, made):
    X, known = made
    rows = written(tmp_path, X, "parquet")
    model = PCKMeans(K, random_state=0).fit(rows, constraints=known)
    assert list(model.feature_names_in_) == ["c0", "c1", "c2", "c3"]
    turned = open_rows(tmp_path, columns=["c1", "c0", "c2", "c3"])
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        model.predict(turned)


def test_a_file_rewritten_in_the_middle_of_a_fit_is_noticed(tmp_path, made, monkeypatch):
    X, known = made
    rows = written(tmp_path, X, "npy")
    model = PCKMeans(K, random_state=0).fit(X, constraints=known)
    before = model.labels_
    np.save(tmp_path / "rows.npy", X[:100])
    with pytest.raises(RowsChanged):
        model.fit(rows, constraints=known)
    assert model.labels_ is before


def test_a_bad_value_is_named_by_its_place(tmp_path, made):
    X, known = made
    X = X.copy()
    X[8_000, 2] = np.nan
    rows = written(tmp_path, X, "parquet")
    with pytest.raises(InvalidData, match=r"b\.parquet, row group 0, row 999, column 'c2'"):
        PCKMeans(K, random_state=0).fit(rows, constraints=known)


def test_who_cannot_read_files_says_what_to_do(tmp_path, made):
    X, _ = made
    with pytest.raises(InvalidData, match="works on rows in memory"):
        Mosaic(K).fit(written(tmp_path, X, "npy"))


def test_a_memory_map_is_not_copied(tmp_path, made):
    X, _ = made
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    from coterie.validation import check_rows

    assert np.shares_memory(check_rows(PCKMeans(K), mapped, reset=True), mapped)
