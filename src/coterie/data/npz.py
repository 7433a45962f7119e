"""Sparse rows in one or several .npz files, as `scipy.sparse.save_npz` writes them."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie.data.stored import FileStamp, StoredRows, float_type
from coterie.exceptions import InvalidData

__all__ = ["NpzRows"]


class NpzRows(StoredRows):
    """CSR matrices in .npz files, one below the other; about one file is in memory at a time.

    Parameters
    ----------
    paths : sequence of paths
        All with the same number of columns.
    """

    is_sparse = True

    def __init__(self, paths: Sequence[Path]) -> None:
        self.stamps = [FileStamp.of(Path(path)) for path in paths]
        heads = [_head(stamp.path) for stamp in self.stamps]
        self.d = heads[0][1]
        for stamp, (_, d, _) in zip(self.stamps, heads, strict=True):
            if d != self.d:
                raise InvalidData(
                    f"{stamp.path} has {d} columns, {self.stamps[0].path} {self.d}: parts of one "
                    "matrix must agree."
                )
        self.edges = np.concatenate(([0], np.cumsum([rows for rows, _, _ in heads])))
        self.n = int(self.edges[-1])
        self.dtype = float_type([kind for _, _, kind in heads])

    def place(self, row: int) -> str:
        """File and row in it."""
        part, inside = self._find(self._first + row)
        return f"{self.stamps[part].path}, row {inside}"

    def _find(self, row: int) -> tuple[int, int]:
        part = int(np.searchsorted(self.edges, row, side="right")) - 1
        return part, row - int(self.edges[part])

    def _part(self, number: int) -> Any:
        stamp = self.stamps[number]
        stamp.check()
        return _matrix(stamp, self.dtype)

    def _read(self, start: int, stop: int) -> Any:
        first, last = (int(np.searchsorted(self.edges, at, side="right")) for at in (start, stop))
        pieces = []
        for number in range(first - 1, min(last, len(self.stamps))):
            lo, hi = (int(np.clip(at - self.edges[number], 0, None)) for at in (start, stop))
            pieces.append(self._part(number)[lo:hi])
        return sp.vstack(pieces, format="csr", dtype=self.dtype)

    def _take(self, rows: NDArray[np.int64]) -> Any:
        part = np.searchsorted(self.edges, rows, side="right") - 1
        pieces = [
            self._part(number)[rows[part == number] - self.edges[number]]
            for number in np.unique(part)
        ]
        empty = sp.csr_matrix((0, self.d), dtype=self.dtype)
        return sp.vstack([empty, *pieces], format="csr", dtype=self.dtype)


def _head(path: Path) -> tuple[int, int, Any]:
    """Rows, columns and type of a matrix, without its entries."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            form = archive["format"].item()
            if (form.decode() if isinstance(form, bytes) else form) != "csr":
                raise InvalidData(f"{path} is not a CSR matrix; save it with scipy's save_npz.")
            n, d = archive["shape"].tolist()
        with zipfile.ZipFile(path) as archive, archive.open("data.npy") as stream:
            version = np.lib.format.read_magic(stream)
            read: Any = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }[version]
            return int(n), int(d), read(stream)[2]
    except (KeyError, ValueError, zipfile.BadZipFile, EOFError) as error:
        raise InvalidData(f"{path} is not a CSR matrix that scipy's save_npz wrote.") from error


@lru_cache(maxsize=2)  # neighbouring blocks often lie in one file
def _matrix(stamp: FileStamp, dtype: Any) -> Any:
    try:
        matrix = sp.load_npz(stamp.path).astype(dtype, copy=False)
        matrix.check_format(full_check=True)  # kernels trust the indices
    except (ValueError, KeyError, zipfile.BadZipFile, EOFError) as error:
        raise InvalidData(f"{stamp.path} is a damaged CSR matrix: {error}.") from error
    matrix.sort_indices()
    return matrix
