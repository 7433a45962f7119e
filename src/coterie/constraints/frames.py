"""Pairs from and to data frames of any kind (pandas, polars, pyarrow), through narwhals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from coterie._typing import FloatArray, IntArray, KindArray
from coterie.constraints import _input
from coterie.exceptions import InvalidConstraints, InvalidParameter, MissingDependency

if TYPE_CHECKING:
    from coterie.constraints.constraints import Constraints

MUST_WORDS = frozenset({"must", "must-link", "mustlink", "same", "ml", "1", "+1", "true"})
CANNOT_WORDS = frozenset({"cannot", "cannot-link", "cannotlink", "different", "cl", "-1", "false"})
BACKENDS = ("pandas", "polars", "pyarrow")


def kind_of(word: Any) -> int | None:
    """+1 or −1 for one spelling of a kind; None if it is not understood.

    Understood: must / cannot, must-link / cannot-link, same / different, ml / cl, true / false and
    +1 / −1; case, spaces and underscores do not matter.
    """
    if isinstance(word, (bool, np.bool_)):
        return 1 if word else -1
    if isinstance(word, (int, float, np.integer, np.floating)):
        return int(word) if word in (1, -1) else None
    text = str(word).strip().lower().replace("_", "-").replace(" ", "-")
    if text in MUST_WORDS:
        return 1
    return -1 if text in CANNOT_WORDS else None


def from_frame(
    frame: Any,
    a: str,
    b: str,
    kind: str,
    weight: str | None,
    certainty: str | None,
    ids: Any,
    n_samples: int | None,
) -> Constraints:
    """See `Constraints.from_frame`."""
    from coterie.constraints.constraints import Constraints

    table = _as_eager(frame)
    for name in (a, b, kind, weight, certainty):
        if name is not None and name not in table.columns:
            raise InvalidConstraints(f"the frame has no column {name!r}; it has {table.columns}")
    if ids is not None:
        index, n = _row_of_id(ids, {*table[a].to_list(), *table[b].to_list()})
        if n_samples is not None and n_samples != n:
            raise InvalidConstraints(f"n_samples={n_samples} but ids lists {n} rows")
        left, right = (_rows_of(table[name], index, n) for name in (a, b))
    elif n_samples is None:
        raise InvalidConstraints(
            "give ids= (the id of every data row, in order), or n_samples= if columns "
            f"{a!r} and {b!r} hold row numbers"
        )
    else:
        n = _input.check_n_samples(n_samples)
        left, right = (_row_numbers(table[name], n) for name in (a, b))
    pairs = np.column_stack([left, right])
    told = _kinds(table[kind])
    # Checked here, so that an error names the column of the frame.
    weights = np.ones(told.size) if weight is None else _numbers(table[weight])
    _input.check_weight(f"column {weight!r}", weights)
    sure = np.full(told.size, np.nan) if certainty is None else _numbers(table[certainty])
    _input.check_certainty(f"column {certainty!r}", sure)
    return Constraints.from_arrays(n, pairs, told, weight=weights, certainty=sure)


def to_frame(constraints: Constraints, backend: str, ids: Any) -> Any:
    """See `Constraints.to_frame`."""
    from coterie.constraints.pair_table import kind_names

    constraints = constraints.expanded()
    i, j = constraints.pairs.T
    if ids is not None:
        names = np.asarray(ids)
        if names.shape != (constraints.n_samples,):
            raise InvalidConstraints(
                f"ids has shape {names.shape}; give one id for each of the "
                f"{constraints.n_samples} rows"
            )
        i, j = names[i], names[j]
    return make_frame(
        {
            "i": i,
            "j": j,
            "kind": kind_names(constraints.kind),
            "weight": constraints.weight,
            "certainty": constraints.certainty,
        },
        backend,
    )


def make_frame(columns: Mapping[str, np.ndarray], backend: str) -> Any:
    """A native frame of these columns."""
    if backend not in BACKENDS:
        raise InvalidParameter(f"backend={backend!r} is not one of {', '.join(BACKENDS)}")
    module: Any = backend  # narwhals' own type is a list of literals
    # Text columns go in as lists: polars and pyarrow do not take numpy's fixed-width text.
    data = {
        name: values.tolist() if values.dtype.kind in "UO" else np.array(values)
        for name, values in columns.items()
    }
    try:
        return nw.from_dict(data, backend=module).to_native()
    except ModuleNotFoundError as error:
        raise MissingDependency(
            f"backend={backend!r} needs {backend}; install it with: pip install {backend}"
        ) from error


def _as_eager(frame: Any) -> nw.DataFrame[Any]:
    try:
        return nw.from_native(frame, eager_only=True)
    except TypeError as error:
        if hasattr(frame, "__arrow_c_stream__"):  # DuckDB's relations, nanoarrow, ...
            return _from_stream(frame)
        raise InvalidConstraints(
            f"{type(frame).__name__} is not a data frame; give a pandas, polars or pyarrow table, "
            "or anything with __arrow_c_stream__ (collect a lazy frame first)"
        ) from error


def _from_stream(frame: Any) -> nw.DataFrame[Any]:
    """What hands itself over by Arrow's stream interface, as a pyarrow table."""
    try:
        return nw.from_arrow(frame, backend="pyarrow")
    except ModuleNotFoundError as error:
        raise MissingDependency(
            f"{type(frame).__name__} is read through Arrow, which needs pyarrow; install it with: "
            "pip install 'coterie[parquet]'"
        ) from error


