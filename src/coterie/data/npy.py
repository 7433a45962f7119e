"""Rows of a .npy file, read a stretch at a time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.stored import FileStamp, StoredRows, float_type
from coterie.exceptions import InvalidData

__all__ = ["NpyRows"]


class NpyRows(StoredRows):
    """A two-dimensional array of numbers in a .npy file; never in memory as a whole.

    Parameters
    ----------
    path : path of a .npy file, C-ordered
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.stamp = FileStamp.of(Path(path))
        array = self._map()
        if array.ndim != 2 or array.dtype.kind not in "biuf":
            raise InvalidData(
                f"{path} holds {array.dtype} of shape {array.shape}; expected numbers in rows and "
                "columns (n, d)."
            )
        if not array.flags.c_contiguous:
            raise InvalidData(
                f"{path} is stored column by column, so that no stretch of rows can be read by "
                "itself; save np.ascontiguousarray of it."
            )
        self.n, self.d = array.shape
        self.dtype = float_type([array.dtype])

    def place(self, row: int) -> str:
        """File and row."""
        return f"{self.stamp.path}, row {self._first + row}"

    def _map(self) -> Any:
        try:
            return np.load(self.stamp.path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            raise InvalidData(f"{self.stamp.path} is not an array file: {error}") from error

    def _read(self, start: int, stop: int) -> Any:
        self.stamp.check()
        return np.array(self._map()[start:stop], dtype=self.dtype, order="C")

    def _take(self, rows: NDArray[np.int64]) -> Any:
        self.stamp.check()
        return np.asarray(self._map()[rows], dtype=self.dtype)
