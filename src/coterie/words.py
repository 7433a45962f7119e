"""Words for messages: counted things, and the name that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["counted", "nearest"]


def counted(count: int, one: str, many: str | None = None) -> str:
    """A number and the thing it counts: "1 pair", "2 pairs"."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def nearest(name: str, names: Iterable[str]) -> str:
    """A question (after a space) whether the name most like `name` was meant, or nothing."""
    near = difflib.get_close_matches(name, list(names), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
