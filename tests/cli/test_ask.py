"""`coterie ask` in a real pseudo-terminal."""

from __future__ import annotations

import csv
import json
import os
import re
import signal

import numpy as np
import pytest
from click.testing import CliRunner
from terminal_cli import Terminal

from coterie.active import (
    STRATEGIES,
    ActiveSession,
    AnswerStore,
    Query,
    RandomPairs,
    Strategy,
    register_strategy,
)
from coterie.active.log.row_ids import fingerprint
from coterie.cli.ask import Conversation, ask
from coterie.cli.main import main
from coterie.tables import Choices, Records, read_inputs

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
    assert "Going on after 1 answer." in screen
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
    inputs = read_inputs(data, None, Choices("name"))
    records = Records.of(inputs.table, inputs.ids, ["height", "town"])

    def started(store):
        session = ActiveSession(inputs.X, strategy=RandomPairs(), store=store, random_state=0)
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


HOW = ("--id", "name", "--drop", "town", "--scale", "--seed", "1")


def asked(data, *options, keys="q\n"):
    return CliRunner().invoke(main, ["ask", str(data), *map(str, options)], input=keys)


def facts(log):
    with AnswerStore(log) as store:
        return store.facts


def test_rows_are_clustered_in_the_space_that_fit_uses(data):
    assert asked(data, *HOW, keys="n\nq\n").exit_code == 0
    inputs = read_inputs(data, None, Choices("name", drop=("town",), scale=True))
    begun = facts(data.with_name("people.csv.answers.db"))
    assert begun["data"] == fingerprint(inputs.X)
    assert int(begun["n_features"]) == 2


def test_a_log_with_ids_goes_on_when_rows_and_columns_change(data):
    asked(data, *HOW, keys="n\ny\nq\n")
    other = asked(data, "--id", "name", "--scale")
    assert other.exit_code == 0, other.output
    assert "rows changed" not in other.output  # other columns of the same records
    lines = data.read_text().splitlines()
    data.write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")  # upside down
    again = asked(data, "--id", "name", "--scale")
    assert again.exit_code == 0, again.output
    assert "edited" not in again.output
    assert "rows changed" not in again.output
    assert "so far 1 same, 1 different" in again.output


def test_what_became_of_rows_is_told_row_by_row(data):
    """Scaled columns change with every row that comes: only records that differ are edited."""
    how = HOW
    asked(data, *how, keys="n\ny\nq\n")
    head, *rows = data.read_text().splitlines()
    with open(f"{data}.constraints.csv", newline="", encoding="utf-8") as file:
        told = {row[end] for row in csv.DictReader(file) for end in "ab"}
    other = next(at for at, row in enumerate(rows) if row.split(",")[0] not in told)
    cells = rows[other].split(",")
    rows[other] = ",".join([cells[0], "77", *cells[2:]])
    gone = next(at for at, row in enumerate(rows) if row.split(",")[0] in told)
    lost = rows.pop(gone).split(",")[0]
    fresh = ",".join(["zoe", *cells[1:]])
    data.write_text("\n".join([head, *rows, fresh]) + "\n")
    again = asked(data, *how)
    assert again.exit_code == 0, again.output
    assert f"1 added (zoe); 1 removed ({lost}); 1 edited ({cells[0]})" in again.output
    assert "about rows that are gone; kept aside" in again.output
    data.write_text("\n".join([head, *rows, fresh, ",".join([lost, *cells[1:]])]) + "\n")
    back = asked(data, *how)
    assert f"1 added ({lost})" not in back.output  # the log knows it
    assert "gone" not in back.output
    assert "so far 1 same, 1 different" in back.output


def test_a_log_without_ids_about_other_columns_is_refused_with_the_way_on(data):
    how = ("--features", "height,weight")
    asked(data, *how, "--seed", "1", keys="n\ny\nq\n")
    other = asked(data, *how, "--scale")
    assert other.exit_code == 2, other.output
    assert "columns used in another way" in other.output
    pairs = data.with_name("people.csv.constraints.csv")
    assert f"--constraints {pairs}" in other.output
    # What the message advises: a new log that starts from the answers of the old one.
    new = data.with_name("new.db")
    more = asked(data, *how, "--scale", "--answers", new, "--constraints", pairs)
    assert more.exit_code == 0, more.output
    assert "2 pairs are known already." in more.output
    assert "Question 1 — so far 0 same" in more.output


def test_a_log_of_another_seed_is_refused(data):
    asked(data, *HOW, keys="n\ny\nq\n")
    wrong = asked(data, *HOW[:-1], "2")
    assert "was begun with random_state=1, not 2" in wrong.output


