"""A session that was made in Python, as the studio works on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from coterie.active import ActiveSession
from coterie.active.log.row_ids import check_ids
from coterie.constraints import Constraints
from coterie.exceptions import InvalidData
from coterie.tables import Asking, Table
from coterie.tables.table import RowNumbers

__all__ = ["asking_of"]


def asking_of(session: ActiveSession, records: Any, ids: Any, fields: Sequence[str] = ()) -> Asking:
    """What is shown of the rows of a session: its records, else its features."""
    X = session.rows
    n = X.shape[0]
    table = _table(records, X)
    if table.n_rows != n:
        raise InvalidData(f"there are {table.n_rows} records for the {n} rows of the session.")
    names = check_ids(ids, n) if ids is not None else RowNumbers(n)
    shown = [table.column(name, "`fields`").name for name in fields] or table.names[:12]
    return Asking(
        table,
        names,
        ids is not None,
        X,
        Constraints(n),
        {"strategy": session.strategy},
        shown,
        None,
        None,
        [],
    )


def _table(records: Any, X: Any) -> Table:
    if isinstance(records, Table):
        return records
    if records is None:
        width = min(X.shape[1], 12)
        dense = X[:, :width].toarray() if hasattr(X, "toarray") else np.asarray(X[:, :width])
        return Table.of("features", {f"column {j}": dense[:, j] for j in range(width)})
    if not isinstance(records, Mapping):
        frame = nw.from_native(records, eager_only=True)
        records = {str(name): frame.get_column(name).to_list() for name in frame.columns}
    return Table.of("records", {str(name): _values(values) for name, values in records.items()})


def _values(values: Any) -> Any:
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        return array
    listed = [None if v is None or v != v else str(v) for v in values]
    found = np.empty(len(listed), dtype=object)
    found[:] = listed
    return found
