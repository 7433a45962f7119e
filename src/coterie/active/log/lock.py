"""One writer at a time, held by the operating system: it goes when the process goes."""

from __future__ import annotations

import getpass
import json
import os
import socket
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from coterie.exceptions import AnswersInUse
from coterie.files import plain_file

__all__ = ["FileLock"]

_LONGEST = 1 << 16  # bytes of what a holder writes


def _seize(handle: IO[bytes]) -> bool:
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
        try:
            self._place = path.with_name(path.name + ".lock")
            for there in filter(os.path.lexists, (self._place, path)):
                plain_file(there)
            # Unbuffered: what cannot be written (a full disk) is not left for `close` to try again.
            self._handle: IO[bytes] | None = open(self._place, "a+b", buffering=0)  # noqa: SIM115
        except (OSError, ValueError) as error:  # ValueError: no name, or one with a NUL
            raise AnswersInUse(f"{path} cannot be locked: {error}.") from error
        try:
            seized = _seize(self._handle)
            self._handle.seek(0)
            #: What the last holder wrote.
            self.before = _facts(self._handle.read(_LONGEST))
            if not seized:
                holder = _words(self.before)
                raise AnswersInUse(f"{path} is in use by {holder}. Close it there first.")
            self.write(begun=self.before.get("begun", False))
        except BaseException:  # also of Ctrl-C: a notebook keeps what its last error was raised in
            self.release()
            raise

    def write(self, **facts: Any) -> None:
        """Say who holds it, and what else the next holder is to know."""
        assert self._handle is not None
        try:
            self._handle.truncate(0)
            self._handle.write(json.dumps(_myself() | facts).encode())
        except OSError as error:
            self.release()
            raise AnswersInUse(f"{self._place} cannot be written: {error}.") from error

    def release(self, *, remove: bool = False) -> None:
        """Let go (also by closing the file, or by dying); `remove` the file of the lock too."""
        if self._handle is not None:
            self._handle.close()
            self._handle = None
            if remove:
                self._place.unlink(missing_ok=True)


def _myself() -> dict[str, Any]:
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


def _facts(written: bytes) -> dict[str, Any]:
    try:
        facts = json.loads(written)
    except (ValueError, RecursionError):  # empty, cut or foreign
        return {}
    return facts if isinstance(facts, dict) else {}


def _words(holder: dict[str, Any]) -> str:
    try:
        return "process {process} of {user} on {host}, since {since}".format(**holder)
    except KeyError:
        return "another process"
