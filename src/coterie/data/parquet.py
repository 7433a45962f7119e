"""Rows of Parquet files, a row group at a time."""

from __future__ import annotations

import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from threading import Lock, local
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.grouped import GroupedRows, fill_columns, number_type
from coterie.data.stored import FileStamp, all_finite, float_type
from coterie.exceptions import InvalidData, MissingDependency
from coterie.memory import memory_bytes

__all__ = ["Opened", "ParquetRows", "decoded_groups", "group_sizes", "open_parquet"]

_KEPT_SHARE = 8  # one part in so many of the memory may hold decoded row groups
_BATCH_BYTES = 1 << 21  # decoded at once: columns are still in the cache when they become rows
_FEW_BYTES = 1 << 28  # of groups that cannot all be kept: a block often ends within one


class _Group(NamedTuple):
    stamp: FileStamp
    number: int  # in its file


class ParquetRows(GroupedRows):
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
                types += [number_type(stamp.path, schema, name) for name in names]
                groups += [_Group(stamp, number) for number in range(file.num_row_groups)]
                sizes += group_sizes(stamp.path, file)
        assert names is not None
        self.names = names
        self.groups = groups
        self.edges = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        self.n, self.d = int(self.edges[-1]), len(names)
        self.dtype = float_type(types)
        self._bytes = self.n * self.d * self.dtype.itemsize  # of all files, also in a cut
        self._opened = Opened(group.stamp for group in groups)

    def _name(self, group: int) -> str:
        stamp, number = self.groups[group]
        return f"{stamp.path}, row group {number}"

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Rows start..stop, (stop - start, d); refuses what is missing or infinite."""
        if self._bytes > decoded_groups.most_bytes:
            return np.asarray(super().read(start, stop))
        first, last = self._first + start, self._first + stop
        rows = np.asarray(GroupedRows._read(self, first, last))
        keys = (self._key(group) for group, _, _ in self._pieces(first, last))
        if not all(map(decoded_groups.is_whole, keys)):  # which is found out once for a group
            self.check(rows, start)
        return rows

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        assert self.names is not None
        rows = np.empty((stop - start, self.d), dtype=self.dtype)
        done = 0
        for group, lo, hi in self._pieces(start, stop):
            _read_on(self.groups[group], self.names, lo, rows[done : done + hi - lo])
            done += hi - lo
        return rows

    def _group(self, group: int) -> NDArray[Any]:
        names = self.names
        assert names is not None
        stamp, number = self.groups[group]
        stamp.check()
        return decoded_groups.get(
            self._key(group), lambda: _decode(stamp, number, names, self.dtype), self._bytes
        )

    def _key(self, group: int) -> Any:
        assert self.names is not None
        return (*self.groups[group], tuple(self.names), self.dtype)


class _Stream:
    """A row group on its way through a thread, of which rows can be read once, in their order."""

    def __init__(self, group: _Group, names: Sequence[str]) -> None:
        self.of = group, tuple(names)
        # Not all of the group's bytes at once: a part is in memory, however large groups are.
        self.file = open_parquet(group.stamp.path, pre_buffer=False)
        self.left = self.file.metadata.row_group(group.number).num_rows
        self.done = 0
        # By this thread alone: others have rows of their own to decode.
        self._batches = self.file.iter_batches(
            batch_size=max(1024, _BATCH_BYTES // (4 * len(names))),
            row_groups=[group.number],
            columns=list(names),
            use_threads=False,
        )
        self._batch = None  # the part of the last one that was not asked for

    def fill(self, start: int, out: NDArray[Any]) -> None:
        """Rows from `start` on, which must not be behind; those before it are passed over."""
        self._pass(start - self.done, None)
        self._pass(len(out), out)

    def _pass(self, count: int, out: NDArray[Any] | None) -> None:
        names = self.of[1]
        while count:
            batch = self._batch or next(self._batches, None)
            if batch is None:
                raise _ends_early(*self.of[0], self.done)
            taken = min(count, batch.num_rows)
            if out is not None:
                fill_columns(batch.slice(0, taken), names, out[-count:][:taken])
            self._batch = batch.slice(taken) if taken < batch.num_rows else None
            self.done += taken
            self.left -= taken
            count -= taken


class _Streams(local):
    """What each thread is reading: the next stretch mostly begins where the last one ended."""

    now: _Stream | None = None

    def close(self) -> None:
        if self.now is not None:
            self.now.file.close()
            self.now = None


_streams = _Streams()


def _read_on(group: _Group, names: Sequence[str], start: int, out: NDArray[Any]) -> None:
    """Fill `out` with the rows of a row group from `start` on."""
    with group.stamp.while_read():
        stream = _streams.now
        if stream is None or stream.of != (group, tuple(names)) or stream.done > start:
            _streams.close()
            stream = _streams.now = _Stream(group, names)
        try:
            stream.fill(start, out)
        except BaseException:
            _streams.close()
            raise
        if not stream.left:
            _streams.close()


class _Kept:
    """Decoded row groups that were used last; two threads that want one wait for one decoding.

    A key begins with the stamp of the group's file.

    Attributes
    ----------
    most_bytes : int
        What they may hold together; the last one is kept in any case. Rows that are more in all
        are not kept but read on (`_Stream`).
    """

    def __init__(self) -> None:
        self.most_bytes = memory_bytes() // _KEPT_SHARE
        self._arrays: OrderedDict[Any, Any] = OrderedDict()
        self._whole: dict[Any, bool] = {}
        self._locks: dict[Any, Lock] = {}
        self._lock = Lock()
        self._closed: deque[frozenset[FileStamp]] = deque()  # files whose groups are to go

    def within(self, memory: int) -> None:
        """Keep no more than a process does that has so many bytes of memory."""
        self.most_bytes = min(self.most_bytes, memory // _KEPT_SHARE)

    def get(self, key: Any, decode: Callable[[], Any], of: int) -> Any:
        """What is known by `key`, or what `decode` makes; a part of so many bytes in all."""
        most = self.most_bytes if of <= self.most_bytes else min(self.most_bytes, _FEW_BYTES)
        with self._lock:
            own = self._locks.setdefault(key, Lock())
        with own:
            with self._lock:
                found = self._arrays.get(key)
            if found is None:
                found = decode()
                self._whole[key] = all_finite(found)
            with self._lock:
                self._arrays[key] = found
                self._arrays.move_to_end(key)
                self._locks.pop(key, None)
                while len(self._arrays) > 1 and self._bytes() > most:
                    self._drop(next(iter(self._arrays)))
                self._drop_closed()
        return found

    def forget(self, stamps: frozenset[FileStamp]) -> None:
        """Let go of the groups of files that nobody has open any more."""
        self._closed.append(stamps)
        # The collector may come here in the middle of `get`, which then sees to it.
        if self._lock.acquire(blocking=False):
            try:
                self._drop_closed()
            finally:
                self._lock.release()

    def _drop_closed(self) -> None:
        while self._closed:
            stamps = self._closed.popleft()
            for key in [key for key in self._arrays if key[0] in stamps]:
                self._drop(key)

    def _drop(self, key: Any) -> None:
        self._arrays.pop(key, None)
        self._whole.pop(key, None)

    def is_whole(self, key: Any) -> bool:
        """Whether it is kept, and no value of it is missing or infinite."""
        return self._whole.get(key, False)

    def _bytes(self) -> int:
        return sum(_bytes_of(rows) for rows in self._arrays.values())


def _bytes_of(rows: Any) -> int:
    """Of an array or a CSR matrix."""
    if isinstance(rows, np.ndarray):
        return rows.nbytes
    return int(rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes)


decoded_groups = _Kept()


class Opened:
    """Files that rows were opened from: what is decoded of them goes with the last of these rows.

    Rows that have travelled to a worker carry one that does nothing: tasks come and go, and the
    next one reads the same files.
    """

    def __init__(self, stamps: Iterable[FileStamp]) -> None:
        weakref.finalize(self, decoded_groups.forget, frozenset(stamps)).atexit = False


def open_parquet(path: Path, **options: Any) -> Any:
    """pyarrow's ParquetFile, with its options; refuses what is not a whole one."""
    try:
        arrow = import_module("pyarrow")
        parquet = import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingDependency(
            "reading Parquet files needs pyarrow; install it with: pip install 'coterie[parquet]'."
        ) from error
    try:
        return parquet.ParquetFile(path, **options)
    except (arrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InvalidData(
            f"{path} is not a whole Parquet file; write it again. ({reason})"
        ) from error


def group_sizes(path: Path, file: Any) -> list[int]:
    """Rows of each row group, as the footer says, where it does not contradict itself."""
    metadata = file.metadata
    sizes = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    flat = metadata.num_columns and metadata.schema.column(0).max_repetition_level == 0
    for number, size in enumerate(sizes):
        values = metadata.row_group(number).column(0).num_values if flat else size
        if size < 0 or values != size:
            raise InvalidData(
                f"{path} is not a whole Parquet file; write it again. (Row group {number} is said "
                f"to have {size} rows and {values} values in its first column.)"
            )
    return sizes


def _decode(stamp: FileStamp, number: int, names: Sequence[str], dtype: Any) -> NDArray[Any]:
    """A row group as an array (rows, d); a missing value is NaN."""
    with stamp.while_read(), open_parquet(stamp.path) as file:
        rows = file.metadata.row_group(number).num_rows
        out = _room(f"{stamp.path}, row group {number}", rows, len(names), dtype)
        done = 0
        # By batches: the whole group as Arrow columns beside the array would be twice the memory.
        for batch in file.iter_batches(row_groups=[number], columns=list(names)):
            fill_columns(batch, names, out[done : done + batch.num_rows])
            done += batch.num_rows
    if done != rows:  # what is left of `out` would be whatever was in memory before
        raise _ends_early(stamp, number, done)
    return out


def _room(place: str, rows: int, d: int, dtype: Any) -> NDArray[Any]:
    """An array for as many rows as a footer says that there are."""
    try:
        return np.empty((rows, d), dtype=dtype)
    except (MemoryError, ValueError) as error:  # ValueError: more than there are addresses
        raise InvalidData(
            f"{place} is said to have {rows:,} rows, which do not fit in memory. Write the file "
            "again, in smaller row groups."
        ) from error


def _ends_early(stamp: FileStamp, number: int, done: int) -> InvalidData:
    return InvalidData(
        f"{stamp.path}, row group {number} ends after {done} rows, and says that it has more; "
        "write the file again."
    )
