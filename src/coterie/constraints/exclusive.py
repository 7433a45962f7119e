"""Groups whose rows are all different, kept as they are: never as pairs, which are quadratic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coterie._typing import FloatArray, IntArray
from coterie.constraints import _input
from coterie.constraints._input import CANNOT, PairArrays
from coterie.constraints.value import PLAIN_CERTAINTY, cost, strength
from coterie.exceptions import InvalidConstraints, InvalidParameter
from coterie.words import warn

if TYPE_CHECKING:
    from coterie.constraints.constraints import Constraints

__all__ = ["NO_GROUPS", "ExclusiveGroups"]

MOST_PAIRS = 1_000_000  # that groups are written out as where nobody said how many


class ExclusiveGroups(NamedTuple):
    """Groups of rows of which no two belong together, one after the other.

    Attributes
    ----------
    rows : (t,) int64
        Rows group by group, rising in each. A row may stand in several groups.
    ptr : (G + 1,) int64
        Group g is `rows[ptr[g]:ptr[g + 1]]`, two rows or more.
    weight, certainty : (G,) float64
        Of every pair of the group, as of a pair of `Constraints`.
    """

    rows: IntArray
    ptr: IntArray
    weight: FloatArray
    certainty: FloatArray

    @property
    def n_groups(self) -> int:
        """Number of groups, G."""
        return self.ptr.size - 1

    @property
    def sizes(self) -> IntArray:
        """Rows in each group, (G,)."""
        return np.diff(self.ptr)

    @property
    def is_hard(self) -> Any:
        """Which groups are hard, (G,) bool."""
        return np.isinf(self.weight) | ((self.certainty == 1.0) & (self.weight > 0))

    @property
    def n_pairs(self) -> int:
        """Pairs that the groups stand for: Σ size · (size − 1) / 2."""
        return int((self.sizes * (self.sizes - 1) // 2).sum())

    @property
    def group_of(self) -> IntArray:
        """Group (t,) of each entry of `rows`."""
        return np.repeat(np.arange(self.n_groups, dtype=np.int64), self.sizes)

    def cost(self) -> FloatArray:
        """Cost (G,) of two rows of a group in one cluster, a plain pair costing 1; inf if hard."""
        return cost(strength(self.weight, self.certainty, self.is_hard, PLAIN_CERTAINTY), 1.0)

    def listed(self) -> list[list[int]]:
        """The rows of each group."""
        return [part.tolist() for part in np.split(self.rows, self.ptr[1:-1])][: self.n_groups]

    def as_hard(self) -> ExclusiveGroups:
        """Every group hard, except those of weight 0."""
        weight = np.where(self.weight > 0, np.inf, 0.0)
        return self._replace(weight=weight, certainty=np.full(self.n_groups, np.nan))

    def as_soft(self, weight: float) -> ExclusiveGroups:
        """Every hard group soft, with this weight."""
        return self._replace(
            weight=np.where(self.is_hard, weight, self.weight),
            certainty=np.where(self.is_hard, np.nan, self.certainty),
        )

    def same(self, other: ExclusiveGroups) -> bool:
        """Whether these are the same groups."""
        return all(
            np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
            for a, b in zip(self, other, strict=True)
        )


NO_GROUPS = ExclusiveGroups(
    np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64), np.empty(0), np.empty(0)
)


def check_exclusive(n: int, given: Any, weight: Any, certainty: Any) -> ExclusiveGroups:
    """Groups as the user gave them, each a list of row numbers, checked and in canonical form."""
    if given is None:
        return NO_GROUPS
    parts = [_check_group(n, at, rows) for at, rows in enumerate(_listed(given))]
    if not parts:
        return NO_GROUPS
    count = len(parts)
    weights = _input.check_per_pair("exclusive_weight", weight, count, 1.0)
    sure = _input.check_per_pair("exclusive_certainty", certainty, count, np.nan)
    return from_parts(parts, weights, sure)


def _listed(given: Any) -> list[Any]:
    try:
        return list(given)
    except TypeError:
        raise InvalidConstraints(
            f"exclusive is a {type(given).__name__}; give a list of groups, each the numbers of "
            "its rows"
        ) from None


def from_parts(parts: list[IntArray], weight: FloatArray, certainty: FloatArray) -> ExclusiveGroups:
    """Groups of distinct rows each, with their weights and certainties (G,)."""
    _input.check_weight("exclusive_weight", weight)
    _input.check_certainty("exclusive_certainty", certainty)
    doubted = np.flatnonzero(certainty <= 0.5)
    if doubted.size:
        raise InvalidConstraints(
            f"exclusive_certainty[{doubted[0]}] = {certainty[doubted[0]]}; that rows are all "
            "different has no one opposite: give more than 0.5, or leave the group out"
        )
    sizes = np.array([part.size for part in parts], dtype=np.int64)
    rows = np.concatenate([*parts, np.empty(0, dtype=np.int64)])
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    return canonical(ExclusiveGroups(rows, ptr, weight, certainty))


def _check_group(n: int, at: int, given: Any) -> IntArray:
    try:
        rows = np.asarray(given)
    except ValueError:  # rows of different lengths
        rows = np.array(None)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise InvalidConstraints(
            f"exclusive[{at}] has shape {rows.shape} and type {rows.dtype}; give the row numbers "
            "of one group. For one value a row, use Constraints.from_exclusive_groups"
        )
    rows = rows.astype(np.int64)
    outside = np.flatnonzero((rows < 0) | (rows >= n))
    if outside.size:
        raise InvalidConstraints(
            f"exclusive[{at}]: row {rows[outside[0]]} is not one of the {n} rows (0 to {n - 1})"
        )
    return np.sort(rows)


def canonical(groups: ExclusiveGroups) -> ExclusiveGroups:
    """Rows rising in each group, groups in the order of their rows; none of fewer than two."""
    order = np.lexsort((groups.rows, groups.group_of))
    rows = groups.rows[order]
    group = groups.group_of
    twice = np.flatnonzero((rows[1:] == rows[:-1]) & (group[1:] == group[:-1]))
    if twice.size:
        row = int(rows[twice[0]])
        raise InvalidConstraints(
            f"row {row} stands twice in one exclusive group, and would differ from itself; list "
            "it once (or, if it came from ids, look for two records with one id)"
        )
    keep = np.flatnonzero(groups.sizes > 1)
    parts = np.split(rows, groups.ptr[1:-1])
    # Big-endian bytes sort like the numbers.
    order = np.array(
        sorted(
            keep.tolist(),
            key=lambda g: (parts[g].astype(">i8").tobytes(), groups.weight[g], groups.certainty[g]),
        ),
        dtype=np.int64,
    )
    if not order.size:
        return NO_GROUPS
    sizes = groups.sizes[order]
    return ExclusiveGroups(
        np.concatenate([parts[g] for g in order]),
        np.concatenate([[0], np.cumsum(sizes)]),
        groups.weight[order],
        groups.certainty[order],
    )


def choose(groups: ExclusiveGroups, which: Any) -> ExclusiveGroups:
    """The chosen groups, `which` (G,) bool."""
    if np.all(which):
        return groups
    kept = np.asarray(which)[groups.group_of]
    sizes = groups.sizes[which]
    return ExclusiveGroups(
        groups.rows[kept],
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        groups.weight[which],
        groups.certainty[which],
    )


def renumber(groups: ExclusiveGroups, rows: IntArray) -> ExclusiveGroups:
    """The groups with `rows` in the place of ``groups.rows``, −1 for one that is left out."""
    if not groups.n_groups:
        return groups
    kept = rows >= 0
    sizes = np.bincount(groups.group_of[kept], minlength=groups.n_groups)
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    return canonical(ExclusiveGroups(rows[kept], ptr, groups.weight, groups.certainty))


def join(first: ExclusiveGroups, second: ExclusiveGroups) -> ExclusiveGroups:
    """The groups of both."""
    if not second.n_groups or not first.n_groups:
        return first if first.n_groups else second
    return canonical(
        ExclusiveGroups(
            np.concatenate([first.rows, second.rows]),
            np.concatenate([first.ptr, first.ptr[-1] + second.ptr[1:]]),
            np.concatenate([first.weight, second.weight]),
            np.concatenate([first.certainty, second.certainty]),
        )
    )


def all_pairs(codes: IntArray) -> IntArray:
    """Positions (·, 2) of every two entries of `codes` that are equal, and not −1."""
    order = np.argsort(codes, kind="stable")[np.count_nonzero(codes < 0) :]
    size = np.bincount(codes[order])
    end = np.repeat(np.cumsum(size), size)
    # The entry at sorted position p pairs with every later one of its code.
    later = end - np.arange(order.size) - 1
    left = np.repeat(np.arange(order.size), later)
    offset = np.arange(left.size) - np.repeat(np.cumsum(later) - later, later)
    return np.column_stack([order[left], order[left + 1 + offset]])


def written_out(groups: ExclusiveGroups, max_pairs: int) -> PairArrays:
    """Every pair of every group as a cannot-link."""
    if groups.n_pairs > max_pairs:
        raise InvalidParameter(
            f"{groups.n_groups} exclusive groups stand for {groups.n_pairs:,} pairs, more than "
            f"max_pairs={max_pairs:,}; raise it, or use PCKMeans, COPKMeans, HMRFKMeans or "
            "MPCKMeans, which need none of them"
        )
    return _pairs_at(groups, all_pairs(groups.group_of))


def broken(groups: ExclusiveGroups, labels: Any) -> tuple[IntArray, FloatArray]:
    """Pairs (·, 2) of rows of one group that `labels` (n,) put together, and their costs."""
    if not groups.n_groups:
        return np.empty((0, 2), dtype=np.int64), np.empty(0)
    _, label = np.unique(labels, return_inverse=True)
    code = groups.group_of * (int(label.max()) + 1) + label[groups.rows]
    _, code, count = np.unique(code, return_inverse=True, return_counts=True)
    at = np.flatnonzero(count[code] > 1)  # the others break nothing
    pairs = at[all_pairs(code[at])]
    return groups.rows[pairs], groups.cost()[groups.group_of[pairs[:, 0]]]


def witnesses(groups: ExclusiveGroups, component: IntArray) -> PairArrays:
    """Cannot-links between rows of one group that are of one component: all that clash, in fact.

    Of each group and component the consecutive rows, so that there are no more than rows.
    """
    code = groups.group_of * (int(component.max(initial=0)) + 1) + component[groups.rows]
    order = np.argsort(code, kind="stable")
    same = np.flatnonzero(code[order][1:] == code[order][:-1])
    return _pairs_at(groups, np.column_stack([order[same], order[same + 1]]))


def _pairs_at(groups: ExclusiveGroups, at: IntArray) -> PairArrays:
    """Cannot-links between the entries (·, 2) of `rows`, with their group's weight."""
    group = groups.group_of[at[:, 0]]
    kind = np.full(group.size, CANNOT, dtype=np.int8)
    return PairArrays(groups.rows[at], kind, groups.weight[group], groups.certainty[group])


