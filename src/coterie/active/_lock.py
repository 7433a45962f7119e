"""One writer at a time, held by the operating system: it goes when the process goes."""

from __future__ import annotations

import getpass
import json
import os
import socket
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from coterie.exceptions import AnswersInUse

__all__ = ["FileLock"]


def _seize(handle: IO[str]) -> bool:
    """Take the lock of an open file without waiting."""
    try:
        if sys.platform == "win32":
            import msvcrt

            handle.seek(1 << 20)  # beyond the text, which others must be able to read
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class FileLock:
    """The right to write `path`, kept in `path` + ".lock" with the name of who has it.

    Parameters
    ----------
    path : Path

    Raises
    ------
    AnswersInUse
        Somebody else has it.
    """

    def __init__(self, path: Path) -> None:
        place = path.with_name(path.name + ".lock")
        try:
            self._handle: IO[str] | None = open(place, "a+", encoding="utf-8")  # noqa: SIM115
        except OSError as error:
            raise AnswersInUse(f"{place} cannot be opened: {error}.") from error
        if not _seize(self._handle):
            self._handle.seek(0)
            holder = self._handle.read().strip()
            self._handle.close()
            raise AnswersInUse(f"{path} is in use by {_words(holder)}. Close it there first.")
        self._handle.truncate(0)
        self._handle.write(json.dumps(_myself()))
        self._handle.flush()

    def release(self) -> None:
        """Let go (also by closing the file, or by dying)."""
        if self._handle is not None:
            self._handle.close()
            self._handle = None


def _myself() -> dict[str, str | int]:
    return {
        "process": os.getpid(),
        "user": _user(),
        "host": socket.gethostname(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may have no name for its user
        return "an unnamed user"


def _words(holder: str) -> str:
    try:
        who = json.loads(holder)
        return "process {process} of {user} on {host}, since {since}".format(**who)
    except (json.JSONDecodeError, KeyError, TypeError):
        return "another process"
