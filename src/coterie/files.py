"""Files and folders that appear whole or not at all.

What is written goes to a temporary name in the same folder, is forced to the disk, and takes its
place by one rename. A full disk, an error or a kill leaves what was there before.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

from coterie.exceptions import NotWritten

__all__ = [
    "INSIDE_MARK",
    "check_replaceable",
    "new_directory",
    "new_file",
    "plain_file",
    "split_name",
    "write_array",
]

#: Before the name of a table inside a file.
INSIDE_MARK = "::"
_WITH_TABLES = (".xlsx", ".xlsm", ".sqlite", ".sqlite3", ".db", ".duckdb")


def split_name(path: Path) -> tuple[Path, str | None]:
    """A file and the table inside it: "shop.db::customers" names both.

    Here, where nothing else is loaded: every command names files.

    >>> split_name(Path("shop.db::customers"))[1]
    'customers'
    """
    file, mark, name = str(path).rpartition(INSIDE_MARK)
    if mark and Path(file).suffix.lower() in _WITH_TABLES:
        return Path(file), name
    return path, None


def plain_file(path: Path) -> Path:
    """The path, if a file is there: a pipe would be waited for, and a device read without end.

    Raises
    ------
    OSError
        It is something else.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path} is no file")
    return path


def check_replaceable(path: Path) -> None:
    """Refuse to put a file in the place of a pipe or a device: its reader would wait for ever.

    Raises
    ------
    NotWritten
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise NotWritten(
            f"{path} is a pipe or a device, not a file, and is not replaced. Write to a file, or "
            "to the screen (`-`) and send that on."
        )


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place, on disk, if all goes well.

    Raises
    ------
    NotWritten
        It could not be written; nothing of it is left, and an older file is as it was.
    """
    check_replaceable(path)
    temporary = _beside(path)
    try:
        with _reporting(path):
            yield temporary
            _sync(temporary)
            os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def new_directory(path: Path) -> Iterator[Path]:
    """As `new_file`, for a folder; an older one is moved aside first and removed last."""
    temporary, aside = _beside(path), _beside(path, "old-")
    try:
        with _reporting(path):
            temporary.mkdir()
            yield temporary
            for file in temporary.rglob("*"):
                if file.is_file():
                    _sync(file)
            _put_in_place(temporary, path, aside)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if path.exists():  # else the older one could not be put back, and this is all there is
            shutil.rmtree(aside, ignore_errors=True)


def write_array(path: Path, array: Any) -> None:
    """Write an array as .npy; an error says so if not all of it could be written.

    numpy writes to a file by C's buffers and does not look whether the last one arrived: on a full
    disk `np.save` may leave a file cut short. Here Python writes, which does look.
    """
    import numpy as np

    with path.open("wb") as stream:
        np.save(SimpleNamespace(write=stream.write), array, allow_pickle=False)


def _beside(path: Path, mark: str = "") -> Path:
    # Not tempfile: its files are private to the user, and the result should not be.
    return path.with_name(f".{path.name}-{mark}{uuid4().hex}")


@contextmanager
def _reporting(path: Path) -> Iterator[None]:
    """Errors of the system as `NotWritten`, which says of which output."""
    try:
        yield
    except NotWritten:
        raise
    except OSError as error:
        raise NotWritten(f"{path} was not written: {error.strerror or error}.") from error


def _sync(path: Path) -> None:
    """Wait until the file is on the disk: a full disk is noticed here at the latest."""
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def _put_in_place(temporary: Path, path: Path, aside: Path) -> None:
    if path.is_dir():
        os.rename(path, aside)
    try:
        os.rename(temporary, path)
    except OSError:
        if aside.exists():
            os.rename(aside, path)
        raise
