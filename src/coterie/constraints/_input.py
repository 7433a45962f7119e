"""Check what the user gave and bring it to the one canonical form; every refusal names the pair."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from coterie._typing import BoolArray, FloatArray, IntArray, KindArray
from coterie.exceptions import InvalidConstraints
from coterie.words import warn

MUST, CANNOT = 1, -1
NAME = {MUST: "must_link", CANNOT: "cannot_link"}


class PairArrays(NamedTuple):
    """Pairs (m, 2), kind (m,), weight (m,), certainty (m,)."""

    pairs: IntArray
    kind: KindArray
    weight: FloatArray
    certainty: FloatArray


_MOST_ROWS = 1 << 48  # one number for each is beyond what processors address


def check_n_samples(n_samples: Any) -> int:
    """A row count as int, or InvalidConstraints."""
    try:
        n = operator.index(n_samples)
    except TypeError:
        n = -1
    if n < 0 or isinstance(n_samples, (bool, np.bool_)):
        raise InvalidConstraints(
            f"n_samples={n_samples!r} is not a row count; give the number of rows of X, X.shape[0]"
        )
    if n > _MOST_ROWS:
        raise InvalidConstraints(
            f"n_samples={n} is more rows than a computer has addresses for; give the number of "
            "rows of X, X.shape[0]"
        )
    return n


def check_pairs(name: str, pairs: ArrayLike | None, n_samples: int) -> IntArray:
    """Pairs as (m, 2) int64 with every index in 0..n−1."""
    if pairs is None:
        return np.empty((0, 2), dtype=np.int64)
    if isinstance(pairs, (set, frozenset)):
        pairs = list(pairs)
    try:
        given = np.asarray(pairs)
    except ValueError:  # ragged rows
        given = np.empty(0, dtype=object)
        shape = "rows of different lengths"
    else:
        shape = f"shape {given.shape}"
        if given.size == 0 and given.shape in ((0,), (0, 2)):
            return np.empty((0, 2), dtype=np.int64)
    if given.ndim != 2 or given.shape[1] != 2:
        raise InvalidConstraints(
            f"{name} has {shape}; expected (m, 2): one pair of row numbers a line"
        )
    if given.dtype.kind not in "iu":
        raise _not_integers(name, given)
    outside = (given < 0) | (given >= n_samples)
    if outside.any():
        bad = np.flatnonzero(outside.any(axis=1))
        first, row = bad[0], given[bad[0]]
        culprit = next(int(v) for v in row if not 0 <= v < n_samples)
        why = "is negative" if culprit < 0 else f"is out of range for n_samples={n_samples}"
        raise InvalidConstraints(
            f"{name}[{first}] = {tuple(row.tolist())}: row {culprit} {why}; rows are numbered from "
            f"0 to {n_samples - 1}. {bad.size} such pair(s). To use your own ids, see "
            "Constraints.from_frame(..., ids=...)"
        )
    return given.astype(np.int64)


def _not_integers(name: str, given: np.ndarray) -> InvalidConstraints:
    """The error for indices that are floats, NaN, text, booleans or objects."""
    first = 0
    if given.dtype.kind == "f":
        odd = np.flatnonzero(~(np.isfinite(given) & (given == np.round(given))).all(axis=1))
        first = int(odd[0]) if odd.size else 0
    return InvalidConstraints(
        f"{name}[{first}] = {tuple(given[first].tolist())} is of type {given.dtype}; row numbers "
        "must be integers. Drop missing values and convert with .astype(int), or map your own ids "
        "with Constraints.from_frame(..., ids=...)"
    )


def check_per_pair(name: str, values: ArrayLike | None, m: int, default: float) -> FloatArray:
    """A scalar or one number a pair, as (m,) float64."""
    if values is None:
        return np.full(m, default)
    try:
        given = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidConstraints(f"{name} must be a number, or one number a pair") from None
    if given.ndim == 0:
        return np.full(m, float(given))
    if given.shape != (m,):
        raise InvalidConstraints(
            f"{name} has shape {given.shape} for {m} pair(s); give one number, or one a pair"
        )
    return given.copy()


def check_weight(name: str, weight: FloatArray) -> FloatArray:
    """Weights ≥ 0, inf allowed."""
    bad = np.flatnonzero(~(weight >= 0))
    if bad.size:
        raise InvalidConstraints(
            f"{name}[{bad[0]}] = {weight[bad[0]]}; weights must be ≥ 0 "
            "(np.inf makes a pair hard, 0 switches it off)"
        )
    return weight


def check_certainty(name: str, certainty: FloatArray) -> FloatArray:
    """Certainties in [0, 1]; NaN means not given."""
    bad = np.flatnonzero((certainty < 0) | (certainty > 1))
    if bad.size:
        raise InvalidConstraints(
            f"{name}[{bad[0]}] = {certainty[bad[0]]}; a certainty is a probability in "
            "[0, 1] (1 makes a pair hard, NaN means not given)"
        )
    return certainty


def check_kind_of_pairs(
    kind: int, pairs: ArrayLike | None, weight: Any, certainty: Any, n_samples: int
) -> PairArrays:
    """All of one kind's input, checked."""
    name = NAME[kind]
    short = name.removesuffix("_link")
    checked = check_pairs(name, pairs, n_samples)
    m = checked.shape[0]
    return PairArrays(
        checked,
        np.full(m, kind, dtype=np.int8),
        check_weight(f"{short}_weight", check_per_pair(f"{short}_weight", weight, m, 1.0)),
        check_certainty(
            f"{short}_certainty", check_per_pair(f"{short}_certainty", certainty, m, np.nan)
        ),
    )


