"""What a recipe has to know of a column, summed up so that stretches of it can be added."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from coterie.tables.table import Column, Table, missing

__all__ = ["ColumnSummary", "Moments", "documents", "infinite_place", "not_a_number"]

_MOST_VALUES = 100_000  # different texts that are counted; a column of more is no category


class Moments(NamedTuple):
    """Number, mean and summed squares about the mean of some numbers, the least and the most."""

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0
    low: float = math.inf
    high: float = -math.inf

    @classmethod
    def of(cls, values: Any) -> Moments:
        """Of an array."""
        if not values.size:
            return cls()
        mean = float(values.mean())
        squares = float(values.std()) ** 2 * values.size
        return cls(values.size, mean, squares, float(values.min()), float(values.max()))

    @property
    def spread(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.squares / self.n)

    def __add__(self, other: Moments) -> Moments:  # type: ignore[override]
        """Of both together (Chan et al. 1979)."""
        if not self.n or not other.n:
            return self if self.n else other
        n = self.n + other.n
        gap = other.mean - self.mean
        return Moments(
            n,
            self.mean + gap * other.n / n,
            self.squares + other.squares + gap * gap * self.n * other.n / n,
            min(self.low, other.low),
            max(self.high, other.high),
        )


_NO_NUMBER = Moments()


@dataclass
class ColumnSummary:
    """What is known of a column after some stretches of it.

    Attributes
    ----------
    name, kind : str
        `kind` as in `Column`.
    n_rows : int
    moments : Moments
        Of its finite numbers.
    bad : int
        Values that are no numbers.
    began_as_numbers : bool
        Whether a whole stretch held numbers only; its values were then not counted as texts.
    first_bad, infinite : str or None
        What to say of the first of these, and of the first infinite number.
    values : Counter of str
        How often each known text occurs, if it may be a column of categories.
    different : str
        Their number, in words where it is only known from below.
    missing : int
        Rows without a value.
    words : Counter of str
        In how many rows each word occurs, if it is the column of text.
    """

    name: str
    kind: str
    n_rows: int = 0
    moments: Moments = _NO_NUMBER
    bad: int = 0
    began_as_numbers: bool = False
    first_bad: str | None = None
    infinite: str | None = None
    values: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)

    @property
    def different(self) -> str:
        more = " or more" if len(self.values) > _MOST_VALUES else ""
        return f"{len(self.values)}{more}"

    @property
    def missing(self) -> int:
        numbers = self.moments.n if not self.bad else 0
        return self.n_rows - (self.values.total() or numbers)

    def add(self, table: Table, role: str) -> None:
        """Take in a stretch; `role` is "text", "category" or "any"."""
        column = table.column(self.name)
        self.n_rows += table.n_rows
        if role == "text":
            for document in documents(column):
                self.words.update(set(_analyzer()(document)))
            return
        if role == "category" or (column.kind != "other" and self._is_text(table, column)):
            self._count(column)

    def _is_text(self, table: Table, column: Column) -> bool:
        """Take in the numbers; whether other values are among them, here or before."""
        values, bad = column.numbers
        if bad.size and self.first_bad is None:
            self.first_bad = not_a_number(table, column, bad)
        self.infinite = self.infinite or infinite_place(table, column, values)
        self.bad += bad.size
        self.moments = self.moments + Moments.of(values[np.isfinite(values)])
        self.began_as_numbers |= bool(self.moments.n) and not self.bad
        return bool(self.bad)

    def _count(self, column: Column) -> None:
        if len(self.values) <= _MOST_VALUES:
            texts = column.texts()
            self.values.update(map(str, texts[~missing(texts)].tolist()))


@cache
def _analyzer() -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer().build_analyzer()


def documents(column: Column) -> list[str]:
    """The texts of a column, "" where there is none."""
    return [text or "" for text in column.texts()]


def not_a_number(table: Table, column: Column, bad: Any) -> str:
    """What to say of rows (b,) that hold no number."""
    row = int(bad[0])
    others = f" ({len(bad)} such rows)" if len(bad) > 1 else ""
    return (
        f"{table.source}, {table.place(row)}: {column.texts()[row]!r} in column {column.name!r} is "
        f"not a number{others}. Correct it, or leave the column out with `drop`, or say "
        "`categorical`."
    )


def infinite_place(table: Table, column: Column, values: Any) -> str | None:
    """What to say of the first infinite number, if there is one."""
    infinite = np.flatnonzero(np.isinf(values))
    if not infinite.size:
        return None
    return (
        f"{table.source}, {table.place(int(infinite[0]))}: infinite value in column "
        f"{column.name!r}; correct it or leave the column out with `drop`."
    )
