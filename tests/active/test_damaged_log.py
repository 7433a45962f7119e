"""The log of answers under damage, full disks and odd hands: an answer is there, or it is said."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damaged_log import WORDS, X, close, make_log, open_session, outcome

from coterie.active import ActiveSession, AnswerStore
from coterie.active.events import Event
from coterie.active.knowledge import Knowledge
from coterie.active.log import sums
from coterie.active.log.lock import FileLock
from coterie.active.log.sums import add_functions
from coterie.active.query import Answer
from coterie.exceptions import AnswerNotSaved, AnswersInUse, AnswersMismatch, InvalidParameter


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return make_log(tmp_path_factory.mktemp("log") / "a.db")


def check_cuts(log, tmp_path, step, note):
    data = log[0].read_bytes()
    note("tried", len(range(0, len(data), step)))
    found = Counter(outcome(log, tmp_path / "b.db", data[:n]) for n in range(0, len(data), step))
    assert set(found) <= {"reported", "whole"}, found
    assert found["reported"] > 50
    return found


def check_flips(log, tmp_path, count, note):
    note("tried", count)
    data, rng = log[0].read_bytes(), random.Random(0)
    found: Counter[str] = Counter()
    for _ in range(count):
        damaged = bytearray(data)
        damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        found[outcome(log, tmp_path / "b.db", bytes(damaged))] += 1
    assert set(found) <= {"reported", "whole"}, found
    assert found["reported"] > count // 20
    return found


def test_a_cut_log_is_refused(log, tmp_path, record_property):
    check_cuts(log, tmp_path, 997, record_property)


@pytest.mark.slow
def test_cut_at_every_byte(log, tmp_path, record_property):
    check_cuts(log, tmp_path, 1, record_property)


def test_flipped_bits_are_seen_where_they_change_an_answer(log, tmp_path, record_property):
    check_flips(log, tmp_path, 200, record_property)


@pytest.mark.slow
def test_flipped_bits_at_a_thousand_places(log, tmp_path, record_property):
    check_flips(log, tmp_path, 1000, record_property)


@pytest.mark.parametrize("before", [b"row-1", b"ann1", b"different", b"unknown", b"2026", b"data"])
def test_every_text_of_the_log_is_summed(log, tmp_path, before):
    data = log[0].read_bytes()
    if before == b"2026":
        before = str(datetime.now(UTC).year).encode()
    assert before in data
    places = [n for n in range(len(data)) if data.startswith(before, n)]
    found = set()
    for place in places:
        damaged = bytearray(data)
        damaged[place] ^= 1
        found.add(outcome(log, tmp_path / "b.db", bytes(damaged)))
    assert "reported" in found
    assert found <= {"reported", "whole"}


def test_an_emptied_log_is_no_new_one_but_a_deleted_one_is(log, tmp_path):
    assert outcome(log, tmp_path / "b.db", b"") == "reported"
    assert outcome(log, tmp_path / "b.db", b"") == "reported"  # it is remembered
    assert outcome(log, tmp_path / "b.db", b"S") == "reported"  # one byte is none to SQLite
    (tmp_path / "b.db").unlink()
    AnswerStore(tmp_path / "b.db").close()
    (tmp_path / "new.db").touch()  # as by tempfile, or by a death before the first word
    AnswerStore(tmp_path / "new.db").close()


def test_a_forged_number_of_a_log_is_told(log, tmp_path):
    """With a sum of its own, as somebody would write it: a ValueError that named nothing."""
    path = tmp_path / "a.db"
    shutil.copy(log[0], path)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        add_functions(db)
        db.execute("UPDATE facts SET value = 'many' WHERE name = 'seed'")
    with pytest.raises(AnswersMismatch, match="its seed is no number"):
        open_session(path)


@pytest.mark.parametrize("operation", ["undo", "redo"])
def test_a_forged_undo_or_redo_of_nothing_is_told(operation, log, tmp_path):
    """By `make fuzz`: an IndexError; and a forged undo took back what others had answered."""
    path = tmp_path / "a.db"
    shutil.copy(log[0], path)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        add_functions(db)
        db.execute(
            "INSERT INTO events (operation, annotator) VALUES (?, 'nobody who answered')",
            (operation,),
        )
    with AnswerStore(path) as store, pytest.raises(AnswersMismatch, match="without"):
        store.answers()
    with pytest.raises(AnswersMismatch, match=f"it holds an? {operation} without"):
        open_session(path)


def test_the_second_writer_is_refused_and_harms_nothing(log, tmp_path):
    path = tmp_path / "a.db"
    shutil.copy(log[0], path)
    session = open_session(path)
    for _ in range(3):
        with pytest.raises(AnswersInUse, match="in use by process"):
            AnswerStore(path)
    session.tell((0, 19), "same")
    close(session)
    again = open_session(path)
    assert len(again.history) == 12
    close(again)


class Interrupted:
    """A database at which Ctrl-C comes while a statement waits for the disk."""

    def __init__(self, database: sqlite3.Connection, at: str) -> None:
        self._database = database
        self._at = at

    def execute(self, statement: str, *arguments: Any) -> Any:
        if self._at in statement:
            self._database.execute(statement, *arguments).close()
            raise KeyboardInterrupt
        return self._database.execute(statement, *arguments)

    def close(self) -> None:
        self._database.close()
        if self._at == "close":
            raise KeyboardInterrupt


@pytest.mark.parametrize("at", ["max(id)", "journal_mode", "close"])
def test_ctrl_c_in_closing_gives_the_file_free(at, tmp_path):
    """A notebook keeps the error and what it was raised in: the log was in use until it ended."""
    store = AnswerStore(tmp_path / "a.db")
    store._db = Interrupted(store._db, at)
    with pytest.raises(KeyboardInterrupt) as kept:
        store.close(forget_unused=True)
    AnswerStore(tmp_path / "a.db").close()
    assert kept.tb is not None


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_signals_in_a_statement_that_calls_python_are_heard_at_its_end(kind, tmp_path, monkeypatch):
    """SQLite made "user-defined function raised exception" of Ctrl-C: a whole log was damaged."""

    def end(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    def signalled(*values: Any) -> int:
        os.kill(os.getpid(), kind)
        return found(*values)

    found = sums._row_sum
    session = open_session(tmp_path / "a.db", random_state=0)
    session.tell((0, 1), "same")
    close(session)
    before = signal.signal(kind, end)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(sums, "_row_sum", signalled)
            with pytest.raises(KeyboardInterrupt):
                AnswerStore(tmp_path / "a.db")
        store = AnswerStore(tmp_path / "a.db")
        with monkeypatch.context() as patch:
            patch.setattr(sums, "_row_sum", signalled)
            sums.add_functions(store._db)
            with pytest.raises(KeyboardInterrupt):
                store.append(Event("undo"))
        assert signal.getsignal(kind) is end
        assert not store._db.in_transaction
        store.close()
    finally:
        signal.signal(kind, before)
    close(open_session(tmp_path / "a.db"))


def test_ctrl_c_in_opening_gives_the_file_free(tmp_path, monkeypatch):
    def interrupted(lock: Any, **facts: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(FileLock, "write", interrupted)
        with pytest.raises(KeyboardInterrupt) as kept:
            AnswerStore(tmp_path / "a.db")
    AnswerStore(tmp_path / "a.db").close()
    assert kept.tb is not None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a fork beside threads: as it is
def test_a_forked_child_does_not_write_its_parents_log(tmp_path):
    """It did, and then the parent could not: both gave the next answer the same number."""
    path = tmp_path / "a.db"
    session = open_session(path, random_state=0)
    session.tell((0, 1), "same")

    def child() -> str:
        try:
            session.tell((2, 3), "different")
        except AnswerNotSaved as error:
            close(session)  # of no harm to the parent either
            return str(error)
        return "told"

    said = in_fork(child)
    assert f"was opened by process {os.getpid()}" in said
    session.tell((4, 5), "same")
    with pytest.raises(AnswersInUse):
        AnswerStore(path)
    close(session)
    again = open_session(path)
    assert [answer.rows for answer in again.history] == [(0, 1), (4, 5)]
    close(again)


def in_fork(work: Any) -> str:
    """What a forked child says."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(write, work().encode())
        except BaseException as error:
            os.write(write, repr(error).encode())
        finally:
            os._exit(0)
    os.close(write)
    with open(read) as stream:
        said = stream.read()
    os.waitpid(pid, 0)
    return said


