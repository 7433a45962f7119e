"""Words for messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["nearest"]


def nearest(name: str, names: Iterable[str]) -> str:
    """A question (after a space) whether the name most like `name` was meant, or nothing."""
    near = difflib.get_close_matches(name, list(names), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
