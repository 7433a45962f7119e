"""Sums by which damage to an answer log is seen: a flipped bit, a lost or a doubled entry.

SQLite notices damage to its own structure, not to what is stored. Beside every entry the log keeps
a CRC-32 of it, written by triggers in the same transaction; all are compared when a log is opened.
They tell damage, not malice: who can write the file can write its sums.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from typing import Any

__all__ = ["MAKE_SUMS", "add_functions", "damages", "sum_schema"]

#: Tables and columns of a log as of the version that has sums. A later migration that adds a
#: column drops and makes the triggers of its table anew.
_SUMMED = {
    "facts": "name, value",
    "events": "operation, number, i, j, answer, certainty, annotator, time, phase, why, gain, "
    "target, text, step",
    "row_ids": "i, id, hash",
    "calls": "time, annotator, question, attempt, prompt, text, answer, certainty, cost, error",
    "requests": "key, first_event, last_event",
}

_APPENDED = ("events", "calls")  # other triggers refuse to change these


def _row_sum(*values: Any) -> int:
    """CRC-32 of table, number and values of an entry; `repr` shows every bit of a float."""
    return zlib.crc32(repr(values).encode("utf-8", "surrogatepass"))


def add_functions(db: sqlite3.Connection) -> None:
    """What the triggers of a log call; before its first statement."""
    db.create_function("row_sum", -1, _row_sum, deterministic=True)


def _sum_of(table: str, prefix: str = "") -> str:
    columns = ", ".join(prefix + name for name in _SUMMED[table].split(", "))
    return f"row_sum('{table}', {prefix}rowid, {columns})"


def _script() -> Iterator[str]:
    yield (
        "CREATE TABLE sums (part TEXT NOT NULL, entry INTEGER NOT NULL, value INTEGER NOT NULL, "
        "PRIMARY KEY (part, entry)) STRICT, WITHOUT ROWID;"
    )
    for table in _SUMMED:
        of_new = _sum_of(table, "new.")
        yield f"INSERT INTO sums SELECT '{table}', rowid, {_sum_of(table)} FROM {table};"
        yield (
            f"CREATE TRIGGER {table}_summed AFTER INSERT ON {table} BEGIN "
            f"INSERT INTO sums VALUES ('{table}', new.rowid, {of_new}); END;"
        )
        if table in _APPENDED:
            continue
        yield (
            f"CREATE TRIGGER {table}_summed_again AFTER UPDATE ON {table} BEGIN "
            f"UPDATE sums SET value = {of_new} WHERE part = '{table}' AND entry = new.rowid; END;"
        )


#: The migration that adds sums to a log.
MAKE_SUMS = "\n".join(_script())


_SCHEMA_SUM = (
    "SELECT row_sum('schema', group_concat(sql)) FROM (SELECT sql FROM sqlite_schema ORDER BY name)"
)


def sum_schema(db: sqlite3.Connection) -> None:
    """Keep a sum of tables and triggers too; after they were changed."""
    (value,) = db.execute(_SCHEMA_SUM).fetchone()
    db.execute("INSERT OR REPLACE INTO sums VALUES ('schema', 0, ?)", (value,))


def damages(db: sqlite3.Connection) -> Iterator[str]:
    """What is wrong with a log, in words; nothing if it is as it was written."""
    for (words,) in db.execute("PRAGMA integrity_check(1)"):
        if words != "ok":
            yield str(words)
            return
    written = db.execute("SELECT value FROM sums WHERE part = 'schema'").fetchone()
    if written != db.execute(_SCHEMA_SUM).fetchone():
        yield "its tables are not what was made"
        return
    for table in _SUMMED:
        query = (
            f"SELECT {table}.rowid FROM {table} LEFT JOIN sums ON part = '{table}' AND entry = "
            f"{table}.rowid WHERE sums.value IS NOT {_sum_of(table, table + '.')} LIMIT 1"
        )
        for (entry,) in db.execute(query):
            yield f"entry {entry} of its {table} is not what was written"
        there = db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        written = db.execute("SELECT count(*) FROM sums WHERE part = ?", (table,)).fetchone()[0]
        if there != written:
            yield f"{there} of {written} {table} are there"