FULL = """
import os, resource, signal, sys
sys.path.insert(0, {here!r})
from damaged_log import open_session
from coterie.exceptions import CoterieError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for limit in range(0, 480_000, {step}):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        path = f"{{sys.argv[1]}}/{{limit}}.db"
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        said, saved = "", 0
        try:
            session = open_session(path, random_state=0)
            for t in range(16):
                session.tell((t % 13, t % 13 + 1 + t // 13), "different", annotator="x" * 1000)
                saved += 1
        except CoterieError as error:
            said = type(error).__name__
        except BaseException as error:
            said = "CRYPTIC " + repr(error)
        os.write(write, f"{{limit}} {{saved}} {{said}}".encode())
        os._exit(0)
    os.waitpid(pid, 0)
    print(os.read(read, 1000).decode(), flush=True)
    os.close(read), os.close(write)
"""


def check_full_disks(tmp_path, step, note):
    """RLIMIT_FSIZE lets every write beyond it fail, in the log, what is ahead of it, its lock."""
    note("tried", len(range(0, 480_000, step)))
    code = FULL.format(here=str(Path(__file__).parent), step=step)
    run = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=300)
    lines = [line.split(" ", 2) for line in done.stdout.splitlines()]
    assert len(lines) == len(range(0, 480_000, step)), done.stderr
    assert {said for _, _, said in lines} <= {"", "AnswerNotSaved", "AnswersInUse"}, lines
    saved = [int(n) for _, n, _ in lines]
    assert saved[0] == 0
    assert max(saved) == 16
    assert len(set(saved)) > 3  # it failed at the beginning, at the end and between
    for limit, n, _ in lines:
        if int(n):
            again = open_session(tmp_path / f"{limit}.db")
            assert len(again.history) == int(n)
            close(again)


