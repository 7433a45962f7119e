"""Pairs from a file: columns a, b, kind and perhaps weight or certainty, by id or by row number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.cli._reading import read_table
from coterie.cli._table import Column, Table
from coterie.cli._words import counted
from coterie.constraints import Constraints
from coterie.exceptions import InfeasibleConstraints, InvalidConstraints

__all__ = ["KINDS", "describe_conflict", "in_words", "name_pairs", "read_pairs"]

KINDS = "must or cannot (also same/different, ml/cl, true/false, 1/-1)"
_SAVED = b"# coterie constraints"
_ENDS = (("a", "b"), ("i", "j"))


def read_pairs(path: Path, ids: Sequence[str], by_id: bool) -> Constraints:
    """The pairs of a file about the rows with these ids.

    Parameters
    ----------
    path : Path
        A table of any format that holds columns, or what `Constraints.save` wrote.
    ids : sequence of str
        The id of every data row.
    by_id : bool
        Whether the file names rows by id; otherwise by row number, counted from 0.
    """
    if path.suffix == ".csv" and path.open("rb").read(len(_SAVED)) == _SAVED:
        return _saved(path, len(ids))
    table = read_table(path, empty=True)
    names = {name.lower(): name for name in table.columns}
    ends = next((pair for pair in _ENDS if set(pair) <= set(names)), None)
    if ends is None or "kind" not in names:
        raise InvalidConstraints(
            f"{path} needs columns a, b and kind, and may have weight or certainty; it has "
            f"{', '.join(table.columns) or 'none'}."
        )
    find = _by_id(ids) if by_id else _by_number(len(ids))
    a, b = (_rows(table, names[end], find, len(ids), by_id) for end in ends)
    must = _kinds(table, names["kind"])
    _refuse_own_opposite(table, a, b, must, ids)
    weight = _numbers(table, names.get("weight"), 1.0, 0.0, np.inf)
    certainty = _numbers(table, names.get("certainty"), np.nan, 0.0, 1.0)
    pairs = np.column_stack([a, b])
    return Constraints(
        len(ids),
        pairs[must],
        pairs[~must],
        must_weight=weight[must],
        cannot_weight=weight[~must],
        must_certainty=certainty[must],
        cannot_certainty=certainty[~must],
    )


def name_pairs(
    constraints: Constraints, ids: Sequence[str], which: Any = slice(None)
) -> list[dict[str, str]]:
    """Pairs (all, or those of these numbers) in the user's ids: a list of a, b and kind."""
    pairs, kinds = constraints.pairs[which].tolist(), constraints.kind[which].tolist()
    return [
        {"a": ids[i], "b": ids[j], "kind": "must" if kind > 0 else "cannot"}
        for (i, j), kind in zip(pairs, kinds, strict=True)
    ]


def in_words(pairs: list[dict[str, str]], most: int = 12) -> str:
    """Pairs as "ann = bob, bob ≠ cid"."""
    sign = {"must": "=", "cannot": "≠"}
    shown = ", ".join(f"{pair['a']} {sign[pair['kind']]} {pair['b']}" for pair in pairs[:most])
    return shown + (f" and {len(pairs) - most} more" if len(pairs) > most else "")


def describe_conflict(
    error: InfeasibleConstraints, ids: Sequence[str], n_clusters: int | None
) -> str:
    """Pairs that cannot all be kept, in the user's ids, with the remedy."""
    if error.conflict is None:
        return str(error)
    named = name_pairs(error.conflict, ids)
    contradiction = error.conflict.must_link.size and len(error.conflict.cannot_link) == 1
    limit = "" if contradiction or n_clusters is None else f" with {counted(n_clusters, 'cluster')}"
    one = len(named) == 1
    these = "This pair cannot" if one else f"These {len(named)} pairs cannot all"
    remove = "it or make it" if one else "one of them or make it"
    raise_k = "" if not limit else ", or raise -k"
    return (
        f"{these} be kept{limit}: {in_words(named)} (= together, ≠ apart). "
        f"Remove {remove} soft{raise_k}."
    )


