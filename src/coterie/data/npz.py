"""Sparse rows in one or several .npz files, as `scipy.sparse.save_npz` writes them."""

from __future__ import annotations

import errno
import zipfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from coterie.data.grouped import GroupedRows
from coterie.data.stored import FileStamp, float_type
from coterie.exceptions import InvalidData

__all__ = ["NpzRows"]


class NpzRows(GroupedRows):
    """CSR matrices in .npz files, one below the other; about one file is in memory at a time.

    Parameters
    ----------
    paths : sequence of paths
        All with the same number of columns.
    """

    is_sparse = True

    def __init__(self, paths: Sequence[Path]) -> None:
        self.groups = [FileStamp.of(Path(path)) for path in paths]
        heads = [_head(stamp.path) for stamp in self.groups]
        self.d = heads[0][1]
        for stamp, (_, d, _) in zip(self.groups, heads, strict=True):
            if d != self.d:
                raise InvalidData(
                    f"{stamp.path} has {d} columns, {self.groups[0].path} {self.d}: parts of one "
                    "matrix must agree."
                )
        self.edges = np.concatenate(([0], np.cumsum([rows for rows, _, _ in heads])))
        self.n = int(self.edges[-1])
        self.dtype = float_type([kind for _, _, kind in heads])

    def _name(self, group: int) -> str:
        return str(self.groups[group].path)

    def _group(self, group: int) -> Any:
        stamp = self.groups[group]
        stamp.check()
        return _matrix(stamp, self.dtype)


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
    except InvalidData:
        raise
    except Exception as error:  # zip, zlib and numpy each have their own for what is damaged
        _refuse_access(error)
        raise InvalidData(f"{path} is not a CSR matrix that scipy's save_npz wrote.") from error


def _refuse_access(error: Exception) -> None:
    """Pass on what the system said about the file; it says EINVAL of a place before its start."""
    if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
        raise error


@lru_cache(maxsize=2)  # neighbouring blocks often lie in one file
def _matrix(stamp: FileStamp, dtype: Any) -> Any:
    try:
        matrix = sp.load_npz(stamp.path).astype(dtype, copy=False)
        matrix.check_format(full_check=True)  # kernels trust the indices
    except Exception as error:  # as above
        _refuse_access(error)
        raise InvalidData(f"{stamp.path} is a damaged CSR matrix: {error}.") from error
    matrix.sort_indices()
    return matrix
