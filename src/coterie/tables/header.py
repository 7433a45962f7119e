"""The header of a table: where it stands, and a name for every column, no two the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie.exceptions import InvalidData
from coterie.tables.formats import DATES, NUMBERS, read_texts
from coterie.words import counted

__all__ = [
    "MOST_COLUMNS",
    "NO_HEADER",
    "ROW_NAMES",
    "check_width",
    "distinct_names",
    "has_row_names",
    "header_at",
    "is_row",
    "numbered",
    "parted_by_spaces",
    "titles_left_out",
]

MOST_COLUMNS = 100_000
NO_HEADER = "the first line holds numbers as the others do: it is a row, and columns are numbered"
ROW_NAMES = "the header has no name for the first column; it is called 'row'"
_NUMBER = re.compile(r"[+-]?\d+(?P<decimals>[.,]\d+)?(e[+-]?\d+)?", re.IGNORECASE)


def distinct_names(source: Any, given: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Names without spaces around them; those without one, or with another's, get a number.

    Returns
    -------
    names : list of str
    notes : tuple of str
        What the user should know.

    Examples
    --------
    >>> distinct_names("t.csv", ["x", "y", "x "])
    (['x', 'y', 'x_2'], ("two columns are named 'x'; the second is used as 'x_2'",))
    >>> distinct_names("t.csv", ["x", ""])
    (['x', 'column_2'], ("column 2 has no name in the header; it is called 'column_2'",))
    """
    check_width(source, len(given))
    names: dict[str, None] = {}
    notes = []
    taken = {name.strip() for name in given}
    next_number: dict[str, int] = {}
    for number, name in enumerate(map(str.strip, given), start=1):
        if not name:
            name = f"column_{number}"
            while name in taken:
                name += "_"
            taken.add(name)
            notes.append(f"column {number} has no name in the header; it is called {name!r}")
        if name in names:
            which = next_number.get(name, 2)
            while f"{name}_{which}" in taken:
                which += 1
            next_number[name] = which + 1
            other = f"{name}_{which}"
            ordinal = {2: "second", 3: "third"}.get(which, f"{which}th")
            notes.append(f"two columns are named {name!r}; the {ordinal} is used as {other!r}")
            taken.add(other)
            name = other
        names[name] = None
    return list(names), tuple(notes)


def check_width(source: Any, n_columns: int) -> None:
    """Refuse a table of more columns than can be looked at one by one, half a millisecond each."""
    if n_columns > MOST_COLUMNS:
        raise InvalidData(
            f"{source} has {n_columns:,} columns; of a table with names, {MOST_COLUMNS:,} are read "
            "at most. Give numbers in so many columns as an array (.npy, .npz) or as lists in one "
            "column of a Parquet file."
        )


def numbered(n_columns: int) -> list[str]:
    """Names for the columns of a table without a header."""
    return [f"column_{number}" for number in range(1, n_columns + 1)]


def header_at(rows: Sequence[Sequence[str]]) -> int:
    """Which of the first rows of a table is its header, where titles and remarks stand above it.

    These are rows of another width, such as begin with #, or such as end in several empty cells: a
    spreadsheet fills its titles up to the width of the table. The header is the first row from
    which on all are equally wide and that is no title, if it has names only and below one of them
    there are numbers or dates only; else it is the first row, whatever that may be.

    >>> header_at([["Sales of May"], ["town", "sold"], ["Ulm", "7"], ["Rom", "9"]])
    1
    >>> header_at([["Account", "17"], ["day", "sum", ""], ["3.1.2024", "7 €", ""]])
    1
    >>> header_at([["Sales", "", ""], ["town", "kind", "sold"], ["Ulm", "", "7"]])
    1
    >>> header_at([["text"], ["Hello", " world"], ["Good", " morning"]])
    0
    """
    start = len(rows) - 1
    while (
        start and len(rows[start - 1]) == len(rows[-1]) and not rows[start - 1][0].startswith("#")
    ):
        start -= 1
    while start < len(rows) - 1 and _is_filled_up(rows[start]):
        start += 1
    header, below = rows[start], rows[start + 1 :]
    if not below or len(header) < 2 or not all(header[:-1]) or any(map(_reads, header)):
        return 0
    return start if any(map(_is_measured, zip(*below, strict=True))) else 0