def of_nodes(groups: ExclusiveGroups, node_of: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Groups of nodes: `ptr` (H + 1,), `nodes` (·,), and the group (H,) each of them is.

    A node stands once in a group, however many of its rows do; groups of one node are left out.
    """
    top = int(node_of.max(initial=0)) + 1
    code = np.unique(groups.group_of * top + node_of[groups.rows])
    group, nodes = np.divmod(code, top)
    sizes = np.bincount(group, minlength=groups.n_groups)
    kept = np.flatnonzero(sizes > 1)
    ptr = np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64)
    return ptr, nodes[np.isin(group, kept)], kept


_SAID: set[int] = set()


def written_for(constraints: Constraints, who: str) -> Constraints:
    """Constraints without groups for an estimator that knows pairs only; said once for a size."""
    groups = constraints.exclusive
    if not groups.n_groups:
        return constraints
    if groups.n_pairs > MOST_PAIRS:
        raise InvalidConstraints(
            f"{who} knows pairs only, and the {groups.n_groups} exclusive groups stand for "
            f"{groups.n_pairs:,} of them, more than {MOST_PAIRS:,}. Use PCKMeans, COPKMeans, "
            "HMRFKMeans or MPCKMeans, which keep groups as they are, or pass "
            "constraints.expanded(max_pairs=...)"
        )
    if groups.n_pairs not in _SAID:
        _SAID.add(groups.n_pairs)
        warn(
            f"{who} knows pairs only: the {groups.n_groups} exclusive groups were written out as "
            f"{groups.n_pairs:,} cannot-links",
        )
    return constraints.expanded()
