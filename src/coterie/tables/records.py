"""Records to look at: chosen columns of a table as text, two of them side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from coterie.tables.recipe import Recipe
from coterie.tables.table import Table
from coterie.words import on_screen

__all__ = ["Records", "choose_fields", "side_by_side"]


@dataclass(frozen=True)
class Records:
    """Rows of a table, as text.

    Attributes
    ----------
    fields : list of str
        Names of the columns that are shown.
    ids : sequence of str
        The id of each record.
    values : list of list of str
        A list of texts for each record, one for each field; "" where there is no value.
    """

    fields: list[str]
    ids: Sequence[str]
    values: list[list[str]]

    @classmethod
    def of(cls, table: Table, ids: Sequence[str], fields: Sequence[str]) -> Records:
        """These columns of a table."""
        columns = [[text or "" for text in table.column(name).texts()] for name in fields]
        values = [list(row) for row in zip(*columns, strict=True)] or [[] for _ in ids]
        return cls(list(fields), ids, values)


def choose_fields(
    table: Table, recipe: Recipe, chosen: Sequence[str] = (), most: int = 12
) -> list[str]:
    """Columns to show: the chosen ones, else the first `most`, those clustered by before others.

    The id is not among them, as it stands above a record anyway.
    """
    if chosen:
        return [table.column(name, "`fields`").name for name in chosen]
    used = recipe.columns
    others = [name for name in table.columns if name not in used]
    return [name for name in (*used, *others) if name != recipe.id_column][:most]


def side_by_side(records: Records, i: int, j: int, *, width: int = 80) -> str:
    """Two records in two columns; fields that differ are marked with a star.

    >>> from coterie.tables import Records, side_by_side
    >>> two = Records(["name", "town"], ["1", "2"], [["Ann", "Ulm"], ["Anne", "Ulm"]])
    >>> print(side_by_side(two, 0, 1, width=40))
             1               2
    * name | Ann           | Anne
      town | Ulm           | Ulm
    """
    name_width = min(max([len(field) for field in records.fields], default=0), width // 4)
    column = max((width - name_width - 7) // 2 - 1, 8)
    lines = [f"{'':{name_width + 5}}{records.ids[i][:column]:{column}}   {records.ids[j][:column]}"]
    for field, left, right in zip(
        records.fields, records.values[i], records.values[j], strict=True
    ):
        mark = " " if left == right else "*"
        for line, (a, b) in enumerate(_wrapped(left, right, column)):
            head = (
                f"{mark} {field[:name_width]:{name_width}}" if line == 0 else " " * (name_width + 2)
            )
            lines.append(f"{head} | {a:{column}} | {b}".rstrip())
    return on_screen("\n".join(lines))


def _wrapped(left: str, right: str, column: int) -> list[tuple[str, str]]:
    """Both texts in lines of at most `column` letters, side by side."""
    parts = [textwrap.wrap(text, column) or [""] for text in (left, right)]
    height = max(map(len, parts))
    a, b = (lines + [""] * (height - len(lines)) for lines in parts)
    return list(zip(a, b, strict=True))
