"""`coterie ask` in a real pseudo-terminal."""

from __future__ import annotations

import csv
import os
import re
import signal

import numpy as np
import pytest
from click.testing import CliRunner
from terminal_cli import Terminal

from coterie.active import ActiveSession, AnswerStore, Query, RandomPairs
from coterie.cli._records import read_records, to_numbers
from coterie.cli.ask import Conversation, ask, side_by_side
from coterie.exceptions import InvalidData

CLASSES = 3
PROMPT = "Same? [y/n/u/l/z/r/?/q] "


@pytest.fixture
def data(tmp_path):
    """A CSV whose id tells the class: a-, b-, c-."""
    rng = np.random.default_rng(0)
    path = tmp_path / "people.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "height", "weight", "town"])
        for t in range(18):
            c = t % CLASSES
            numbers = 10 * c + rng.normal(size=2)
            writer.writerow(
                [f"{'abc'[c]}-{t}", *(f"{v:.3f}" for v in numbers), ["Ulm", "Rom", "Bern"][c]]
            )
    return path


def ids_in(screen):
    """The two ids above the columns of the last question."""
    return re.findall(r"^ +([abc]-\d+) +([abc]-\d+)$", screen, re.MULTILINE)[-1]


def truth(screen):
    left, right = ids_in(screen)
    return "y" if left[0] == right[0] else "n"


def answers_in(path):
    with AnswerStore(path) as store:
        return [(*a.rows, a.answer) for a in store.answers()]


def test_answer_undo_why_quit_and_resume(data):
    log = data.with_name("answers.db")
    arguments = (data, "--id", "name", "--answers", log, "-k", CLASSES, "--annotator", "ann")
    terminal = Terminal("ask", *arguments)
    screen = terminal.read_until(PROMPT)
    assert "Question 1 — so far 0 same" in screen
    assert "* height |" in screen
    assert "\x1b" not in screen  # no colours, no cursor movement
    terminal.press(truth(screen))
    screen = terminal.read_until(PROMPT)
    asked = ids_in(screen)
    terminal.press("?")
    assert "farthest" in terminal.read_until(PROMPT)
    terminal.press("u")
    terminal.read_until(PROMPT)
    terminal.press("z")
    assert ids_in(terminal.read_until(PROMPT)) == asked  # taken back: asked again
    terminal.press("x")
    assert "y same" in terminal.read_until(PROMPT)  # an unknown key explains the keys
    terminal.press("q")
    terminal.read_until("all answers are saved")
    terminal.read_until("Labels")
    assert terminal.close() == 0
    assert len(answers_in(log)) == 1

    terminal = Terminal("ask", *arguments)
    screen = terminal.read_until(PROMPT)
    assert "Going on after 1 answers" in screen
    assert ids_in(screen) == asked  # the same next question
    for _ in range(200):
        terminal.press(truth(screen))
        try:
            screen = terminal.read_until(PROMPT)
        except AssertionError:
            break
    assert "Done: every row has its cluster" in terminal.seen
    assert terminal.close() == 0
    with open(data.with_name("people.csv.labels.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len({(row["id"][0], row["cluster"]) for row in rows}) == CLASSES
    with open(data.with_name("people.csv.constraints.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            assert (row["kind"] == "must") == (row["a"][0] == row["b"][0])


@pytest.mark.parametrize("end", ["kill", "hangup", "ctrl-c"])
def test_a_broken_connection_loses_nothing(data, end):
    log = data.with_name("answers.db")
    terminal = Terminal("ask", data, "--id", "name", "--answers", log, "--seed", 1)
    screen = terminal.read_until(PROMPT)
    terminal.press(truth(screen))
    terminal.read_until(PROMPT)  # the next question is the acknowledgement
    if end == "kill":
        os.kill(terminal.process.pid, signal.SIGKILL)
    elif end == "hangup":
        os.close(terminal.master)
        terminal.master = os.open(os.devnull, os.O_RDONLY)
    else:
        terminal.press("\x03")
        terminal.read_until("all answers are saved")
    terminal.close()
    assert len(answers_in(log)) == 1


def test_answers_can_be_piped_in(data):
    done = CliRunner().invoke(ask, [str(data), "--id", "name", "--seed", "1"], input="n\nu\nq\n")
    assert done.exit_code == 0, done.output
    log = data.with_name("people.csv.answers.db")
    assert [answer for _, _, answer in answers_in(log)] == ["different", "unknown"]


def test_a_contradiction_is_shown_and_the_person_decides(data):
    log = data.with_name("people.csv.answers.db")
    records = read_records(data, "name")
    X = to_numbers(records)

    def started(store):
        session = ActiveSession(X, strategy=RandomPairs(), store=store, random_state=0)
        return session.tell((0, 1), "same").tell((1, 2), "same")

    for keys, expected in {"1": 2, "k": 3, "x": 2}.items():
        log.unlink(missing_ok=True)
        with AnswerStore(log) as store:
            session = started(store)
            talk = Conversation(session, records, "ann", iter(keys).__next__)
            talk._tell(Query((0, 2), "test", "to clash"), "different")
            assert len(session.history) == expected
            kinds = {a.rows: a.answer for a in session.history}
            assert ((0, 2) in kinds) == (keys != "x")
            assert ((0, 1) in kinds) == (keys != "1")


def test_errors_are_one_line_that_says_what_to_do(data, tmp_path):
    runner = CliRunner()
    wrong = runner.invoke(ask, [str(data), "--id", "nam"])
    assert wrong.exit_code == 2
    assert "has no column 'nam' (--id). Did you mean 'name'? It has name, height" in wrong.output
    log = tmp_path / "held.db"
    with AnswerStore(log):
        held = runner.invoke(ask, [str(data), "--answers", str(log)])
    assert held.exit_code == 2
    assert f"in use by process {os.getpid()}" in held.output


def test_records_become_numbers_of_one_scale(data, tmp_path):
    records = read_records(data, "name")
    assert records.fields == ["height", "weight", "town"]
    X = to_numbers(records)
    assert X.shape[0] == 18
    assert np.isclose((X[:, :2] ** 2).sum(axis=1).mean(), 1)
    assert np.isclose((X[:, 2:] ** 2).sum(axis=1).mean(), 1)
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2\n3\n")
    with pytest.raises(InvalidData, match="line 3: 1 values for 2 columns"):
        read_records(bad)
    bad.write_text("a,b\n1,2\n1,3\n")
    with pytest.raises(InvalidData, match="'1' is used twice"):
        read_records(bad, "a")


def test_a_record_cannot_drive_the_terminal(data):
    records = read_records(data, "name")
    records.values[0][2] = "evil\x1b[2J" + "long " * 40
    shown = side_by_side(records, 0, 1, width=60)
    assert "\x1b" not in shown
    assert max(map(len, shown.splitlines())) <= 60
