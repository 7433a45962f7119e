"""Tables in every format, and ways to break them: what a disk, an editor or an attacker does."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import feather, parquet

__all__ = ["ENDINGS", "broken", "mutated", "table_bytes"]

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


def _delimited(mark: str) -> bytes:
    made = columns()
    lines = [
        mark.join(made),
        *(mark.join(map(str, row)) for row in zip(*made.values(), strict=True)),
    ]
    return ("\n".join(lines) + "\n").encode()


def _rows() -> list[dict[str, Any]]:
    made = columns()
    return [dict(zip(made, row, strict=True)) for row in zip(*made.values(), strict=True)]


def _saved(write: Callable[[io.BytesIO], Any]) -> bytes:
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


def table_bytes(ending: str) -> bytes:
    """The table as a file of this ending."""
    numbers = np.column_stack([columns()["x"], columns()["y"]])
    made: dict[str, Callable[[], bytes]] = {
        "csv": lambda: _delimited(","),
        "tsv": lambda: _delimited("\t"),
        "csv.gz": lambda: gzip.compress(_delimited(","), mtime=0),
        "jsonl": lambda: "".join(json.dumps(row) + "\n" for row in _rows()).encode(),
        "json": lambda: json.dumps(_rows()).encode(),
        "parquet": lambda: _saved(lambda s: parquet.write_table(pa.table(columns()), s)),
        "arrow": lambda: _saved(lambda s: feather.write_feather(pa.table(columns()), s)),
        "npy": lambda: _saved(lambda s: np.save(s, numbers)),
        "npz": lambda: _saved(lambda s: np.savez(s, X=numbers)),
    }
    return made[ending]()


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
