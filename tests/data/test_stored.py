"""Rows in files: every source gives the rows that were written, by stretches and by number."""

from __future__ import annotations

import gc
import os
import pickle
import weakref
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from coterie.data import Rows, StoredRows, fold, map_blocks, open_rows, unpacked, use_threads
from coterie.data.engines import in_runs
from coterie.data.parquet import group_sizes, open_parquet
from coterie.data.rows import Stretch
from coterie.exceptions import InvalidData, InvalidParameter, NotWritten, RowsChanged

N, D = 137, 5


@pytest.fixture
def X() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((N, D)).astype(np.float32)


def frame(X: np.ndarray, types: object = None) -> pa.Table:
    return pa.table({f"c{m}": pa.array(X[:, m], type=types) for m in range(X.shape[1])})


def write(where: Path, kind: str, X: np.ndarray) -> StoredRows:
    if kind == "npy":
        np.save(where / "rows.npy", X)
        return open_rows(where / "rows.npy")
    if kind == "parquet":
        pq.write_table(frame(X), where / "rows.parquet", row_group_size=10)
        return open_rows(where / "rows.parquet")
    if kind == "arrow":
        table = frame(X)
        with (
            pa.OSFile(str(where / "rows.arrow"), "wb") as sink,
            pa.ipc.new_file(sink, table.schema) as writer,
        ):
            writer.write_table(table, max_chunksize=30)
        return open_rows(where / "rows.arrow")
    if kind == "folder":
        for number, part in enumerate(np.array_split(X, [0, 1, 40])):  # an empty file, one of a row
            folder = where / f"year={number}"
            folder.mkdir()
            pq.write_table(frame(part), folder / "part.parquet", row_group_size=13)
        (where / "_SUCCESS").touch()
        (where / "_metadata.parquet").write_bytes(b"not a file of rows")
        return open_rows(where)
    if kind == "glob":
        for number, part in enumerate(np.array_split(X, 3)):
            pq.write_table(frame(part), where / f"part-{number}.parquet")
        return open_rows(where / "part-*.parquet")
    for number, part in enumerate(np.array_split(X, [50, 50])):  # one part is empty
        sp.save_npz(where / f"part-{number}.npz", sp.csr_matrix(part))
    return open_rows(where / "part-*.npz")


KINDS = ["npy", "parquet", "arrow", "folder", "glob", "npz"]


