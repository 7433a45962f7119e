"""Kinds of values that a parameter may be of, in words and as tests."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "Rule",
    "are_all",
    "are_questions",
    "are_records",
    "are_rows",
    "are_texts",
    "can",
    "has",
    "is_array",
    "is_pair",
    "is_several",
    "is_text",
    "names",
    "real",
    "whole",
]

LARGEST = 2**31 - 1  # counts beyond it are a slip, and would never end


class Rule(NamedTuple):
    """What a parameter may be, in words and as a test.

    Attributes
    ----------
    options : tuple of str
        Names that it may be.
    remedy : str
        What to do instead of the wrong value that is given most often.
    """

    words: str
    accepts: Callable[[Any], bool]
    options: tuple[str, ...] = ()
    remedy: str = ""

    def __or__(self, other: Rule) -> Rule:
        return Rule(
            f"{self.words}, or {other.words}",
            lambda value: self.accepts(value) or other.accepts(value),
            self.options + other.options,
            self.remedy or other.remedy,
        )

    def else_(self, remedy: str) -> Rule:
        """The same rule with a remedy."""
        return self._replace(remedy=f" {remedy}")


def names(*options: str) -> Rule:
    """One of a few names."""
    words = " or ".join(map(repr, options))
    return Rule(words, lambda value: isinstance(value, str) and value in options, options)


def whole(least: int = 1, most: int = LARGEST, words: str = "") -> Rule:
    """An integer, but no bool."""
    words = words or f"an integer of at least {least}"

    def accepts(value: Any) -> bool:
        is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        return is_whole and least <= int(value) <= most

    return Rule(words, accepts)


def real(
    least: float = 0.0,
    most: float = math.inf,
    *,
    above: bool = False,
    below: bool = False,
    infinite: bool = False,
) -> Rule:
    """A number from `least` to `most`; `above` the one and `below` the other, where asked."""
    words = f"a {'' if infinite else 'finite '}number"
    if least > -math.inf:
        words += f" {'above' if above else 'at least'} {least:g}"
    if most < math.inf:
        words += f" and {'below' if below else 'at most'} {most:g}"

    def accepts(value: Any) -> bool:
        if not isinstance(value, numbers.Real) or isinstance(value, bool):
            return False
        try:
            number = float(value)
        except OverflowError:
            return False
        if not infinite and math.isinf(number):
            return False
        if (above and number == least) or (below and number == most):
            return False
        return least <= number <= most

    return Rule(words, accepts)


def is_pair(value: Any, each: Rule) -> bool:
    one_dimension = isinstance(value, tuple | list) or (
        isinstance(value, np.ndarray) and value.ndim == 1
    )
    return one_dimension and len(value) == 2 and all(map(each.accepts, value))


def is_array(value: Any, kinds: str) -> bool:
    """Whether `value` is made of numbers, or names: what, and how many, depends on the data."""
    if isinstance(value, str | bytes | Mapping):
        return False
    try:
        table = np.asarray(value)
    except ValueError:  # rows of different lengths
        return False
    return table.ndim > 0 and table.size > 0 and table.dtype.kind in kinds


def can(*methods: str) -> Callable[[Any], bool]:
    """Whether a value, not a class, has all of the methods."""
    return lambda value: (
        not isinstance(value, type) and all(callable(getattr(value, m, None)) for m in methods)
    )


def has(*names: str) -> Callable[[Any], bool]:
    """Whether a value, not a class, has all of the attributes."""
    return lambda value: not isinstance(value, type) and all(hasattr(value, n) for n in names)


def are_records(value: Any) -> bool:
    if isinstance(value, Mapping):
        sizes = {np.shape(column)[:1] for column in value.values()}
        return len(sizes) == 1 and sizes != {()}
    return hasattr(value, "columns") or (is_sequence(value) and len(value) > 0)


def is_sequence(value: Any) -> bool:
    if hasattr(value, "__array__"):
        return np.ndim(value) > 0
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def is_several(value: Any) -> bool:
    return isinstance(value, Mapping) or is_sequence(value)


def are_questions(value: Any) -> bool:
    return is_sequence(value) and all(hasattr(question, "rows") for question in value)


def is_text(value: Any) -> bool:
    """Whether it can be written to a file: half a surrogate pair cannot."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def are_texts(value: Any) -> bool:
    return is_sequence(value) and all(map(is_text, value))


def are_all(value: Any, rule: Rule) -> bool:
    """Whether it is a collection, of a dict the values, of what the rule accepts."""
    if isinstance(value, Mapping):
        return all(map(rule.accepts, value.values()))
    if isinstance(value, Set):
        return all(map(rule.accepts, value))
    return is_sequence(value) and all(map(rule.accepts, value))


def are_rows(value: Any) -> bool:
    """Whether it is two-dimensional, wherever it is kept, or can become so."""
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape) == 2
    if hasattr(value, "__arrow_c_stream__"):
        return True
    if not is_sequence(value) or not all(map(is_sequence, value)):
        return False
    return len({len(row) for row in value}) == 1
