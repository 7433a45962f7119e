"""Pairs from partial knowledge of classes: which ones each row may be of."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from coterie._typing import BoolArray, IntArray
from coterie.constraints.building import from_groups
from coterie.constraints.constraints import Constraints
from coterie.exceptions import InvalidConstraints, InvalidParameter

__all__ = ["from_class_sets"]

_MOST_PAIRS = 50_000_000


def from_class_sets(
    classes: Any, per_row: int | None, weight: float, certainty: float | None, random_state: Any
) -> Constraints:
    """See `Constraints.from_class_sets`."""
    possible = _possible(classes)
    empty = np.flatnonzero(~possible.any(axis=1))
    if empty.size:
        raise InvalidConstraints(
            f"row {empty[0]} has no possible class; use None where nothing is known."
        )
    kinds, kind = np.unique(possible, axis=0, return_inverse=True)
    kind = kind.ravel()
    apart = ~(kinds.astype(np.int64) @ kinds.T.astype(np.int64) > 0)
    if per_row is None:
        cannot = _all_pairs(kind, apart)
    else:
        cannot = _some_pairs(kind, apart, per_row, np.random.default_rng(random_state))
    single = kinds.sum(axis=1) == 1
    alone = np.where(single[kind], possible.argmax(axis=1), -1)
    together = from_groups(alone, weight, certainty)
    return together + Constraints(
        kind.size, cannot_link=cannot, cannot_weight=weight, cannot_certainty=certainty
    )


def _possible(classes: Any) -> BoolArray:
    """Which classes each row may be of, (n, C); all of them where nothing is known."""
    if isinstance(classes, np.ndarray) and classes.ndim == 2:
        if classes.dtype != np.bool_:
            raise InvalidConstraints(
                f"a table of classes holds {classes.dtype}; give booleans, True where possible."
            )
        return classes
    sets = [_set_of(row) for row in classes]
    names = {name: number for number, name in enumerate(_every(sets))}
    out = np.ones((len(sets), max(1, len(names))), dtype=np.bool_)
    for i, some in enumerate(sets):
        if some is not None:
            out[i] = False
            out[i, [names[name] for name in some]] = True
    return out


def _every(sets: list[Collection[Any] | None]) -> dict[Any, None]:
    """All classes, in the order they are met."""
    return dict.fromkeys(name for some in sets if some is not None for name in some)


def _set_of(row: Any) -> Collection[Any] | None:
    """The classes that a row may be of; None if nothing is known."""
    if isinstance(row, (set, frozenset, list, tuple, np.ndarray)):
        return list(row)
    unknown = row is None or row != row or (not isinstance(row, str) and row == -1)
    return None if unknown else [row]


def _all_pairs(kind: IntArray, apart: BoolArray) -> IntArray:
    """Every pair of rows whose kinds are apart, (m, 2)."""
    size = np.bincount(kind, minlength=apart.shape[0])
    total = int(size @ apart @ size) // 2
    if total > _MOST_PAIRS:
        raise InvalidParameter(
            f"{total} pairs of rows have no class in common; give per_row to draw some of them."
        )
    rows = [np.flatnonzero(kind == a) for a in range(apart.shape[0])]
    out = [np.empty((0, 2), dtype=np.int64)]
    for a, b in np.argwhere(np.triu(apart, k=1)):
        first, second = np.meshgrid(rows[a], rows[b], indexing="ij")
        out.append(np.column_stack([first.ravel(), second.ravel()]))
    return np.concatenate(out)


def _some_pairs(
    kind: IntArray, apart: BoolArray, per_row: int, rng: np.random.Generator
) -> IntArray:
    """For each row `per_row` rows whose kind is apart from its own, without repetition, (m, 2)."""
    if isinstance(per_row, bool) or per_row < 1:
        raise InvalidParameter(f"per_row={per_row!r} must be an integer of at least 1.")
    out = [np.empty((0, 2), dtype=np.int64)]
    for a in range(apart.shape[0]):
        others = np.flatnonzero(apart[a][kind])
        for row in np.flatnonzero(kind == a) if others.size else ():
            drawn = rng.choice(others, min(per_row, others.size), replace=False)
            out.append(np.column_stack([np.full(drawn.size, row), drawn]))
    pairs = np.sort(np.concatenate(out), axis=1)
    return np.unique(pairs, axis=0)
