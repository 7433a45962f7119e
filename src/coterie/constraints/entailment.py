"""Every pair that follows from others, written out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coterie._typing import IntArray
from coterie.constraints.closure import Closure
from coterie.exceptions import InfeasibleConstraints, InvalidParameter

if TYPE_CHECKING:
    from coterie.constraints.constraints import Constraints

__all__ = ["entailed_pairs"]


def entailed_pairs(constraints: Constraints, hard_only: bool, max_pairs: int) -> Constraints:
    """See `Constraints.entailed`."""
    from coterie.constraints.constraints import Constraints

    constraints = constraints.expanded(max_pairs)
    closure = constraints.closure(hard_only=hard_only)
    _refuse_clash(constraints, hard_only)
    apart = _parted_components(constraints, closure, hard_only)
    sizes = closure.sizes
    count = int((sizes * (sizes - 1) // 2).sum() + sizes[apart].prod(axis=1).sum())
    if count > max_pairs:
        raise InvalidParameter(
            f"{count} pairs follow from these {constraints.n_pairs}, more than "
            f"max_pairs={max_pairs}. closure() answers for any two rows without writing them out; "
            "or raise max_pairs."
        )
    rows = closure.groups(min_size=1)
    must = [_inside(rows[number]) for number in np.flatnonzero(sizes > 1)]
    cannot = [_between(rows[a], rows[b]) for a, b in apart]
    weight = np.inf if hard_only else 1.0
    found = Constraints(
        constraints.n_samples,
        must_link=_new(constraints, _stacked(must), 1),
        cannot_link=_new(constraints, _stacked(cannot), -1),
        must_weight=weight,
        cannot_weight=weight,
    )
    return constraints + found


def _refuse_clash(constraints: Constraints, hard_only: bool) -> None:
    """From pairs that contradict each other everything would follow."""
    conflicts = constraints.conflicts(hard_only=hard_only)
    if len(conflicts):
        raise InfeasibleConstraints(
            f"the pairs contradict each other {len(conflicts)} times, so that nothing follows from "
            f"them; the first time {conflicts[0].pairs.tolist()}. See conflicts(), and drop one.",
            conflicts[0],
        )


def _parted_components(constraints: Constraints, closure: Closure, hard_only: bool) -> IntArray:
    """Pairs (p, 2) of components that some cannot-link that counts lies between."""
    counts = constraints.is_hard if hard_only else constraints.weight > 0
    ends = closure.component[constraints.pairs[counts & (constraints.kind < 0)]]
    return np.unique(np.sort(ends.reshape(-1, 2), axis=1), axis=0)


def _inside(rows: IntArray) -> IntArray:
    i, j = np.triu_indices(rows.size, 1)
    return np.column_stack([rows[i], rows[j]])


def _between(a: IntArray, b: IntArray) -> IntArray:
    both = np.column_stack([np.repeat(a, b.size), np.tile(b, a.size)])
    return np.sort(both, axis=1)


def _stacked(parts: list[IntArray]) -> IntArray:
    return np.concatenate([np.empty((0, 2), dtype=np.int64), *parts])


def _new(constraints: Constraints, pairs: IntArray, kind: int) -> IntArray:
    """Those pairs that are not among the given ones of this kind."""
    n = constraints.n_samples
    given = constraints.pairs[(constraints.kind == kind) & (constraints.weight > 0)]
    return pairs[~np.isin(pairs @ [n, 1], given @ [n, 1])]
