"""An error about an entry of X, told as the file has it: the file, the line, the column."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from coterie.exceptions import InvalidData
from coterie.tables.table import Table

if TYPE_CHECKING:
    from coterie.tables.recipe import Recipe

__all__ = ["in_file", "telling_places"]


def in_file(error: InvalidData, table: Any, recipe: Recipe | None, ids: Any) -> InvalidData:
    """The error in the words of the file; itself if it names no entry."""
    if error.entry is None or recipe is None:
        return error
    row, column, why = error.entry
    place = table.place(row) if isinstance(table, Table) else f"row {ids[row]}"
    name = recipe.feature_names[column]
    return InvalidData(f"{table.source}, {place}, column {name!r} {why}")


@contextmanager
def telling_places(table: Any, recipe: Recipe | None, ids: Any) -> Iterator[None]:
    """Errors about entries inside this block, in the words of the file that the rows are of."""
    try:
        yield
    except InvalidData as error:
        told = in_file(error, table, recipe, ids)
        if told is error:
            raise
        raise told from error