def dense(rows: object) -> np.ndarray:
    return rows.toarray() if sp.issparse(rows) else np.asarray(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_stretches_and_single_rows_are_what_was_written(tmp_path, X, kind):
    rows = write(tmp_path, kind, X)
    assert (rows.shape, len(rows), rows.dtype) == ((N, D), N, np.float32)
    for start, stop in [(0, N), (0, 1), (9, 11), (39, 41), (50, 50), (100, N)]:
        got = rows.read(start, stop)
        assert got.dtype == np.float32
        np.testing.assert_array_equal(dense(got), X[start:stop])
    for at in ([], [0], [N - 1, 3, 3, 77], list(range(N))):
        got = dense(rows.take(np.array(at, dtype=np.int64)))
        np.testing.assert_array_equal(got, X[np.array(at, dtype=int)])


@pytest.mark.parametrize("kind", KINDS)
def test_a_cut_travels_by_name_and_reads_its_own_rows(tmp_path, X, kind):
    rows = write(tmp_path, kind, X).cut(20, 120)
    sent = pickle.dumps(rows)
    assert len(sent) < 4000  # the rows alone are 2,000 bytes: see the next test for many rows
    again = pickle.loads(sent).cut(5, 90)
    np.testing.assert_array_equal(dense(again.read(0, 85)), X[25:110])
    np.testing.assert_array_equal(dense(again.take(np.array([84, 0]))), X[[109, 25]])


def test_rows_never_travel(tmp_path):
    np.save(tmp_path / "large.npy", np.zeros((100_000, 4)))
    assert len(pickle.dumps(open_rows(tmp_path / "large.npy"))) < 1000


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_found_from_another_folder(tmp_path, X, kind, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = write(Path(), kind, X)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")  # as a worker on another machine may be
    np.testing.assert_array_equal(dense(pickle.loads(pickle.dumps(rows)).read(0, N)), X)


def test_a_mapped_file_is_left_as_it_is(tmp_path, X):
    rows = write(tmp_path, "npy", X)
    rows.read(0, 5)[:] = 7.0
    np.testing.assert_array_equal(rows.read(0, 5), X[:5])


def test_columns_by_name_in_the_order_asked_for(tmp_path, X):
    pq.write_table(frame(X), tmp_path / "rows.parquet")
    rows = open_rows(tmp_path / "rows.parquet", columns=["c3", "c0"])
    assert rows.names == ["c3", "c0"]
    np.testing.assert_array_equal(rows.read(0, N), X[:, [3, 0]])


@pytest.mark.parametrize(
    ("types", "expected"),
    [(pa.float32(), np.float32), (pa.float64(), np.float64), (pa.int64(), np.float64)],
)
def test_float32_only_where_nothing_is_lost(tmp_path, types, expected):
    whole = np.arange(12.0).reshape(4, 3)
    pq.write_table(frame(whole, types), tmp_path / "rows.parquet")
    rows = open_rows(tmp_path / "rows.parquet")
    assert rows.dtype == expected
    np.testing.assert_array_equal(rows.read(0, 4), whole)


def test_booleans_and_decimals_are_numbers(tmp_path):
    from decimal import Decimal

    table = pa.table({"yes": [True, False], "price": pa.array([Decimal("1.50"), Decimal("2.25")])})
    pq.write_table(table, tmp_path / "rows.parquet")
    rows = open_rows(tmp_path / "rows.parquet")
    np.testing.assert_array_equal(rows.read(0, 2), [[1.0, 1.5], [0.0, 2.25]])


def test_a_missing_value_is_named_by_file_row_group_row_and_column(tmp_path):
    values = pa.array([0.0, 1.0, 2.0, None, 4.0])
    pq.write_table(
        pa.table({"a": values, "b": values}), tmp_path / "rows.parquet", row_group_size=2
    )
    rows = open_rows(tmp_path / "rows.parquet")
    assert rows.read(0, 3).shape == (3, 2)
    with pytest.raises(InvalidData, match=r"rows\.parquet, row group 1, row 1, column 'a'"):
        rows.read(2, 5)
    with pytest.raises(InvalidData, match=r"row group 1, row 1"):
        rows.cut(3, 5).read(0, 2)


def test_an_infinite_value_is_named_in_an_array_file(tmp_path, X):
    X[8, 2] = np.inf
    with pytest.raises(InvalidData, match=r"rows\.npy, row 8, column 2: missing or infinite"):
        write(tmp_path, "npy", X).read(0, N)


def test_values_whose_sum_overflows_are_finite_all_the_same(tmp_path):
    large = np.full((4, 2), 3e38, dtype=np.float32)
    np.testing.assert_array_equal(write(tmp_path, "npy", large).read(0, 4), large)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_changes_is_noticed(tmp_path, X, kind):
    rows = write(tmp_path, kind, X)
    rows.read(0, N)
    files = [path for path in tmp_path.rglob("*.*") if path.is_file() and path.name[0] != "_"]
    file = sorted(files)[-1]
    seen = file.stat()
    os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns + 1))
    with pytest.raises(RowsChanged, match="rewritten"):
        rows.read(N - 1, N)
    file.unlink()
    with pytest.raises(RowsChanged, match="gone"):
        rows.take(np.array([N - 1]))


