"""Labels of very many rows: written beside their ids and renumbered, a stretch at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.column import StoredColumn
from coterie.exceptions import InvalidData, MissingDependency
from coterie.files import new_file
from coterie.parameters import check_arguments

__all__ = ["without_gaps", "write_labels"]

_ROWS = 1 << 20  # of a row group
_LABELS = 1 << 16  # renumbered at once


def write_labels(
    path: str | os.PathLike[str], labels: NDArray[Any], ids: StoredColumn | None = None
) -> None:
    """Write one row for each label to a Parquet file, all or nothing.

    Parameters
    ----------
    path : path
    labels : (n,) integers
        For instance `model.labels_` or what `predict` returns.
    ids : StoredColumn, optional
        The rows' ids (`open_column`), written beside the labels under their name; else the rows
        are numbered, in a column "row".
    """
    check_arguments(write_labels, locals())
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingDependency(
            "writing Parquet files needs pyarrow; install it with: pip install 'coterie[parquet]'."
        ) from error
    labels = np.asarray(labels)
    if ids is not None and len(ids) != len(labels):
        raise InvalidData(f"there are {len(labels)} labels and {len(ids)} ids; give one for each.")
    name = "row" if ids is None else ids.name
    with new_file(Path(path)) as place:
        writer = None
        start = 0
        for values in _numbers(len(labels)) if ids is None else ids.batches():
            part = labels[start : start + len(values)].astype(np.int32)
            table = arrow.table({name: values, "cluster": part})
            writer = writer or parquet.ParquetWriter(place, table.schema)
            writer.write_table(table)
            start += len(values)
        if writer is None:
            raise InvalidData("there is no row to write.")
        writer.close()


def _numbers(n: int) -> Iterator[NDArray[np.int64]]:
    for start in range(0, n, _ROWS):
        yield np.arange(start, min(start + _ROWS, n))


def without_gaps(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels (n,) of any kind as int32 from 0 on, in their order and without gaps.

    Of whole numbers below n, as estimators give them, no more than the result is held beside them.
    """
    values = np.asarray(labels).ravel()
    if values.dtype.kind not in "iu" or values.min() < 0 or values.max() >= values.size:
        return np.unique(values, return_inverse=True)[1].astype(np.int32).ravel()
    used = np.zeros(int(values.max()) + 1, dtype=bool)
    stretches = [slice(start, start + _LABELS) for start in range(0, values.size, _LABELS)]
    for stretch in stretches:
        used[values[stretch]] = True
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    out = np.empty(values.size, dtype=np.int32)
    for stretch in stretches:
        out[stretch] = number[values[stretch]]
    return out