@pytest.mark.skipif(sys.platform == "win32", reason="no RLIMIT_FSIZE")
def test_a_disk_that_is_full_at_many_writes(tmp_path, record_property):
    check_full_disks(tmp_path, 32_003, record_property)


@pytest.mark.slow
def test_a_disk_that_is_full_at_every_write(tmp_path, record_property):
    check_full_disks(tmp_path, 1999, record_property)


@pytest.mark.parametrize("path", ["/", "a\0b.db", "no/such/folder/a.db", "x" * 300])
def test_paths_that_cannot_be_are_said(tmp_path, path):
    with pytest.raises(AnswersInUse, match="cannot be locked"):
        AnswerStore(path if path == "/" else tmp_path / path)


def test_no_path_at_all_is_said():
    with pytest.raises(InvalidParameter, match="path='' must be a path"):
        AnswerStore("")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX permissions")
def test_a_read_only_place_is_said(log):
    """As somebody without rights: a superuser may write everywhere."""
    # Not `tmp_path`: folders of pytest are closed to others.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        check_read_only(log, Path(folder))


def check_read_only(log, tmp_path):
    code = (
        f"import os, sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from damaged_log import open_session\n"  # before the rights to read it may be gone
        "from coterie.exceptions import AnswerNotSaved, AnswersInUse\n"
        "if os.geteuid() == 0: os.setuid(65534)\n"
        "for path in sys.argv[1:]:\n"
        "    try: open_session(path).tell((0, 1), 'same')\n"
        "    except (AnswerNotSaved, AnswersInUse) as error: print('said', error)\n"
    )
    paths = []
    for folder, rights in ((tmp_path / "file", 0o777), (tmp_path / "folder", 0o555)):
        folder.mkdir()
        paths.append(shutil.copy(log[0], folder / "a.db"))
        os.chmod(paths[-1], 0o444)
        folder.chmod(rights)
    run = [sys.executable, "-c", code, *map(str, paths)]
    done = subprocess.run(run, capture_output=True, text=True, cwd="/")
    (tmp_path / "folder").chmod(0o777)
    in_file, in_folder = done.stdout.splitlines()
    assert "readonly" in in_file
    assert "Permission denied" in in_folder