def test_what_cannot_be_rows_is_refused_with_a_remedy(tmp_path, X):
    for where, words in [
        (tmp_path / "no.parquet", "no file is named"),
        (tmp_path / "*.parquet", "no file is named"),
        (tmp_path, "no .parquet file is in the folder"),
    ]:
        with pytest.raises(InvalidData, match=words):
            open_rows(where)
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InvalidData, match="not a whole Parquet file"):
        open_rows(tmp_path / "bad.parquet")
    (tmp_path / "bad.arrow").write_bytes(b"ARROW1")
    with pytest.raises(InvalidData, match="not a whole Arrow file"):
        open_rows(tmp_path / "bad.arrow")
    (tmp_path / "bad.npy").write_bytes(b"nothing")
    with pytest.raises(InvalidData, match="not an array file"):
        open_rows(tmp_path / "bad.npy")
    np.save(tmp_path / "columns.npy", np.asfortranarray(X))
    with pytest.raises(InvalidData, match="column by column"):
        open_rows(tmp_path / "columns.npy")
    np.save(tmp_path / "texts.npy", np.array([["a"]]))
    with pytest.raises(InvalidData, match="expected numbers"):
        open_rows(tmp_path / "texts.npy")
    pq.write_table(pa.table({"name": ["x"], "a": [1.0]}), tmp_path / "mixed.parquet")
    with pytest.raises(InvalidData, match="column 'name' holds string, not numbers"):
        open_rows(tmp_path / "mixed.parquet")
    with pytest.raises(InvalidData, match="has no column 'aa'"):
        open_rows(tmp_path / "mixed.parquet", columns=["aa"])
    sp.save_npz(tmp_path / "one.npz", sp.csr_matrix(X))
    sp.save_npz(tmp_path / "two.npz", sp.csr_matrix(X[:, :2]))
    with pytest.raises(InvalidData, match="2 columns"):
        open_rows([tmp_path / "one.npz", tmp_path / "two.npz"])
    np.savez(tmp_path / "other.npz", a=X)
    with pytest.raises(InvalidData, match="not a CSR matrix"):
        open_rows(tmp_path / "other.npz")
    with pytest.raises(InvalidData, match="one format at a time"):
        open_rows([tmp_path / "one.npz", tmp_path / "columns.npy"])
    with pytest.raises(InvalidData, match="at least one path"):
        open_rows([])


def test_a_task_is_told_of_its_own_row_groups_only(tmp_path):
    X = np.arange(6_000.0).reshape(3_000, 2)
    table = pa.table({"a": X[:, 0], "b": X[:, 1]})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=10)
    rows = open_rows(tmp_path / "rows.parquet")
    part = rows.cut(995, 1_020)
    assert len(pickle.dumps(part)) < 3_000 < len(pickle.dumps(rows))
    np.testing.assert_array_equal(part.read(0, 25), X[995:1_020])
    np.testing.assert_array_equal(part.cut(4, 6).read(0, 2), X[999:1_001])
    np.testing.assert_array_equal(part.take(np.array([24, 3])), X[[1_019, 998]])
    assert part.cut(5, 9).place(1) == rows.place(1_001)
    assert rows.cut(3_000, 3_000).read(0, 0).shape == (0, 2)


# -- rows too many to be kept decoded ----------------------------------------------------------
@pytest.fixture
def streamed(tmp_path, X, monkeypatch):
    monkeypatch.setattr("coterie.data.parquet.decoded_groups.most_bytes", 0)
    pq.write_table(frame(X[:100]), tmp_path / "a.parquet", row_group_size=40)
    pq.write_table(frame(X[100:]), tmp_path / "b.parquet", row_group_size=40)
    return open_rows(tmp_path)


def test_streamed_groups_are_read_on_and_from_any_place(streamed, X, monkeypatch):
    opened = []
    monkeypatch.setattr(
        "coterie.data.parquet.open_parquet",
        lambda path, **options: opened.append(path) or open_parquet(path, **options),
    )
    for lo, hi in [(0, 7), (7, 39), (39, 41), (45, 101), (101, 137)]:  # in turn, with a gap
        np.testing.assert_array_equal(streamed.read(lo, hi), X[lo:hi])
    assert len(opened) == 4  # once for each row group
    for lo, hi in [(90, 130), (3, 5), (0, 1), (136, 137), (0, 137)]:  # and back
        np.testing.assert_array_equal(streamed.read(lo, hi), X[lo:hi])


