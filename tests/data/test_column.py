"""Ids in files: found by streaming, written beside labels."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coterie import Constraints
from coterie.data import open_column, write_labels
from coterie.exceptions import InvalidConstraints, InvalidData, NotWritten

KEYS = [f"k{number}" for number in range(100)]


@pytest.fixture
def folder(tmp_path):
    for number, part in enumerate((KEYS[:37], [], KEYS[37:])):
        table = pa.table({"key": pa.array(part, pa.string())})
        pq.write_table(table, tmp_path / f"{number}.parquet", row_group_size=10)
    return tmp_path


def frame(*pairs):
    a, b, kind = zip(*pairs, strict=True)
    return pa.table({"a": a, "b": b, "kind": kind})


def read(frame_, ids):
    return Constraints.from_frame(frame_, a="a", b="b", kind="kind", ids=ids)


def test_pairs_by_id_are_those_of_a_list_of_all_ids(folder):
    pairs = frame(("k3", "k99", "must"), ("k36", "k37", "cannot"), ("k3", "k0", "must"))
    column = open_column(folder, "key")
    assert len(column) == 100
    from_files, from_list = read(pairs, column), read(pairs, KEYS)
    np.testing.assert_array_equal(from_files.pairs, from_list.pairs)
    assert from_files.n_samples == from_list.n_samples


@pytest.mark.parametrize("coded", [False, True])
def test_ids_that_are_numbers(tmp_path, coded):
    values = pa.array([10, 30, 20], pa.int32())
    values = values.dictionary_encode() if coded else values
    pq.write_table(pa.table({"id": values}), tmp_path / "a.parquet")
    known = read(frame((20, 10, "must")), open_column(tmp_path / "a.parquet", "id"))
    assert known.must_link.tolist() == [[0, 2]]


def test_an_id_that_is_not_there_is_named(folder):
    with pytest.raises(InvalidConstraints, match="'k100' in column 'b' is not among the 100 ids"):
        read(frame(("k1", "k100", "must")), open_column(folder, "key"))


def test_an_id_of_another_type_is_refused(folder):
    with pytest.raises(InvalidData, match="holds string, and the ids asked for are like 1"):
        read(frame((1, 1, "must")), open_column(folder, "key"))


def test_an_id_that_is_there_twice_is_named(tmp_path):
    pq.write_table(pa.table({"key": ["a", "b", "a"]}), tmp_path / "a.parquet")
    column = open_column(tmp_path / "a.parquet", "key")
    with pytest.raises(InvalidData, match=r"holds 'a' more than once \(rows 0 and 2\)"):
        column.find(["a"])
    assert column.find(["b", "z"]) == {"b": 1}


def test_a_column_that_is_not_there_is_named(folder):
    with pytest.raises(InvalidData, match=r"has no column 'keys'\. Did you mean 'key'"):
        open_column(folder, "keys")


def test_labels_are_written_beside_ids(folder):
    labels = np.arange(100) % 7
    write_labels(folder / "out.parquet", labels, open_column(folder / "[0-9].parquet", "key"))
    written = pq.read_table(folder / "out.parquet")
    assert written["key"].to_pylist() == KEYS
    assert written["cluster"].to_pylist() == labels.tolist()
    assert written.schema.field("cluster").type == pa.int32()


def test_labels_without_ids_have_row_numbers(tmp_path):
    write_labels(tmp_path / "out.parquet", np.array([4, 5]))
    assert pq.read_table(tmp_path / "out.parquet").to_pydict() == {"row": [0, 1], "cluster": [4, 5]}


def test_nothing_is_left_of_what_could_not_be_written(folder):
    column = open_column(folder / "[0-9].parquet", "key")
    with pytest.raises(InvalidData, match="3 labels and 100 ids"):
        write_labels(folder / "out.parquet", np.zeros(3, int), column)
    with pytest.raises(NotWritten):
        write_labels(folder / "no" / "out.parquet", np.zeros(100, int), column)
    assert sorted(path.name for path in folder.iterdir()) == ["0.parquet", "1.parquet", "2.parquet"]
