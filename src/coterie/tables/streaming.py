"""Tables that do not fit in memory: a row group at a time, and their features as rows to fit to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coterie.data import open_column
from coterie.data.grouped import GroupedRows
from coterie.data.parquet import open_parquet
from coterie.data.stored import FileStamp, paths_of
from coterie.exceptions import InvalidData
from coterie.tables.recipe import Choices, Recipe
from coterie.tables.table import Column, Table

__all__ = ["RecipeRows", "StoredTable", "open_table"]


def open_table(
    where: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
) -> StoredTable:
    """A table in Parquet files, one below the other, that need not fit in memory.

    Parameters
    ----------
    where : path, folder, glob, or several paths
    """
    several = [where] if isinstance(where, str | os.PathLike) else list(where)
    return StoredTable([path for one in several for path in paths_of(one, ".parquet")])


class StoredTable:
    """Columns of any kind in Parquet files; read as tables of one row group each.

    Attributes
    ----------
    n_rows : int
    names : list of str
        Of the columns, which all files must have.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self.groups: list[tuple[FileStamp, int]] = []
        sizes: list[int] = []
        self.names: list[str] = []
        for path in paths:
            stamp = FileStamp.of(path)
            with open_parquet(path) as file:
                names = list(file.schema_arrow.names)
                self.names = self.names or names
                if set(names) != set(self.names):
                    odd = sorted(set(names) ^ set(self.names))
                    raise InvalidData(
                        f"{path} and {paths[0]} differ in the columns {odd}; parts of one table "
                        "must agree."
                    )
                for number in range(file.num_row_groups):
                    self.groups.append((stamp, number))
                    sizes.append(file.metadata.row_group(number).num_rows)
        self.edges = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        self.n_rows = int(self.edges[-1])
        self.paths = list(paths)

    def table(self, group: int, columns: Sequence[str] | None = None) -> Table:
        """A row group, or some columns of it."""
        stamp, number = self.groups[group]
        stamp.check()
        with open_parquet(stamp.path) as file:
            found = file.read_row_group(number, columns=None if columns is None else list(columns))
        read = {name: Column(name, found.column(name)) for name in found.column_names}
        source = f"{stamp.path}, row group {number}"
        return Table(source, found.num_rows, read)

    def tables(self) -> Iterator[Table]:
        """The row groups one after the other."""
        for group in range(len(self.groups)):
            if self.edges[group + 1] > self.edges[group]:
                yield self.table(group)

    def ids(self, name: str) -> Any:
        """A column of ids: for `Constraints.from_frame` and `write_labels`."""
        return open_column(self.paths, name)

    def learn(self, choices: Choices | None = None) -> Recipe:
        """The recipe that these choices mean for this table, in one pass."""
        return Recipe.learn_from(self.tables(), choices)

    def rows(self, recipe: Recipe) -> RecipeRows:
        """The features that a recipe makes of the table, made whenever rows are read."""
        return RecipeRows(self, recipe)


class RecipeRows(GroupedRows):
    """Features of a `StoredTable` by a `Recipe`: rows for `fit` and `predict`."""

    def __init__(self, table: StoredTable, recipe: Recipe) -> None:
        self.table, self.recipe = table, recipe
        self.edges, self.groups = table.edges, list(range(len(table.groups)))
        self.n, self.d = table.n_rows, len(recipe.feature_names)
        self.names = recipe.feature_names
        sample = recipe.apply(next(table.tables())).X
        self.is_sparse = not isinstance(sample, np.ndarray)
        self.dtype = sample.dtype

    def _name(self, group: int) -> str:
        stamp, number = self.table.groups[self.groups[group]]
        return f"{stamp.path}, row group {number}"

    def _group(self, group: int) -> Any:
        features = self.recipe.apply(self.table.table(self.groups[group], self.recipe.columns)).X
        return features.astype(self.dtype, copy=False)
