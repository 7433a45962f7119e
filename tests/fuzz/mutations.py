"""Tables in every format, and ways to break them: what a disk, an editor or an attacker does."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import feather, parquet

__all__ = ["ENDINGS", "broken", "mutated", "odd_columns", "odd_pairs", "table_bytes"]

ENDINGS = ("csv", "tsv", "jsonl", "json", "parquet", "arrow", "npy", "npz", "csv.gz")
N = 12


def columns() -> dict[str, list[Any]]:
    """Ids, two numbers and a text for a few rows."""
    return {
        "id": [f"r{t}" for t in range(N)],
        "x": [t % 2 * 9 + t / 10 for t in range(N)],
        "y": [round(t / 7, 3) for t in range(N)],
        "note": [("red apple", "blue sky", "grün\u00e9")[t % 3] for t in range(N)],
    }


def _delimited(mark: str, made: dict[str, list[Any]]) -> bytes:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=mark, lineterminator="\n")
    writer.writerow(made)
    writer.writerows(zip(*made.values(), strict=True))
    return stream.getvalue().encode("utf-8", "replace")


def _rows(made: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(made, row, strict=True)) for row in zip(*made.values(), strict=True)]


def _arrow(made: dict[str, list[Any]]) -> Any:
    """Columns of one type each; of texts, where values are mixed."""
    columns = []
    for values in made.values():
        try:
            columns.append(pa.array(values))
        except (pa.ArrowException, OverflowError, UnicodeError):
            texts = [None if v is None else str(v).encode("utf-8", "replace") for v in values]
            columns.append(pa.array([None if v is None else v.decode() for v in texts]))
    return pa.table(columns, names=[name.encode("utf-8", "replace").decode() for name in made])


def _saved(write: Callable[[io.BytesIO], Any]) -> bytes:
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


def table_bytes(ending: str, table: dict[str, list[Any]] | None = None) -> bytes:
    """The table (else that of `columns`) as a file of this ending."""
    rows = columns() if table is None else table
    numbers = np.array([[_number_of(v) for v in rows[name]] for name in rows if name in "xy"]).T
    made: dict[str, Callable[[], bytes]] = {
        "csv": lambda: _delimited(",", rows),
        "tsv": lambda: _delimited("\t", rows),
        "csv.gz": lambda: gzip.compress(_delimited(",", rows), mtime=0),
        "jsonl": lambda: "".join(json.dumps(row) + "\n" for row in _rows(rows)).encode(),
        "json": lambda: json.dumps(_rows(rows)).encode(),
        "parquet": lambda: _saved(lambda s: parquet.write_table(_arrow(rows), s)),
        "arrow": lambda: _saved(lambda s: feather.write_feather(_arrow(rows), s)),
        "npy": lambda: _saved(lambda s: np.save(s, numbers)),
        "npz": lambda: _saved(lambda s: np.savez(s, X=numbers)),
    }
    return made[ending]()


def _number_of(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


# -- tables that are whole, and odd -------------------------------------------------------------
_CELLS: list[Any] = [
    None, "", " ", "r1", "r2", "0", "-0", "NaN", "nan", "NULL", "#N/A", "inf", "-inf", "1e999",
    "1e-999", "1,5", "1.234,5", "12%", "17 kg", "€ 5", "2024-02-30", "31.12.1999", "true", "=1+1",
    "@x", "-", "a\nb", "a;b", '"', "'", "\u202e", "\ufeff", "e\u0301", "\ud800", "x" * 5000,
    "\uff46\uff55", "\u0663", 0, 1, -1, 2**31, 2**53 + 1, -(2**63), 2**64, 10**30, 0.1, -0.0, 1e300,
    -1e300, 1e-300, 5e-324, float("nan"), float("inf"), True, False,
]  # fmt: skip
_NAMES = [
    "",
    " ",
    "cluster",
    "id",
    "ID",
    "kind",
    "x" * 300,
    "=1+1",
    "a\nb",
    "a,b",
    "0",
    "é",
    "_",
    "row",
]


def odd_columns(rng: random.Random) -> dict[str, list[Any]]:
    """Any number of rows, odd cells, columns that are gone, constant, or have odd names."""
    n = rng.choice((0, 1, 2, 3, 5, N, N, N, N, N, 60))
    made = {name: (values * 5)[:n] for name, values in columns().items()}
    made["id"] = [f"r{t}" for t in range(n)]
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        name = rng.choice(sorted(made))
        way = rng.choice(("cell", "cell", "cells", "constant", "odd", "drop", "add", "rename"))
        if way == "cell" and n:
            made[name][rng.randrange(n)] = rng.choice(_CELLS)
        elif way == "cells":
            made[name] = [rng.choice(_CELLS) if rng.random() < 0.5 else v for v in made[name]]
        elif way in ("constant", "odd"):
            one = rng.choice(_CELLS)
            made[name] = [one if way == "constant" else rng.choice(_CELLS) for _ in range(n)]
        elif way == "drop" and len(made) > 1:
            del made[name]
        else:
            values = made.pop(name) if way == "rename" else [rng.choice(_CELLS)] * n
            made[rng.choice(_NAMES)] = values
    return made


def odd_pairs(rng: random.Random) -> dict[str, list[Any]]:
    """Pairs of which some name nothing, themselves, or what others deny."""
    ids = [*(f"r{t}" for t in range(N)), *_CELLS]
    n = rng.choice((0, 1, 3, 10))
    kinds = ["must", "cannot", "same", "different", "unknown", "ml", "1", "-1", 1, -1, 0, None, "x"]
    few = rng.choice((2, 2, len(kinds)))
    made: dict[str, list[Any]] = {
        "a": [rng.choice(ids[: rng.choice((N, len(ids)))]) for _ in range(n)],
        "b": [rng.choice(ids[: rng.choice((N, len(ids)))]) for _ in range(n)],
        rng.choice(("kind", "kind", "answer")): [rng.choice(kinds[:few]) for _ in range(n)],
    }
    for extra in ("weight", "certainty", "annotator"):
        if rng.random() < 0.25:
            made[extra] = [rng.choice([1, 0.5, 0, *_CELLS]) for _ in range(n)]
    return made


# -- mutations of bytes -------------------------------------------------------------------------
def _place(data: bytes, rng: random.Random) -> int:
    return rng.randrange(len(data) + 1)


def _flip(data: bytes, rng: random.Random) -> bytes:
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        made[rng.randrange(len(made))] ^= 1 << rng.randrange(8)
    return bytes(made)


def _put(data: bytes, rng: random.Random, what: bytes) -> bytes:
    at = _place(data, rng)
    return data[:at] + what + data[at:]


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: _place(data, rng)]


def _drop(data: bytes, rng: random.Random) -> bytes:
    a, b = sorted((_place(data, rng), _place(data, rng)))
    return data[:a] + data[min(b, a + 40) :]


def _double(data: bytes, rng: random.Random) -> bytes:
    a, b = sorted((_place(data, rng), _place(data, rng)))
    return data[:b] + data[a:b] + data[b:]


def _number(data: bytes, rng: random.Random) -> bytes:
    """Four bytes overwritten, as of a length or an offset; often at the end, where footers are."""
    at = rng.choice((rng.randrange(len(data)), max(len(data) - rng.randrange(1, 40), 0)))
    value = rng.choice((0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, rng.getrandbits(32)))
    return data[:at] + value.to_bytes(4, "little") + data[at + 4 :]


_TEXTS = [
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"\xed\xa0\x80", b'"', b"\n\n", b"\r", b",,,",
    b";", b"\t", b"=1+1", b"-", b"NaN", b"inf", b"-inf", b"1e999", b"1e-999", b"9" * 400,
    b"x" * 70_000, b"{", b"}", b"[" * 3000, b"null", b"true", b"\\u0000", b"\\ud800", b"1_000",
    b"0x10", b"\xe2\x80\xae", b"a," * 2000, b"\n" * 3000, "\u0661\u0662".encode(), b"</script>",
    b"--", b"99999999999999999999",
]  # fmt: skip
_ENCODED = ("utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-8-sig", "cp037")


def mutated(ending: str, rng: random.Random) -> bytes:
    """The table of this ending, broken in one to three ways."""
    data = table_bytes(ending)
    if ending in ("csv", "tsv", "json", "jsonl") and rng.random() < 0.1:
        return data.decode().encode(rng.choice(_ENCODED), errors="replace")
    packed = ending == "csv.gz" and rng.random() < 0.5
    data = broken(gzip.decompress(data) if packed else data, rng)
    return gzip.compress(data, mtime=0) if packed else data


def broken(data: bytes, rng: random.Random) -> bytes:
    """These bytes, broken in one to three ways."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        way = rng.choice((_flip, _cut, _drop, _double, _number, None, None))
        if not data:
            break
        data = _put(data, rng, rng.choice(_TEXTS)) if way is None else way(data, rng)
    return data
