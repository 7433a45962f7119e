"""Parquet, Arrow and Feather files, and pyarrow's columns as numpy arrays."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.exceptions import InvalidData, MissingDependency
from coterie.tables.header import distinct_names
from coterie.tables.table import MISSING_WORDS, Column, Table
from coterie.tables.unpacking import Unpacked

__all__ = [
    "any_has",
    "arrow_numbers",
    "arrow_seconds",
    "arrow_texts",
    "arrow_vectors",
    "give_back",
    "kind_of_type",
    "pyarrow",
    "read_arrow",
    "read_parquet",
    "texts_of_arrow",
    "writable",
]


_TICKS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}  # to a second
_NUMBER_BYTES = 1 << 27  # of a batch of a file that has numbers only


def pyarrow(what: str) -> Any:
    """The pyarrow module; `what` needs it, for the message where it is not installed."""
    try:
        return import_module("pyarrow")
    except ImportError as error:
        raise MissingDependency(
            f"{what} needs pyarrow; install it with: pip install 'coterie[parquet]', or use CSV."
        ) from error


def give_back() -> None:
    """Let the system have the memory that pyarrow keeps for later; nothing, if it was not used."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()


def read_parquet(path: Path) -> Table:
    """A Parquet file."""
    arrow = pyarrow("reading Parquet files")
    parquet = import_module("pyarrow.parquet")
    try:
        with parquet.ParquetFile(path) as file:
            batches = file.iter_batches(_rows_at_once(path, file.schema_arrow))
            return _table(path, _counted(arrow, path, batches, file.schema_arrow))
    except (arrow.ArrowException, OSError) as error:
        raise _damaged(path, "Parquet", error) from error


def read_arrow(path: Path) -> Table:
    """An Arrow (IPC file or stream) or Feather file."""
    arrow = pyarrow("reading Arrow and Feather files")
    ipc = import_module("pyarrow.ipc")
    try:
        # Read, not mapped: a map of a file that somebody cuts short ends the whole process.
        with arrow.OSFile(str(path)) as source:
            whole = source.read(6) == b"ARROW1"
            source.seek(0)
            reader = ipc.open_file(source) if whole else ipc.open_stream(source)
            batches = map(reader.get_batch, range(reader.num_record_batches)) if whole else reader
            return _table(path, _counted(arrow, path, batches, reader.schema))
    except (arrow.ArrowException, OSError) as error:
        raise _damaged(path, "Arrow", error) from error


