"""Console blocks of a page, run again: what they show must be what the commands print.

    python tests/cli/console_page.py docs/command-line.md README.md

puts what they print now into the pages. The blocks of a page run from top to bottom in one empty
folder, those of Python too, which may write the files. A line that begins with "$ " is a command (a
line that ends in a backslash goes on in the next), what follows is its output:

- `coterie ...` runs in this process, as if on a terminal 80 columns wide that is not one;
- `cat FILE` makes the file with the text shown, if it is not there yet;
- `echo $?` shows the exit code of the command before;
- anything else is run by sh.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tests/, where it is run by hand
from python_page import runs

from coterie.cli.exits import Exit
from coterie.cli.main import main

_BLOCK = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
_STEP = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_SHELL = re.compile(r"[|<>;&`$]")
# What may differ from run to run: times (with the spaces that align them), versions, and the last
# digits of a number.
_CHANGING = (
    (re.compile(r" *\d+\.\d+ s\b"), " TIME s"),
    (re.compile(r" +time\b"), " time"),  # above them
    (re.compile(r"\d+\.\d+\.\d+"), "VERSION"),
    (re.compile(r"\d+\.\d{7,}"), lambda number: f"{float(number[0]):.6g}"),
)


class Step(NamedTuple):
    """A command as it stands on the page, its line there, and what the page shows it print."""

    command: str
    line: int
    shown: str


def steps(page: str) -> Iterator[Step]:
    """The commands of a page in order."""
    for block in _BLOCK.finditer(page):
        for step in _STEP.finditer(block[0]):
            yield Step(step[1], _line(page, block.start() + step.start()), step[2])


def _line(page: str, at: int) -> int:
    return page.count("\n", 0, at) + 1


def same(shown: str, printed: str) -> bool:
    """Whether two outputs are the same but for `_CHANGING`."""
    for pattern, name in _CHANGING:
        shown, printed = pattern.sub(name, shown), pattern.sub(name, printed)
    return shown == printed


class Console:
    """Runs commands in the folder that is current; before them the Python above them, if any."""

    def __init__(self, page: str = "") -> None:
        self.code = 0
        self._python = runs(page, "page")
        self._next = next(self._python, None)

    def catch_up(self, line: int) -> None:
        """Run the blocks of Python that stand above a line of the page."""
        while self._next is not None and self._next[0].line < line:
            self._next[1]()
            self._next = next(self._python, None)

    def run(self, command: str, shown: str, line: int = 0) -> str:
        """What a command prints; `shown` is what the page has."""
        self.catch_up(line)
        words = shlex.split(command.replace("\\\n", " "), comments=True)
        if words[0] == "cat" and not Path(words[1]).exists():
            Path(words[1]).write_text(shown, encoding="utf-8")
        if words == ["echo", "$?"]:
            return f"{self.code}\n"
        if words[0] == "coterie" and not _SHELL.search(command):
            done = CliRunner(env={"COLUMNS": "80"}).invoke(main, words[1:], prog_name="coterie")
            self.code = done.exit_code
            assert self.code != Exit.BUG, f"{command}\n{done.output}"  # never put that on a page
            return done.output
        return self._by_shell(command)

    def _by_shell(self, command: str) -> str:
        folder = Path(sys.executable).parent  # where `coterie` and `python` are
        path = f"{folder}{os.pathsep}{os.environ['PATH']}"
        finished = subprocess.run(
            ["sh", "-c", command],
            env=os.environ | {"PATH": path, "COLUMNS": "80", "PYTHONUTF8": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        self.code = finished.returncode
        return finished.stdout


def renewed(page: str, run: Callable[[str, str, int], str]) -> str:
    """The page with what its commands print now, where that is not the same."""

    def renew(block: re.Match[str]) -> str:
        def renew_step(step: re.Match[str]) -> str:
            printed = run(step[1], step[2], _line(page, block.start()))
            return f"$ {step[1]}\n{step[2] if same(step[2], printed) else printed}"

        return _STEP.sub(renew_step, block[0])

    return _BLOCK.sub(renew, page)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        page = Path(name).resolve()
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            text = page.read_text(encoding="utf-8")
            text = renewed(text, Console(text).run)
        page.write_text(text, encoding="utf-8")
