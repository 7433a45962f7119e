"""The names of columns: every column has one, and no two the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coterie.exceptions import InvalidData

__all__ = ["distinct_names"]


def distinct_names(source: Any, given: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Names without spaces around them, a number put to those that were there before.

    Returns
    -------
    names : list of str
    notes : tuple of str
        What the user should know.

    Examples
    --------
    >>> distinct_names("t.csv", ["x", "y", "x "])
    (['x', 'y', 'x_2'], ("two columns are named 'x'; the second is used as 'x_2'",))
    """
    names: list[str] = []
    notes = []
    taken = {name.strip() for name in given}
    for number, name in enumerate(map(str.strip, given), start=1):
        if not name:
            raise InvalidData(
                f"{source}: column {number} has no name in the header; give it one. (A data "
                "frame's index is written so; leave it out with index=False.)"
            )
        if name in names:
            which = 2
            while f"{name}_{which}" in taken:
                which += 1
            other = f"{name}_{which}"
            ordinal = {2: "second", 3: "third"}.get(which, f"{which}th")
            notes.append(f"two columns are named {name!r}; the {ordinal} is used as {other!r}")
            taken.add(other)
            name = other
        names.append(name)
    return names, tuple(notes)
