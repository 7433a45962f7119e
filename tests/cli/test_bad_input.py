"""The table of bad input: each case ends with its exit code and a message that says what to do,
without a traceback, and leaves the folder as it was.
"""

from __future__ import annotations

import gzip
import io
import os
import struct
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from scipy import sparse
from terminal_cli import listing

from coterie.cli.exits import Exit

GOOD = "id,x,y\n" + "".join(f"r{t},{t % 2 * 9 + t / 10},{t / 7:.3f}\n" for t in range(8))
PAIRS = "a,b,kind\nr0,r2,must\nr1,r2,cannot\n"
FIT = ("fit", "data.csv", "--id", "id", "-k", "2", "--method", "pckmeans", "-o", "out.csv")
PAIR_FIT = (*FIT, "--constraints", "pairs.csv")
BAD, CANNOT, UNWRITTEN = Exit.BAD_INPUT, Exit.UNSATISFIABLE, Exit.NOT_WRITTEN


@dataclass
class Case:
    """Files to make, a command to run in their folder, and how it must end."""

    name: str
    arguments: tuple[Any, ...]
    message: str
    code: int = BAD
    files: dict[str, Any] = field(default_factory=dict)


def data(name, content, message, *extra, file="data.csv", code=BAD):
    """`fit` on a bad data file."""
    arguments = ("fit", file, "-k", "2", "--method", "pckmeans", "-o", "out.csv", *extra)
    return Case(name, arguments, message, code, {file: content})


def pairs(name, content, message, code=BAD, arguments=PAIR_FIT, file="pairs.csv"):
    """`fit` with a bad file of pairs."""
    return Case(name, arguments, message, code, {file: content})


def option(name, arguments, message, code=BAD):
    """`fit` with bad options."""
    return Case(name, (*FIT, *arguments), message, code)


# -- how the files are made ------------------------------------------------------------------


def npy(array, **changes):
    """An .npy file whose header tells something else than it holds."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": "<f8", "fortran_order": False, "shape": array.shape, **changes}
    )
    return stream.getvalue() + array.tobytes()


def pickled():
    stream = io.BytesIO()
    np.save(stream, np.array([[print, 1]], dtype=object), allow_pickle=True)
    return stream.getvalue()


def saved(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def forged_zip():
    """A member that declares 100 GB and holds nothing like it."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", npy(np.zeros((1, 1)), shape=(10**6, 12500)))
    content = bytearray(stream.getvalue())
    at = content.index(b"PK\x01\x02") + 24  # uncompressed size in the central directory
    content[at : at + 4] = struct.pack("<I", 2**32 - 2)
    return bytes(content)


def sparse_npz(**changes):
    matrix = sparse.csr_matrix(np.eye(4))
    parts = {"indices": matrix.indices, "indptr": matrix.indptr, "format": np.array("csr")}
    return npz(**{"shape": np.array(matrix.shape), "data": matrix.data, **parts, **changes})


