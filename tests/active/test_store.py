"""The answer log: what was acknowledged stays, whatever happens."""

from __future__ import annotations

import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest
from child_answers import data
from problems_active import blobs, pairs_of

from coterie.active import ActiveSession, AnswerStore, ExploreConsolidate, LabelOracle, answer_all
from coterie.active.log import store as store_module
from coterie.exceptions import AnswerNotSaved, AnswersInUse, AnswersMismatch

HERE = Path(__file__).parent


def open_session(store, X, **options):
    return ActiveSession(X, strategy=ExploreConsolidate(3), store=store, **options)


def filled(path, X, y, questions, **options):
    with AnswerStore(path) as store:
        session = open_session(store, X, **options)
        answer_all(session, LabelOracle(y), max_questions=questions, annotator="ann")
        return pairs_of(session), session.ask(), session.random_state


def test_a_session_is_rebuilt_from_its_log(tmp_path):
    X, y = blobs()
    path = tmp_path / "a.db"
    with AnswerStore(path) as store:
        session = open_session(store, X)
        answer_all(session, LabelOracle(y), max_questions=9)
        session.tell(session.ask(), "unknown").tell(session.ask(), "later")
        session.undo(3).redo(1).retract(2)
        before = pairs_of(session), session.ask(), session.random_state, session.constraints
    with AnswerStore(path) as store:
        again = open_session(store, X)
        assert (pairs_of(again), again.ask(), again.random_state, again.constraints) == before
        again.undo()  # of the retraction: undo reaches back over the restart
        assert len(again.history) == len(before[0]) + 1
        number = again.tell(again.ask(), "unknown").history[-1].number
        assert number > 11  # numbers are not used twice


def test_other_data_are_refused(tmp_path):
    X, y = blobs()
    path = tmp_path / "a.db"
    filled(path, X, y, 3)
    changed = X.copy()
    changed[5, 1] += 1e-9
    for other in (changed, X[:-1], X.astype(np.float32)):
        with AnswerStore(path) as store, pytest.raises(AnswersMismatch, match="other data"):
            open_session(store, other)
    with AnswerStore(path) as store, pytest.raises(AnswersMismatch, match="random_state"):
        open_session(store, X, random_state=store.seed + 1)


