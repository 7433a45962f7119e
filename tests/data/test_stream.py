"""Rows that come as a stream of Arrow batches, as a relation of DuckDB's does."""

from __future__ import annotations

import gc
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pyarrow as pa
import pytest

from coterie import Mosaic, PCKMeans
from coterie.data import engine, open_rows
from coterie.exceptions import InvalidData

N = 9_000
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3)) + 5 * RNG.integers(3, size=(N, 1))
TABLE = pa.table({name: X[:, m] for m, name in enumerate("abc")})


class Relation:
    """Offers nothing but its rows, in batches, as often as asked."""

    def __init__(self, table=TABLE):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.to_reader(max_chunksize=700).__arrow_c_stream__(requested_schema)


@pytest.fixture(autouse=True)
def where(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_a_stream_is_rows(where):
    here = PCKMeans(3, random_state=0).fit(TABLE.to_pandas())
    there = PCKMeans(3, random_state=0).fit(Relation())
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_array_equal(there.predict(Relation()), here.predict(X.copy()))
    assert list(there.feature_names_in_) == list("abc")
    gc.collect()
    assert list(where.iterdir()) == []  # nothing is left behind


def test_some_columns_of_a_stream(where):
    rows = open_rows(Relation(), columns=["c", "a"])
    np.testing.assert_array_equal(rows.read(600, 800), X[600:800][:, [2, 0]])
    part = rows.cut(0, 10)
    del rows
    gc.collect()
    assert part.read(0, 1).shape == (1, 2)  # the file is there as long as somebody reads it
    del part
    gc.collect()
    assert list(where.iterdir()) == []


def test_other_processes_do_not_remove_the_file():
    rows = open_rows(Relation())
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool, engine(pool):
        there = PCKMeans(3, random_state=0).fit(rows).labels_
    np.testing.assert_array_equal(there, PCKMeans(3, random_state=0).fit(X).labels_)


def test_what_cannot_be_read_is_said(where):
    reader = TABLE.to_reader()
    PCKMeans(3, random_state=0).fit(reader)
    with pytest.raises(InvalidData, match="make it again"):
        PCKMeans(3, random_state=0).fit(reader)
    with pytest.raises(InvalidData, match="not numbers"):
        PCKMeans(3).fit(Relation(pa.table({"a": ["x", "y"]})))
    assert len(Mosaic(3).fit(Relation()).labels_) == len(TABLE)  # needs memory, and reads into it
    gc.collect()
    assert list(where.iterdir()) == []
