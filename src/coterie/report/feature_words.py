"""What a high or a low feature means, in words: of a number, a category, a word, a date."""

from __future__ import annotations

from typing import Any

from coterie.exceptions import InvalidParameter

__all__ = ["brief", "read_kinds", "whole"]

_WORDS = ("text", "topics")


def read_kinds(kinds: Any, width: int, sparse: bool = False) -> list[str]:
    """What each column was made of: where nobody says it, sparse ones are words, others numbers."""
    if kinds is None:
        return ["text" if sparse else "number"] * width
    kinds = [str(kind) for kind in kinds]
    if len(kinds) != width:
        raise InvalidParameter(f"kinds has {len(kinds)} for {width} columns of X: give one each.")
    return kinds


def brief(kind: str, name: str, high: bool) -> str:
    """In a list: `high weight`, `colour: red`, `“oven”`.

    >>> brief("number", "weight", False), brief("category", "colour=red", True)
    ('low weight', 'colour: red')
    >>> brief("topics", "oven", True), brief("text", "note:oven", False)
    ('“oven”', 'no “note:oven”')
    """
    if kind in _WORDS:
        return f"“{name}”" if high else f"no “{name}”"
    if kind == "category":
        column, _, value = name.partition("=")
        return f"{column}: {value}" if high else f"seldom {column}: {value}"
    if kind == "date" and name.endswith(")"):  # a place in a week, or a year: neither high nor low
        column, _, cycle = name[:-1].rpartition(" (")
        return f"{column}: a time of the {cycle.rpartition(' ')[2]}"
    if kind == "date":
        return f"{'late' if high else 'early'} {name}"
    return f"{'high' if high else 'low'} {name}"


def whole(kind: str, name: str, high: bool, here: float, overall: float, shown: str) -> str:
    """The same with how much; `shown` are the two numbers as they are written.

    >>> whole("category", "colour=red", True, 0.8, 0.39, "(0.80, overall 0.39)")
    'colour: red (80%, overall 39%)'
    >>> whole("number", "weight", True, 2.5, 1.5, "(2.5, overall 1.5)")
    'high weight (2.5, overall 1.5)'
    """
    words = brief(kind, name, high)
    if kind == "category":
        return f"{words} ({here:.0%}, overall {overall:.0%})"
    return words if kind in (*_WORDS, "date") else f"{words} {shown}"
