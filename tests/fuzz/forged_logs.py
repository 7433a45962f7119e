"""Logs of answers that somebody changed with care: types and sums are right, values are wrong."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import targets  # noqa: F401  (puts the folder of the next on the path)
from damaged_log import make_log, open_session
from fits import attempt

from coterie.active.log.schema import statements
from coterie.active.log.sums import MAKE_SUMS, add_functions, sum_schema

__all__ = ["forged_log"]

_NUMBERS = (None, 0, -1, 1, 5, 19, 20, 10**6, 2**31, 2**62, -(2**62))
_REALS = (None, 0.0, 0.5, 1.0, -1.0, 7.0, 1e308, float("inf"))
_TEXTS = (None, "", "x", "same", "different", "unknown", "a\0b", "{", "[]", "-1", "9" * 5000, "<b>")
_VALUES: dict[str, Any] = {"INTEGER": _NUMBERS, "REAL": _REALS, "TEXT": _TEXTS}
_OPERATIONS = ("answer", "retract", "undo", "redo", "name")


def forged_log(seed: int, folder: Path) -> None:
    """It is refused by name, or opened and used without harm."""
    whole = folder / "forger's.db"
    if not whole.exists():
        make_log(whole)
    path = folder / "forged.db"
    shutil.copy(whole, path)
    shutil.copy(f"{whole}.lock", f"{path}.lock")
    rng = random.Random(seed)
    changed = _forge(path, rng)
    said = f"forged log, seed {seed}: {changed}"
    session = attempt(lambda: open_session(path), said)
    if isinstance(session, Exception):
        return
    try:
        for use in (session.ask, session.labels, lambda: session.tell((0, 19), "same")):
            attempt(use, said)
        for use in (session.undo, lambda: session.constraints, lambda: session.history):
            attempt(use, said)
    finally:
        session._log.store.close()


def _forge(path: Path, rng: random.Random) -> list[Any]:
    """Change a cell or two, add or take an entry, and write the sums anew; what was done."""
    done: list[Any] = []
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        add_functions(db)
        made = list(db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"))
        for name, _ in made:
            db.execute(f"DROP TRIGGER {name}")
        db.execute("PRAGMA ignore_check_constraints = 1")
        for _ in range(rng.choice((1, 1, 2, 3))):
            done.append(_one_change(db, rng))
        db.execute("DROP TABLE sums")
        for statement in statements(MAKE_SUMS):
            db.execute(statement)
        for name, sql in made:
            if not name.endswith(("_summed", "_summed_again")):
                db.execute(sql)
        sum_schema(db)
    return done


def _one_change(db: sqlite3.Connection, rng: random.Random) -> Any:
    table = rng.choice(("events", "events", "events", "facts", "row_ids"))
    columns = db.execute(f"PRAGMA table_info({table})").fetchall()
    (count,) = db.execute(f"SELECT count(*) FROM {table}").fetchone()
    if not count:
        return table, "is empty"
    (entry,) = db.execute(
        f"SELECT rowid FROM {table} LIMIT 1 OFFSET {rng.randrange(count)}"
    ).fetchone()
    way = rng.choice(("cell", "cell", "cell", "drop", "double"))
    try:
        if way == "drop":
            db.execute(f"DELETE FROM {table} WHERE rowid = ?", (entry,))
            return table, entry, "taken out"
        if way == "double" and table == "events":
            names = "operation, number, i, j, answer, certainty, annotator, time, phase, target"
            row = [rng.choice(_OPERATIONS), rng.choice(_NUMBERS), *(rng.choice(_NUMBERS[:7]),) * 2]
            row += [rng.choice(_TEXTS), rng.choice(_REALS), "a", "2026", "", rng.choice(_NUMBERS)]
            marks = ", ".join("?" * len(row))
            db.execute(f"INSERT INTO events ({names}) VALUES ({marks})", row)
            return table, row
        _, column, kind, *_ = rng.choice(columns)
        value = rng.choice(_OPERATIONS if column == "operation" else _VALUES[kind])
        db.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, entry))
        return table, entry, column, value
    except sqlite3.IntegrityError as error:  # SQLite itself refuses that
        return str(error)
