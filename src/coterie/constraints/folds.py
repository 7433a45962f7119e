"""Parts of constraints, as cross-validation cuts them: by rows, or by rows and pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coterie._typing import BoolArray, IntArray
from coterie.exceptions import InvalidConstraints, LostPairs
from coterie.words import warn

if TYPE_CHECKING:
    from coterie.constraints.constraints import Constraints

__all__ = ["PairRows", "part"]


_SAID: set[int] = set()  # constraints that were warned about: once is enough for many folds


class PairRows(np.ndarray):
    """Row numbers that also say which pairs go with them: `constraints[rows]` keeps only those.

    A splitter that holds out pairs, not rows, has no other way to tell: scikit-learn hands on what
    it is given as an index, and nothing beside. It makes a plain array of it, whose `base` is still
    this one. Rows are counted from the end (i − n), which is the same to X and y, so that numbers
    that came without their pairs are noticed and not taken for all pairs.

    Parameters
    ----------
    rows : (r,) int64
        Row numbers 0..n−1.
    n_samples : int
        Number of rows n.
    pairs : (m,) bool
        Which of the pairs belong to this part.
    """

    pairs: BoolArray

    def __new__(cls, rows: IntArray, n_samples: int, pairs: BoolArray) -> PairRows:
        """An array of its own memory: a view would be left out when scikit-learn makes its own."""
        made = super().__new__(cls, rows.shape, dtype=np.int64)
        made[...] = rows - n_samples
        made.pairs = pairs
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return PairRows, (np.asarray(self), 0, self.pairs)


def part(constraints: Constraints, rows: Any) -> Constraints:
    """See `Constraints.__getitem__`."""
    if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
        rows = rows[0]  # scikit-learn's spelling: values[rows, ...]
    if isinstance(rows, slice):
        rows = np.arange(*rows.indices(constraints.n_samples))
    if np.ndim(rows) != 1:
        raise InvalidConstraints(
            f"constraints[{rows!r}]: one row has no pairs; give a slice, row numbers or a mask"
        )
    for found in (rows, getattr(rows, "base", None)):
        if isinstance(found, PairRows) and found.size == len(rows):
            return _fold_of_pairs(constraints, found)
    if len(rows) and np.min(rows) < 0:
        raise InvalidConstraints(
            "these row numbers count from the end, as those of a PairKFold that holds out pairs "
            "do, but its pairs were lost where the numbers were copied; use "
            'PairKFold(hold_out="components"), or give row numbers from 0 on'
        )
    kept = constraints.subset(rows)
    if 2 * kept.n_pairs < constraints.n_pairs:
        _say_that_pairs_are_lost(constraints, kept)
    return kept


def _fold_of_pairs(constraints: Constraints, rows: PairRows) -> Constraints:
    if rows.pairs.shape != (constraints.n_pairs,):
        raise InvalidConstraints(
            f"the split was made for {rows.pairs.size} pairs, these constraints have "
            f"{constraints.n_pairs}; give PairKFold the constraints that are given to fit"
        )
    chosen = constraints._take(rows.pairs, constraints.exclusive)
    return chosen.subset(np.asarray(rows) + constraints.n_samples)


def _say_that_pairs_are_lost(whole: Constraints, kept: Constraints) -> None:
    known = hash(whole)
    if known in _SAID:
        return
    _SAID.add(known)
    warn(
        f"a part of {kept.n_samples} of the {whole.n_samples} rows keeps {kept.n_pairs} of the "
        f"{whole.n_pairs} pairs: a pair is lost where only one of its rows is inside. Split with "
        "coterie.PairKFold, which keeps pairs whole or holds out pairs instead of rows. (Said once "
        "for these constraints.)",
        LostPairs,
    )
