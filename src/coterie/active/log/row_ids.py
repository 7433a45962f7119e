"""Rows known by ids: which row of a log is which row now, and what became of the others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.active.events import Event
from coterie.data import StoredRows
from coterie.exceptions import InvalidParameter
from coterie.rules import is_text

__all__ = [
    "Matched",
    "RowChanges",
    "RowIds",
    "check_ids",
    "fingerprint",
    "match_ids",
    "row_hashes",
    "text_hashes",
]

_READ = 1 << 16  # rows that are hashed at once


class RowChanges(NamedTuple):
    """Ids of rows that were added, removed or edited since the log was last opened."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    edited: tuple[str, ...]

    def __str__(self) -> str:
        parts = [
            f"{len(ids)} {word} ({', '.join(ids[:5])}{', …' if len(ids) > 5 else ''})"
            for word, ids in self._asdict().items()
            if ids
        ]
        return "; ".join(parts) or "no row changed"


class RowIds(NamedTuple):
    """Numbers of rows in a log and now.

    Attributes
    ----------
    now : ndarray of int64
        Row now of each number in the log; −1 where it is gone.
    logged : (n,) ndarray of int64
        Number in the log of each row now.
    """

    now: NDArray[np.int64]
    logged: NDArray[np.int64]

    def row(self, number: int) -> int:
        """The row now; negative, and of its own for each, where it is gone."""
        here = int(self.now[number]) if number < self.now.size else -1
        return here if here >= 0 else -1 - number

    def read(self, event: Event) -> Event:
        """An event of the log in rows of now."""
        if event.answer is not None:
            i, j = map(self.row, event.answer.rows)
            return replace(event, answer=replace(event.answer, rows=(i, j)))
        if event.operation == "name" and event.target is not None:
            return replace(event, target=self.row(event.target))
        return event

    def write(self, event: Event) -> Event:
        """An event in rows of now as the log has it."""
        if event.answer is not None:
            i, j = (int(self.logged[row]) for row in event.answer.rows)
            return replace(event, answer=replace(event.answer, rows=(i, j)))
        if event.operation == "name" and event.target is not None:
            return replace(event, target=int(self.logged[event.target]))
        return event


def check_ids(ids: Any, n: int) -> list[str]:
    """One id for each row, as text."""
    listed = [str(name) for name in (ids.tolist() if hasattr(ids, "tolist") else ids)]
    wrong = next((at for at, name in enumerate(listed) if not is_text(name)), None)
    if wrong is not None:
        raise InvalidParameter(f"ids[{wrong}]={listed[wrong]!r} is no text that UTF-8 can write.")
    if len(listed) != n or len(set(listed)) < n:
        raise InvalidParameter(
            f"ids: {len(listed)} are given, {len(set(listed))} of them different, for {n} rows; "
            "every row needs its own."
        )
    return listed


def fingerprint(X: Any) -> str:
    """A short hash of the rows: shape, type and every value.

    That of dense rows is the same in memory and in files.
    """
    sparse = hasattr(X, "indptr") or (isinstance(X, StoredRows) and X.is_sparse)
    digest = hashlib.blake2b(digest_size=16)
    digest.update(json.dumps([*map(int, X.shape), str(X.dtype), sparse]).encode())
    starts = range(0, len(X), _READ) if isinstance(X, StoredRows) else ()
    for part in (X.read(start, min(start + _READ, X.n)) for start in starts) if starts else [X]:
        names = ("indptr", "indices", "data")
        for values in [getattr(part, name) for name in names] if sparse else [part]:
            digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()


def row_hashes(X: Any) -> NDArray[np.bytes_]:
    """A short hash of the values of each row, to the digits of float32, (n,).

    Scaled columns differ in the last digits when rows are summed in another order.
    """
    if hasattr(X, "indptr"):
        parts = (
            X.indices[a:b].astype(np.int64).tobytes() + X.data[a:b].astype(np.float32).tobytes()
            for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)
        )
    else:
        parts = (row.tobytes() for row in np.ascontiguousarray(X, dtype=np.float32))
    return _hashes(parts, X.shape[0])


def text_hashes(contents: Sequence[str]) -> NDArray[np.bytes_]:
    """A short hash of what each row says, (n,)."""
    return _hashes(map(_encoded, count(), contents), len(contents))


def _encoded(row: int, text: str) -> bytes:
    if not is_text(text):
        raise InvalidParameter(f"contents[{row}]={text!r} is no text that UTF-8 can write.")
    return text.encode()


def _hashes(parts: Iterable[bytes], n: int) -> NDArray[np.bytes_]:
    """16 letters for each part; as an array they take a fifth of what texts would."""
    made = (hashlib.blake2b(part, digest_size=8).hexdigest().encode() for part in parts)
    return np.fromiter(made, dtype="S16", count=n)


class Matched(NamedTuple):
    """Rows of a log matched with the rows of now.

    Attributes
    ----------
    bound : RowIds
    fresh : (f,) ndarray of int64
        Rows of now that are new to the log.
    edited : list of (int, str)
        Number and id of each row that says something else than before.
    removed : list of str
        Ids that are gone.
    """

    bound: RowIds
    fresh: NDArray[np.int64]
    edited: list[tuple[int, str]]
    removed: list[str]


def match_ids(
    listed: Iterable[tuple[int, str, str]],
    ids: Sequence[str],
    hashes: NDArray[np.bytes_] | None = None,
) -> Matched:
    """Rows of the log (number, id, hash; by number) matched with the rows of now.

    Rows that come in the order of the log are matched on the way, and only the others are held:
    of a million rows that are as they were nothing is.

    Parameters
    ----------
    listed : iterable of (int, str, str)
    ids : sequence of str
    hashes : (n,) array, optional
        Of the rows now; without them none counts as edited.
    """
    logged = np.full(len(ids), -1, dtype=np.int64)
    edited: list[tuple[int, str]] = []
    following = 0

    def met(row: int, number: int, name: str, before: str) -> None:
        logged[row] = number
        if hashes is not None and hashes[row].decode() != before:
            edited.append((number, name))

    elsewhere: dict[str, tuple[int, str]] = {}
    names = enumerate(ids)
    row, here = next(names, (-1, None))
    for number, name, before in listed:
        following = number + 1
        if name == here:
            met(row, number, name, before)
            row, here = next(names, (-1, None))
        else:
            elsewhere[name] = number, before
    for row in np.flatnonzero(logged < 0).tolist() if elsewhere else ():
        found = elsewhere.pop(ids[row], None)
        if found is not None:
            met(row, found[0], ids[row], found[1])
    fresh = np.flatnonzero(logged < 0)
    logged[fresh] = np.arange(following, following + fresh.size)
    now = np.full(following + fresh.size, -1, dtype=np.int64)
    now[logged] = np.arange(len(ids))
    return Matched(RowIds(now, logged), fresh, edited, list(elsewhere))
