"""How much a packed file may unpack to: a few kilobytes can hold gigabytes of zeros."""

from __future__ import annotations

import gzip
import os
import zipfile
import zlib
from pathlib import Path

from coterie.exceptions import InvalidData, InvalidParameter

__all__ = ["VARIABLE", "Unpacked", "check_unpacked", "unpacked_gzip"]

VARIABLE = "COTERIE_MAX_UNPACKED"  # environment variable: bytes
_MOST = 2 << 30
_CHUNK = 1 << 20
_TIMES = 100  # as much as the file has


def _most() -> int:
    given = os.environ.get(VARIABLE, "")
    if not given:
        return _MOST
    if not given.isdecimal():
        raise InvalidParameter(f"{VARIABLE}={given!r} must be a number of bytes.")
    return int(given)


def _too_much(path: Path) -> InvalidData:
    return InvalidData(
        f"{path} unpacks to more than {_most():,} bytes. If it is meant to, set the environment "
        f"variable {VARIABLE} to how many it may be, or unpack it yourself."
    )


def unpacked_gzip(path: Path) -> bytes:
    """What a .gz file holds; refused as soon as it is too much."""
    most, parts, size = _most(), [], 0
    try:
        with gzip.open(path) as stream:
            while part := stream.read(_CHUNK):
                size += len(part)
                if size > most:
                    raise _too_much(path)
                parts.append(part)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InvalidData(f"{path} is not a whole gzip file: {error}.") from error
    return b"".join(parts)


def check_unpacked(path: Path) -> None:
    """Refuse a zip file (.npz, .xlsx) whose members are too much together.

    Python's zipfile reads no more of a member than is declared, so that can be believed.
    """
    with zipfile.ZipFile(path) as archive:
        if sum(info.file_size for info in archive.infolist()) > _most():
            raise _too_much(path)


class Unpacked:
    """Counts what came out of a file that may hold its values plainly, packed or by a formula.

    Large files are as large when they are read: refused is what is above the limit and a hundred
    times as much as the file has, such as a value of a Parquet file that is said to stand in 10⁹
    rows, a cell in the last corner of a sheet, or a view of a database that never ends.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._bytes = 0
        self._most = max(_most(), _TIMES * path.stat().st_size)

    def add(self, n_bytes: int) -> None:
        """So many more; refused once it is too much."""
        self.reach(self._bytes + n_bytes)

    def reach(self, n_bytes: int) -> None:
        """So many in all; refused if that is too much."""
        self._bytes = n_bytes
        if n_bytes > self._most:
            raise _too_much(self._path)
