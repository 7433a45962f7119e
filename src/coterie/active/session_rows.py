"""The rows of a session: in memory, where a strategy sees them all, or somewhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie.active.at_hand import SomeRows
from coterie.active.strategies.space import Space, candidate_mask, candidate_rows
from coterie.active.strategies.strategy import Context, Planner, Strategy
from coterie.base import as_source
from coterie.data import StoredRows, is_stream
from coterie.distortions import Distortion
from coterie.exceptions import InvalidData, InvalidParameter
from coterie.validation import check_plain_rows

__all__ = ["planners", "refuse_stored", "rows_of", "taken"]


def rows_of(X: Any, ids: Any) -> Any:
    """Rows in memory, checked, or `StoredRows`, whose values are checked as they are read."""
    rows = X if is_stream(X) else as_source(X)  # a stream is read into memory, as ever
    if not isinstance(rows, StoredRows):
        return check_plain_rows(rows, least=2)
    if rows.n < 2:
        raise InvalidData(f"there are {rows.n} row(s); a pair needs two.")
    if ids is not None:
        refuse_stored(rows, "ids=... holds the id of every row")
    return rows


def refuse_stored(rows: Any, why: str) -> None:
    """Say that rows are needed in memory."""
    if isinstance(rows, StoredRows):
        raise InvalidParameter(
            f"{why}, and these are not in memory; read a part of them, rows.take(numbers)."
        )


def planners(
    rows: Any,
    strategy: Strategy,
    distortion: Distortion,
    candidates: ArrayLike | None,
    seed: int,
    labels: Callable[[], NDArray[Any]],
) -> Callable[[], Planner]:
    """Makes a planner for these rows: of all, or of those at hand."""
    if isinstance(rows, StoredRows):
        some = None if candidates is None else candidate_rows(candidates, rows.n)
        return lambda: SomeRows(rows, strategy, distortion, some, seed, labels)
    space = Space(rows, distortion, candidate_mask(candidates, rows.shape[0]))
    return lambda: strategy.prepare(Context(space, seed, labels))


def taken(rows: Any, listed: NDArray[np.int64]) -> Any:
    """The listed rows."""
    return rows.take(listed) if isinstance(rows, StoredRows) else rows[listed]
