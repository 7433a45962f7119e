"""Rows of Parquet files, a row group at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.stored import FileStamp, StoredRows, float_type
from coterie.exceptions import InvalidData, MissingDependency
from coterie.words import nearest

__all__ = ["ParquetRows", "open_parquet"]

_KEPT_BYTES = 1 << 28  # of decoded row groups: a block often ends within one


class _Group(NamedTuple):
    stamp: FileStamp
    number: int  # in its file


class ParquetRows(StoredRows):
    """Numeric columns of Parquet files, one file below the other in the order given.

    Parameters
    ----------
    paths : sequence of paths
    columns : sequence of str, optional
        Which, in this order. Default: all, in the first file's order; all must be numbers.
    """

    def __init__(self, paths: Sequence[Path], columns: Sequence[str] | None = None) -> None:
        groups: list[_Group] = []
        sizes: list[int] = []
        types: list[np.dtype[Any]] = []
        names = None if columns is None else list(columns)
        for path in paths:
            stamp = FileStamp.of(Path(path))
            with open_parquet(stamp.path) as file:
                schema = file.schema_arrow
                names = list(schema.names) if names is None else names
                types += [_number_type(stamp.path, schema, name) for name in names]
                for number in range(file.num_row_groups):
                    groups.append(_Group(stamp, number))
                    sizes.append(file.metadata.row_group(number).num_rows)
        assert names is not None
        self.names = names
        self.groups = groups
        self.edges = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        self.n, self.d = int(self.edges[-1]), len(names)
        self.dtype = float_type(types)

    def place(self, row: int) -> str:
        """File, row group and row in it."""
        row += self._first
        at = int(np.searchsorted(self.edges, row, side="right")) - 1
        stamp, number = self.groups[at]
        return f"{stamp.path}, row group {number}, row {row - self.edges[at]}"

    def _decoded(self, at: int) -> NDArray[Any]:
        """A row group (rows, d) as an array."""
        assert self.names is not None
        self.groups[at].stamp.check()
        key = (*self.groups[at], tuple(self.names), self.dtype)
        return _kept.get(key, lambda: _decode(*self.groups[at], self.names, self.dtype))

    def _read(self, start: int, stop: int) -> Any:
        rows = np.empty((stop - start, self.d), dtype=self.dtype)
        first = int(np.searchsorted(self.edges, start, side="right")) - 1
        at, done = first, start
        while done < stop:
            begin, end = int(self.edges[at]), min(int(self.edges[at + 1]), stop)
            if end > done:  # else an empty row group
                rows[done - start : end - start] = self._decoded(at)[done - begin : end - begin]
                done = end
            at += 1
        return rows

    def _take(self, rows: NDArray[np.int64]) -> Any:
        out = np.empty((rows.size, self.d), dtype=self.dtype)
        at = np.searchsorted(self.edges, rows, side="right") - 1
        for group in np.unique(at):
            inside = at == group
            out[inside] = self._decoded(int(group))[rows[inside] - self.edges[group]]
        return out


class _Kept:
    """Decoded row groups that were used last; two threads that want one wait for one decoding."""

    def __init__(self) -> None:
        self._arrays: OrderedDict[Any, NDArray[Any]] = OrderedDict()
        self._locks: dict[Any, Lock] = {}
        self._lock = Lock()

    def get(self, key: Any, decode: Any) -> NDArray[Any]:
        with self._lock:
            own = self._locks.setdefault(key, Lock())
        with own:
            with self._lock:
                found = self._arrays.get(key)
            if found is None:
                found = decode()
            with self._lock:
                self._arrays[key] = found
                self._arrays.move_to_end(key)
                self._locks.pop(key, None)
                while len(self._arrays) > 1 and self._bytes() > _KEPT_BYTES:
                    self._arrays.popitem(last=False)
        return found

    def _bytes(self) -> int:
        return sum(array.nbytes for array in self._arrays.values())


_kept = _Kept()


def open_parquet(path: Path) -> Any:
    """pyarrow's ParquetFile; refuses what is not a whole one."""
    try:
        arrow = import_module("pyarrow")
        parquet = import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingDependency(
            "reading Parquet files needs pyarrow; install it with: pip install 'coterie[parquet]'."
        ) from error
    try:
        return parquet.ParquetFile(path)
    except (arrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InvalidData(
            f"{path} is not a whole Parquet file; write it again. ({reason})"
        ) from error


def _number_type(path: Path, schema: Any, name: str) -> np.dtype[Any]:
    """The numpy type of a column, refused if it holds no numbers."""
    arrow = import_module("pyarrow")
    if name not in schema.names:
        raise InvalidData(
            f"{path} has no column {name!r}.{nearest(name, schema.names)} It has {schema.names}."
        )
    kind = schema.field(name).type
    if arrow.types.is_floating(kind):
        return np.dtype(kind.to_pandas_dtype())
    if arrow.types.is_integer(kind) or arrow.types.is_boolean(kind) or arrow.types.is_decimal(kind):
        return np.dtype(np.float64)
    raise InvalidData(
        f"{path}: column {name!r} holds {kind}, not numbers. Name the columns to use with "
        "columns=[...], or read mixed files by a Recipe (coterie.tables)."
    )


def _decode(stamp: FileStamp, number: int, names: Sequence[str], dtype: Any) -> NDArray[Any]:
    """A row group as an array (rows, d); a missing value is NaN."""
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    with open_parquet(stamp.path) as file:
        out = np.empty((file.metadata.row_group(number).num_rows, len(names)), dtype=dtype)
        done = 0
        # By batches: the whole group as Arrow columns beside the array would be twice the memory.
        for batch in file.iter_batches(row_groups=[number], columns=list(names)):
            rows = out[done : done + batch.num_rows]
            done += batch.num_rows
            for position, name in enumerate(names):
                values = batch.column(name)
                if arrow.types.is_decimal(values.type) or arrow.types.is_boolean(values.type):
                    values = compute.cast(values, arrow.float64())
                rows[:, position] = values.to_numpy(zero_copy_only=False)
    return out
