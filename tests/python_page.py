"""The Python of a page: its blocks are run from top to bottom, and print what the page shows.

    python tests/python_page.py docs/tutorial-pairs.md ...

puts what each block prints now below it, as a block of its own (```text).
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stdout
from pathlib import Path
from types import CodeType
from typing import NamedTuple

_BLOCK = re.compile(
    r"^```python *\n(?P<source>.*?)^``` *$(?P<shown>\n+```text\n(?P<output>.*?)^``` *$)?",
    re.MULTILINE | re.DOTALL,
)
_NUMBER = re.compile(r"\d+\.\d+|\d+%|\d+")
# How far versions of libraries may be apart: of a number with decimals, and of one in per cent.
_NEAR, _NEAR_PERCENT = 0.05, 5


class Block(NamedTuple):
    """A block of Python, the line it begins on, and what the page shows it print, if it does."""

    source: str
    line: int
    output: str | None


def blocks(text: str) -> list[Block]:
    """The blocks of a page in order."""
    return [
        Block(found["source"], text.count("\n", 0, found.start("source")) + 1, found["output"])
        for found in _BLOCK.finditer(text)
    ]


def printed(path: Path) -> Iterator[tuple[Block, str]]:
    """Run the blocks in one namespace, with true line numbers; each with what it prints."""
    for block, run in runs(path.read_text(encoding="utf-8"), str(path)):
        yield block, run()


def runs(text: str, name: str) -> Iterator[tuple[Block, Callable[[], str]]]:
    """The blocks of a page with what runs each of them, in order, and returns what it prints."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(text):
        code = compile("\n" * (block.line - 1) + block.source, name, "exec")

        def run(code: CodeType = code) -> str:
            with redirect_stdout(io.StringIO()) as stream:
                exec(code, namespace)
            return stream.getvalue()

        yield block, run


def same(shown: str, found: str) -> bool:
    """Whether two outputs say the same: in the same words, with numbers that are near."""
    if _plain(shown) != _plain(found):
        return False
    pairs = zip(_NUMBER.findall(shown), _NUMBER.findall(found), strict=True)
    return all(a == b or _near(a, b) for a, b in pairs)


def _near(one: str, other: str) -> bool:
    if one.endswith("%") and other.endswith("%"):
        return abs(int(one[:-1]) - int(other[:-1])) <= _NEAR_PERCENT
    if "%" in one + other or "." not in one + other:
        return False
    return abs(float(one) - float(other)) <= _NEAR


def _plain(text: str) -> str:
    """An output without its numbers, and with one space where there are several."""
    return " ".join(_NUMBER.sub("0", text).split())


def renewed(path: Path) -> str:
    """The page with what its blocks print."""
    text = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        outputs = iter([found for _, found in printed(path)])

    def put(found: re.Match[str]) -> str:
        said = next(outputs)
        lines = "\n".join(line.rstrip() for line in said.splitlines())
        output = f"\n\n```text\n{lines}\n```" if lines.strip() else ""
        return f"```python\n{found['source']}```{output}"

    return _BLOCK.sub(put, text)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        page = Path(name).resolve()
        page.write_text(renewed(page), encoding="utf-8")
