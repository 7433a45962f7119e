"""CSV and Parquet files: exact, whole or not at all."""

from __future__ import annotations

import os
import stat
import sys

import numpy as np
import pandas as pd
import pytest
from constraints.strategies import constraint_sets
from hypothesis import given

from coterie.constraints import Constraints
from coterie.constraints import files as files_module
from coterie.exceptions import InvalidConstraints, InvalidParameter, MissingDependency


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@given(c=constraint_sets())
def test_files_round_trip(tmp_path_factory, suffix, c):
    path = tmp_path_factory.mktemp("files") / f"pairs.{suffix}"
    c.save(path)
    assert Constraints.load(path) == c
    assert os.listdir(path.parent) == [path.name]


def test_numbers_survive_csv_exactly(tmp_path):
    c = Constraints(3, [(0, 1)], must_weight=1 / 3, must_certainty=np.nextafter(0.7, 1))
    c.save(tmp_path / "c.csv")
    assert Constraints.load(tmp_path / "c.csv") == c
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((tmp_path / "c.csv").stat().st_mode) == 0o666 & ~umask


def test_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "c.csv"
    Constraints(3, [(0, 1)]).save(path)

    def fail(path, *_, **__):
        path.write_text("half")
        raise OSError("disk full")

    monkeypatch.setattr(files_module.np, "savetxt", fail)
    with pytest.raises(OSError, match="disk full"):
        Constraints(4).save(path)
    assert Constraints.load(path) == Constraints(3, [(0, 1)])
    assert os.listdir(tmp_path) == ["c.csv"]


def test_bad_files(tmp_path):
    first = "# coterie constraints, n_samples=3\ni,j,kind,weight,certainty\n"
    cases = {
        "i,j\n0,1\n": "is not a constraints file",
        first + "0,1,maybe,1.0,nan\n": "'maybe'",
        first + "0,x,must,1.0,nan\n": "third line",
        first + "0,7,must,1.0,nan\n": r"pairs\[0\] = \(0, 7\)",
    }
    for text, message in cases.items():
        (tmp_path / "c.csv").write_text(text)
        with pytest.raises(InvalidConstraints, match=message):
            Constraints.load(tmp_path / "c.csv")
    pd.DataFrame({"i": [0]}).to_parquet(tmp_path / "c.parquet")
    with pytest.raises(InvalidConstraints, match="not written by"):
        Constraints.load(tmp_path / "c.parquet")
    with pytest.raises(InvalidParameter, match=r"\.csv or \.parquet"):
        Constraints(3).save(tmp_path / "c.xlsx")


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependency, match=r"coterie\[parquet\]"):
        Constraints(3).save(tmp_path / "c.parquet")
    assert os.listdir(tmp_path) == []
