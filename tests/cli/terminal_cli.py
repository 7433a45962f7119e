"""Programs on a pseudo-terminal, and folders before and after."""

from __future__ import annotations

import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from fcntl import ioctl
from pathlib import Path


def _own_terminal():
    """Make the pseudo-terminal the controlling one, so that Ctrl-C and hanging up reach us."""
    os.setsid()
    ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """A process on a pseudo-terminal, 80 columns wide, without colour."""

    def __init__(self, *arguments, kind="dumb"):
        self.master, slave = pty.openpty()
        ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        code = "from coterie.cli.main import main; main()"
        environment = os.environ | {"TERM": kind, "OMP_NUM_THREADS": "1"}
        environment.pop("COLUMNS", None)
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            preexec_fn=_own_terminal,
            env=environment,
        )
        os.close(slave)
        self.seen = ""

    def read_until(self, text, patience=180.0):
        """What was printed up to `text`; fails if it does not come."""
        end = time.monotonic() + patience
        while text not in self.seen:
            ready, _, _ = select.select([self.master], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"waited for {text!r}, saw {self.seen!r}"
            try:
                got = os.read(self.master, 4096)
            except OSError:  # the other side is closed
                got = b""
            assert got, f"ended before {text!r}, saw {self.seen!r}"
            self.seen += got.decode().replace("\r\n", "\n")
        before, self.seen = self.seen.split(text, 1)
        return before

    def press(self, keys):
        os.write(self.master, keys.encode())

    def close(self):
        self.process.wait(timeout=180)
        os.close(self.master)
        return self.process.returncode


def listing(folder):
    """Every file below a folder, hidden ones too, with its content."""
    paths = Path(folder).rglob("*")
    return {str(path): path.read_bytes() for path in paths if path.is_file()}
