"""Pairs from a file: columns a, b, kind and perhaps weight or certainty, by id or by row number."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.constraints import Constraints
from coterie.exceptions import InfeasibleConstraints, InvalidConstraints
from coterie.tables.reading import read_table
from coterie.tables.stored_ids import StoredIds
from coterie.tables.table import Column, Table
from coterie.words import counted

__all__ = ["KINDS", "in_words", "name_conflict", "name_pairs", "pair_table", "read_pairs"]

KINDS = "must or cannot (also same/different, ml/cl, true/false, 1/-1)"
_SAVED = b"# coterie constraints"
_ENDS = (("a", "b"), ("i", "j"))


def read_pairs(
    path: str | os.PathLike[str], ids: Sequence[str], *, by_id: bool = True
) -> Constraints:
    """The pairs of a file about the rows with these ids.

    Parameters
    ----------
    path : path-like
        A table of any format that holds columns, or what `Constraints.save` wrote. Its columns
        are a, b (or i, j) and kind, and perhaps weight or certainty.
    ids : sequence of str
        The id of every data row (`Table.ids`), or `StoredIds`.
    by_id : bool
        Whether the file names rows by id; otherwise by row number, counted from 0.

    Raises
    ------
    InvalidConstraints
        A pair that cannot be used; the message names its line.
    InfeasibleConstraints
        A pair that is both a hard must-link and a hard cannot-link, named by its ids.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from coterie.tables import read_pairs
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pairs.csv"
    >>> _ = path.write_text("a,b,kind\\nann,bob,must\\nann,cid,different\\n")
    >>> read_pairs(path, ["ann", "bob", "cid"])
    Constraints(3 rows: 1 must-link, 1 cannot-link)
    """
    path = Path(path)
    if _is_saved(path):
        return _saved(path, len(ids))
    table = read_table(path, empty=True)
    names = {name.lower(): name for name in table.columns}
    ends = next((pair for pair in _ENDS if set(pair) <= set(names)), None)
    if ends is None or "kind" not in names:
        raise InvalidConstraints(
            f"{path} needs columns a, b and kind, and may have weight or certainty; it has "
            f"{', '.join(table.columns) or 'none'}."
        )
    named = [table.columns[names[end]] for end in ends]
    find = _by_id(ids, named) if by_id else _by_number(len(ids))
    a, b = (_rows(table, names[end], find, len(ids), by_id) for end in ends)
    must = _kinds(table, names["kind"])
    _refuse_own_opposite(table, a, b, must, ids)
    weight = _numbers(table, names.get("weight"), 1.0, 0.0, np.inf)
    certainty = _numbers(table, names.get("certainty"), np.nan, 0.0, 1.0)
    try:
        return Constraints.from_arrays(
            len(ids), np.column_stack([a, b]), must, weight=weight, certainty=certainty
        )
    except InfeasibleConstraints as error:
        raise name_conflict(error, ids) from error


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


def pair_table(constraints: Constraints, ids: Sequence[str]) -> Table:
    """Pairs as a table that `read_pairs` reads: a, b and kind.

    Columns weight and certainty are added where some pair has another than the plain one.
    """
    named = name_pairs(constraints, ids)
    columns: dict[str, Any] = {
        name: np.array([pair[name] for pair in named], dtype=object) for name in ("a", "b", "kind")
    }
    if (constraints.weight != 1).any():
        columns["weight"] = constraints.weight
    if not np.isnan(constraints.certainty).all():
        columns["certainty"] = constraints.certainty
    return Table.of("pairs", columns)


def name_conflict(
    error: InfeasibleConstraints, ids: Sequence[str], n_clusters: int | None = None
) -> InfeasibleConstraints:
    """The same error with its pairs named by the user's ids, and the remedy."""
    if error.conflict is None:
        return error
    if error.conflict.exclusive.n_groups:
        return _name_group(error, ids, n_clusters)
    named = name_pairs(error.conflict, ids)
    contradiction = error.conflict.must_link.size and len(error.conflict.cannot_link) == 1
    limit = "" if contradiction or n_clusters is None else f" with {counted(n_clusters, 'cluster')}"
    one = len(named) == 1
    these = "This pair cannot" if one else f"These {len(named)} pairs cannot all"
    remove = "it or make it" if one else "one of them or make it"
    raise_k = "" if not limit else ", or raise `n_clusters`"
    return InfeasibleConstraints(
        f"{these} be kept{limit}: {in_words(named)} (= together, ≠ apart). "
        f"Remove {remove} soft{raise_k}.",
        error.conflict,
    )


def _name_group(
    error: InfeasibleConstraints, ids: Sequence[str], n_clusters: int | None
) -> InfeasibleConstraints:
    assert error.conflict is not None
    rows = [ids[row] for row in error.conflict.exclusive.listed()[0]]
    shown = ", ".join(rows[:12]) + (f" and {len(rows) - 12} more" if len(rows) > 12 else "")
    few = "" if n_clusters is None else f", and there are only {counted(n_clusters, 'cluster')}"
    return InfeasibleConstraints(
        f"An exclusive group needs a cluster for each of its rows{few}: {shown} are all different. "
        "Raise `n_clusters`, or name another column.",
        error.conflict,
    )


def _is_saved(path: Path) -> bool:
    if path.suffix != ".csv":
        return False
    with path.open("rb") as stream:
        return stream.read(len(_SAVED)) == _SAVED


def _saved(path: Path, n_rows: int) -> Constraints:
    constraints = Constraints.load(path)
    if constraints.n_samples != n_rows:
        raise InvalidConstraints(
            f"{path} speaks of {constraints.n_samples} rows, the data has {n_rows}."
        )
    return constraints


def _by_id(ids: Sequence[str], columns: Sequence[Column]) -> Callable[[Column], NDArray[np.int64]]:
    """Rows (m,) of one of the columns of ids; −1 where there is none."""
    if isinstance(ids, StoredIds):
        row_of = ids.find(text for column in columns for text in column.texts())
    else:
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
            f"{n_rows - 1}{others}. If the pairs name rows by an id, give `id_column`."
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