def test_a_clock_that_goes_back_changes_no_order(tmp_path):
    moments = iter(datetime(2026, 1, 1, tzinfo=UTC) - timedelta(days=t) for t in range(100))
    session = open_session(
        tmp_path / "a.db", random_state=0, clock=lambda: next(moments).isoformat()
    )
    for t in range(6):
        session.tell((t, t + 1), WORDS[t % 2])
    session.undo().undo()
    said, asked = session.history, session.ask()
    close(session)
    again = open_session(tmp_path / "a.db")
    assert again.history == said
    assert [answer.rows[0] for answer in again.history] == [0, 1, 2, 3]
    assert again.ask() == asked
    close(again)


ODD_IDS = [
    "",
    " ",
    "a\nb\r\n",
    "nul\0within",
    "x" * 10_240,
    "ü😀\u202e",
    "'; DROP TABLE events; --",
]


def test_odd_ids_and_names_come_back_as_they_were(tmp_path):
    rows = X[: len(ODD_IDS)]
    with AnswerStore(tmp_path / "a.db") as store:
        session = ActiveSession(rows, strategy="random", store=store, ids=ODD_IDS, random_state=0)
        for at, name in enumerate(ODD_IDS[1:], 1):
            session.tell((0, at), "different", annotator=name)
    with AnswerStore(tmp_path / "a.db") as store:
        again = ActiveSession(rows[::-1], strategy="random", store=store, ids=ODD_IDS[::-1])
        last = len(ODD_IDS) - 1
        assert [answer.rows for answer in again.history] == [
            (last, last - at) for at in range(1, last + 1)
        ]
        assert [answer.annotator for answer in again.history] == ODD_IDS[1:]
        assert not any(again.row_changes)


def test_texts_that_cannot_be_written_are_said(tmp_path):
    with pytest.raises(InvalidParameter, match=r"ids\[2\]"):
        ActiveSession(X[:3], ids=["a", "b", "\ud800"])
    session = open_session(tmp_path / "a.db", random_state=0)
    with pytest.raises(InvalidParameter, match="annotator"):
        session.tell((0, 1), "same", annotator="\ud800")
    with pytest.raises(AnswerNotSaved, match="surrogates"):
        session._record(Event("name", target=0, text="\ud800"))
    assert session.tell((0, 1), "same").n_asked == 1
    close(session)


def test_many_answers_are_grouped_once(monkeypatch):
    """Of a log in which answers replace earlier ones; the groups are those of one by one."""
    rng = np.random.default_rng(0)
    drawn = [(i, j) for i, j in rng.integers(30, size=(2000, 2)).tolist() if i != j]
    answers = [
        Answer(t + 1, rows, WORDS[t % 3], None, None, "", "") for t, rows in enumerate(drawn)
    ]
    one_by_one = Knowledge()
    for answer in answers:
        one_by_one.add(answer)
    calls = []
    regroup = Knowledge._regroup
    monkeypatch.setattr(Knowledge, "_regroup", lambda self: (calls.append(1), regroup(self)))
    at_once = Knowledge(answers)
    assert len(calls) == 1
    assert vars(at_once) == vars(one_by_one)


@pytest.mark.slow
def test_a_hundred_thousand_answers_come_back(tmp_path):
    """In groups made once: one by one, those that replace others would take minutes."""
    rows = np.arange(2000.0).reshape(1000, 2)
    rng = np.random.default_rng(0)
    pairs = [(i, j) for i, j in rng.integers(1000, size=(101_000, 2)).tolist() if i != j]
    answers = [
        Answer(t + 1, rows_of, WORDS[t % 3], None, "ann", "2026-01-01", "x")
        for t, rows_of in enumerate(pairs[:100_000])
    ]
    with AnswerStore(tmp_path / "a.db") as store:
        ActiveSession(rows, strategy="random", store=store, random_state=0)
        store.append(*(Event("answer", answer) for answer in answers))
    with AnswerStore(tmp_path / "a.db") as store:
        assert len(ActiveSession(rows, strategy="random", store=store).history) == 100_000