def test_the_log_is_append_only(tmp_path):
    X, y = blobs()
    filled(tmp_path / "a.db", X, y, 3)
    with sqlite3.connect(tmp_path / "a.db") as db:
        for statement in ("DELETE FROM events", "UPDATE events SET answer = 'same'"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                db.execute(statement)


def test_export(tmp_path):
    X, y = blobs()
    pairs, _, _ = filled(tmp_path / "a.db", X, y, 6)
    pandas = pytest.importorskip("pandas")
    with AnswerStore(tmp_path / "a.db") as store:
        store.to_csv(tmp_path / "a.csv")
        store.to_parquet(tmp_path / "a.parquet")
        assert store.constraints().n_pairs == 6
    for frame in (pandas.read_csv(tmp_path / "a.csv"), pandas.read_parquet(tmp_path / "a.parquet")):
        assert [*zip(frame.i, frame.j, frame.answer, strict=True)] == pairs
        assert set(frame.annotator) == {"ann"}
        assert frame.certainty.isna().all()


def test_an_old_log_is_brought_up_to_date_and_a_newer_one_refused(tmp_path, monkeypatch):
    X, y = blobs()
    pairs, _, _ = filled(tmp_path / "a.db", X, y, 4)
    added = (*store_module.MIGRATIONS, "ALTER TABLE events ADD COLUMN place TEXT;")
    monkeypatch.setattr(store_module, "MIGRATIONS", added)
    with AnswerStore(tmp_path / "a.db") as store:
        assert pairs_of(open_session(store, X)) == pairs
        assert store._db.execute("SELECT place FROM events").fetchall() == [(None,)] * 4
    monkeypatch.undo()
    with pytest.raises(AnswersMismatch, match="newer Coterie"):
        AnswerStore(tmp_path / "a.db")


def test_a_file_that_is_no_log_is_refused(tmp_path):
    (tmp_path / "a.db").write_text("name,age\n" * 100)
    with pytest.raises(AnswersMismatch, match="cannot be used"):
        AnswerStore(tmp_path / "a.db")


def test_an_answer_is_on_the_disk_and_nobody_else_at_the_file(tmp_path):
    path = tmp_path / "a.db"
    with AnswerStore(path) as store:
        settings = {
            name: store._db.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("locking_mode", "journal_mode", "synchronous")
        }
        assert settings == {"locking_mode": "exclusive", "journal_mode": "wal", "synchronous": 3}
        with (
            closing(sqlite3.connect(path, timeout=0)) as other,  # of another program
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            other.execute("SELECT * FROM events").fetchall()


def test_a_closed_log_and_a_copy_are_one_file(tmp_path):
    X, _ = blobs()
    path, copy = tmp_path / "a.db", tmp_path / "copy.db"
    with AnswerStore(path) as store:
        session = open_session(store, X)
        session.tell((0, 1), "same")
        store.to_log(copy)
    for file in (path, copy):
        alone = tmp_path / f"alone-{file.name}"
        alone.write_bytes(file.read_bytes())
        with AnswerStore(alone) as store:
            assert [event.answer.rows for event in store.events()] == [(0, 1)]
        with closing(sqlite3.connect(alone)) as db:
            assert db.execute("PRAGMA journal_mode").fetchone()[0] == "delete"


def test_the_second_process_is_told_who_has_the_log(tmp_path):
    path = tmp_path / "a.db"
    with AnswerStore(path):
        code = f"from coterie.active import AnswerStore; AnswerStore({str(path)!r})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "AnswersInUse" in done.stderr
        assert f"process {os.getpid()} of" in done.stderr
        with pytest.raises(AnswersInUse, match=f"process {os.getpid()}"):
            AnswerStore(path)
    AnswerStore(path).close()


def test_a_full_disk_says_not_saved_and_harms_nothing(tmp_path):
    """RLIMIT_FSIZE makes every write beyond it fail, in the log and in what is ahead of it."""
    X, y = blobs()
    path = tmp_path / "a.db"
    oracle = LabelOracle(y)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with AnswerStore(path) as store:
        session = open_session(store, X)
        answer_all(session, oracle, max_questions=5)
        before, question = pairs_of(session), session.ask()
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size // 2, limits[1]))
            with pytest.raises(AnswerNotSaved, match="not saved"):
                session.tell(question, "same")
            with pytest.raises(AnswerNotSaved):
                session.undo()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            signal.signal(signal.SIGXFSZ, previous)
        assert (pairs_of(session), session.ask()) == (before, question)
        session.tell(question, oracle(question).answer)  # there is room again
        after = pairs_of(session)
    with AnswerStore(path) as store:
        assert store._db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert pairs_of(open_session(store, X)) == after


@pytest.fixture
def answering():
    """A process that starts answering processes (imports are paid for once)."""
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, str(HERE / "child_answers.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
        env=os.environ | one_thread,
    ) as process:
        yield process
        process.stdin.close()


def answer_until_killed(answering, path, some, delay):
    """(number, i, j) acknowledged by a process that is killed `delay` seconds after `some`."""
    answering.stdin.write(f"{path}\n")
    word, pid = answering.stdout.readline().split()
    assert word == "ready"
    lines = []
    while len(lines) < some and "gone\n" not in lines:
        lines.append(answering.stdout.readline())
    time.sleep(delay)
    with suppress(ProcessLookupError):  # every question is answered
        os.kill(int(pid), signal.SIGKILL)
    if "gone\n" not in lines:
        lines += iter(answering.stdout.readline, "gone\n")
    return [
        tuple(map(int, line.split()[1:]))
        for line in lines
        if line.startswith("saved") and len(line.split()) == 4 and line.endswith("\n")
    ]


def check_kill(answering, path, reference, some, delay):
    acknowledged = answer_until_killed(answering, path, some, delay)
    X, _ = data()
    with AnswerStore(path) as store:
        session = open_session(store, X)
        saved = [(a.number, *a.rows) for a in session.history]
        question = session.ask()
    assert saved == reference[: len(saved)]  # nothing doubled, nothing foreign, in order
    assert set(acknowledged) <= set(saved)  # nothing acknowledged was lost
    if len(saved) < len(reference):
        assert question.rows == reference[len(saved)][1:]
    return len(saved)


def rounds_of_killing(answering, tmp_path, rounds):
    X, y = data()
    session = ActiveSession(X, strategy=ExploreConsolidate(3), random_state=0)
    answer_all(session, LabelOracle(y))
    reference = [(a.number, *a.rows) for a in session.history]
    path, counts, log = tmp_path / "0.db", [0], 0
    for round_number in range(rounds):
        chance = random.Random(round_number)
        some, delay = chance.randrange(4), chance.uniform(0.0, 0.15)
        counts.append(check_kill(answering, path, reference, some, delay))
        if counts[-1] > 0.8 * len(reference):  # a fresh log: there must be answers to give
            log += 1
            path = tmp_path / f"{log}.db"
    assert max(counts) > 5  # the child did answer


def test_kill_9_at_random_moments_loses_and_doubles_nothing(answering, tmp_path):
    rounds_of_killing(answering, tmp_path, 20)


@pytest.mark.slow
def test_kill_9_two_hundred_times(answering, tmp_path):
    rounds_of_killing(answering, tmp_path, 200)