def check_arrays(
    n_samples: int, pairs: ArrayLike, kind: ArrayLike, weight: Any, certainty: Any
) -> PairArrays:
    """Pairs of both kinds in one array, checked."""
    checked = check_pairs("pairs", pairs, n_samples)
    m = checked.shape[0]
    return PairArrays(
        checked,
        _check_kind(kind, m),
        check_weight("weight", check_per_pair("weight", weight, m, 1.0)),
        check_certainty("certainty", check_per_pair("certainty", certainty, m, np.nan)),
    )


def _check_kind(kind: ArrayLike, m: int) -> KindArray:
    """+1 and −1 (m,) from signs or booleans."""
    given = np.asarray(kind)
    if given.shape != (m,) and not (m == 0 and given.size == 0):
        raise InvalidConstraints(f"kind has shape {given.shape} for {m} pair(s); give one a pair")
    if given.dtype.kind == "b":
        return np.where(given, MUST, CANNOT).astype(np.int8)
    if m and given.dtype.kind not in "iuf":
        raise InvalidConstraints(
            f"kind holds {given.dtype}; give 1 (must-link) and -1 (cannot-link), or booleans. "
            "Words such as must and cannot are read by Constraints.from_frame"
        )
    bad = np.flatnonzero(~(np.abs(given) > 0)) if m else given[:0]
    if bad.size:
        raise InvalidConstraints(
            f"kind[{bad[0]}] = {given[bad[0]]}; give 1 (must-link) or -1 (cannot-link)"
        )
    return np.where(given > 0, MUST, CANNOT).astype(np.int8)


def canonical(given: PairArrays) -> PairArrays:
    """Flip doubtful pairs, drop empty ones, put i < j and sort: one form for one meaning."""
    return sort_pairs(_without_self_links(_flip_doubtful(given)))


def _flip_doubtful(given: PairArrays) -> PairArrays:
    """γ < ½ is the opposite kind with 1 − γ; γ = ½ says nothing and is dropped with a warning."""
    says_nothing = given.certainty == 0.5
    if says_nothing.any():
        first = given.pairs[np.flatnonzero(says_nothing)[0]].tolist()
        warn(
            f"{int(says_nothing.sum())} pair(s) with certainty 0.5 say nothing and were dropped "
            f"(the first is {tuple(first)})",
        )
        given = take(given, ~says_nothing)
    doubtful = given.certainty < 0.5
    if not doubtful.any():
        return given
    return given._replace(
        kind=np.where(doubtful, -given.kind, given.kind).astype(np.int8),
        certainty=np.where(doubtful, 1.0 - given.certainty, given.certainty),
    )


def _without_self_links(given: PairArrays) -> PairArrays:
    """A must-link of a row with itself is true and dropped; a cannot-link is refused."""
    selfish = given.pairs[:, 0] == given.pairs[:, 1]
    if not selfish.any():
        return given
    bad = np.flatnonzero(selfish & (given.kind == CANNOT))
    if bad.size:
        row = int(given.pairs[bad[0], 0])
        raise InvalidConstraints(
            f"cannot-link ({row}, {row}) says that row {row} differs from itself; remove the pair "
            "(or, if it came from ids, look for two records with one id)"
        )
    return take(given, ~selfish)


def sort_pairs(given: PairArrays) -> PairArrays:
    """Order each pair i < j and all pairs by (i, j, kind, weight, certainty)."""
    i, j = given.pairs[:, 0], given.pairs[:, 1]
    low, high = np.minimum(i, j), np.maximum(i, j)
    # One fast sort by (i, j); only pairs given more than once need the other keys.
    position = low * (high.max(initial=0) + 1) + high
    order = np.argsort(position)
    repeated = _repeated(position[order])
    if repeated.any():
        tied = order[repeated]
        keys = (given.certainty, given.weight, given.kind, high, low)
        order[repeated] = tied[np.lexsort([key[tied] for key in keys])]
    return take(given._replace(pairs=np.column_stack([low, high])), order)


def _repeated(ordered: IntArray) -> BoolArray:
    """Which of the sorted numbers equal a neighbour."""
    same = ordered[1:] == ordered[:-1]
    repeated = np.zeros(ordered.size, dtype=bool)
    repeated[1:] |= same
    repeated[:-1] |= same
    return repeated


def take(given: PairArrays, which: IntArray | BoolArray) -> PairArrays:
    """The chosen pairs."""
    return PairArrays(
        given.pairs[which], given.kind[which], given.weight[which], given.certainty[which]
    )


def join(first: PairArrays, second: PairArrays) -> PairArrays:
    """The pairs of both."""
    return PairArrays(
        np.concatenate([first.pairs, second.pairs]),
        np.concatenate([first.kind, second.kind]),
        np.concatenate([first.weight, second.weight]),
        np.concatenate([first.certainty, second.certainty]),
    )
