"""Tables that do not fit in memory: a row group at a time, and their features as rows to fit to."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Self
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from coterie.data import open_column
from coterie.data.grouped import GroupedRows
from coterie.data.parquet import Opened, decoded_groups, group_sizes, open_parquet
from coterie.data.stored import FileStamp, paths_of
from coterie.exceptions import InvalidData
from coterie.parameters import check_arguments
from coterie.tables.recipe import Choices, Learned, Recipe
from coterie.tables.table import Column, Table
from coterie.words import nearest

__all__ = ["RecipeRows", "StoredTable", "open_table"]


def open_table(
    where: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
) -> StoredTable:
    """A table in Parquet files, one below the other, that need not fit in memory.

    Parameters
    ----------
    where : path, folder, glob, or several paths
    """
    check_arguments(open_table, locals())
    several = [where] if isinstance(where, str | os.PathLike) else list(where)
    if not several:
        raise InvalidData("where: open_table needs at least one path.")
    return StoredTable([path for one in several for path in paths_of(one, ".parquet")])


class StoredTable:
    """Columns of any kind in Parquet files; read as tables of one row group each.

    Attributes
    ----------
    source : str
        Name of the files, for messages.
    n_rows : int
    names : list of str
        Of the columns, which all files must have.
    schema : pyarrow.Schema
        Their types: such as hold what each of the files has.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self.groups: list[tuple[FileStamp, int]] = []
        self.paths = list(paths)
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        self.source = f"{paths[0]}{more}"
        sizes: list[int] = []
        schemas: list[Any] = []
        for path in paths:
            stamp = FileStamp.of(path)
            with open_parquet(path) as file:
                schemas.append(file.schema_arrow.remove_metadata())
                self.groups += [(stamp, number) for number in range(file.num_row_groups)]
                sizes += group_sizes(path, file)
        self.edges = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        self.n_rows = int(self.edges[-1])
        if not self.n_rows:
            raise InvalidData(f"{self.source} has no rows.")
        self.schema = _joined(paths, schemas)
        self.names = list(self.schema.names)

    def table(self, group: int, columns: Sequence[str] | None = None) -> Table:
        """A row group, or some columns of it."""
        return _read(*self.groups[group], self.names if columns is None else columns, self.schema)

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
        return self.look_at(choices).recipe

    def look_at(self, choices: Choices | None = None) -> Learned:
        """As `learn`, with what else was seen on the way."""
        return Recipe.look_at(self.tables(), choices)

    def rows(self, recipe: Recipe) -> RecipeRows:
        """The features that a recipe makes of the table, made whenever rows are read."""
        return RecipeRows(self, recipe)


class _Group(NamedTuple):
    """A row group, and which of its rows (b,) are in; None for all."""

    stamp: FileStamp
    number: int
    rows: NDArray[np.int64] | None = None


class RecipeRows(GroupedRows):
    """Features of a `StoredTable` by a `Recipe`: rows for `fit` and `predict`."""

    groups: list[_Group]

    def __init__(self, table: StoredTable, recipe: Recipe) -> None:
        self.recipe, self.schema = recipe, table.schema
        self.groups, self.edges = [_Group(*group) for group in table.groups], table.edges
        self.n, self.d = table.n_rows, len(recipe.feature_names)
        self.names = recipe.feature_names
        sample = recipe.apply(next(table.tables())).X
        self.is_sparse = not isinstance(sample, np.ndarray)
        self.dtype = sample.dtype
        self._name_of_recipe = uuid4().hex  # by which a worker knows features it has made before
        self._opened = Opened(group.stamp for group in self.groups)

    def only(self, rows: NDArray[np.int64]) -> Self:
        """Some of the rows, whose numbers (m,) rise; features made before serve them, too."""
        part = copy.copy(self)
        cuts = np.searchsorted(rows, self.edges)
        part.groups = [
            group._replace(rows=rows[lo:hi] - edge)
            for group, lo, hi, edge in zip(
                self.groups, cuts[:-1], cuts[1:], self.edges[:-1], strict=True
            )
        ]
        part.edges, part.n = cuts.astype(np.int64), rows.size
        return part

    def _name(self, group: int) -> str:
        return _place(*self.groups[group][:2])

    def _group(self, group: int) -> Any:
        stamp, number, rows = self.groups[group]
        stamp.check()
        key = (stamp, number, self._name_of_recipe)
        in_all = self.n * self.d * self.dtype.itemsize  # too much where they are sparse
        features = decoded_groups.get(key, lambda: self._features(stamp, number), in_all)
        return features if rows is None else features[rows]

    def _features(self, stamp: FileStamp, number: int) -> Any:
        table = _read(stamp, number, self.recipe.columns, self.schema)
        return self.recipe.apply(table).X.astype(self.dtype, copy=False)


def _read(stamp: FileStamp, number: int, names: Sequence[str], schema: Any) -> Table:
    """Columns of a row group, of the types that they have in all files."""
    with stamp.while_read(), open_parquet(stamp.path) as file:
        found = file.read_row_group(number, columns=list(names))
        found.validate(full=True)  # offsets that point elsewhere would end the process later
    read = {}
    for name in names:
        if name not in found.column_names:
            raise InvalidData(
                f"{_place(stamp, number)} has no column {name!r}.{nearest(name, schema.names)}"
            )
        read[name] = Column(name, found.column(name).cast(schema.field(name).type))
    return Table(_place(stamp, number), found.num_rows, read)


def _place(stamp: FileStamp, number: int) -> str:
    return f"{stamp.path}, row group {number}"


def _joined(paths: Sequence[Path], schemas: Sequence[Any]) -> Any:
    """One schema for all files: the first one's columns, of types that hold what each has."""
    arrow = import_module("pyarrow")
    for path, schema in zip(paths, schemas, strict=True):
        if len(set(schema.names)) < len(schema.names):
            twice = next(name for name in schema.names if schema.names.count(name) > 1)
            raise InvalidData(f"{path} has two columns named {twice!r}; rename one.")
        odd = sorted(set(schema.names) ^ set(schemas[0].names))
        if odd:
            raise InvalidData(
                f"{path} and {paths[0]} differ in the columns {odd}; parts of one table must agree."
            )
    plain = [arrow.schema([field.with_type(_plain(field.type)) for field in s]) for s in schemas]
    try:
        return arrow.unify_schemas(plain, promote_options="permissive")
    except arrow.ArrowException as error:
        raise InvalidData(
            f"the files from {paths[0]} on differ in the type of a column; parts of one table must "
            f"agree. ({error})"
        ) from error


def _plain(kind: Any) -> Any:
    """A type without a dictionary, which differs from row group to row group."""
    types = import_module("pyarrow").types
    return kind.value_type if types.is_dictionary(kind) else kind