def _rows_at_once(path: Path, schema: Any) -> int:
    """Few of a small file, in which one long text may be said to stand in every row.

    Numbers are as wide as their types say, and many are read more quickly.
    """
    if all(kind_of_type(field.type) == "number" for field in schema):
        return max(256, _NUMBER_BYTES // (16 * max(1, len(schema))))
    return min(max(path.stat().st_size // 1000, 256), 1 << 16)


def _counted(arrow: Any, path: Path, batches: Iterable[Any], schema: Any) -> Any:
    """The table of these batches, refused as soon as it is too much for its file."""
    kept, unpacked = [], Unpacked(path)
    for batch in batches:
        unpacked.add(_bytes_of(arrow, batch))
        kept.append(batch)
    return arrow.Table.from_batches(kept, schema=schema)


def _bytes_of(arrow: Any, batch: Any) -> int:
    """What a batch holds; pyarrow 18 cannot tell of string_view, but of the memory behind it."""
    try:
        return batch.nbytes
    except arrow.ArrowTypeError:
        return batch.get_total_buffer_size()


def _table(path: Path, table: Any) -> Table:
    table.validate(full=True)  # offsets that point elsewhere would end the process later
    names, notes = distinct_names(path, table.column_names)
    columns = {name: Column(name, table.column(at)) for at, name in enumerate(names)}
    return Table(str(path), table.num_rows, columns, notes=notes)


def _damaged(path: Path, what: str, error: Exception) -> InvalidData:
    if isinstance(error, OSError) and error.errno:  # of the system; damage has no number
        raise error
    reason = (str(error) or type(error).__name__).splitlines()[0]
    return InvalidData(f"{path} is not a whole {what} file; write it again. ({reason})")


def kind_of_type(kind: Any) -> str:
    """What a pyarrow type holds: "number", "text", "date", "vector" or "other"."""
    types = import_module("pyarrow").types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return "number"
    if types.is_decimal(kind) or types.is_duration(kind):
        return "number"
    if types.is_timestamp(kind) or types.is_date(kind) or types.is_time(kind):
        return "date"
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return "vector" if kind_of_type(kind.value_type) == "number" else "other"
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    return "text" if text or types.is_null(kind) else "other"


def arrow_texts(values: Any) -> NDArray[np.object_]:
    """See `Column.texts`."""
    return np.asarray(texts_of_arrow(values).to_numpy(zero_copy_only=False), dtype=object)


def texts_of_arrow(values: Any) -> Any:
    """Values of any type as Arrow's texts."""
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    try:
        if not arrow.types.is_duration(values.type):  # it would count ticks
            return compute.cast(_plain(values), arrow.large_string())
    except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError):  # lists and the like
        pass
    listed = [None if value is None else str(value) for value in values.to_pylist()]
    return arrow.array(listed, arrow.large_string())


def any_has(values: Any, pattern: str) -> bool:
    """Whether a pattern occurs in some text."""
    compute = import_module("pyarrow.compute")
    return bool(compute.any(compute.match_substring_regex(_plain(values), pattern)).as_py())


def arrow_seconds(values: Any) -> NDArray[np.float64]:
    """Dates in seconds since 1970, times of the day since midnight (n,); NaN where missing."""
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    if arrow.types.is_time(values.type):
        unit = _TICKS[values.type.unit]
        whole = arrow.int32() if arrow.types.is_time32(values.type) else arrow.int64()
        plain = compute.cast(compute.cast(values, whole), arrow.int64())
    else:
        unit = 1e6
        plain = compute.cast(compute.cast(values, arrow.timestamp("us"), safe=False), arrow.int64())
    return np.asarray(compute.cast(plain, arrow.float64(), safe=False).to_numpy()) / unit


def arrow_vectors(values: Any) -> NDArray[Any] | None:
    """Lists of one length as (n, d); None if lengths differ or a list or number is missing."""
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    lengths = compute.list_value_length(values)
    if not len(values) or values.null_count or len(compute.unique(lengths)) > 1:
        return None
    flat = compute.list_flatten(values)
    kind = arrow.float32() if arrow.types.is_float32(flat.type) else arrow.float64()
    if flat.null_count:
        return None
    numbers = np.asarray(compute.cast(flat, kind, safe=False).to_numpy())
    return numbers.reshape(len(values), -1)


def arrow_numbers(values: Any, missing: Sequence[str] = MISSING_WORDS) -> NDArray[Any] | None:
    """See `Column.numbers`; None if some value is not what pyarrow reads as a number.

    Durations are seconds, as those that are written as texts are.
    """
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    kind = kind_of_type(values.type)
    values = _plain(values)
    if arrow.types.is_duration(values.type):
        ticks = compute.cast(compute.cast(values, arrow.int64()), arrow.float64(), safe=False)
        return np.asarray(ticks.to_numpy()) / _TICKS[values.type.unit]
    if kind == "number" and arrow.types.is_float32(values.type):
        return np.asarray(values.to_numpy())
    if kind == "text" and not arrow.types.is_null(values.type):
        trimmed = compute.utf8_trim_whitespace(values)
        words = arrow.array(missing, trimmed.type)
        nothing = arrow.scalar(None, trimmed.type)
        values = compute.if_else(compute.is_in(trimmed, value_set=words), nothing, trimmed)
    elif kind not in ("number", "text"):
        return None
    try:
        return np.asarray(compute.cast(values, arrow.float64(), safe=False).to_numpy())
    except arrow.ArrowInvalid:
        return None


def _plain(values: Any) -> Any:
    """Values without a dictionary, and texts of a layout that pyarrow's functions know.

    polars writes texts as string_view, which few of them do.
    """
    arrow = import_module("pyarrow")
    if arrow.types.is_dictionary(values.type):
        kind = _readable(arrow, values.type.value_type)
        # Word by word: pyarrow cannot cast a dictionary of string_view whole.
        chunks = [_cast(chunk.dictionary, kind).take(chunk.indices) for chunk in values.chunks]
        return arrow.chunked_array(chunks, type=kind)
    return _cast(values, _readable(arrow, values.type))


def writable(values: Any) -> Any:
    """Values that Parquet can hold: of string_view no dictionary, and before pyarrow 19 nothing."""
    arrow = import_module("pyarrow")
    kind, words = values.type, arrow.large_string()
    if arrow.types.is_string_view(kind):
        return values.cast(words)
    if not arrow.types.is_dictionary(kind) or not arrow.types.is_string_view(kind.value_type):
        return values
    chunks = [
        arrow.DictionaryArray.from_arrays(chunk.indices, _cast(chunk.dictionary, words))
        for chunk in values.chunks
    ]
    return arrow.chunked_array(chunks, type=arrow.dictionary(kind.index_type, words, kind.ordered))


def _readable(arrow: Any, kind: Any) -> Any:
    return arrow.large_string() if arrow.types.is_string_view(kind) else kind


def _cast(values: Any, kind: Any) -> Any:
    return values if values.type == kind else values.cast(kind)
