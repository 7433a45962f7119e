"""What looks wrong in a table that can be clustered all the same; nothing is changed for it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.tables.notes import Note
from coterie.tables.parts import CategoryPart, NumberPart
from coterie.tables.recipe import Recipe
from coterie.tables.summary import words_for_none
from coterie.tables.table import Table
from coterie.tables.totals import total_row
from coterie.words import counted

__all__ = ["oddities"]

# What people write for "no value" where a column may hold numbers only.
_STANDS_FOR_NONE = (-9.0, -99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0, 999999.0)
_BEGINS_WITH_DIGITS = re.compile(r"\s*[^\w\s]{0,2}\s*\d")
_DIGITS = re.compile(r"\d+")
_FEWEST = 20  # rows from which something can be far from the others
_ALONE = 0.95  # share of the differences from which one column decides
_LIKE_NUMBERS = 0.9  # share of the categories that begin with digits
_FEW = 10  # categories, as classes of age are
_LOOKED_AT = 10_000  # rows, to see how much columns spread


def oddities(table: Table, recipe: Recipe, X: Any) -> list[str]:
    """Notes on a total in the last row, on categories written in two ways, several to a cell or
    like amounts, on numbers that stand for none, and on one that decides.

    Parameters
    ----------
    table : Table of n rows
    recipe : Recipe
        How X was made of it.
    X : (n, d) ndarray or CSR
        CSR is not looked at.
    """
    notes: list[str] = []
    total = total_row(table)
    notes += [total.strip()] if total else []
    for part in recipe.parts:
        if isinstance(part, CategoryPart):
            notes += _one_value_in_two_ways(part) or _several_values(part) or _amounts(part)
    if not isinstance(X, np.ndarray) or len(X) < _FEWEST:
        return notes
    at, of_numbers = 0, np.zeros(X.shape[1], dtype=bool)
    for part in recipe.parts:
        if isinstance(part, NumberPart):
            column = table.column(part.column)
            plain = column.kind == "number"  # as it is in X, and in one place of memory
            values = column.numbers.values if plain else X[:, at] * part.spread + part.center
            notes += _stands_for_none(table, part.column, values)
            of_numbers[at] = True
        at += len(part.feature_names)
    return notes + _decides(X, recipe.feature_names, of_numbers)


def _one_value_in_two_ways(part: CategoryPart) -> list[str]:
    """A note on categories that are the same but for capitals and spaces."""
    first: dict[str, str] = {}
    alike = []
    for text in part.categories:
        other = first.setdefault(" ".join(text.casefold().split()), text)
        alike += [f"{other!r} and {text!r}"] if other != text else []
    words = "some values differ in capitals or spaces only, and count as different"
    return [Note(part.column, 0, words, alike)] if alike else []


def _several_values(part: CategoryPart) -> list[str]:
    """A note on cells that are lists of a few values, as boxes that were ticked in a form.

    They are, if their items come again in other lists: there are fewer of them than lists.
    """
    for sign in (";", "|", ","):
        lists = [text for text in part.categories if sign in text]
        items = {item.strip() for text in part.categories for item in text.split(sign)}
        if len(lists) > len(part.categories) / 2 and len(items) < len(part.categories):
            words = f"cells hold several values each, as {min(lists, key=len)!r}, and each mixture"
            return [
                Note(
                    part.column,
                    0,
                    f"{words} is a category; {part.column}:words in `columns` has a feature for "
                    "each word instead",
                )
            ]
    return []


def _amounts(part: CategoryPart) -> list[str]:
    """A note on many categories that begin with digits: amounts in a way that is not read."""
    alike = [text for text in part.categories if _BEGINS_WITH_DIGITS.match(text)]
    codes = all(_DIGITS.fullmatch(text.strip()) for text in alike)
    if len(part.categories) <= _FEW or len(alike) < _LIKE_NUMBERS * len(part.categories) or codes:
        return []
    words = f"{len(part.categories)} categories, most of which begin with digits, as {alike[0]!r}"
    remedy = f"if these are amounts, write them as numbers, or leave {part.column} out with `drop`"
    return [Note(part.column, 0, f"{words}; {remedy}")]


def _stands_for_none(table: Table, name: str, values: NDArray[Any]) -> list[str]:
    """A note on values (n,) like -999 that are farther from the others than these spread."""
    for end in (float(np.fmin.reduce(values)), float(np.fmax.reduce(values))):
        which = int(np.argmin(np.abs(np.subtract(_STANDS_FOR_NONE, end))))
        code = _STANDS_FOR_NONE[which]
        if not np.isclose(end, code, rtol=1e-6):
            continue
        known = np.isfinite(values)
        there = np.isclose(values, code, rtol=1e-6)
        others = values[known & ~there]
        if known.sum() < _FEWEST or not others.size:
            continue
        if np.abs(others - code).min() <= np.ptp(others):
            continue
        row = int(np.argmax(there))
        text = str(table.column(name).part(row, row + 1).texts()[0]).strip()
        if table.column(name).kind == "text":
            words = words_for_none(table, [text])
            remedy = f"say `missing` {words} (with `impute`, or a method that takes missing values)"
        else:
            remedy = f"leave those rows out with `where` '{name} != {text}'"
        many = counted(int(there.sum()), "row")
        words = f"{text} in {many} is far from the others ({others.min():g} to {others.max():g})"
        return [Note(name, 0, f"{words}; if it means that there is no value, {remedy}")]
    return []


def _decides(X: NDArray[Any], names: list[str], of_numbers: NDArray[np.bool_]) -> list[str]:
    """A note on the number that nearly all of the differences between rows are made of."""
    if of_numbers.sum() < 2:
        return []
    step = max(1, len(X) // _LOOKED_AT)
    spread = np.nan_to_num(np.nanvar(X[::step], axis=0))
    largest = int(np.argmax(spread))
    share = spread[largest] / spread.sum() if spread.sum() > 0 else 0.0
    if share < _ALONE or not of_numbers[largest]:
        return []
    percent = min(99, int(100 * share))
    return [
        f"{names[largest]} makes up {percent} % of the differences between rows, in the units that "
        "the columns have; `scale` gives every number the same weight"
    ]