def _saved(path: Path, n_rows: int) -> Constraints:
    constraints = Constraints.load(path)
    if constraints.n_samples != n_rows:
        raise InvalidConstraints(
            f"{path} speaks of {constraints.n_samples} rows, the data has {n_rows}."
        )
    return constraints


def _by_id(ids: Sequence[str]) -> Callable[[Column], NDArray[np.int64]]:
    """Rows (m,) of a column of ids; −1 where there is none."""
    row_of = dict(zip(ids, range(len(ids)), strict=True))

    def find(column: Column) -> NDArray[np.int64]:
        texts = column.texts().tolist()
        return np.fromiter(map(row_of.get, texts, [-1] * len(texts)), np.int64, count=len(texts))

    return find


def _by_number(n_rows: int) -> Callable[[Column], NDArray[np.int64]]:
    """Rows (m,) of a column of row numbers; −1 where it is none."""

    def find(column: Column) -> NDArray[np.int64]:
        numbers = column.numbers.values
        fits = (numbers >= 0) & (numbers < n_rows) & (numbers == np.floor(numbers))
        return np.where(fits, numbers, -1).astype(np.int64)

    return find


def _rows(
    table: Table,
    name: str,
    find: Callable[[Column], NDArray[np.int64]],
    n_rows: int,
    by_id: bool,
) -> NDArray[np.int64]:
    """Row numbers (m,) of a column; what is not found is named with its line."""
    rows = find(table.columns[name])
    lost = np.flatnonzero(rows < 0)
    if lost.size:
        text = table.columns[name].texts()[lost[0]]
        where = f"{table.source}, {table.place(int(lost[0]))}"
        others = f" ({lost.size} such pairs)" if lost.size > 1 else ""
        if by_id:
            raise InvalidConstraints(f"{where}: no row of the data has the id {text!r}{others}.")
        raise InvalidConstraints(
            f"{where}: {text!r} in column {name!r} is not a row number from 0 to "
            f"{n_rows - 1}{others}. If the pairs name rows by an id, give --id COLUMN."
        )
    return rows


def _kinds(table: Table, name: str) -> NDArray[np.bool_]:
    """True for must-links (m,)."""
    from coterie.constraints.frames import kind_of

    texts = table.columns[name].texts().tolist()
    meaning = {text: kind_of(text) for text in set(texts)}
    unknown = {text for text, kind in meaning.items() if kind is None}
    if unknown:
        row = next(row for row, text in enumerate(texts) if text in unknown)
        raise InvalidConstraints(
            f"{table.source}, {table.place(row)}: kind {texts[row]!r} is not known; write {KINDS}."
        )
    return np.fromiter((meaning[text] == 1 for text in texts), np.bool_, count=len(texts))


def _numbers(
    table: Table, name: str | None, default: float, least: float, most: float
) -> NDArray[np.float64]:
    """A column (m,) of numbers between `least` and `most`; `default` where there is none."""
    if name is None:
        return np.full(table.n_rows, default)
    found = table.columns[name].numbers
    values = np.where(np.isnan(found.values), default, found.values).astype(np.float64)
    bad = np.union1d(found.bad, np.flatnonzero((values < least) | (values > most)))
    if bad.size:
        row = int(bad[0])
        text = table.columns[name].texts()[row]
        wanted = f"{least:g} or more" if np.isinf(most) else f"from {least:g} to {most:g}"
        raise InvalidConstraints(
            f"{table.source}, {table.place(row)}: {name} {text!r} must be a number {wanted}."
        )
    return values


def _refuse_own_opposite(table: Table, a: Any, b: Any, must: Any, ids: Sequence[str]) -> None:
    own = np.flatnonzero((a == b) & ~must)
    if own.size:
        row = int(own[0])
        raise InvalidConstraints(
            f"{table.source}, {table.place(row)}: {ids[a[row]]!r} cannot be apart from itself; "
            "remove this pair."
        )
