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
        array = self._head()
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
        self._kind, self._offset = array.dtype, int(array.offset)

    def place(self, row: int) -> str:
        """File and row."""
        return f"{self.stamp.path}, row {self._first + row}"

    def _head(self) -> Any:
        """An array of the file's shape and type; its values are not read."""
        try:
            return np.load(self.stamp.path, mmap_mode="r", allow_pickle=False)
        except OSError:
            raise
        except Exception as error:  # numpy parses the header as Python: of a forged one, anything
            raise InvalidData(f"{self.stamp.path} is not an array file: {error}") from error

    def _read(self, start: int, stop: int) -> Any:
        with self.stamp.while_read(), self.stamp.path.open("rb") as stream:
            return self._stretch(stream, start, stop)

    def _take(self, rows: NDArray[np.int64]) -> Any:
        picked = np.empty((rows.size, self.d), dtype=self.dtype)
        ends = np.flatnonzero(np.diff(rows, append=-1) != 1) + 1  # of runs of neighbours
        done = 0
        with self.stamp.while_read(), self.stamp.path.open("rb") as stream:
            for end in ends.tolist():
                picked[done:end] = self._stretch(stream, int(rows[done]), int(rows[end - 1]) + 1)
                done = end
        return picked

    def _stretch(self, stream: Any, start: int, stop: int) -> Any:
        # Read, not mapped: a map of a file that somebody cuts short ends the whole process.
        stream.seek(self._offset + start * self.d * self._kind.itemsize)
        values = np.fromfile(stream, dtype=self._kind, count=(stop - start) * self.d)
        return values.reshape(stop - start, self.d).astype(self.dtype, copy=False)
