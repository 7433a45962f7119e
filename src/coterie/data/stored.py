"""Rows that are kept in files and read a stretch at a time."""

from __future__ import annotations

import copy
import os
import stat
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie.exceptions import InvalidData, RowsChanged

__all__ = ["FileStamp", "StoredRows", "all_finite", "float_type", "paths_of"]


class FileStamp(NamedTuple):
    """What a file was like when it was opened: whoever reads it later notices another one."""

    path: Path
    size: int
    changed: int  # nanoseconds

    @classmethod
    def of(cls, path: Path) -> FileStamp:
        """The stamp of a file as it is now."""
        try:
            found = path.stat()
        except OSError as error:
            raise InvalidData(f"{path} cannot be read: {error.strerror}.") from error
        if not stat.S_ISREG(found.st_mode):  # a pipe would be waited for, a device never ends
            raise InvalidData(f"{path} cannot be read: it is no file.")
        return cls(path, found.st_size, found.st_mtime_ns)

    def check(self) -> None:
        """Raise `RowsChanged` if the file is gone or another one."""
        try:
            found = self.path.stat()
        except OSError as error:
            raise RowsChanged(
                f"{self.path} is gone since its rows were opened ({error.strerror}); nothing was "
                "written. Put it back, or open the rows again."
            ) from error
        if (found.st_size, found.st_mtime_ns) != (self.size, self.changed):
            raise RowsChanged(
                f"{self.path} was rewritten since its rows were opened; nothing was written. Open "
                "the rows again, and fit to files that stay as they are."
            )

    @contextmanager
    def while_read(self) -> Iterator[None]:
        """A block that reads the file: what goes wrong in it because of a change is told as that.

        What was read while somebody wrote is not used either. Damage is told by the file's name.
        """
        self.check()
        try:
            yield
        except Exception as error:
            self.check()
            if _is_damage(error):
                reason = (str(error) or type(error).__name__).splitlines()[0]
                raise InvalidData(
                    f"{self.path} is not a whole file; write it again. ({reason})"
                ) from error
            raise
        self.check()


def _is_damage(error: Exception) -> bool:
    """Whether pyarrow says that what it reads is not as it should be."""
    arrow = sys.modules.get("pyarrow")
    if isinstance(error, OSError):  # of the system, it has a number
        return not error.errno
    return arrow is not None and isinstance(error, arrow.ArrowException)


class StoredRows(ABC):
    """A `RowSource` over files: it travels to other processes by name, never with its rows.

    Attributes
    ----------
    n, d : int
    dtype : numpy dtype
        float32 or float64.
    is_sparse : bool
    names : list of str, or None
        Of the columns, where they have names.
    in_turn : bool
        Whether a stretch is read more quickly by whoever has read the one before it.
    passed_over : int
        Rows that have to be decoded before the first of these is, by whoever has not.
    """

    n: int
    d: int
    dtype: np.dtype[Any]
    is_sparse = False
    names: list[str] | None = None
    in_turn = False
    passed_over = 0
    _first = 0  # where these rows begin among those of the files

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n, self.d

    def __len__(self) -> int:
        return self.n

    def read(self, start: int, stop: int) -> Any:
        """Rows start..stop, (stop - start, d); refuses what is missing or infinite."""
        rows = self._read(self._first + start, self._first + stop)
        self.check(rows, start)
        return rows

    def check(self, rows: Any, start: int) -> None:
        """Refuse a missing or infinite value of rows (b, d) that were read from `start` on."""
        if not all_finite(rows):
            self._refuse(rows, start)

    def take(self, rows: NDArray[np.int64]) -> Any:
        """The listed rows, in their order, as a new array or CSR matrix."""
        inside, back = np.unique(np.asarray(rows, dtype=np.int64), return_inverse=True)
        picked = self._take(self._first + inside)
        return picked if np.array_equal(back, np.arange(back.size)) else picked[back]

    def cut(self, start: int, stop: int) -> Self:
        """Rows start..stop as a source of their own: the same files, another stretch."""
        part = copy.copy(self)
        part._first, part.n = self._first + start, stop - start
        return part

    def head(self) -> Any:
        """The first row, with the names of the columns if they have any."""
        first = self.take(np.array([0]))
        if self.names is None:
            return first
        arrow = import_module("pyarrow")
        return arrow.table({name: first[:, at] for at, name in enumerate(self.names)})

    def _refuse(self, rows: Any, start: int) -> None:
        dense = rows.toarray() if sp.issparse(rows) else rows
        row, column = np.argwhere(~np.isfinite(dense))[0]
        name = repr(self.names[column]) if self.names else str(column)
        raise InvalidData(
            f"{self.place(start + int(row))}, column {name}: missing or infinite value. Fill or "
            "remove such rows, or read the files by a Recipe (coterie.tables), which imputes."
        )

    @abstractmethod
    def place(self, row: int) -> str:
        """Where a row is, for messages: its file and its place in it."""

    @abstractmethod
    def _read(self, start: int, stop: int) -> Any:
        """Rows of the files by number, C-ordered in `dtype`, or CSR."""

    @abstractmethod
    def _take(self, rows: NDArray[np.int64]) -> Any:
        """Rows of the files by number, which rises."""


def all_finite(rows: Any) -> bool:
    """Whether no value of an array or CSR matrix is missing or infinite."""
    values = rows.data if sp.issparse(rows) else rows
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.isfinite(values.sum())  # one pass and no copy; only where it fails, look
    return bool(whole or np.isfinite(values).all())


def float_type(types: Sequence[Any]) -> np.dtype[Any]:
    """float32 if nothing is lost by it (all columns are float32 or float16), else float64."""
    narrow = all(np.dtype(kind).kind == "f" and np.dtype(kind).itemsize <= 4 for kind in types)
    return np.dtype(np.float32 if narrow else np.float64)


def paths_of(where: str | os.PathLike[str], suffix: str) -> list[Path]:
    """The files that a path, a folder or a glob names, in the order of their names.

    From the root: workers elsewhere may have another working folder.
    """
    path = Path(where).absolute()
    if path.is_dir():
        found = sorted(file for file in path.rglob(f"*{suffix}") if _is_data(file, path))
        what = f"no {suffix} file is in the folder {where}"
    elif path.exists():
        return [path]
    else:
        found = (
            sorted(path.parent.glob(path.name)) if any(sign in path.name for sign in "*?[") else []
        )
        what = f"no file is named {where}"
    if not found:
        raise InvalidData(f"{what}; check the path.")
    return found


def _is_data(file: Path, folder: Path) -> bool:
    """Not hidden, nor what writers of data sets keep beside them (_SUCCESS, _metadata)."""
    return not any(part[0] in "._" for part in file.relative_to(folder).parts)
