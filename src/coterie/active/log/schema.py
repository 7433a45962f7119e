"""The tables of an answer log, as scripts that bring a file from one version to the next."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from coterie.active.log.sums import MAKE_SUMS

__all__ = ["MIGRATIONS", "statements"]

#: Script t brings a file from version t to t + 1 (PRAGMA user_version). Only ever add to the end.
MIGRATIONS = (
    """
    CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    CREATE TABLE events (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        operation TEXT NOT NULL CHECK (operation IN ('answer', 'retract', 'undo', 'redo')),
        number INTEGER UNIQUE, i INTEGER, j INTEGER, answer TEXT, certainty REAL, annotator TEXT,
        time TEXT, phase TEXT, why TEXT, gain REAL, target INTEGER,
        CHECK (operation <> 'answer' OR (number IS NOT NULL AND i IS NOT NULL AND j IS NOT NULL
            AND i <> j AND answer IN ('same', 'different', 'unknown', 'later')))
    ) STRICT;
    CREATE TRIGGER events_stay BEFORE UPDATE ON events
        BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
    CREATE TRIGGER events_remain BEFORE DELETE ON events
        BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
    """,
    """
    DROP TRIGGER events_stay;
    DROP TRIGGER events_remain;
    ALTER TABLE events RENAME TO events_1;
    CREATE TABLE events (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        operation TEXT NOT NULL
            CHECK (operation IN ('answer', 'retract', 'undo', 'redo', 'name')),
        number INTEGER UNIQUE, i INTEGER, j INTEGER, answer TEXT, certainty REAL, annotator TEXT,
        time TEXT, phase TEXT, why TEXT, gain REAL, target INTEGER, text TEXT, step INTEGER,
        CHECK (operation <> 'answer' OR (number IS NOT NULL AND i IS NOT NULL AND j IS NOT NULL
            AND i <> j AND answer IN ('same', 'different', 'unknown', 'later'))),
        CHECK (operation <> 'name' OR (target IS NOT NULL AND text IS NOT NULL))
    ) STRICT;
    INSERT INTO events (id, operation, number, i, j, answer, certainty, annotator, time, phase, why,
        gain, target) SELECT * FROM events_1;
    DROP TABLE events_1;
    CREATE TRIGGER events_stay BEFORE UPDATE ON events
        BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
    CREATE TRIGGER events_remain BEFORE DELETE ON events
        BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
    """,
    """
    CREATE TABLE row_ids (
        i INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, hash TEXT NOT NULL
    ) STRICT;
    """,
    """
    CREATE TABLE calls (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        time TEXT NOT NULL, annotator TEXT NOT NULL, question TEXT NOT NULL,
        attempt INTEGER NOT NULL, prompt TEXT, text TEXT, answer TEXT, certainty REAL,
        cost REAL NOT NULL, error TEXT, CHECK ((answer IS NULL) <> (error IS NULL))
    ) STRICT;
    CREATE INDEX calls_by_question ON calls (annotator, question);
    CREATE TRIGGER calls_stay BEFORE UPDATE ON calls
        BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
    CREATE TRIGGER calls_remain BEFORE DELETE ON calls
        BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
    """,
    """
    CREATE TABLE requests (
        key TEXT PRIMARY KEY, first_event INTEGER NOT NULL, last_event INTEGER NOT NULL
    ) STRICT;
    """,
    MAKE_SUMS,
)


def statements(script: str) -> Iterator[str]:
    """The statements of a script, one by one (`executescript` would commit on its own)."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