def _is_filled_up(row: Sequence[str]) -> bool:
    return len(row) > 2 and not any(cell.strip() for cell in row[-2:])


def _is_measured(cells: Sequence[str]) -> bool:
    """Whether all cells that are not empty are numbers, amounts or dates, and one is not empty."""
    filled = [cell for cell in cells if cell.strip()]
    return bool(filled) and all(map(_reads, filled))


def _reads(cell: str) -> bool:
    return any(not np.isnan(read_texts([cell], form)[0]) for form in (*NUMBERS, *DATES))


def is_row(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row of a table is no header but a row as those below it.

    It is, if it has a number wherever those have one, and one of them has decimals, or a word that
    is in its column again: columns may be called 1, 2, 3 or by years.

    >>> is_row([["5.1", "a"], ["4.9", "b"]]), is_row([["2019", "2020"], ["4.9", "3"]])
    (True, False)
    >>> is_row([["5", "a"], ["4", "b"], ["7", "a"]])
    True
    """
    first, below = rows[0], rows[1:]
    if not below or any(len(row) != len(first) for row in below):
        return False
    of_numbers: list[Sequence[str]] = []
    of_words: list[Sequence[str]] = []
    for column in zip(*rows, strict=True):
        (of_numbers if _is_number(column[1:]) else of_words).append(column)
    if not of_numbers or not all(_is_number(column[:1]) for column in of_numbers):
        return False
    names = [_NUMBER.fullmatch(column[0].strip()) for column in of_numbers]
    if any(name is not None and name["decimals"] for name in names):
        return True
    return any(name.strip() and name in below for name, *below in of_words)


def has_row_names(rows: Sequence[Sequence[str]], *, counting: bool) -> bool:
    """Whether the header has no name for the first column, as where R writes the names of rows.

    These all differ, or are 1, 2, 3 if `counting`, and one of the other columns holds numbers.

    >>> cars = [["mpg", "cyl"], ["Mazda RX4", "21", "6"], ["Datsun", "22.8", "4"]]
    >>> has_row_names(cars, counting=False), has_row_names(cars, counting=True)
    (True, False)
    """
    header, below = rows[0] if rows else [], rows[1:]
    if len(below) < 2 or not header or any(len(row) != len(header) + 1 for row in below):
        return False
    names, *others = zip(*below, strict=True)
    if counting and names != tuple(map(str, range(1, len(names) + 1))):
        return False
    if len(set(names)) < len(names) or not all(header) or any(map(_reads, header)):
        return False
    return any(map(_is_number, others))


def parted_by_spaces(lines: Sequence[str]) -> bool:
    """Whether lines are rows with spaces between values: of numbers, below names or without, or
    with words among them if these are set in columns, by more spaces than one.

    >>> parted_by_spaces(["x  y", "1  2.5", "3 4"]), parted_by_spaces(["full name", "Ann Lee"])
    (True, False)
    >>> parted_by_spaces(["n   kind", "12  ok", " 7  bad"]), parted_by_spaces(["to", "Hill 7"])
    (True, False)
    """
    rows = [line.split(" ") for line in map(str.strip, lines)]
    words = [[word for word in row if word] for row in rows]
    width = len(words[0]) if words else 0
    if width < 2 or len(words) < 2 or any(len(row) != width for row in words):
        return False
    if all(_is_number(row) for row in words[1:]):
        return True
    aligned = all("  " in line for line in lines)
    return aligned and any(_is_number(column) for column in zip(*words[1:], strict=True))


def _is_number(cells: Sequence[str]) -> bool:
    """Whether all cells that are not empty are numbers, and one is not empty."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    return bool(filled) and all(_NUMBER.fullmatch(cell) for cell in filled)


def titles_left_out(n: int, what: str) -> str:
    """What to say of rows or lines above the header."""
    return f"{counted(n, what)} above the header left out"
