"""A column of Parquet files, ids for instance, that is read through and never held."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from coterie.data.parquet import open_parquet
from coterie.data.stored import FileStamp, paths_of
from coterie.exceptions import InvalidData
from coterie.parameters import check_arguments
from coterie.words import nearest

__all__ = ["StoredColumn", "open_column"]


def open_column(
    where: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], name: str
) -> StoredColumn:
    """A column of Parquet files, one file below the other in the order of `open_rows`.

    Parameters
    ----------
    where : path, folder, glob, or several paths
    name : str

    Examples
    --------
    >>> import pyarrow as pa, pyarrow.parquet as pq, tempfile, pathlib
    >>> from coterie import Constraints
    >>> from coterie.data import open_column
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.parquet"
    >>> pq.write_table(pa.table({"key": ["a", "b", "c"], "x": [1.0, 2.0, 3.0]}), path)
    >>> pairs = pa.table({"one": ["a"], "other": ["c"], "kind": ["must"]})
    >>> Constraints.from_frame(
    ...     pairs, a="one", b="other", kind="kind", ids=open_column(path, "key")
    ... )
    Constraints(3 rows: 1 must-link)
    """
    check_arguments(open_column, locals())
    several = [where] if isinstance(where, str | os.PathLike) else list(where)
    return StoredColumn([path for one in several for path in paths_of(one, ".parquet")], name)


class StoredColumn:
    """A column of Parquet files, of any type; `len` is the number of rows."""

    def __init__(self, paths: Sequence[Path], name: str) -> None:
        self.name = name
        self.stamps = [FileStamp.of(path) for path in paths]
        self.n = 0
        for stamp in self.stamps:
            with open_parquet(stamp.path) as file:
                names = file.schema_arrow.names
                if name not in names:
                    raise InvalidData(
                        f"{stamp.path} has no column {name!r}.{nearest(name, names)} "
                        f"It has {names}."
                    )
                self.n += file.metadata.num_rows

    def __len__(self) -> int:
        return self.n

    def batches(self) -> Iterator[Any]:
        """The values as pyarrow arrays, one after the other."""
        for stamp in self.stamps:
            with stamp.while_read(), open_parquet(stamp.path) as file:
                for batch in file.iter_batches(columns=[self.name]):
                    yield batch.column(0)

    def find(self, wanted: Iterable[Any]) -> dict[Any, int]:
        """Row number of each of the wanted values that is there; refuses one that is there twice.

        Only the wanted ones are held.
        """
        arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
        values = list(dict.fromkeys(wanted))
        found: dict[Any, int] = {}
        start, sought = 0, None
        for batch in self.batches():
            if arrow.types.is_dictionary(batch.type):
                batch = batch.cast(batch.type.value_type)
            if sought is None:
                sought = self._as_type(values, batch.type)
            at = compute.index_in(batch, value_set=sought)
            hits = np.flatnonzero(np.asarray(at.is_valid()))
            for row, number in zip(hits, at.take(arrow.array(hits)).to_pylist(), strict=True):
                value = values[number]
                if value in found:
                    raise InvalidData(
                        f"column {self.name!r} holds {value!r} more than once (rows "
                        f"{found[value]} and {start + row}); every row needs its own id."
                    )
                found[value] = start + int(row)
            start += len(batch)
        return found

    def _as_type(self, values: list[Any], kind: Any) -> Any:
        arrow = import_module("pyarrow")
        try:
            return arrow.array(values, type=kind)
        except (arrow.ArrowException, TypeError) as error:
            raise InvalidData(
                f"column {self.name!r} holds {kind}, and the ids asked for are like "
                f"{values[0]!r}; give ids of that type."
            ) from error
