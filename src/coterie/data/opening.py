"""`open_rows`: rows of files by their path, whatever the format."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coterie.data.arrow_file import ArrowRows
from coterie.data.npy import NpyRows
from coterie.data.npz import NpzRows
from coterie.data.parquet import ParquetRows
from coterie.data.stored import StoredRows, paths_of
from coterie.data.stream import is_stream, spooled
from coterie.data.zarr_store import ZarrRows
from coterie.exceptions import InvalidData
from coterie.parameters import check_arguments

__all__ = ["open_rows"]

_SUFFIXES = (".parquet", ".arrow", ".feather", ".npy", ".npz", ".zarr")


def open_rows(
    where: Any,
    *,
    columns: Sequence[str] | None = None,
) -> StoredRows:
    """Rows of files that need not fit in memory, for `fit`, `predict` and their kin.

    Parameters
    ----------
    where : path, folder, glob, several paths, or a stream
        Parquet files (`.parquet`; a folder is searched for them), Arrow files (`.arrow`,
        `.feather`), one `.npy` file, one Zarr array (`.zarr`, a folder), or CSR matrices in `.npz`
        files as `scipy.sparse.save_npz` writes them. Several files are one below the other, those
        of a folder or glob in the order of their names. An object with `__arrow_c_stream__`, a
        relation of DuckDB's for instance, is read once, to a temporary Arrow file.
    columns : sequence of str, optional
        Which columns of Parquet files, Arrow files or a stream to use; by default all, which must
        then hold numbers.

    Returns
    -------
    StoredRows
        Read a stretch at a time, every time that a pass needs it. Files that change while they
        are in use are noticed (`RowsChanged`).

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from coterie import PCKMeans
    >>> from coterie.data import open_rows
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.npy"
    >>> np.save(path, np.array([[0.0], [0.1], [9.0], [9.1]], dtype=np.float32))
    >>> rows = open_rows(path)
    >>> rows.shape
    (4, 1)
    """
    check_arguments(open_rows, locals())
    if is_stream(where):
        return spooled(where, columns)
    several = [where] if isinstance(where, str | os.PathLike) else list(where)
    if not several:
        raise InvalidData("open_rows needs at least one path.")
    suffix = next((end for end in _SUFFIXES if str(several[0]).endswith(end)), ".parquet")
    if suffix == ".zarr":  # a folder that is one array
        paths = [Path(one) for one in several]
    else:
        paths = [path for one in several for path in paths_of(one, suffix)]
    odd = next((path for path in paths if path.suffix != suffix), None)
    if odd is not None:
        raise InvalidData(f"{odd} is not a {suffix} file; open files of one format at a time.")
    if suffix == ".parquet":
        return ParquetRows(paths, columns)
    if suffix in (".arrow", ".feather"):
        return ArrowRows(paths, columns)
    if columns is not None:
        raise InvalidData(
            f"columns= is for Parquet and Arrow files; a {suffix} file has no named columns."
        )
    if suffix == ".npz":
        return NpzRows(paths)
    if len(paths) > 1:
        raise InvalidData(f"{len(paths)} {suffix} arrays were named; open one.")
    return ZarrRows(paths[0]) if suffix == ".zarr" else NpyRows(paths[0])
