"""What is given to `Dossier`: tables of every kind, exclusive groups, hard answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.constraints import Constraints
from coterie.exceptions import InfeasibleConstraints, InvalidParameter

__all__ = ["as_objects", "check_hard", "columns_of", "group_numbers", "only_numbers"]

Int = NDArray[np.int64]


def columns_of(X: Any) -> dict[str, NDArray[Any]] | None:
    """The columns of a data frame or a dict of them; None for an array."""
    if isinstance(X, Mapping):
        return {str(name): np.asarray(values) for name, values in X.items()}
    if not hasattr(X, "columns"):
        return None
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    return {str(name): frame.get_column(name).to_numpy() for name in frame.columns}


def only_numbers(columns: dict[str, NDArray[Any]]) -> bool:
    """Whether a table holds floats only, as an array would."""
    return all(values.dtype.kind == "f" for values in columns.values())


def as_objects(X: Any) -> NDArray[Any] | None:
    """An array of objects (n, d); None for numbers."""
    array = np.asarray(X)
    if array.dtype.kind in "UO" and array.ndim == 2:
        return array.astype(object)
    return None


def group_numbers(values: Any, n: int, known: Sequence[str] = ()) -> tuple[Int, list[str]]:
    """A number for each different value, −1 where it is missing, and the values by number.

    Values that are `known` already keep their numbers.
    """
    if values is None:
        return np.full(n, -1, dtype=np.int64), list(known)
    held = np.asarray(values)
    if held.shape != (n,):
        raise InvalidParameter(
            f"exclusive has shape {held.shape}; give one group for each of the {n} records."
        )
    number = {value: at for at, value in enumerate(known)}
    found = [
        -1 if v is None or v != v or v == "" else number.setdefault(str(v), len(number))
        for v in held.tolist()
    ]
    return np.array(found, dtype=np.int64), list(number)


def check_hard(given: Constraints, exclusive: Int) -> None:
    """Refuse hard answers that contradict each other or the exclusive groups."""
    if not given.is_hard.any():
        return
    conflict = next(iter(given.conflicts(hard_only=True)), None)
    if conflict is not None:
        given.check_feasible(given.n_samples, hard_only=True)  # says which pairs clash
    component = given.closure(hard_only=True).component
    held = np.flatnonzero(exclusive >= 0)
    keys, counts = np.unique(
        np.column_stack([component[held], exclusive[held]]), axis=0, return_counts=True
    )
    if (counts > 1).any():
        which = keys[counts > 1][0]
        rows = held[(component[held] == which[0]) & (exclusive[held] == which[1])][:2]
        raise InfeasibleConstraints(
            f"hard answers join records {rows[0]} and {rows[1]}, which are of one exclusive group; "
            "remove one of those answers, make it soft, or change the group."
        )
