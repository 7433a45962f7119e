"""Files that somebody made to do harm: more than they seem to hold, without end, or no files."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from commands import READING, run
from pyarrow import feather, parquet

from coterie import PCKMeans, load
from coterie.active import AnswerStore
from coterie.cli.exits import Exit
from coterie.data import open_rows
from coterie.exceptions import AnswersInUse, InvalidData, InvalidModel
from coterie.tables import read_table
from coterie.tables.header import MOST_COLUMNS, distinct_names
from coterie.tables.table import Column, values_of
from coterie.tables.unpacking import VARIABLE

LIMIT = "1000000"  # bytes


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(name: str, match: str) -> None:
    """By the reader, and by a command in one line."""
    with pytest.raises(InvalidData, match=match):
        read_table(name)
    done = run(*READING["fit data"](name))
    assert (done.exit_code, done.stderr.count("\n")) == (Exit.BAD_INPUT, 1), done.output
    assert not list(Path().glob("new*"))


# -- more than they seem to hold ---------------------------------------------------------------
def write_rows(name: str, table: pa.Table) -> None:
    if name.endswith(".parquet"):
        parquet.write_table(table, name, compression="zstd")
    else:
        feather.write_feather(table, name, compression="zstd")


@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow", "rows.feather"])
@pytest.mark.parametrize("what", ["numbers", "texts"])
def test_few_kilobytes_that_are_said_to_stand_in_every_row(name, what, monkeypatch):
    n = 1_000_000 if what == "numbers" else 3000
    column = np.zeros(n) if what == "numbers" else ["x" * 5000] * n
    write_rows(name, pa.table({"x": column}))
    assert Path(name).stat().st_size < 60_000
    monkeypatch.setenv(VARIABLE, LIMIT)
    refused(name, f"more than 1,000,000 bytes.*{VARIABLE}")
    monkeypatch.delenv(VARIABLE)
    assert read_table(name).n_rows == n


def test_large_files_are_no_bombs(monkeypatch):
    """The limit is for what is far more than its file: this one is above it as it stands."""
    monkeypatch.setenv(VARIABLE, "1000")
    table = pa.table({"x": np.random.default_rng(0).normal(size=5000)})
    for name in ("rows.parquet", "rows.arrow"):
        write_rows(name, table)
        assert read_table(name).n_rows == 5000


def workbook(name: str, extra: dict[tuple[int, int], float] | None = None) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for line, row in enumerate([("a", "b"), *((t % 2 * 9 + t / 10, t / 7) for t in range(12))], 1):
        for at, value in enumerate(row, 1):
            book.active.cell(line, at, value)
    for place, value in (extra or {}).items():
        book.active.cell(*place, value)
    book.save(name)


def test_a_cell_in_the_last_corner_of_a_sheet_is_one_row():
    workbook("corner.xlsx", {(1_048_576, 16_384): 1.0})
    assert Path("corner.xlsx").stat().st_size < 10_000
    table = read_table("corner.xlsx")
    assert (table.n_rows, len(table.columns)) == (13, 16_384)


def test_a_sheet_that_is_wide_in_one_row_and_long_in_another(monkeypatch):
    workbook("wide.xlsx", {(t, 1): 1.0 for t in range(14, 200)} | {(3, 16_384): 1.0})
    monkeypatch.setenv(VARIABLE, LIMIT)
    refused("wide.xlsx", "more than 1,000,000 bytes")


def edited(name: str, before: bytes, after: bytes) -> None:
    """The workbook with its sheet changed."""
    workbook("whole.xlsx")
    with zipfile.ZipFile("whole.xlsx") as whole, zipfile.ZipFile(name, "w") as made:
        for member in whole.namelist():
            data = whole.read(member)
            made.writestr(member, data.replace(before, after) if "sheet1" in member else data)


@pytest.mark.parametrize(
    ("before", "after", "match"),
    [
        (b'<row r="13"', b'<row r="999999999999"', "beyond the 1,048,576"),
        (b'r="A13"', b'r="ZZZZZZ13"', "not a whole Excel workbook"),
        (b'<row r="13"', b'<row r="x"', "not a whole Excel workbook"),
        (b"<worksheet", b'<!DOCTYPE w [<!ENTITY a "aaaa">]><worksheet x="&b;"', "not a whole"),
    ],
)
def test_forged_sheets_are_told(before, after, match):
    """Cells are read when they are asked for: so were their errors, as ours."""
    edited("forged.xlsx", before, after)
    refused("forged.xlsx", match)


def test_what_a_sheet_says_of_its_size_is_not_believed():
    edited("forged.xlsx", b'ref="A1:B13"', b'ref="A1:XFD1048576"')
    assert read_table("forged.xlsx").n_rows == 12


# -- views ----------------------------------------------------------------------------------------
NUMBERS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"


def with_view(name: str, query: str) -> None:
    database = sqlite3.connect(name)
    database.execute(f"CREATE VIEW t AS {query}")
    database.close()


def test_a_view_without_end_is_refused(monkeypatch):
    with_view("endless.db", NUMBERS)
    monkeypatch.setenv(VARIABLE, LIMIT)
    refused("endless.db", "more than 1,000,000 bytes")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX signals")
def test_ctrl_c_ends_a_view_that_says_nothing_for_ever(folder):
    """SQLite gave Python no chance to hear of it, nor of SIGTERM."""
    with_view("silent.db", f"{NUMBERS} WHERE x < 0")
    code = (
        "import os, signal, threading\n"
        "from coterie.tables import read_table\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "read_table('silent.db')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stderr.endswith("KeyboardInterrupt\n"), done.stderr


def test_a_view_of_a_database_reads_no_other_file():
    duckdb = pytest.importorskip("duckdb")
    Path("secret.csv").write_text("a,b\n1,2\n3,4\n")
    database = duckdb.connect("view.duckdb")
    database.execute("CREATE VIEW t AS SELECT * FROM read_csv('secret.csv')")
    database.close()
    refused("view.duckdb", "reads other files, which a view may not do here")


# -- columns and texts ----------------------------------------------------------------------------
@pytest.mark.parametrize("ending", ["csv", "jsonl", "json"])
def test_a_million_columns_are_refused(ending):
    n = 1_000_000 if ending == "csv" else MOST_COLUMNS + 1
    if ending == "csv":
        text = ",".join(f"c{t}" for t in range(n)) + "\n" + ("1," * n)[:-1] + "\n"
    else:
        row = "{" + ", ".join(f'"c{t}": 1' for t in range(n)) + "}\n"
        text = row if ending == "jsonl" else f"[{row}]"
    Path(f"wide.{ending}").write_text(text)
    refused(f"wide.{ending}", f"has {n:,} columns")


def test_names_of_many_columns_are_told_apart_in_one_pass():
    """By looking for each among all before it, 50,000 took minutes."""
    names, _ = distinct_names("t.csv", ["x"] * 50_000)
    assert (names[1], names[-1]) == ("x_2", "x_50000")
    assert len(set(names)) == 50_000
    assert distinct_names("t.csv", ["x", "x_2", "x", "x"])[0] == ["x", "x_2", "x_3", "x_4"]


def test_one_long_text_does_not_make_all_as_long():
    """Each of these rows took four bytes for every letter of the longest: 16 GB."""
    texts = ["b", "a", "", "x" * 4_000_000, *["b"] * 1000]
    found, which, rows = Column("t", values_of(texts)).known_texts()
    assert found.tolist() == ["a", "b", "x" * 4_000_000]
    assert rows.tolist() == [0, 1, *range(3, 1004)]
    assert which.tolist() == [1, 0, 2, *[1] * 1000]


# -- no files ----------------------------------------------------------------------------------
def replace(path: Path, how: str) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path) if how == "pipe" else os.symlink("/dev/zero", path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.parametrize("how", ["pipe", "device"])
class TestNoFiles:
    """A pipe was waited for, and a device read until no memory was left."""

    def test_in_a_model_folder(self, how):
        PCKMeans(2).fit(np.arange(20.0).reshape(10, 2)).save("whole")
        for number, file in enumerate(["model.json", "0.npy"]):
            shutil.copytree("whole", f"model{number}")
            replace(Path(f"model{number}", file), how)
            with pytest.raises(InvalidModel, match=r"no file|no readable model\.json"):
                load(f"model{number}")

    @pytest.mark.parametrize("ending", ["npy", "npz", "parquet", "arrow"])
    def test_as_rows(self, how, ending):
        replace(Path(f"rows.{ending}"), how)
        with pytest.raises(InvalidData, match="no file"):
            open_rows(f"rows.{ending}")

    @pytest.mark.parametrize("name", ["a.db", "a.db.lock"])
    def test_as_a_log_or_its_lock(self, how, name):
        replace(Path(name), how)
        with pytest.raises(AnswersInUse, match="no file"):
            AnswerStore("a.db")


@pytest.mark.parametrize("words", [b"[" * 100_000, b"\xff\xfe", b"[1]", b'{"begun": [1]}'])
def test_odd_words_in_a_lock_are_no_harm(words):
    Path("a.db.lock").write_bytes(words)
    AnswerStore("a.db").close()
