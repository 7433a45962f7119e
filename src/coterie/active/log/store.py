"""`AnswerStore`: an append-only log of answers in one SQLite file, safe against sudden death."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from coterie.active.annotators.calls import CallLog
from coterie.active.events import Event, Timeline
from coterie.active.knowledge import Knowledge
from coterie.active.known import make_constraints
from coterie.active.log.answer_table import AnswerTable
from coterie.active.log.event_rows import COLUMNS, event_of, row_of
from coterie.active.log.lock import FileLock
from coterie.active.log.row_ids import (
    RowChanges,
    RowIds,
    fingerprint,
    match_ids,
    row_hashes,
    text_hashes,
)
from coterie.active.log.schema import MIGRATIONS, statements
from coterie.active.log.sums import add_functions, damages, sum_schema
from coterie.active.log.undisturbed import undisturbed
from coterie.active.query import Answer
from coterie.constraints import Constraints
from coterie.exceptions import AnswerNotSaved, AnswersMismatch, CoterieError
from coterie.files import new_file
from coterie.parameters import check_arguments

__all__ = ["AnswerStore"]

_HEADER = 100  # bytes, of every SQLite file
# A commit to a write-ahead log waits for the disk once, one to a rollback journal four times or
# more: 1 ms and 28 ms here, for which everybody else who answers waits too. Before SQLite 3.51.3
# that log could be reset under another connection, so there is none: who writes is the only reader.
# EXTRA matters where a file system has no such log, and SQLite goes back to a journal.
_SETTINGS = ("locking_mode=EXCLUSIVE", "synchronous=EXTRA", "foreign_keys=ON")
_INSERT = f"INSERT INTO events ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM events ORDER BY id"


class AnswerStore(AnswerTable):
    """The log of one session.

    Every event is committed, and on the disk, before `append` returns: in `path` or, until it is
    closed, in `path` + "-wal", which belongs to it. One process has the file; a second one that
    opens it is told who does. The log is never rewritten: undo is an event too.

    Parameters
    ----------
    path : str or path
        Made if it does not exist.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from coterie.active import ActiveSession, AnswerStore, Explore
    >>> X = np.arange(6.0).reshape(6, 1)
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with AnswerStore(folder / "answers.db") as store:
    ...     session = ActiveSession(X, strategy=Explore(), store=store, random_state=0)
    ...     _ = session.tell(session.ask(), "different")
    >>> with AnswerStore(folder / "answers.db") as store:
    ...     store.constraints().n_pairs
    1
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        check_arguments(AnswerStore, locals())
        self.path = Path(path)
        self._process = os.getpid()
        self._ahead = False
        self._lock = FileLock(self.path)
        self._is_new = not os.path.lexists(self.path)
        try:
            self._refuse_emptied()
            self._db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
            self._configure()
            self._migrate()
            self._refuse_damaged()
            self._write_ahead()
            self._lock.write(begun=True)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # the latter of a message
            self.close()
            raise self._unusable(str(error)) from error
        except BaseException:
            self.close()
            raise

        #: Calls of programs that answer (`run_programs`).
        self.calls = CallLog(self._db, self._transaction)

    # -- opening ---------------------------------------------------------------------------
    def _unusable(self, why: str) -> AnswersMismatch:
        return AnswersMismatch(
            f"{self.path} cannot be used as an answer log: {why}. If it is damaged, take a copy of "
            f"it (copy_log makes them); `coterie` leaves the file as it is."
        )

    def _refuse_emptied(self) -> None:
        """SQLite takes a file of no bytes, or one, for new, also where answers had been in it."""
        began = self._lock.before.get("begun") and self.path.exists()
        if began and self.path.stat().st_size < _HEADER:
            raise self._unusable(
                "it is empty, and answers were kept in it before. To begin anew, delete it"
            )

    def _refuse_damaged(self) -> None:
        with undisturbed():
            why = next(damages(self._db), None)
        if why is not None:
            raise self._unusable(why)

    def _configure(self) -> None:
        add_functions(self._db)
        for setting in _SETTINGS:
            self._db.execute(f"PRAGMA {setting}").fetchall()

    def _write_ahead(self) -> None:
        """Of a log that is in order, as this changes its header."""
        with suppress(sqlite3.OperationalError):  # who may not write it may still read it
            self._db.execute("PRAGMA journal_mode=WAL").fetchall()
            self._ahead = True

    def _migrate(self) -> None:
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version > len(MIGRATIONS):
            raise AnswersMismatch(
                f"{self.path} was written by a newer Coterie (log version {version}, this one "
                f"reads up to {len(MIGRATIONS)}): upgrade coterie."
            )
        if version == len(MIGRATIONS):
            return
        with self._transaction():
            for script in MIGRATIONS[version:]:
                for statement in statements(script):
                    self._db.execute(statement)
            sum_schema(self._db)
            self._db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """BEGIN IMMEDIATE: the right to write is taken at the start, never on the way."""
        self._refuse_forked()
        try:
            with undisturbed():
                self._db.execute("BEGIN IMMEDIATE")
                yield
                self._db.execute("COMMIT")
        except BaseException as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if not isinstance(error, sqlite3.Error | UnicodeEncodeError | OverflowError):
                raise
            raise AnswerNotSaved(
                f"not saved: {self.path}: {error}. What was saved before is intact; mend that "
                "(make room, make it writable) and answer again."
            ) from error

    def _refuse_forked(self) -> None:
        """A forked child has its parent's lock and connection, and no right to either."""
        if os.getpid() != self._process:
            raise AnswerNotSaved(
                f"not saved: {self.path} was opened by process {self._process}, which this one was "
                "forked from: one process writes. Send the answer to that one, or open the log "
                "here once it is closed there."
            )

    def bind_ids(
        self,
        ids: Sequence[str],
        X: Any,
        seed: int,
        strategy: str,
        contents: Sequence[str] | None = None,
    ) -> tuple[RowIds, RowChanges]:
        """Tie the log to the ids of its rows, whatever their order and values are now.

        A row was edited if its content is another one; its values, where no contents are given.

        A log that was tied to values is taken over while those are the same.
        """
        begun = self._first_id()
        if begun is None:
            self.bind(fingerprint(X), X.shape, seed, strategy)
        elif self.seed != seed:
            self._refuse_seed(seed)
        hashes = row_hashes(X) if contents is None else text_hashes(contents)
        try:
            bound, fresh, edited, removed = match_ids(self._listed_ids(), ids, hashes)
        except (MemoryError, ValueError) as error:  # an array up to the largest number
            if isinstance(error, CoterieError):
                raise
            raise self._unusable(
                f"the numbers of its rows are no numbers of rows: {error}"
            ) from error
        if begun is not None and fresh.size == len(ids):
            raise AnswersMismatch(
                f"{self.path} holds answers about other rows: none of its {len(removed)} ids "
                f"({begun}, …) is among these. Give the ids it was begun with, or start a "
                "new log."
            )
        new = ((int(bound.logged[row]), ids[row], hashes[row].decode()) for row in fresh.tolist())
        changed = ((hashes[bound.now[number]].decode(), number) for number, _ in edited)
        with self._transaction():
            self._db.executemany("INSERT INTO row_ids VALUES (?, ?, ?)", new)
            self._db.executemany("UPDATE row_ids SET hash = ? WHERE i = ?", changed)
        if begun is None:
            return bound, RowChanges((), (), ())
        added = tuple(ids[row] for row in fresh.tolist())
        return bound, RowChanges(added, tuple(removed), tuple(name for _, name in sorted(edited)))

    def _first_id(self) -> str | None:
        found = self._db.execute("SELECT id FROM row_ids ORDER BY i LIMIT 1").fetchone()
        return None if found is None else str(found[0])

    def _listed_ids(self) -> Iterator[tuple[int, str, str]]:
        """Number, id and hash of every row, by number."""
        return iter(self._db.execute("SELECT i, id, hash FROM row_ids ORDER BY i"))

    def _refuse_seed(self, seed: int) -> None:
        raise AnswersMismatch(
            f"{self.path} was begun with random_state={self.seed}, not {seed}: leave "
            "random_state out to go on with the same questions."
        )

    def bind(self, data: str, shape: tuple[int, ...], seed: int, strategy: str) -> None:
        """Tie the log to its data; refuse a log about other rows."""
        facts = self.facts
        if self._first_id() is not None:
            raise AnswersMismatch(
                f"{self.path} is bound to the ids of its rows: open the session with ids=, one for "
                "each row."
            )
        if "data" not in facts:
            new = {"data": data, "n_samples": shape[0], "n_features": shape[1]}
            new |= {"seed": seed, "strategy": strategy}
            with self._transaction():
                self._db.executemany(
                    "INSERT INTO facts VALUES (?, ?)", [(k, str(v)) for k, v in new.items()]
                )
            return
        if facts["data"] != data:
            raise AnswersMismatch(
                f"{self.path} holds answers about other data ({facts['n_samples']} rows × "
                f"{facts['n_features']} columns, fingerprint {facts['data']}; these rows are "
                f"{shape[0]} × {shape[1]}, {data}). Open it with the data it was made for, in the "
                "same order, with the same columns and scaling, or start a new log (with ids= it "
                "outlives changed rows); "
                "AnswerStore(path).constraints() gives its answers, to start the new session from."
            )
        if facts["seed"] != str(seed):
            self._refuse_seed(seed)

    # -- writing and reading ---------------------------------------------------------------
    def append(self, *events: Event, key: str | None = None) -> None:
        """Write events, all or none; on the disk when this returns, else `AnswerNotSaved`.

        `key` names the request that they came with, and is written in the same transaction:
        `numbers_of(key)` then tells whether it was carried out, also after a sudden death.
        """
        rows = [row_of(event) for event in events]
        with self._transaction():
            before = self._last_event()
            self._db.executemany(_INSERT, rows)
            if key is not None:
                request = (key, before + 1, self._last_event())
                self._db.execute("INSERT INTO requests VALUES (?, ?, ?)", request)

    def _last_event(self) -> int:
        return int(self._db.execute("SELECT coalesce(max(id), 0) FROM events").fetchone()[0])

    def _is_used(self) -> bool:
        return self._last_event() > 0 or next(iter(self.calls), None) is not None

    def numbers_of(self, key: str) -> list[int] | None:
        """Numbers of the answers that came with this request; None if it never came."""
        found = self._db.execute(
            "SELECT first_event, last_event FROM requests WHERE key = ?", (key,)
        ).fetchone()
        if found is None:
            return None
        numbers = self._db.execute(
            "SELECT number FROM events WHERE id BETWEEN ? AND ? AND number IS NOT NULL", found
        )
        return [number for (number,) in numbers]

    def events(self) -> Iterator[Event]:
        """All events, oldest first."""
        try:
            yield from map(event_of, self._db.execute(_SELECT))
        except LookupError as error:
            raise self._unusable(str(error)) from error

    @property
    def facts(self) -> dict[str, str]:
        """What the log is about: data fingerprint, shape, seed, strategy."""
        return dict(self._db.execute("SELECT name, value FROM facts").fetchall())

    @property
    def seed(self) -> int | None:
        """The random_state of the session, once there is one."""
        return self._number("seed")

    def _number(self, fact: str) -> int | None:
        """A fact that is a whole number; None before the log is tied to data."""
        value = self.facts.get(fact)
        try:
            return None if value is None else int(value)
        except ValueError as error:
            raise self._unusable(f"its {fact} is no number") from error

    def answers(self) -> list[Answer]:
        """Answers in force: those not undone or retracted."""
        return self.timeline().answers()

    def timeline(self, read: Callable[[Event], Event] = lambda event: event) -> Timeline:
        """All that happened; `read` puts rows of now in the place of those of the log."""
        made = Timeline()
        try:
            for event in self.events():
                made.append(read(event))
        except LookupError as error:
            raise self._unusable(f"it holds {error}") from error
        return made

    # -- export ----------------------------------------------------------------------------
    def constraints(self, ids: Sequence[str] | None = None) -> Constraints:
        """The answers in force as constraints (without what a strategy infers by exclusion).

        Rows are numbered as at first; with `ids`, of a log that is bound to ids, as these are, and
        answers about ids that are not among them are left out.
        """
        known = Knowledge(self.answers()).constraining
        n = self._number("n_samples")
        if n is None:
            raise AnswersMismatch(f"{self.path} is not tied to any data yet: open a session on it.")
        (listed,) = self._db.execute("SELECT count(*) FROM row_ids").fetchone()
        said = [(a.pair, a.sign, a.certainty) for a in known]
        if ids is None:
            return make_constraints(max(n, listed), said)
        if not listed:
            raise AnswersMismatch(f"{self.path} is not bound to ids: leave ids out.")
        bound = match_ids(self._listed_ids(), ids).bound
        moved = [((bound.row(i), bound.row(j)), sign, sure) for (i, j), sign, sure in said]
        return make_constraints(len(ids), [entry for entry in moved if min(entry[0]) >= 0])

    def to_log(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of the whole log, as it is at this moment; whole or not at all."""
        with new_file(Path(path)) as temporary:
            copy = sqlite3.connect(temporary)
            try:
                self._db.backup(copy)
                copy.execute("PRAGMA journal_mode=DELETE")
            finally:
                copy.close()

    # -- closing ---------------------------------------------------------------------------
    def close(self, *, forget_unused: bool = False) -> None:
        """Give the file free; what was appended stays.

        A log that was made by opening it, and that holds no event and no call of a program, is
        removed with `forget_unused`, as after an error: it may be tied to rows that nobody means
        to keep.
        """
        ours = hasattr(self, "_db") and os.getpid() == self._process  # else SQLite's locks are not
        forget = False
        try:  # the disk is waited for, and Ctrl-C may come: the file is given free then too
            forget = forget_unused and ours and self._is_new and not self._is_used()
            if ours and self._ahead:
                with suppress(sqlite3.Error):  # no room: the next who opens it does it
                    self._db.execute("PRAGMA journal_mode=DELETE")  # one file, that needs no other
        finally:
            try:
                if ours:
                    self._db.close()
            finally:
                self._is_new = False
                if forget:
                    self.path.unlink(missing_ok=True)
                self._lock.release(remove=forget)

    def __enter__(self) -> AnswerStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(forget_unused=kind is not None)

    def __repr__(self) -> str:
        return f"AnswerStore({str(self.path)!r})"
