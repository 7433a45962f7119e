"""docs/command-line.md shows what the commands print, and names every option and exit code."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from coterie.cli._command import Exit
from coterie.cli._methods import METHODS
from coterie.cli.main import COMMANDS, main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "command-line.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A link to another page that has the rest: `coterie ask` is in active.md, `report` in report.md.
PAGES = "\n".join(path.read_text(encoding="utf-8") for path in PAGE.parent.glob("*.md"))


def steps():
    """(command, shown) of every line that begins with "$ "."""
    text = "".join(BLOCK.findall(TEXT))
    parts = re.split(r"^\$ (.*)\n", text, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def test_the_page_shows_what_the_commands_print(folder, run):
    """`cat` of a file that is not there makes it, of one that is there compares it."""
    assert len(steps()) > 5
    for command, shown in steps():
        program, *arguments = command.split()
        if program == "cat":
            path = Path(arguments[0])
            if not path.exists():
                path.write_text(shown, encoding="utf-8")
            assert path.read_text(encoding="utf-8") == shown
        else:
            assert program == "coterie"
            assert run(*arguments).output == shown, command


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_on_a_page(name):
    assert f"coterie {name}" in PAGES
    options = [p for p in main.get_command(None, name).params if isinstance(p, click.Option)]
    missing = [o.opts[-1] for o in options if not any(f"{opt}" in PAGES for opt in o.opts)]
    assert missing == []


def test_every_exit_code_and_method_is_on_the_page():
    table = re.findall(r"^\| (\d+) \|", TEXT, re.MULTILINE)
    assert table == [str(code.value) for code in Exit]
    words = set(re.findall(r"\w+", TEXT))
    assert set(METHODS) <= words