def test_known_pairs_count_are_kept_and_are_not_asked_again(data):
    pairs = data.with_name("pairs.csv")
    pairs.write_text("a,b,kind,weight\na-0,a-3,must,inf\na-0,b-1,cannot,1\nb-1,c-2,cannot,1\n")
    given = (*HOW, "-k", 3, "--constraints", pairs)
    first = asked(data, *given, keys="u\nq\n")
    assert "3 pairs are known already." in first.output
    again = asked(data, *given, keys="zz\nq\n")  # the second z would take back what was known
    assert "3 pairs are known already.\nGoing on after 1 answer." in again.output
    assert "what was known at the start" in again.output
    log = data.with_name("people.csv.answers.db")
    assert sorted(answer for *_, answer in answers_in(log)) == ["different", "different", "same"]
    final = asked(data, *given, keys="u\nq\n")
    assert final.exit_code == 0
    with open(data.with_name("people.csv.constraints.csv"), encoding="utf-8") as file:
        written = {(row["a"], row["b"]): row["certainty"] for row in csv.DictReader(file)}
    assert written[("a-0", "a-3")] == "1.0"  # hard pairs stay hard
    assert len(written) == 3


def test_options_that_do_not_go_together_are_refused(data):
    for options, message in {
        ("--strategy", "information", "-k", 3): "counts the clusters itself: leave -k out",
        ("--strategy", "random"): "needs the number of clusters: give -k",
        ("--strategy", "npu", "--error-rate", 0.1, "-k", 3): "'npu' has no parameter --error-rate",
        ("--strategy", "explor"): "Did you mean 'explore'?",
        ("--drop", "twon"): "has no column 'twon' (--drop). Did you mean 'town'?",
        ("--fields", "twon"): "has no column 'twon' (--fields). Did you mean 'town'?",
    }.items():
        done = asked(data, "--id", "name", *options)
        assert done.exit_code == 2, options
        assert message in done.output
    np.save(data.with_name("x.npy"), np.eye(4))
    assert "asking needs named columns" in asked(data.with_name("x.npy")).output


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_can_be_asked_for(name, data):
    made = STRATEGIES[name]
    k = () if made.clusters else ("-k", 3)
    done = asked(data, *HOW, "--strategy", name, *k, keys="n\nq\n")
    assert done.exit_code == 0, done.output
    strategy = facts(data.with_name("people.csv.answers.db"))["strategy"]
    assert strategy.startswith(made.__name__)


def test_a_registered_strategy_is_offered(data):
    class Toy(Strategy):
        def prepare(self, context):
            return RandomPairs().prepare(context)

    register_strategy("toy", Toy)
    try:
        assert asked(data, *HOW, "--strategy", "toy", "-k", 3, keys="n\nq\n").exit_code == 0
        assert "random, toy." in asked(data, "--strategy", "tpy").output
    finally:
        del STRATEGIES["toy"]


@pytest.mark.parametrize("name", ["questions.csv", "questions.json"])
def test_questions_go_to_a_file_and_answers_come_from_one(data, tmp_path, name):
    path = tmp_path / name
    wrote = asked(data, *HOW, "--write-questions", path, "--count", 4)
    assert wrote.exit_code == 0, wrote.output
    assert f"Questions   {path} (4 questions)" in wrote.output
    assert "No answers, nothing written." in wrote.output
    if path.suffix == ".csv":
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            row["answer"] = "same" if row["a"][0] == row["b"][0] else "different"
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    else:
        tasks = json.loads(path.read_text(encoding="utf-8"))
        for task in tasks:
            same = task["data"]["a"][0] == task["data"]["b"][0]
            value = {"choices": ["same" if same else "different"]}
            task["annotations"] = [{"result": [{"from_name": "answer", "value": value}]}]
        path.write_text(json.dumps(tasks), encoding="utf-8")
    for new in (4, 0):
        read = asked(data, *HOW, "--read-answers", path, "--annotator", "ann")
        assert read.exit_code == 0, read.output
        assert f"Read        {path} (4 answers, {new} new)" in read.output
        assert "Constraints" in read.output
    missing = asked(data, *HOW, "--read-answers", tmp_path / "none.csv")
    assert missing.exit_code == 2


def test_a_log_of_rows_that_cannot_be_used_is_not_left(tmp_path):
    """Found by `make fuzz`: it was tied to them, and refused the rows once they were mended."""
    data, log = tmp_path / "rows.csv", tmp_path / "new.db"
    ask = ["ask", str(data), "--id", "id", "-k", "2", "--answers", str(log)]
    ask += ["--write-questions", str(tmp_path / "q.csv"), "--count", "2"]
    data.write_text("id,x\na,1\nb,1e300\nc,3\nd,9\n")
    done = CliRunner().invoke(main, ask)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]
    data.write_text("id,x\na,1\nb,2\nc,3\nd,9\n")
    done = CliRunner().invoke(main, ask)
    assert done.exit_code == 0, done.output
    data.write_text("id,x\na,1\nb,1e300\nc,3\nd,9\n")
    assert CliRunner().invoke(main, ask).exit_code == 2
    assert log.exists()  # it was there before
