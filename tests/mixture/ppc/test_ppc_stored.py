"""Rows in files give PPC the bits that the same rows in memory give."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coterie.constraints import Constraints, sample_pairs
from coterie.data import open_rows, use_threads
from coterie.exceptions import InvalidData
from coterie.mixture import PPC

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
    table = pa.table({f"c{m}": X[:, m] for m in range(D)})
    pq.write_table(table.slice(0, 7_001), folder / "a.parquet", row_group_size=333)
    pq.write_table(table.slice(7_001), folder / "b.parquet", row_group_size=5_000)
    return open_rows(folder)


@pytest.mark.parametrize("kind", ["npy", "parquet", "dask"])
def test_files_give_the_bits_of_memory(tmp_path, made, kind):
    X, known = made
    if kind == "dask":
        rows = pytest.importorskip("dask.array").from_array(X, chunks=(3_000, D))
    else:
        rows = written(tmp_path, X, kind)
    model = PPC(K, max_iter=8, tol=0.01, random_state=0)
    here = model.fit(X, constraints=known)
    names = ("means_", "covariances_", "labels_", "pair_posteriors_", "lower_bounds_")
    bits = [np.copy(getattr(here, name)) for name in names]
    bits += [here.predict_proba(X), here.predict(X), here.score_samples(X)]
    with use_threads(2):
        there = model.fit(rows, constraints=known)
        found = [getattr(there, name) for name in names]
        found += [there.predict_proba(rows).read(0, N), there.predict(rows)]
        found.append(there.score_samples(rows))
    for one, two in zip(bits, found, strict=True):
        np.testing.assert_array_equal(one, two)
    assert there.score(rows) == there.score(X)
    assert there.bic(rows) == there.bic(X)
    assert not hasattr(there, "resp_")  # it may be larger than the rows


def test_neighbours_in_files_and_gaps_in_files(tmp_path, made):
    X = made[0][:5_000].copy()
    rows = written(tmp_path, np.concatenate([X, X]), "npy")
    grid = Constraints(10_000, must_link=np.column_stack([np.arange(9_999), np.arange(1, 10_000)]))
    chain = PPC(K, max_iter=3, tol=0.1, covariance_type="tied", random_state=0)
    assert chain.fit(rows, constraints=grid).labels_.shape == (10_000,)
    X[100, 1] = np.nan
    with pytest.raises(InvalidData, match="missing or infinite"):
        PPC(K).fit(written(tmp_path, X, "npy"))
