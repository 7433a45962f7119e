"""Arrays from .npy and .npz files, dense or SciPy's sparse ones; nothing in them is executed."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from coterie._npy import load_npy
from coterie.exceptions import InvalidData
from coterie.tables.table import Column, Table
from coterie.tables.unpacking import check_unpacked

__all__ = ["read_npy", "read_npz"]

_DEFLATE_MOST = 1032  # times smaller than the data: no honest zip member packs tighter
_SPARSE_FORMATS = ("csr", "csc", "coo")


def read_npy(path: Path) -> Table:
    """A two-dimensional array of numbers."""
    try:
        with path.open("rb") as stream:
            matrix = load_npy(stream, path.stat().st_size)
    except ValueError as error:
        raise InvalidData(f"{path} {error}.") from error
    return _table(path, matrix, {})


def read_npz(path: Path) -> Table:
    """A sparse matrix as SciPy saves it, or one two-dimensional array.

    One-dimensional arrays beside it, one value a row, are columns: ids, classes.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                _refuse_forged(path, info)
        check_unpacked(path)
        with zipfile.ZipFile(path) as archive:
            arrays = {
                info.filename.removesuffix(".npy"): _member(path, archive, info)
                for info in archive.infolist()
            }
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise InvalidData(f"{path} is not a whole .npz file: {error}.") from error
    if "format" in arrays:
        return _table(path, _sparse(path, arrays), {})
    flat = {name: array for name, array in arrays.items() if array.ndim == 1}
    tables = {name: array for name, array in arrays.items() if array.ndim != 1}
    name = "X" if "X" in tables else next(iter(tables), None)
    if name is None or (len(tables) > 1 and name != "X"):
        raise InvalidData(
            f"{path} holds {_listed(arrays)}; expected one two-dimensional array, or one named X."
        )
    return _table(path, tables[name], flat)


def _refuse_forged(path: Path, info: zipfile.ZipInfo) -> None:
    if info.file_size > info.compress_size * _DEFLATE_MOST + 1024:
        raise InvalidData(f"{path}: {info.filename} declares more bytes than it can hold; forged.")


def _member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    try:
        return load_npy(io.BytesIO(archive.read(info)), info.file_size)
    except ValueError as error:
        raise InvalidData(f"{path}: {info.filename} {error}.") from error


def _sparse(path: Path, arrays: dict[str, np.ndarray]) -> Any:
    from scipy import sparse

    form = arrays["format"].item()
    form = form.decode() if isinstance(form, bytes) else str(form)
    if form not in _SPARSE_FORMATS:
        raise InvalidData(f"{path} is a sparse matrix of format {form!r}; save it as CSR.")
    try:
        shape = tuple(arrays["shape"].tolist())
        if form == "coo":
            matrix = sparse.coo_matrix((arrays["data"], (arrays["row"], arrays["col"])), shape)
        else:
            make = sparse.csr_matrix if form == "csr" else sparse.csc_matrix
            matrix = make((arrays["data"], arrays["indices"], arrays["indptr"]), shape)
            matrix.check_format(full_check=True)
        return matrix.tocsr()
    except (KeyError, ValueError, TypeError) as error:
        raise InvalidData(f"{path} is a damaged sparse matrix: {error}.") from error


def _table(path: Path, matrix: Any, flat: dict[str, np.ndarray]) -> Table:
    if matrix.ndim != 2:
        raise InvalidData(
            f"{path} holds an array of shape {matrix.shape}; expected rows and columns (n, d)."
        )
    if matrix.dtype.kind not in "biuf":
        raise InvalidData(f"{path} holds {matrix.dtype}; expected numbers.")
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    values = matrix if isinstance(matrix, np.ndarray) else matrix.data
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        where = f"row {bad[0][0]}, column {bad[0][1]}: " if isinstance(matrix, np.ndarray) else ""
        raise InvalidData(f"{path}, {where}missing or infinite value; fill or remove such rows.")
    n_rows = matrix.shape[0]
    columns = {
        name: _column(name, values) for name, values in flat.items() if len(values) == n_rows
    }
    return Table(str(path), n_rows, columns, matrix)


def _column(name: str, values: np.ndarray) -> Column:
    return Column(name, values.astype(str).astype(object) if values.dtype.kind in "SU" else values)


def _listed(arrays: dict[str, np.ndarray]) -> str:
    return ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "nothing"
