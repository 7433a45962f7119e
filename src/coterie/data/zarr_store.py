"""Rows of a Zarr array, read a stretch at a time."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.stored import FileStamp, StoredRows, float_type
from coterie.exceptions import InvalidData, MissingDependency

__all__ = ["ZarrRows"]


class ZarrRows(StoredRows):
    """A two-dimensional array of numbers in a Zarr folder, whose chunks are cut to our blocks.

    Of changes it notices those of the array's description (a new shape, another array), not those
    of single chunks.

    Parameters
    ----------
    path : folder of a Zarr array
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()
        array = self._open()
        if array.ndim != 2 or array.dtype.kind not in "biuf":
            raise InvalidData(
                f"{path} holds {array.dtype} of shape {array.shape}; expected numbers in rows and "
                "columns (n, d)."
            )
        self.n, self.d = (int(size) for size in array.shape)
        self.dtype = float_type([array.dtype])
        names = ("zarr.json", ".zarray")  # of the formats 3 and 2
        described = next(self.path / name for name in names if (self.path / name).exists())
        self.stamp = FileStamp.of(described)

    def place(self, row: int) -> str:
        """Folder and row."""
        return f"{self.path}, row {self._first + row}"

    def _open(self) -> Any:
        try:
            zarr = import_module("zarr")
        except ImportError as error:
            raise MissingDependency(
                f"reading {self.path} needs zarr; install it with: pip install 'coterie[zarr]'."
            ) from error
        try:
            return zarr.open_array(self.path, mode="r")
        except Exception as error:  # zarr's own kinds are not public
            raise InvalidData(f"{self.path} is not a Zarr array ({error}).") from error

    def _read(self, start: int, stop: int) -> Any:
        with self.stamp.while_read():
            return np.ascontiguousarray(self._open()[start:stop], dtype=self.dtype)

    def _take(self, rows: NDArray[np.int64]) -> Any:
        with self.stamp.while_read():
            return np.ascontiguousarray(self._open().oindex[rows], dtype=self.dtype)
