"""What the K-Means family does with rows in files, beside giving the bits of memory
(tests/data/test_every_source.py).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coterie import ConstrainedCompleteLink, PCKMeans
from coterie.base import check_source
from coterie.constraints import sample_pairs
from coterie.data import fold, open_rows
from coterie.exceptions import InvalidData, RowsChanged

N, D, K = 20_000, 4, 3


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=N)
    X = (3 * rng.standard_normal((K, D))[y] + rng.standard_normal((N, D)) + 50).astype(np.float32)
    return X, sample_pairs(y, 300, random_state=0)


def written(folder, X, kind):
    if kind == "npy":
        np.save(folder / "rows.npy", X)
        return open_rows(folder / "rows.npy")
    names = [f"c{m}" for m in range(D)]
    table = pa.table({name: X[:, m] for m, name in enumerate(names)})
    pq.write_table(table.slice(0, 7_001), folder / "a.parquet", row_group_size=5_000)
    pq.write_table(table.slice(7_001), folder / "b.parquet", row_group_size=5_000)
    return open_rows(folder)


def assert_same(one, two):
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.cluster_centers_, two.cluster_centers_)
    assert one.objective_ == two.objective_


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
        ConstrainedCompleteLink(K).fit(written(tmp_path, X, "npy"))


def test_a_memory_map_is_not_copied(tmp_path, made):
    X, _ = made
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert np.shares_memory(check_source(PCKMeans(K), mapped, reset=True), mapped)


def test_labels_are_not_sent_with_every_pass(tmp_path, made, monkeypatch):
    X, _ = made
    sent = []

    def noted(*given, **options):
        found = fold(*given, **options)
        sent.append(found.labels.size)
        return found

    monkeypatch.setattr("coterie.cluster.labelling.fold", noted)
    model = PCKMeans(K, w=1.0, init=X[:K], random_state=0).fit(written(tmp_path, X, "npy"))
    assert model.n_iter_ > 2
    assert sent == [0] * model.n_iter_ + [N]


def test_an_empty_cluster_finds_a_row_in_files_too(tmp_path, made):
    X, known = made
    far = np.vstack([X[:2], np.full((1, D), 1e6, dtype=np.float32)])  # the third has no row
    model = PCKMeans(K, init=far, random_state=0)
    here = model.fit(X, constraints=known)
    labels, objective = here.labels_, here.objective_
    there = model.fit(written(tmp_path, X, "parquet"), constraints=known)
    np.testing.assert_array_equal(there.labels_, labels)
    assert there.objective_ == objective
    assert np.bincount(labels, minlength=K).min() > 0
