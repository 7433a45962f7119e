"""Every call of a program that answers questions: what was asked, what came, what it cost."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from coterie.active.log.schema import MIGRATIONS, statements
from coterie.active.log.sums import add_functions

__all__ = ["Call", "CallLog"]


@dataclass(frozen=True)
class Call:
    """One call of a program.

    Attributes
    ----------
    time : str
        When it ended.
    annotator : str
    question : str
        What was asked: kind, row numbers in the log, and a mark of the words they were put in.
    attempt : int
        1 for the first call about the question in a run.
    prompt, text : str or None
        What was sent and what came back, of programs that read and write text.
    answer : str or list of list of int, or None
        A word, or piles of positions among the rows of the question; None if the call failed.
    certainty : float or None
    cost : float
    error : str or None
        Why it failed.
    """

    time: str
    annotator: str
    question: str
    attempt: int
    prompt: str | None = None
    text: str | None = None
    answer: Any = None
    certainty: float | None = None
    cost: float = 0.0
    error: str | None = None


_NAMES = tuple(Call.__dataclass_fields__)


class CallLog:
    """Calls in the database of an answer log, which are only ever added to.

    Parameters
    ----------
    db : sqlite3.Connection
        With the table of `_schema`.
    transaction : callable
        Makes a context in which writing is one step.
    """

    def __init__(
        self, db: sqlite3.Connection, transaction: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self._db = db
        self._transaction = transaction

    @classmethod
    def in_memory(cls) -> CallLog:
        """One that is forgotten with the process."""
        db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        add_functions(db)
        for script in MIGRATIONS:
            for statement in statements(script):
                db.execute(statement)

        @contextmanager
        def at_once() -> Iterator[None]:
            yield

        return cls(db, at_once)

    def add(self, call: Call) -> None:
        """Write a call; on the disk when this returns."""
        values = [*astuple(call)]
        at = _NAMES.index("answer")
        values[at] = None if call.answer is None else json.dumps(call.answer)
        marks = ", ".join("?" * len(_NAMES))
        with self._transaction():
            self._db.execute(f"INSERT INTO calls ({', '.join(_NAMES)}) VALUES ({marks})", values)

    def __iter__(self) -> Iterator[Call]:
        """All calls, oldest first."""
        yield from self._read("ORDER BY id")

    def answered(self, annotator: str, question: str) -> Call | None:
        """The last call in which the annotator answered this question; "later" is no answer."""
        found = self._read(
            "WHERE annotator = ? AND question = ? AND answer <> ? ORDER BY id DESC LIMIT 1",
            (annotator, question, json.dumps("later")),
        )
        return next(found, None)

    def spent(self, annotator: str) -> tuple[int, float]:
        """Calls of the annotator, failed ones too, and what they cost together."""
        query = "SELECT COUNT(*), COALESCE(SUM(cost), 0) FROM calls WHERE annotator = ?"
        count, cost = self._db.execute(query, (annotator,)).fetchone()
        return int(count), float(cost)

    def to_frame(self, backend: str = "pandas") -> Any:
        """One call a row; columns as in `Call`."""
        from coterie.constraints.frames import make_frame

        calls = list(self)
        columns: dict[str, Any] = {}
        for name in _NAMES:
            values = [getattr(call, name) for call in calls]
            if name == "attempt":
                columns[name] = np.array(values, dtype=np.int64)
            elif name in ("certainty", "cost"):
                columns[name] = np.array([np.nan if v is None else v for v in values], dtype=float)
            else:
                columns[name] = np.array(["" if v is None else str(v) for v in values], np.str_)
        return make_frame(columns, backend)

    def _read(self, rest: str, values: tuple[Any, ...] = ()) -> Iterator[Call]:
        for row in self._db.execute(f"SELECT {', '.join(_NAMES)} FROM calls {rest}", values):
            found = dict(zip(_NAMES, row, strict=True))
            found["answer"] = None if found["answer"] is None else json.loads(found["answer"])
            yield Call(**found)
