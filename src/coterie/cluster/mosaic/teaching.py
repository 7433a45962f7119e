"""The rows that are learned from: all, or some of those in pairs and a sample of others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from coterie._typing import Array
from coterie.constraints import Constraints
from coterie.exceptions import InfeasibleConstraints

__all__ = ["named_by", "teaching_rows"]

_MOST_IN_PAIRS = 0.75  # of the rows: the field needs to know where the others lie, too


def teaching_rows(
    n: int,
    constraints: Constraints,
    weights: Array | None,
    most: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """The numbers of about `most` of n rows, rising; all where there are no more.

    Those in pairs come first. Where they are too many, those of pairs drawn at random, whole pairs
    at a time. Nothing as long as the data is made: n rows may be in files.
    """
    if n <= most:
        return np.arange(n)
    inside = np.unique(constraints.pairs)
    room = int(_MOST_IN_PAIRS * most)
    if inside.size > room:
        inside = _rows_of_some(constraints.pairs, room, rng)
    wanted = most - inside.size
    drawn = rng.choice(n, min(n, wanted + inside.size), replace=False, shuffle=False)
    drawn = drawn[~np.isin(drawn, inside)][:wanted]
    if weights is not None:
        drawn = drawn[weights[drawn] > 0]
    return np.sort(np.concatenate([inside, drawn]))


def _rows_of_some(pairs: Array, room: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The rows, no more than `room`, of pairs (m, 2) drawn at random."""
    ends = pairs[rng.permutation(len(pairs))].reshape(-1)
    _, first = np.unique(ends, return_index=True)
    first.sort()
    return np.unique(ends[: first[room] // 2 * 2])  # both ends of every pair before that row


@contextmanager
def named_by(rows: Array, n: int) -> Iterator[None]:
    """Pairs among some `rows` (·,) of n that cannot all be kept are told of all n."""
    try:
        yield
    except InfeasibleConstraints as error:
        if rows.size == n or error.conflict is None:
            raise
        clash = ", ".join(map(str, rows[np.unique(error.conflict.pairs)]))
        raise InfeasibleConstraints(
            f"the pairs among rows {clash} cannot all be kept.", error.conflict.relabel(rows, n)
        ) from error
