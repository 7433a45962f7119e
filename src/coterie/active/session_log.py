"""What happened in a session, in memory and, where there is a store, on the disk first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie.active.annotators.calls import CallLog
from coterie.active.events import Event, Timeline
from coterie.active.known import known_answers
from coterie.active.log.row_ids import RowChanges, RowIds, fingerprint
from coterie.active.log.store import AnswerStore
from coterie.active.query import Answer
from coterie.constraints import Constraints

__all__ = ["SessionLog"]


class SessionLog:
    """The events of a session, replayed from a store and written to it.

    Parameters
    ----------
    store : AnswerStore, optional
    random_state : int, optional
        Given, else the store's, else drawn.

    Attributes
    ----------
    timeline : Timeline
    seed : int
    calls : CallLog
        Calls of programs: in the store, else in memory.
    row_changes : RowChanges
        Rows added, removed or edited since the store was last opened.
    """

    def __init__(self, store: AnswerStore | None, random_state: int | None) -> None:
        self.store = store
        self.timeline = Timeline()
        self.seed = _choose_seed(random_state, store)
        self.row_changes = RowChanges((), (), ())
        self.calls = CallLog.in_memory() if store is None else store.calls
        self._ids: RowIds | None = None
        self._requests: dict[str, list[int]] = {}  # of a session without a store

    def bind(
        self, rows: Any, ids: list[str] | None, strategy: str, contents: Sequence[str] | None = None
    ) -> None:
        """Tie the store to the rows, by ids or by values, and replay what is in it.

        `contents` are what each row says, by which edited ones are told where rows have ids.
        """
        if self.store is None:
            return
        if ids is None:
            self.store.bind(fingerprint(rows), rows.shape, self.seed, strategy)
        else:
            self._ids, self.row_changes = self.store.bind_ids(
                ids, rows, self.seed, strategy, contents
            )
        read = {} if self._ids is None else {"read": self._ids.read}
        self.timeline = self.store.timeline(**read)

    def number(self, row: int) -> int:
        """The number by which the store knows a row of now."""
        return row if self._ids is None else int(self._ids.logged[row])

    def record(self, events: Sequence[Event], key: str | None = None) -> None:
        """Check all, write all, then take them in; after an error nothing has happened.

        `key` is the name of the request that they came with; see `Revising.once`.
        """
        for event in events:
            self.timeline.check(event)
        if self.store is not None and events:
            self.store.append(
                *(event if self._ids is None else self._ids.write(event) for event in events),
                key=key,
            )
        before = self.timeline.n_answers
        for event in events:
            self.timeline.append(event)
        if key is not None and self.store is None:
            self._requests[key] = list(range(before + 1, self.timeline.n_answers + 1))

    def numbers_of(self, key: str) -> list[int] | None:
        """Numbers of the answers that came with this request; None if it never came."""
        return self._requests.get(key) if self.store is None else self.store.numbers_of(key)

    def take_in(self, constraints: Constraints, time: str) -> None:
        """Pairs known at the start, as answers; those that the log has already are left out."""
        first, taken = self.timeline.n_answers + 1, self.timeline.known
        known = known_answers(constraints, first, time, taken)
        self.record([Event("answer", answer) for answer in known])

    def answers(self, gone: bool = False) -> list[Answer]:
        """Answers in force, about rows that are there or about those that are `gone`."""
        return self.timeline.answers(gone)


def _choose_seed(random_state: int | None, store: AnswerStore | None) -> int:
    if random_state is not None:
        return int(random_state)
    if store is not None and store.seed is not None:
        return store.seed
    return int(np.random.default_rng().integers(2**31))
