"""Dask's arrays and frames: the bits of memory, with and without a cluster, however chunked."""

from __future__ import annotations

import numpy as np
import pytest

from coterie import PCKMeans
from coterie.constraints import sample_pairs
from coterie.data import DaskRows
from coterie.exceptions import InvalidData

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")

N, D, K = 12_000, 4, 3


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=N)
    X = 3 * rng.standard_normal((K, D))[y] + rng.standard_normal((N, D)) + 20
    known = sample_pairs(y, 200, random_state=0)
    return X, known, PCKMeans(K, random_state=0).fit(X, constraints=known)


def assert_same(model, other):
    np.testing.assert_array_equal(model.labels_, other.labels_)
    np.testing.assert_array_equal(model.cluster_centers_, other.cluster_centers_)
    assert model.objective_ == other.objective_


@pytest.mark.parametrize("chunks", [(5_000, 4), ((1, 7_000, 4_999), 2)])
def test_an_array_without_a_cluster(made, chunks):
    X, known, expected = made
    array = da.from_array(X, chunks=chunks)
    model = PCKMeans(K, random_state=0).fit(array, constraints=known)
    assert_same(model, expected)
    np.testing.assert_array_equal(model.predict(array), expected.predict(X))


def test_on_a_cluster_rows_stay_on_their_workers(made):
    X, known, expected = made
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        model = PCKMeans(K, random_state=0).fit(
            da.from_array(X, chunks=(700, 4)), constraints=known
        )
        frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")), npartitions=5)
        of_frame = PCKMeans(K, random_state=0).fit(frame, constraints=known)
        labels = of_frame.predict(frame)
    assert_same(model, expected)
    assert_same(of_frame, expected)
    assert list(of_frame.feature_names_in_) == list("abcd")
    np.testing.assert_array_equal(labels, expected.predict(X))


def test_rows_by_stretch_and_number(made):
    X, _, _ = made
    rows = DaskRows(da.from_array(X.astype(np.float32), chunks=(1_000, 3)))
    assert (rows.shape, rows.dtype) == ((N, D), np.float32)
    for start, stop in [(0, 1), (999, 1_001), (0, N), (50, 50)]:
        np.testing.assert_array_equal(rows.read(start, stop), X[start:stop].astype(np.float32))
    part = rows.cut(500, 2_500)
    np.testing.assert_array_equal(part.read(10, 1_800), X[510:2_300].astype(np.float32))
    at = np.array([3, 3, 1_999, 0])
    np.testing.assert_array_equal(part.take(at), X[500 + at].astype(np.float32))
    np.testing.assert_array_equal(rows.take(at), X[at].astype(np.float32))


def test_what_cannot_be_rows_is_refused(made):
    X, _, _ = made
    bad = X.copy()
    bad[7, 0] = np.nan
    with pytest.raises(InvalidData, match="row 7, column 0: missing or infinite"):
        PCKMeans(K).fit(da.from_array(bad, chunks=(5_000, 4)))
    frame = dd.from_pandas(pd.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0]}), npartitions=1)
    with pytest.raises(InvalidData, match="Select the numeric columns"):
        PCKMeans(K).fit(frame)
    unknown = dd.from_pandas(pd.DataFrame(X), npartitions=2).to_dask_array()
    with pytest.raises(InvalidData, match="compute_chunk_sizes"):
        PCKMeans(K).fit(unknown)
