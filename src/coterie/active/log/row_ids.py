"""Rows known by ids: which row of a log is which row now, and what became of the others."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from coterie.active.events import Event
from coterie.exceptions import InvalidParameter
from coterie.rules import is_text

__all__ = ["RowChanges", "RowIds", "check_ids", "match_ids", "row_hashes", "text_hashes"]


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
    now : dict
        Row now of each number in the log; numbers of rows that are gone are absent.
    logged : list of int
        Number in the log of each row now.
    """

    now: dict[int, int]
    logged: list[int]

    def row(self, number: int) -> int:
        """The row now; negative, and of its own for each, where it is gone."""
        return self.now.get(number, -1 - number)

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
            i, j = (self.logged[row] for row in event.answer.rows)
            return replace(event, answer=replace(event.answer, rows=(i, j)))
        if event.operation == "name" and event.target is not None:
            return replace(event, target=self.logged[event.target])
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


def row_hashes(X: Any) -> list[str]:
    """A short hash of the values of each row, to the digits of float32.

    Scaled columns differ in the last digits when rows are summed in another order.
    """
    if hasattr(X, "indptr"):
        parts = (
            X.indices[a:b].astype(np.int64).tobytes() + X.data[a:b].astype(np.float32).tobytes()
            for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)
        )
    else:
        parts = (row.tobytes() for row in np.ascontiguousarray(X, dtype=np.float32))
    return [hashlib.blake2b(part, digest_size=8).hexdigest() for part in parts]


def text_hashes(contents: Sequence[str]) -> list[str]:
    """A short hash of what each row says."""
    return [hashlib.blake2b(text.encode(), digest_size=8).hexdigest() for text in contents]


def match_ids(
    listed: Sequence[tuple[int, str, str]], ids: Sequence[str], hashes: Sequence[str]
) -> tuple[RowIds, RowChanges, list[tuple[int, str, str]], list[tuple[str, int]]]:
    """Rows of the log (number, id, hash) matched with the rows of now.

    Returns
    -------
    RowIds, RowChanges, rows new to the log (number, id, hash), and new hashes (hash, number).
    """
    known = {name: (number, value) for number, name, value in listed}
    following = max((number for number, _, _ in listed), default=-1) + 1
    now: dict[int, int] = {}
    logged: list[int] = []
    fresh: list[tuple[int, str, str]] = []
    edited: list[tuple[str, int]] = []
    for row, (name, value) in enumerate(zip(ids, hashes, strict=True)):
        number, before = known.get(name, (following + len(fresh), value))
        if name not in known:
            fresh.append((number, name, value))
        elif before != value:
            edited.append((value, number))
        now[number] = row
        logged.append(number)
    here = set(ids)
    changed = {number for _, number in edited}
    changes = RowChanges(
        tuple(name for _, name, _ in fresh),
        tuple(name for name in known if name not in here),
        tuple(name for name, (number, _) in known.items() if number in changed),
    )
    return RowIds(now, logged), changes, fresh, edited