def test_rows_that_can_be_kept_are_decoded_and_looked_at_once(tmp_path, X, monkeypatch):
    pq.write_table(frame(X), tmp_path / "rows.parquet", row_group_size=40)
    rows, opened = open_rows(tmp_path), []
    monkeypatch.setattr(
        "coterie.data.parquet.open_parquet",
        lambda path, **options: opened.append(path) or open_parquet(path, **options),
    )
    for lo, hi in [(0, 30), (30, 90), (90, 137), (10, 20), (0, 137)]:
        np.testing.assert_array_equal(rows.read(lo, hi), X[lo:hi])
    assert len(opened) == 4


def test_decoded_groups_go_with_the_last_rows_that_were_opened(tmp_path, X):
    rows = write(tmp_path, "parquet", X)
    part = rows.cut(0, 5)
    decoded = weakref.ref(rows.read(0, 5).base)
    travelled = pickle.loads(pickle.dumps(rows))
    del travelled  # as after every task of a worker
    del rows
    gc.collect()
    assert decoded() is part.read(0, 5).base
    del part
    gc.collect()
    assert decoded() is None


def test_streamed_rows_of_a_rewritten_file_are_refused(streamed, X, tmp_path):
    streamed.read(0, 20)
    pq.write_table(frame(X[:90]), tmp_path / "a.parquet", row_group_size=40)
    with pytest.raises(RowsChanged, match=r"a\.parquet was rewritten"):
        streamed.read(20, 40)
    (tmp_path / "b.parquet").unlink()
    with pytest.raises(RowsChanged, match=r"b\.parquet is gone"):
        streamed.read(110, 120)


@pytest.mark.parametrize("most", [0, 1 << 30], ids=["streamed", "kept"])
def test_a_missing_value_is_named_by_its_row_group(tmp_path, X, monkeypatch, most):
    monkeypatch.setattr("coterie.data.parquet.decoded_groups.most_bytes", most)
    X[77, 2] = np.nan
    pq.write_table(frame(X), tmp_path / "rows.parquet", row_group_size=40)
    rows = open_rows(tmp_path)
    for each, lo in ((rows, 60), (rows.cut(50, 110), 10)):
        with pytest.raises(InvalidData, match=r"rows\.parquet, row group 1, row 37, column 'c2'"):
            each.read(lo, lo + 40)


def _sum(block, _):
    return block.rows.sum(axis=0)


def test_threads_share_streamed_rows_out_in_runs(streamed, X, monkeypatch):
    monkeypatch.setattr("coterie.data.passes._BLOCK_ROWS", 3)
    with use_threads(1):
        one = fold(map_blocks(Rows(X), _sum, None))
    with use_threads(3):
        np.testing.assert_array_equal(fold(map_blocks(Rows(streamed), _sum, None)), one)


@pytest.mark.parametrize("count", [1, 5, 64, 191])
@pytest.mark.parametrize("workers", [1, 2, 7])
def test_runs_hold_every_stretch_once_and_get_shorter(streamed, count, workers):
    given = [Stretch(k, k + 1, streamed, None, None, None, None) for k in range(count)]
    runs = list(in_runs(given, workers))
    assert [each.start for run in runs for each in run] == list(range(count))
    sizes = [len(run) for run in runs]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1
    assert max(sizes) <= 16


@pytest.mark.parametrize(("n", "group"), [(4_000, 210), (4_000, 4_000), (4_000, 30)])
@pytest.mark.parametrize("workers", [1, 2, 8])
def test_runs_begin_where_little_has_to_be_passed_over(tmp_path, n, group, workers):
    pq.write_table(frame(np.zeros((n, 3), "f4")), tmp_path / "a.parquet", row_group_size=group)
    rows = open_rows(tmp_path / "a.parquet")
    cuts = [(lo, min(lo + 50, n)) for lo in range(0, n, 50)]
    given = [Stretch(*cut, rows.cut(*cut), None, None, None, None) for cut in cuts]
    runs = list(in_runs(given, workers))
    assert [each.start for run in runs for each in run] == list(range(0, n, 50))
    before = [run[0].source.passed_over for run in runs]
    assert before[0] == 0
    if group == 210:  # about four stretches: none of them begins far within a group
        assert max(before) < 50
    # Never more is decoded for nothing than to be used, but by the last, which is what is left.
    for run, passed in zip(runs[:-1], before, strict=False):
        assert passed <= run[-1].stop - run[0].start


