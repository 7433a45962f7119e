"""Every format gives the same table; pyarrow and the plain reader agree."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from datetime import timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet
from scipy import sparse

from coterie.exceptions import InvalidData, MissingDependency
from coterie.tables import Choices, Recipe, columns_used, open_table
from coterie.tables import delimited as reader
from coterie.tables.formats import DURATION
from coterie.tables.reading import read_table
from coterie.tables.table import MISSING_WORDS, Column, missing
from coterie.tables.writing import write_table

IDS, NUMBERS, TOWNS = ["007", "b", "c"], [1.5, -2.0, 1e-3], ["Ulm", "Köln", "Rom"]


def delimited(path, delimiter, pack=None):
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter)
    writer.writerow(["id", "x", "town"])
    writer.writerows(zip(IDS, NUMBERS, TOWNS, strict=True))
    content = stream.getvalue().encode()
    Path(path).write_bytes(pack(content) if pack else content)


def jsonl(path):
    rows = zip(IDS, NUMBERS, TOWNS, strict=True)
    lines = [json.dumps({"id": i, "x": x, "town": t}) for i, x, t in rows]
    Path(path).write_text("\n".join(lines) + "\n\n", encoding="utf-8")


def arrow(write, path):
    write(pa.table({"id": IDS, "x": NUMBERS, "town": pa.array(TOWNS).dictionary_encode()}), path)


def stream(table, path):
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


WAYS = {
    "t.csv": lambda path: delimited(path, ","),
    "semicolons.csv": lambda path: delimited(path, ";"),
    "tabs.csv": lambda path: delimited(path, "\t"),
    "bars.csv": lambda path: delimited(path, "|"),
    "for_excel.csv": lambda path: delimited(path, ";", lambda raw: b"sep=;\r\n" + raw),
    "bom_for_excel.csv": lambda path: delimited(
        path, ";", lambda raw: b"\xef\xbb\xbfsep=;\n" + raw
    ),
    "t.tsv": lambda path: delimited(path, "\t"),
    "t.csv.gz": lambda path: delimited(path, ",", gzip.compress),
    "bom.csv": lambda path: delimited(path, ",", lambda raw: b"\xef\xbb\xbf" + raw),
    "t.jsonl": jsonl,
    "t.parquet": lambda path: arrow(parquet.write_table, path),
    "t.feather": lambda path: arrow(feather.write_feather, path),
    "t.arrow": lambda path: arrow(stream, path),
}


@pytest.mark.parametrize("plain", [False, True], ids=["pyarrow", "plain"])
@pytest.mark.parametrize("name", WAYS)
def test_every_format_gives_the_same_table(name, plain, folder, monkeypatch):
    WAYS[name](name)
    if plain:
        if Path(name).suffix in (".parquet", ".feather", ".arrow"):
            monkeypatch.setitem(sys.modules, "pyarrow", None)
            with pytest.raises(MissingDependency, match=r"coterie\[parquet\]"):
                read_table(Path(name))
            return
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    table = read_table(Path(name))
    assert table.n_rows == 3
    assert list(table.columns) == ["id", "x", "town"]
    assert table.ids("id") == IDS  # leading zeros are kept
    assert table.column("town").texts().tolist() == TOWNS
    values, bad = table.column("x").numbers
    assert values.tolist() == NUMBERS
    assert bad.size == 0


def test_texts_as_polars_writes_them(folder):
    made = pl.DataFrame({"id": IDS, "x": [" 1.5", "NA", "3"], "town": TOWNS})
    made.with_columns(pl.col("town").cast(pl.Categorical)).write_ipc("polars.arrow")
    table = read_table(Path("polars.arrow"))
    assert pa.types.is_string_view(table.column("id").values.type)
    assert table.ids("id") == IDS
    assert table.column("town").texts().tolist() == TOWNS
    values, bad = table.column("x").numbers
    assert np.array_equal(values, [1.5, np.nan, 3.0], equal_nan=True)
    assert bad.size == 0
    assert table.column("town").numbers.bad.size == sum(town is not None for town in TOWNS)
    write_table(table, Path("again.parquet"))  # which knows no dictionary of string_view
    assert read_table(Path("again.parquet")).column("town").texts().tolist() == TOWNS


cell = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=6)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(cell, cell), min_size=1, max_size=6),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_pyarrow_reads_what_the_plain_reader_reads(rows, delimiter, end):
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=end)
    writer.writerow(["a", "b"])
    writer.writerows(rows)
    path = Path("t.csv")
    text = reader._Text(stream.getvalue().encode(), delimiter, True, ())
    fast = reader._read_by_arrow(path, text)
    slow, _ = reader._read_plain(path, text)
    assert [list(c.texts()) for c in slow.values()] == [list(c) for c in zip(*rows, strict=True)]
    if fast is not None:
        for name, column in slow.items():
            assert fast[0][name].texts().tolist() == column.texts().tolist()


number = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from([*MISSING_WORDS, " 3 ", "+4", ".5", "5.", "1e5", "-inf", "1_000", "0x10", "x"]),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(number, min_size=1, max_size=6))
def test_pyarrow_and_the_plain_reader_agree_on_numbers(texts):
    objects = np.array([*texts, None], dtype=object)[:-1]
    slow = Column("x", objects).numbers
    fast = Column("x", pa.chunked_array([pa.array(texts, pa.large_string())])).numbers
    assert np.array_equal(fast.values, slow.values, equal_nan=True)
    assert np.array_equal(fast.bad, slow.bad)
    odd = {"1_000", "0x10", "x"}
    assert [texts[row] for row in slow.bad] == [text for text in texts if text in odd]
    assert np.array_equal(np.isnan(slow.values), missing(objects) | np.isin(texts, list(odd)))


def test_numbers_as_ids_read_as_the_text_people_write(folder):
    pa_table = pa.table({"n": pa.array([7, 8]), "f": [7.0, 8.5], "b": [True, False]})
    parquet.write_table(pa_table, "t.parquet")
    table = read_table(Path("t.parquet"))
    assert table.ids("n") == ["7", "8"]
    assert table.ids("f") == ["7", "8.5"]
    assert table.column("b").numbers.values.tolist() == [1.0, 0.0]
    Path("t.jsonl").write_text('{"n": 12345678901234567, "f": 7.0}\n{"n": 8, "f": 1e300}\n')
    table = read_table(Path("t.jsonl"))
    assert table.ids("n") == ["12345678901234567", "8"]
    assert table.ids("f")[0] == "7"


def test_arrays_dense_and_sparse_with_columns_beside_them(folder):
    X = np.arange(12.0).reshape(4, 3)
    np.save("a.npy", X.astype(np.int16))
    assert np.array_equal(read_table(Path("a.npy")).matrix, X)
    np.savez_compressed(
        "b.npz", X=X.astype(np.float32), ids=np.array(list("abcd")), other=np.ones(9)
    )
    table = read_table(Path("b.npz"))
    assert table.matrix.dtype == np.float32
    assert table.ids("ids") == list("abcd")
    assert list(table.columns) == ["ids"]
    for form in ("csr", "csc", "coo"):
        sparse.save_npz("c.npz", sparse.csr_matrix(X).asformat(form))
        matrix = read_table(Path("c.npz")).matrix
        assert matrix.format == "csr"
        assert np.array_equal(matrix.toarray(), X)


def test_lines_are_counted_as_an_editor_counts_them(folder):
    Path("t.csv").write_text('x,y\n\n1,"two\nlines"\n\n3,4\n')
    table = read_table(Path("t.csv"))
    assert [table.place(row) for row in range(2)] == ["line 4", "line 6"]
    assert table.named("y").place(1) == "'4' (line 6)"


def test_a_field_may_be_long(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    Path("t.csv").write_text("x,y\n1," + "z" * 300_000 + "\n")
    assert len(read_table(Path("t.csv")).column("y").texts()[0]) == 300_000


def test_no_rows_are_refused_unless_allowed(folder):
    Path("t.csv").write_text("a,b\n")
    assert read_table(Path("t.csv"), empty=True).n_rows == 0
    with pytest.raises(InvalidData, match="no rows"):
        read_table(Path("t.csv"))


def workbook(path, **sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)


def test_a_sheet_with_titles_above_its_header(tmp_path):
    rows = [["Sales of 2024"], [], ["region", "sold"], ["N", 5], ["S", 7], [" ", None]]
    workbook(tmp_path / "b.xlsx", Notes=[["made on a Monday"]], Sales=rows)
    table = read_table(tmp_path / "b.xlsx")
    assert (table.names, table.n_rows) == (["region", "sold"], 2)
    assert table.source.endswith("b.xlsx::Sales")
    assert table.place(1) == "row 5"
    assert table.notes == ("1 row above the header left out",)


def test_a_sheet_of_one_column_and_cells_without_a_name(tmp_path):
    workbook(tmp_path / "b.xlsx", One=[["x"], [1], [2]], Wide=[["x", "y"], [1, 2, 3]], None_=[[]])
    assert read_table(tmp_path / "b.xlsx").column("x").numbers.values.tolist() == [1, 2]
    wide = read_table(tmp_path / "b.xlsx::Wide")
    assert wide.names == ["x", "y", "column_3"]
    assert wide.notes == ("column 3 has no name in the header; it is called 'column_3'",)
    with pytest.raises(
        InvalidData, match=r"b.xlsx::None_ holds no header .*Sheets: One, Wide, None_"
    ):
        read_table(tmp_path / "b.xlsx::None_")


def test_what_pyarrow_reads_is_its_own(tmp_path, monkeypatch):
    """A thread of it that frees bytes of Python while Python ends would abort the command."""
    given, plain = [], pa.BufferReader

    def open_buffer(buffer):
        given.append(buffer)
        return plain(buffer)

    monkeypatch.setattr(pa, "BufferReader", open_buffer)
    path = tmp_path / "d.csv"
    path.write_text("x,y\n1,2\n3,4\n")
    assert read_table(path).column("x").numbers.values.tolist() == [1.0, 3.0]
    assert [type(buffer) for buffer in given] == [pa.Buffer]  # of pyarrow's memory, not bytes
    assert given[0].to_pybytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("raw", "n_rows"),
    [
        (b'a,b\r"x",1\r"y, z",2\r', 2),  # lines as old Macs end them
        (b'a,b\n"x",1\n"y"\r,2\n', None),
        (b'red,"x" y\r,\n1,2\n', None),
    ],
)
def test_a_lone_carriage_return_beside_quotes(raw, n_rows, tmp_path):
    """Found by `make fuzz`: an error of the csv module, while the header was looked for."""
    path = tmp_path / "rows.csv"
    path.write_bytes(raw)
    if n_rows is None:
        with pytest.raises(InvalidData, match=r"rows\.csv, line \d"):
            read_table(path)
    else:
        table = read_table(path)
        assert table.n_rows == n_rows
        assert list(table.column("a").texts()) == ["x", "y, z"]


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_durations_are_seconds_as_numbers_and_as_texts(tmp_path, unit):
    """What a data frame of pandas or polars writes; it had been refused."""
    given = [None, *(timedelta(seconds=7_211 * t) for t in range(30))]
    table = pa.table(
        {"d": pa.array(given).cast(pa.duration(unit)), "x": [t % 7 for t in range(31)]}
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    read = read_table(tmp_path / "t.parquet")
    seconds = [np.nan, *(7_211.0 * t for t in range(30))]
    np.testing.assert_array_equal(read.column("d").numbers.values, seconds)
    texts = Column("d", read.column("d").texts())
    np.testing.assert_array_equal(texts.read(DURATION).values, seconds)
    for found in (read, open_table(tmp_path / "t.parquet")):
        impute = Choices(impute=True)
        recipe = found.learn(impute) if hasattr(found, "learn") else Recipe.learn(found, impute)
        assert columns_used(recipe) == "2 numbers"
        np.testing.assert_array_equal(recipe.apply(read).X[1:, 0], seconds[1:])