def _row_of_id(ids: Any, wanted: set[Any]) -> tuple[dict[Any, int], int]:
    """Row number of each id, of a column in files those of the wanted ones; and the rows there are.

    A dict because ids may be of any hashable type.
    """
    if hasattr(ids, "find"):  # a column of files: `coterie.data.StoredColumn`
        return ids.find(wanted), len(ids)
    listed = ids.to_list() if hasattr(ids, "to_list") else np.asarray(ids).tolist()
    index = dict(zip(listed, range(len(listed)), strict=True))
    if len(index) < len(listed):
        first = next(at for at, name in enumerate(listed) if index[name] != at)
        raise InvalidConstraints(
            f"ids holds {listed[first]!r} more than once (rows {first} and "
            f"{index[listed[first]]}); every data row needs its own id"
        )
    return index, len(listed)


def _rows_of(column: nw.Series[Any], index: dict[Any, int], n: int) -> IntArray:
    """Row numbers of a column of ids."""
    values = column.to_list()
    rows = np.fromiter(map(index.get, values, [-1] * len(values)), np.int64, count=len(values))
    lost = np.flatnonzero(rows < 0)
    if lost.size:
        value = values[lost[0]]
        example = next(iter(index), None)
        hint = (
            f" (the ids are {type(example).__name__}, this is {type(value).__name__})"
            if type(example) is not type(value)
            else ""
        )
        raise InvalidConstraints(
            f"row {lost[0]} of the frame: {value!r} in column {column.name!r} is not among the "
            f"{n} ids{hint}. {lost.size} such row(s); drop them or complete ids"
        )
    return rows


def _row_numbers(column: nw.Series[Any], n: int) -> IntArray:
    values = column.to_numpy()
    if values.dtype.kind not in "iu":
        raise InvalidConstraints(
            f"column {column.name!r} is of type {values.dtype}, not whole row numbers; pass ids= "
            "to use your own ids, or drop missing values and convert to integers"
        )
    bad = np.flatnonzero((values < 0) | (values >= n))
    if bad.size:
        raise InvalidConstraints(
            f"row {bad[0]} of the frame: {values[bad[0]]} in column {column.name!r} is not a row "
            f"of n_samples={n} (0 to {n - 1})"
        )
    return values.astype(np.int64)


def _kinds(column: nw.Series[Any]) -> KindArray:
    values = column.to_list()
    meaning = {value: kind_of(value) for value in set(values)}
    unknown = {value for value, kind in meaning.items() if kind is None}
    if unknown:
        row = next(at for at, value in enumerate(values) if value in unknown)
        raise InvalidConstraints(
            f"row {row} of the frame: {values[row]!r} in column {column.name!r} is not a kind; "
            "write must / cannot (or must-link / cannot-link, same / different, ml / cl, "
            "true / false, 1 / -1)"
        )
    return np.fromiter(map(meaning.__getitem__, values), np.int8, count=len(values))


def _numbers(column: nw.Series[Any]) -> FloatArray:
    """A column of numbers; missing values become NaN."""
    try:
        return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    except Exception as error:  # each backend has its own error for text that is no number
        raise InvalidConstraints(
            f"column {column.name!r} does not hold numbers: {error}"
        ) from error
