"""How much a packed file may unpack to: a few kilobytes can hold gigabytes of zeros."""

from __future__ import annotations

import gzip
import os
import zipfile
import zlib
from pathlib import Path

from coterie.exceptions import InvalidData, InvalidParameter

__all__ = ["VARIABLE", "check_unpacked", "unpacked_gzip"]

VARIABLE = "COTERIE_MAX_UNPACKED"  # environment variable: bytes
_MOST = 2 << 30
_CHUNK = 1 << 20


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
