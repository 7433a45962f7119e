"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO
from uuid import uuid4

import click

from coterie.exceptions import CoterieError

__all__ = ["NotWritten", "ask_or_refuse", "check_target", "new_directory", "new_file"]


class NotWritten(CoterieError, OSError):
    """An output that could not be written; nothing of it was left behind."""


def check_target(path: Path, force: bool, what: str = "file") -> None:
    """Refuse, before any work is done, an output that exists or whose folder is not there."""
    if not path.parent.is_dir():
        raise NotWritten(f"{path.parent} is not a folder; make it first.")
    if path.is_dir() and what == "file":
        raise NotWritten(f"{path} is a folder; give the name of a file.")
    if os.path.lexists(path) and not force:
        raise NotWritten(f"{path} exists; choose another name, or overwrite it with --force.")
    if not os.access(path.parent, os.W_OK):
        raise NotWritten(f"{path.parent} cannot be written to.")


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place, on disk, if all goes well."""
    # Not tempfile: its files are private to the user, and the result should not be.
    temporary = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        yield temporary
        _sync(temporary)
        os.replace(temporary, path)
    except NotWritten:
        raise
    except OSError as error:
        raise NotWritten(f"{path} was not written: {error.strerror or error}.") from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def new_directory(path: Path) -> Iterator[Path]:
    """As `new_file`, for a folder; an older one is moved aside first and removed last."""
    temporary = path.with_name(f".{path.name}.{uuid4().hex}")
    aside = path.with_name(f".{path.name}.{uuid4().hex}.old")
    try:
        temporary.mkdir()
        yield temporary
        for file in temporary.rglob("*"):
            if file.is_file():
                _sync(file)
        if path.is_dir():
            os.rename(path, aside)
        try:
            os.rename(temporary, path)
        except OSError:
            if aside.exists():
                os.rename(aside, path)
            raise
    except NotWritten:
        raise
    except OSError as error:
        raise NotWritten(f"{path} was not written: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(aside, ignore_errors=True)


def _sync(path: Path) -> None:
    """Wait until the file is on the disk: a full disk is noticed here at the latest."""
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def ask_or_refuse(path: Path, force: bool) -> bool:
    """Whether an existing output may be overwritten: by `--force`, or by a yes on a terminal."""
    if force or not os.path.lexists(path) or not _stdin().isatty():
        return force
    return click.confirm(f"{path} exists. Overwrite it?", err=True)


def _stdin() -> TextIO:
    """The standard input at this moment; tests put a terminal in its place."""
    return sys.stdin
