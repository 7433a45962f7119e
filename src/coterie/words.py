"""Words for messages: counted things, the name that was probably meant, and warnings."""

from __future__ import annotations

import difflib
import inspect
import re
import warnings
from collections.abc import Iterable

from coterie.exceptions import CoterieWarning

__all__ = ["counted", "in_line", "nearest", "on_screen", "warn"]

_LONGEST = 60  # letters of a value that a line of a message shows


def counted(count: int, one: str, many: str | None = None) -> str:
    """A number and the thing it counts: "1 pair", "2 pairs"."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def in_line(text: str) -> str:
    """A value from a file as part of a line: without its line breaks, and cut short.

    >>> in_line("first\\nsecond")
    'first second'
    """
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"


def nearest(name: str, names: Iterable[str]) -> str:
    """A question (after a space) whether the name most like `name` was meant, or nothing.

    Names are alike whatever their case, and to their initials: "bp" is "belief_propagation".
    """
    small = {known.lower(): known for known in reversed(list(names))}
    initials = {"".join(word[:1] for word in re.split(r"[\W_]+", known)): known for known in small}
    near = difflib.get_close_matches(name.lower(), small, n=1)
    meant = small[near[0]] if near else small.get(initials.get(name.lower(), ""))
    return f" Did you mean {meant!r}?" if meant else ""


def warn(message: str, category: type[Warning] = CoterieWarning) -> None:
    """Warn at the line outside this package that led here, however deep the call went."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "coterie":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def on_screen(text: str) -> str:
    r"""Without control characters but the end of a line: data must not drive a terminal.

    >>> on_screen("id \x1b[2Jx\nnext")
    'id  [2Jx\nnext'
    """
    return "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text)