def whole_parquet(write=parquet.write_table, **columns):
    stream = io.BytesIO()
    write(pa.table(columns or {"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 4.0]}), stream)
    return stream.getvalue()


BINARY = whole_parquet()
CASES = [
    # -- text tables
    data(
        "a number too large for squares",
        "id,x,y\na,1,2\nb,1e300,3\nc,4,5\n",
        "data.csv, 'b' (line 3), column 'x' is 1e+300: squared distances of such values overflow",
        "--id",
        "id",
    ),
    data("empty file", "", "data.csv is empty"),
    data("blank file", "\n\n  \n", "data.csv is empty"),
    data("only a BOM", b"\xef\xbb\xbf", "data.csv is empty"),
    data("only a header", "x,y\n", "data.csv has no rows"),
    data("too few values", "x,y\n1,2\n3\n4,5\n", "line 3: 1 value for the 2 columns of"),
    data("too many values", 'x,y\n1,"a\nb"\n3,4,5\n', "line 4: 3 values for the 2 columns of"),
    data("open quote", 'x,y\n1,"2\n3,4\n', "unexpected end of data"),
    data("damaged UTF-8", "x,y\n\xfc,2\n3,caf".encode() + b"\xe9\n", "line 3: not UTF-8"),
    data("damaged utf-16", "x,y\n1,2\n".encode("utf-16")[:-1], "is damaged UTF-16 text; save it"),
    data("NUL bytes", b"x,y\n1,2\n3,\x004\n", "line 3: a NUL byte"),
    data("broken gzip", gzip.compress(b"x\n1\n2\n")[:-6], "whole gzip", file="data.csv.gz"),
    data("no gzip", b"x\n1\n2\n", "whole gzip", file="data.csv.gz"),
    data("unknown ending", "x\n1\n", "name must end in .csv", file="data.ods"),
    data("no workbook", "x\n1\n", "not a whole Excel workbook", file="data.xlsx"),
    data("no database", "x\n1\n" * 300, "not a whole SQLite database", file="data.db"),
    data("packed parquet", BINARY, "name must end in", file="data.parquet.gz"),
    data("JSON list", "[1, 2]\n", "line 1: expected an object", file="data.jsonl"),
    data("no JSON", '{"x": 1}\n{"x": \n', "line 2: not JSON", file="data.jsonl"),
    data("deep JSON", "[" * 100_000, "line 1: not JSON", file="data.jsonl"),
    # -- binary tables
    data("truncated parquet", BINARY[:-20], "whole Parquet file", file="data.parquet"),
    data("parquet of text", "x,y\n1,2\n", "whole Parquet file", file="data.parquet"),
    data("truncated feather", whole_parquet(feather.write_feather)[:200], "whole Arrow file",
         file="data.feather"),
    data("maps", whole_parquet(when=pa.array([{"a": 1}, {"a": 2}])), "column 'when' holds neither",
         file="data.parquet"),
    data("null in parquet", whole_parquet(x=[1.0, None, 2.0]), "row 1: no value in column 'x'",
         file="data.parquet"),
    data("infinity in parquet", whole_parquet(x=[1.0, np.inf]), "row 1: infinite value",
         file="data.parquet"),
    # -- arrays
    data("empty npy", b"", "is empty", file="data.npy"),
    data("no npy", b"hello, this is text", "not an array file", file="data.npy"),
    data("forged npy", npy(np.ones((3, 2)), shape=(10**9, 10**6)), "declares 8000000000000000",
         file="data.npy"),
    data("negative npy", npy(np.ones((3, 2)), shape=(-3, -2)), "damaged or forged",
         file="data.npy"),
    data("truncated npy", saved(np.ones((30, 2)))[:-8], "damaged or forged", file="data.npy"),
    data("pickled npy", pickled(), "could run code", file="data.npy"),
    data("flat npy", saved(np.ones(5)), "shape (5,); expected rows and columns", file="data.npy"),
    data("text npy", saved(np.array([["a", "b"]])), "expected numbers", file="data.npy"),
    data("complex npy", saved(np.ones((3, 2), complex)), "expected numbers", file="data.npy"),
    data("NaN in npy", saved(np.array([[1.0, 2], [np.nan, 1]])), "row 1, column 0: missing",
         file="data.npy"),
    data("no npz", b"PK nonsense", "whole .npz file", file="data.npz"),
    data("forged npz", forged_zip(), "declares more bytes than it can hold", file="data.npz"),
    data("pickled npz", npz(X=np.array([[print]], dtype=object)), "could run code",
         file="data.npz"),
    data("two tables in npz", npz(A=np.ones((2, 2)), B=np.ones((2, 2))), "or one named X",
         file="data.npz"),
    data("sparse with wrong indices", sparse_npz(indices=np.array([0, 1, 2, 9], np.int32)),
         "damaged sparse matrix", file="data.npz"),
    data("sparse of odd format", sparse_npz(format=np.array("dia")), "save it as CSR",
         file="data.npz"),
    data("columns of an array", saved(np.ones((3, 2))), "needs named columns", "--drop", "x",
         file="data.npy"),
    # -- columns
    data("a word among numbers", "x,y\n1,2\n3,4\n5,six\n7,8\n",
         "line 4: 'six' in column 'y' is not a number"),
    data("commas of two kinds", 'x,y\n"1,5",1\n"2,5",2\n3.5,3\n"4,1",4\n"5,2",5\n',
         "line 4: '3.5' in column 'x' is not a number with a decimal comma"),
    data("two currencies", "x,y\n$1,1\n€2,2\n$3,4\n", "column 'x' mixes $ and €"),
    data("percent and parts", "x,y\n1 %,1\n2,2\n3 %,4\n", "numbers without a sign and %"),
    data("a date that is none", "d,y\n2020-01-31,1\n2020-02-30,2\n2020-03-01,4\n",
         "line 3: '2020-02-30' in column 'd' is not a date"),
    data("unknown sort", "x,y\n1,1\n2,2\n", "'x' cannot be 'numbr'. Did you mean 'number'",
         "--columns", "x:numbr"),
    data("kind of no column", "x,y\n1,1\n2,2\n", "has no column 'z' (--columns)",
         "--columns", "z:number"),
    data("no condition", "x,y\n1,1\n2,2\n", "is no condition; write COLUMN = VALUE",
         "--where", "x about 3"),
    data("no row left", "x,y\n1,1\n2,2\n", "no row is left where x > 7", "--where", "x > 7"),
    data("texts in order", "x,y\na,1\nb,2\n", "only compared by = and !=", "--where", "x > a"),
    data("missing value", "id,x\na,1\nb,\nc,3\n", "'b' (line 3): no value in column 'x'",
         "--id", "id"),
    data("missing category", "x,t\n1,u\n2,NA\n3,u\n", "line 3: no value in column 't'"),
    data("no value at all", "y\nNA\nNA\n", "no column is left to cluster by: y (no values)"),
    data("infinite value", "x,y\n1,2\n3,inf\n", "line 3: infinite value in column 'y'"),
    data("hundreds of categories", "x,t\n" + "".join(f"{t % 7},n{t // 2}\n" for t in range(300)),
         "column 't' holds 150 different texts"),
    data("all rows alike", "x,y\n1,2\n1,2\n1,2\n", "all rows are alike"),
    data("only an id", "id\na\nb\n", "no column is left to cluster by", "--id", "id"),
    data("duplicate ids", "id,x\na,1\nb,2\na,3\n", "id 'a' is used twice (line 2 and line 4)",
         "--id", "id"),
    data("empty id", "id,x\na,1\n,2\n", "line 3: no id", "--id", "id"),
    data("texts without words", "t\n!!\n??\n", "no word of column 't' occurs in two rows",
         "--text", "t"),
    data("result column is taken", "x,cluster\n1,2\n3,4\n5,5\n", "has a column 'cluster' already"),
    option("unknown id column", ("--id", "idd"), "no column 'idd' (--id). Did you mean 'id'?"),
    option("unknown feature", ("--features", "x,why"), "no column 'why' (--features)"),
    option("unknown dropped column", ("--drop", "z"), "no column 'z' (--drop)"),
    option("unknown text column", ("--text", "z"), "no column 'z' (--text)"),
    option("features and drop", ("--features", "x", "--drop", "y"), "not both"),
    option("empty name", ("--features", "x,,y"), "empty name"),
    option("nothing left", ("--drop", "x,y"), "no column is left"),
    # -- options
    option("K of 0", ("-k", "0"), "0 is not in the range x>=1"),
    option("K that is no number", ("-k", "two"), "'two' is not a valid integer"),
    option("more clusters than rows", ("-k", "9"), "-k 9: there are only 8 rows"),
    Case("no K", ("fit", "data.csv", "--id", "id", "--method", "ppc"), "ppc needs the number"),
    option("K where it is counted", ("--method", "tvclust"), "tvclust counts the clusters itself"),
    Case("no K and no pairs", ("fit", "data.csv", "--id", "id"), "mosaic counts the clusters"),
    option("unknown method", ("--method", "mpckmean"), "Did you mean 'mpckmeans'?"),
    option("unknown setting", ("--set", "max_itr=3"), "Did you mean 'max_iter'?"),
    option("setting without value", ("--set", "max_iter"), "must be NAME=VALUE"),
    option("setting of a wrong type", ("--set", "max_iter=many"), "expected a whole number"),
    option("setting out of range", ("--set", "max_iter=0"), "max_iter=0 must be an integer"),
    option("setting of a wrong choice", ("--set", "inference=icn"), "Did you mean 'icm'?"),
    option("negative seed", ("--seed", "-1"), "-1 is not in the range"),
    option("unknown option", ("--colour",), "No such option"),
    Case("no such file", ("fit", "nowhere.csv", "-k", "2"), "'nowhere.csv' does not exist"),
    Case("a folder as data", ("fit", ".", "-k", "2"), "no .parquet file is in the folder ."),
    # -- pairs
    pairs("empty pairs", "", "pairs.csv is empty"),
    pairs("pairs without kind", "a,b\nr0,r1\n", "needs columns a, b and kind"),
    pairs("id not found", "a,b,kind\nr0,r1,must\nr0,r99,must\n", "line 3: no row of the data has"),
    pairs("unknown kind", "a,b,kind\nr0,r1,must\nr0,r2,maybe\n", "line 3: kind 'maybe' is not"),
    pairs("zero as kind", "a,b,kind\nr0,r1,1\nr0,r2,0\n", "line 3: kind '0' is not known"),
    pairs("apart from itself", "a,b,kind\nr0,r0,cannot\n", "line 2: 'r0' cannot be apart"),
    pairs("weight of words", "a,b,kind,weight\nr0,r1,must,heavy\n", "weight 'heavy' must be"),
    pairs("negative weight", "a,b,kind,weight\nr0,r1,must,-1\n", "weight '-1' must be a number 0"),
    pairs("certainty of 2", "a,b,kind,certainty\nr0,r1,must,2\n", "must be a number from 0 to 1"),
    pairs("row number too large", "a,b,kind\n0,8,must\n", "line 2: '8' in column 'b' is not a row",
          arguments=("fit", "data.csv", "--drop", "id", "-k", "2", "--method", "pckmeans",
                     "--constraints", "pairs.csv", "-o", "out.csv")),
    pairs("row number below 0", "a,b,kind\n0,-1,must\n", "give --id",
          arguments=("fit", "data.csv", "--drop", "id", "-k", "2", "--method", "pckmeans",
                     "--constraints", "pairs.csv", "-o", "out.csv")),
    pairs("pairs of an array", saved(np.ones((3, 2))), "needs columns a, b and kind",
          arguments=(*FIT, "--constraints", "pairs.npy"), file="pairs.npy"),
    pairs("saved for other rows",
          "# coterie constraints, n_samples=5\ni,j,kind,weight,certainty\n0,1,must,1,nan\n",
          "speaks of 5 rows, the data has 8"),
    pairs("hard pair of both kinds", "a,b,kind,weight\nr0,r1,must,inf\nr0,r1,cannot,inf\n",
          "These 2 pairs cannot all be kept: r0 ≠ r1, r0 = r1", CANNOT),
    pairs("hard triangle", "a,b,kind\nr0,r1,cannot\nr1,r2,cannot\nr0,r2,cannot\n",
          "cannot all be kept with 2 clusters", CANNOT, arguments=(*PAIR_FIT, "--hard")),
    # -- outputs
    Case("output exists", FIT, "out.csv exists", UNWRITTEN, {"out.csv": "mine"}),
    Case("output is a folder", (*FIT, "--force"), "is a folder", UNWRITTEN, {"out.csv/x": "mine"}),
    option("no folder for the output", ("-o", "no/out.csv"), "no is not a folder", UNWRITTEN),
    option("output without a format", ("-o", "out.docx"), "name must end in"),
    Case("model exists", (*FIT, "--save", "m"), "exists and is not a saved model", UNWRITTEN,
         {"m/x": "mine"}),
    Case("model exists and force", (*FIT, "--save", "m", "--force"), "is not a saved model",
         UNWRITTEN, {"m/x": "mine"}),
    # -- other commands
    Case("no model", ("predict", "m", "data.csv"), "not a model saved by", BAD, {"m/x": ""}),
    Case("odd model", ("predict", "m", "data.csv"), "not a model saved by", BAD,
         {"m/made.json": "[]"}),
    Case("model of a later version", ("predict", "m", "data.csv"), "format version 9", BAD,
         {"m/made.json": '{"format": "coterie-bundle", "format_version": 9}'}),
    Case("damaged recipe", ("predict", "m", "data.csv"), "recipe is damaged", BAD,
         {"m/made.json": '{"format": "coterie-bundle", "format_version": 1}',
          "m/recipe.json": '{"parts": [{"kind": "magic"}]}'}),
    Case("no truth", ("score", "data.csv", "--truth", "klass"), "no column 'klass' (--truth)"),
    Case("no clusters", ("score", "data.csv", "--truth", "x"), "no column 'cluster' (--labels)"),
    Case("no true class", ("score", "s.csv", "--truth", "t"), "no row has a class", BAD,
         {"s.csv": "t,cluster\n,1\n,2\n"}),
    Case("contradiction", ("check", "data.csv", "pairs.csv", "--id", "id"), "contradict each other",
         CANNOT, {"pairs.csv": "a,b,kind\nr0,r1,must\nr1,r2,must\nr0,r2,cannot\n"}),
    Case("too few clusters", ("check", "data.csv", "pairs.csv", "--id", "id", "-k", "1"),
         "This pair cannot be kept with 1 cluster", CANNOT),
]  # fmt: skip


def make(files):
    for name, content in files.items():
        path = Path(name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bad_input_is_told_in_a_line_and_leaves_nothing(case, folder, run):
    make({"data.csv": GOOD, "pairs.csv": PAIRS, **case.files})
    before = listing(folder)
    result = run(*case.arguments)
    assert result.exit_code == case.code, result.output
    assert case.message in result.output
    told = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert len(told) <= 1
    assert len(result.output) < 1000
    assert listing(folder) == before


def test_the_good_case_of_the_table_is_good(folder, run):
    make({"data.csv": GOOD, "pairs.csv": PAIRS})
    assert run(*PAIR_FIT).exit_code == 0
    assert Path("out.csv").exists()


def test_names_differ_and_there_are_enough():
    assert len({case.name for case in CASES}) == len(CASES) >= 60


def test_debug_shows_where(folder):
    from click.testing import CliRunner

    from coterie.cli.main import main

    make({"data.csv": "x,y\n1,2\n3\n"})
    result = CliRunner().invoke(main, ["fit", "data.csv", "-k", "2", "--debug"])
    assert result.exit_code == Exit.BAD_INPUT
    assert "Traceback" in result.stderr
    assert "line 3: 1 value for" in result.stderr


def test_a_folder_that_must_not_be_written_to(folder, run, monkeypatch):
    make({"data.csv": GOOD})
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)  # even for root
    result = run(*FIT)
    assert result.exit_code == Exit.NOT_WRITTEN
    assert "cannot be written to" in result.output
