"""Rows of Arrow files (IPC, Feather), a record batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.grouped import GroupedRows, fill_columns, number_type
from coterie.data.stored import FileStamp, float_type
from coterie.exceptions import InvalidData, MissingDependency

__all__ = ["ArrowRows"]


class ArrowRows(GroupedRows):
    """Numeric columns of Arrow files, one file below the other in the order given.

    Parameters
    ----------
    paths : sequence of paths
        Arrow's file format (`.arrow`, `.feather`), which can be read at any place; not a stream.
    columns : sequence of str, optional
        Which, in this order. Default: all, in the first file's order; all must be numbers.
    """

    def __init__(self, paths: Sequence[Path], columns: Sequence[str] | None = None) -> None:
        names = None if columns is None else list(columns)
        self.groups: list[tuple[FileStamp, int]] = []
        sizes: list[int] = []
        types: list[np.dtype[Any]] = []
        for path in paths:
            stamp = FileStamp.of(Path(path))
            with _opened(stamp.path) as file:
                names = list(file.schema.names) if names is None else names
                types += [number_type(stamp.path, file.schema, name) for name in names]
                for number in range(file.num_record_batches):
                    self.groups.append((stamp, number))
                    sizes.append(file.get_batch(number).num_rows)
        assert names is not None
        self.names = names
        self.edges = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        self.n, self.d = int(self.edges[-1]), len(names)
        self.dtype = float_type(types)

    def _name(self, group: int) -> str:
        stamp, number = self.groups[group]
        return f"{stamp.path}, record batch {number}"

    def _group(self, group: int) -> NDArray[Any]:
        assert self.names is not None
        stamp, number = self.groups[group]
        with stamp.while_read(), _opened(stamp.path) as file:
            batch = file.get_batch(number)
            batch.validate(full=True)  # lengths that are not there would end the process
            out = np.empty((batch.num_rows, self.d), dtype=self.dtype)
            fill_columns(batch, self.names, out)
        return out


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        arrow = import_module("pyarrow")
    except ImportError as error:
        raise MissingDependency(
            "reading Arrow files needs pyarrow; install it with: pip install 'coterie[parquet]'."
        ) from error
    try:
        # Read, not mapped: a map of a file that somebody cuts short ends the whole process.
        with arrow.OSFile(str(path)) as source, arrow.ipc.open_file(source) as file:
            yield file
    except (arrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno:  # of the system; damage has no number
            raise
        reason = str(error).splitlines()[0]
        raise InvalidData(
            f"{path} is not a whole Arrow file; write it again, as a file and not as a stream. "
            f"({reason})"
        ) from error
