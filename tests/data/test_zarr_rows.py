"""Rows of Zarr arrays: what is refused, and what is noticed."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.data import open_rows
from coterie.exceptions import InvalidData, RowsChanged

zarr = pytest.importorskip("zarr")


def stored(path, rows, **options):
    array = zarr.create_array(path, shape=rows.shape, dtype=rows.dtype, **options)
    array[...] = rows
    return path


@pytest.mark.parametrize("version", [2, 3])
def test_stretches_and_lists_of_rows(tmp_path, version):
    rows = np.arange(60, dtype=np.float32).reshape(20, 3)
    found = open_rows(stored(tmp_path / "a.zarr", rows, chunks=(7, 2), zarr_format=version))
    assert found.shape == (20, 3)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.read(5, 16), rows[5:16])
    np.testing.assert_array_equal(found.cut(4, 12).take(np.array([6, 0, 0])), rows[[10, 4, 4]])
    assert found.place(3).endswith("a.zarr, row 3")


def test_what_is_no_table_of_numbers_is_refused(tmp_path):
    with pytest.raises(InvalidData, match=r"expected numbers in rows and columns"):
        open_rows(stored(tmp_path / "a.zarr", np.zeros(4)))
    with pytest.raises(InvalidData, match=r"none\.zarr is not a Zarr array"):
        open_rows(tmp_path / "none.zarr")
    with pytest.raises(InvalidData, match=r"2 \.zarr arrays were named; open one"):
        open_rows([tmp_path / "a.zarr", tmp_path / "b.zarr"])


def test_another_array_in_its_place_is_noticed(tmp_path):
    rows = open_rows(stored(tmp_path / "a.zarr", np.zeros((9, 2))))
    stored(tmp_path / "a.zarr", np.zeros((9, 5)), overwrite=True)
    with pytest.raises(RowsChanged, match="was rewritten"):
        rows.read(0, 9)