def test_stretches_that_need_no_turn_go_one_by_one(X):
    given = [Stretch(k, k + 1, Rows(X).source, None, None, None, None) for k in range(9)]
    assert [len(run) for run in in_runs(given, 2)] == [1] * 9


# -- rows that are unpacked ----------------------------------------------------------------------
def test_unpacked_rows_are_the_same_and_their_file_goes(streamed, X, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    rows = unpacked(streamed, scratch)
    assert rows.names == streamed.names
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows.read(0, N), X)
    part = rows.cut(50, 120)
    np.testing.assert_array_equal(part.take(np.array([3, 60])), X[[53, 110]])
    assert part.place(60) == streamed.place(110)
    there = pickle.loads(pickle.dumps(part))
    np.testing.assert_array_equal(there.read(0, 70), X[50:120])
    assert len(list(scratch.iterdir())) == 1
    del rows, there
    assert len(list(scratch.iterdir())) == 1  # a part still reads it
    del part
    assert not list(scratch.iterdir())


def test_what_cannot_be_unpacked_is_said_and_leaves_nothing(streamed, tmp_path, X, monkeypatch):
    scratch = tmp_path / "scratch"
    with pytest.raises(InvalidParameter, match="is no folder; make it first"):
        unpacked(streamed, scratch)
    scratch.mkdir()
    with pytest.raises(InvalidData, match="takes dense rows"):
        unpacked(write(tmp_path, "npz", X), scratch)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("coterie.data.unpacking.map_blocks", full)
    with pytest.raises(NotWritten, match=r"No space left on device.*room for"):
        unpacked(streamed, scratch)
    assert not list(scratch.iterdir())


class Cut:
    """A Parquet file whose pages hold fewer rows than its footer says."""

    def __init__(self, file):
        self.file, self.metadata = file, file.metadata

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.file.close()

    def iter_batches(self, **which):
        for batch in self.file.iter_batches(**which):
            yield batch.slice(0, batch.num_rows - 1)


def test_a_footer_that_says_more_than_there_is(tmp_path, X, monkeypatch):
    """The rows that are not there would be whatever was in memory before."""
    rows = write(tmp_path, "parquet", X)
    monkeypatch.setattr("coterie.data.parquet.open_parquet", lambda path: Cut(open_parquet(path)))
    with pytest.raises(InvalidData, match=r"row group 0 ends after 9 rows.*write the file again"):
        rows.read(0, N)


@pytest.mark.parametrize(("said", "values"), [(-1, -1), (7, 6)])
def test_a_footer_that_contradicts_itself(said, values):
    group = SimpleNamespace(num_rows=said, column=lambda _: SimpleNamespace(num_values=values))
    schema = SimpleNamespace(column=lambda _: SimpleNamespace(max_repetition_level=0))
    metadata = SimpleNamespace(
        num_row_groups=1, num_columns=1, row_group=lambda _: group, schema=schema
    )
    with pytest.raises(InvalidData, match=f"a.parquet.*Row group 0 is said to have {said} rows"):
        group_sizes(Path("a.parquet"), SimpleNamespace(metadata=metadata))


@pytest.mark.parametrize("kind", ["npy", "parquet", "arrow", "npz"])
def test_a_broken_file_is_told_by_its_name(kind, tmp_path, X):
    """A byte that is another one, at every place in turn; found by `make fuzz`."""
    write(tmp_path, kind, X[:8])
    path = min(tmp_path.iterdir())
    data = path.read_bytes()
    for at in range(0, len(data), max(1, len(data) // 150)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        with suppress(InvalidData):  # whatever else is raised says nothing of the file
            open_rows(path).read(0, 8)


def test_damage_inside_a_row_group_is_told_by_the_name_of_its_file(tmp_path, X):
    path = tmp_path / "rows.parquet"
    pq.write_table(frame(X), path, compression="snappy")
    data = bytearray(path.read_bytes())
    data[4:40] = b"\xff" * 36  # the first page's header
    path.write_bytes(data)
    with pytest.raises(InvalidData, match=r"rows\.parquet is not a whole file; write it again"):
        open_rows(path).read(0, N)
