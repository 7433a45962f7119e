"""Numbers of answers at which something costly is done again."""

from __future__ import annotations

__all__ = ["is_milestone", "milestones"]

_FIRST = 16
_GROWTH = 1.25


def milestones(count: int) -> list[int]:
    """Those up to `count`: 16, then always a quarter more, so that all of them cost about five
    times the last.

    >>> milestones(40)
    [16, 20, 25, 31, 39]
    """
    found: list[int] = []
    size = float(_FIRST)
    while int(size) <= count:
        found.append(int(size))
        size *= _GROWTH
    return found


def is_milestone(count: int) -> bool:
    """Whether it is one of them."""
    return count in milestones(count)
