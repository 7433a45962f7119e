"""Constraints from arrays, labels, groups and matrices, and from other constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array, issparse

from coterie._typing import BoolArray, FloatArray, IntArray
from coterie.constraints import _input, exclusive
from coterie.constraints.constraints import Constraints
from coterie.exceptions import InvalidConstraints

if TYPE_CHECKING:
    from coterie.constraints._input import PairArrays
    from coterie.constraints.exclusive import ExclusiveGroups


def from_arrays(
    n_samples: int,
    pairs: ArrayLike,
    kind: ArrayLike,
    weight: ArrayLike | None,
    certainty: ArrayLike | None,
) -> Constraints:
    """`Constraints.from_arrays`."""
    n = _input.check_n_samples(n_samples)
    given = _input.check_arrays(n, pairs, kind, weight, certainty)
    return Constraints._of(n, _input.canonical(given))


def from_labels(y: ArrayLike, weight: float | None, certainty: ArrayLike | None) -> Constraints:
    """Rows of one label joined as a star, and the stars' centres pairwise cannot-linked.

    For hard pairs this says exactly what the labels say, in (labelled rows) + (classes choose 2)
    pairs. Soft pairs entail nothing, so soft stars say less than all pairs would; sample pairs
    with `coterie.constraints.sample_pairs` to get a soft set of any density. With certainties by
    row the most certain row of a class is the centre of its star.
    """
    codes, n_classes = _codes("y", y)
    # One number is that of every pair; one for each row, that of its label.
    sure = None if certainty is None or np.ndim(certainty) == 0 else _of_labels(certainty, codes)
    must, centres = _stars(codes, n_classes, sure)
    first, second = np.triu_indices(n_classes, k=1)
    cannot = np.column_stack([centres[first], centres[second]])
    of_must = of_cannot = certainty
    if sure is not None:
        of_must = _both_right(sure, must, n_classes, same=True)
        of_cannot = _both_right(sure, cannot, n_classes, same=False)
    weight = (np.inf if certainty is None else 1.0) if weight is None else weight
    return Constraints(
        codes.size,
        must,
        cannot,
        must_weight=weight,
        cannot_weight=weight,
        must_certainty=of_must,
        cannot_certainty=of_cannot,
    )


def _of_labels(certainty: ArrayLike, codes: IntArray) -> FloatArray:
    """One probability for each row (n,) that its label is right; rows without a label have none."""
    sure = np.asarray(certainty, dtype=np.float64)
    if sure.shape != codes.shape:
        raise InvalidConstraints(
            f"certainty has shape {sure.shape}; give one number, or one for each of the "
            f"{codes.size} rows"
        )
    known = codes >= 0
    missing = np.flatnonzero(known & np.isnan(sure))
    if missing.size:
        raise InvalidConstraints(
            f"certainty[{missing[0]}] is missing, and row {missing[0]} has a label; give how "
            "probable it is that the label is right"
        )
    _input.check_certainty("certainty", np.where(known, sure, 1.0))
    return sure


def _both_right(sure: FloatArray, pairs: IntArray, n_classes: int, *, same: bool) -> FloatArray:
    """How certain a pair (p, 2) is whose rows' labels are right with probability `sure` (n,).

    A wrong label stands for any other class alike. Two equal labels agree in truth if both are
    right, or both stand for the same other class; two different ones differ unless one is right
    and the other stands for it, or both stand for the same third class.
    """
    p, q = sure[pairs].T
    others = max(n_classes - 1, 1)
    if same:
        return np.asarray(p * q + (1 - p) * (1 - q) / others)
    meet = p * (1 - q) + q * (1 - p) + (1 - p) * (1 - q) * (others - 1) / others
    return np.asarray(1 - meet / others)


def from_groups(groups: ArrayLike, weight: float, certainty: float | None) -> Constraints:
    """Rows of one group joined as a star: (rows in groups) − (groups) must-links."""
    codes, n_groups = _codes("groups", groups)
    must, _ = _stars(codes, n_groups)
    return Constraints(codes.size, must, must_weight=weight, must_certainty=certainty)


def from_exclusive_groups(groups: ArrayLike, weight: float, certainty: float | None) -> Constraints:
    """The rows of each group as they are."""
    codes, n_groups = _codes("groups", groups)
    order = np.argsort(codes, kind="stable")[np.count_nonzero(codes < 0) :]
    parts = np.split(order, np.cumsum(np.bincount(codes[order], minlength=n_groups))[:-1])
    return Constraints(
        codes.size,
        exclusive=parts if n_groups else None,
        exclusive_weight=weight,
        exclusive_certainty=certainty,
    )


def from_dense(matrix: ArrayLike) -> Constraints:
    """See `Constraints.from_dense`."""
    if issparse(matrix):
        return from_sparse(matrix)
    given = np.asarray(matrix)
    if given.ndim != 2 or given.shape[0] != given.shape[1]:
        raise InvalidConstraints(f"the matrix has shape {given.shape}; expected (n, n)")
    return from_sparse(coo_array(given))


def from_sparse(matrix: Any) -> Constraints:
    """See `Constraints.from_sparse`. Entries (i, j) and (j, i) are one pair and must agree."""
    if not issparse(matrix):
        raise InvalidConstraints(
            f"{type(matrix).__name__} is not a scipy sparse matrix; use Constraints.from_dense"
        )
    square: Any = matrix
    given: Any = coo_array(square)
    if given.shape[0] != given.shape[1]:
        raise InvalidConstraints(f"the matrix has shape {given.shape}; expected (n, n)")
    given.sum_duplicates()
    i, j = (axis.astype(np.int64) for axis in given.coords)
    value = given.data.astype(np.float64)
    _check_entries(i, j, value)
    keep = value != 0
    low, high, value = np.minimum(i, j)[keep], np.maximum(i, j)[keep], value[keep]
    order = np.lexsort((high, low))
    low, high, value = low[order], high[order], value[order]
    repeat = np.zeros(low.size, dtype=bool)
    repeat[1:] = (low[1:] == low[:-1]) & (high[1:] == high[:-1])
    clash = np.flatnonzero(repeat & (value != np.roll(value, 1)))
    if clash.size:
        at = clash[0]
        raise InvalidConstraints(
            f"entries ({low[at]}, {high[at]}) and ({high[at]}, {low[at]}) differ: "
            f"{value[at - 1]:g} and {value[at]:g}; make the matrix symmetric or triangular"
        )
    pairs = np.column_stack([low, high])
    said = ~repeat & (value != 0)
    return Constraints.from_arrays(
        given.shape[0], pairs[said], value[said], weight=np.abs(value[said])
    )


def subset(constraints: Constraints, rows: ArrayLike) -> Constraints:
    """See `Constraints.subset`."""
    n = constraints.n_samples
    chosen = numbers_of("rows", rows, n, "row")
    order = np.argsort(chosen, kind="stable")
    rising = chosen[order]
    twice = np.flatnonzero(rising[1:] == rising[:-1])
    if twice.size:
        raise InvalidConstraints(
            f"rows holds row {rising[twice[0]]} more than once; a subset needs distinct rows"
        )
    arrays = constraints._arrays()

    def new_numbers(rows: IntArray) -> IntArray:
        at = np.searchsorted(rising, rows)  # no array of all n rows: these may be very many
        inside = np.append(rising, -1)[at] == rows
        return np.where(inside, np.append(order, -1)[at], -1)

    pairs = new_numbers(arrays.pairs)
    kept = (pairs[:, 0] >= 0) & (pairs[:, 1] >= 0)
    groups = constraints.exclusive
    if groups.rows.size:
        groups = exclusive.renumber(groups, new_numbers(groups.rows))
    return _renumbered(_input.take(arrays._replace(pairs=pairs), kept), groups, chosen.size)


def relabel(constraints: Constraints, mapping: ArrayLike, n_samples: int | None) -> Constraints:
    """See `Constraints.relabel`."""
    n = constraints.n_samples
    new_n = n if n_samples is None else _input.check_n_samples(n_samples)
    new_row = np.asarray(mapping)
    if new_row.shape != (n,) or (n and new_row.dtype.kind not in "iu"):
        raise InvalidConstraints(
            f"mapping has shape {new_row.shape} and type {new_row.dtype}; give the new number of "
            f"each of the {n} rows"
        )
    bad = np.flatnonzero((new_row < 0) | (new_row >= new_n))
    if bad.size:
        raise InvalidConstraints(
            f"mapping[{bad[0]}] = {new_row[bad[0]]} is not a row of n_samples={new_n}; use "
            "subset(rows) to leave rows out, or give n_samples="
        )
    arrays = constraints._arrays()
    moved = new_row.astype(np.int64)
    groups = exclusive.renumber(constraints.exclusive, moved[constraints.exclusive.rows])
    return _renumbered(arrays._replace(pairs=moved[arrays.pairs]), groups, new_n)


def _renumbered(arrays: PairArrays, groups: ExclusiveGroups, n_samples: int) -> Constraints:
    return Constraints._of(n_samples, _input.canonical(arrays), groups)


def numbers_of(name: str, chosen: ArrayLike, n: int, what: str) -> IntArray:
    """Numbers below `n` from numbers or a mask."""
    given = np.asarray(chosen)
    if given.dtype == bool and given.shape == (n,):
        return np.flatnonzero(given)
    if given.size == 0:
        return np.empty(0, dtype=np.int64)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise InvalidConstraints(
            f"{name} has shape {given.shape} and type {given.dtype}; give {what} numbers, or a "
            f"mask of length {n}"
        )
    bad = np.flatnonzero((given < 0) | (given >= n))
    if bad.size:
        raise InvalidConstraints(
            f"{name}[{bad[0]}] = {given[bad[0]]} is no number of a {what}; there are {n}"
        )
    return given.astype(np.int64)


def _codes(name: str, values: ArrayLike) -> tuple[IntArray, int]:
    """Numbers 0..C−1 (n,) for the distinct values, −1 for unknown ones; and C."""
    given = np.asarray(values)
    if given.ndim != 1:
        raise InvalidConstraints(f"{name} has shape {given.shape}; give one value a row, (n,)")
    known = ~_unknown(given)
    codes = np.full(given.size, -1, dtype=np.int64)
    try:
        distinct, codes[known] = np.unique(given[known], return_inverse=True)
    except TypeError as error:
        raise InvalidConstraints(
            f"{name} mixes types that cannot be compared ({error}); use one type, and −1, None or "
            "NaN for unknown"
        ) from error
    return codes, distinct.size


def _unknown(values: Any) -> BoolArray:
    """−1, NaN (the one value that differs from itself) and None."""
    if values.dtype.kind in "US":
        return np.zeros(values.shape, dtype=np.bool_)
    absent = (values == -1) | (values != values) | (values == np.array(None))
    return absent.astype(np.bool_)


def _stars(
    codes: IntArray, n_codes: int, sure: FloatArray | None = None
) -> tuple[IntArray, IntArray]:
    """Must-links (·, 2) from the first row of each code to its other rows, and those first rows.

    With `sure` (n,), from the first of the most certain ones.
    """
    rows = np.flatnonzero(codes >= 0)
    centres = np.zeros(n_codes, dtype=np.int64)
    written = (
        rows[::-1] if sure is None else rows[::-1][np.argsort(sure[rows[::-1]], kind="stable")]
    )
    centres[codes[written]] = written  # the first, or most certain, row of each code comes last
    centre = centres[codes[rows]]
    others = centre != rows
    return np.column_stack([centre[others], rows[others]]), centres


def _check_entries(i: IntArray, j: IntArray, value: np.ndarray) -> None:
    bad = np.flatnonzero(np.isnan(value))
    if bad.size:
        raise InvalidConstraints(
            f"entry ({i[bad[0]]}, {j[bad[0]]}) of the matrix is NaN; use 0 for nothing known"
        )
