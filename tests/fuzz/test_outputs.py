"""Where output may not go, and signals at any moment: nothing is lost or half written."""

from __future__ import annotations

import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import click
import pytest
from commands import READING, WHOLE, make_folder, run

from coterie.active import AnswerStore
from coterie.cli.exits import Exit
from coterie.cli.main import main
from coterie.tables import Records, side_by_side

FIT = ("fit", "good.csv", "--id", "id", "-k", 2, "--method", "pckmeans", "pairs.csv")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_folder()
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


WRITING = {
    "fit": (*FIT, "-o"),
    "save": (*FIT, "--save"),
    "predict": ("predict", "model", "good.csv", "-o"),
    "report": ("report", "model", "good.csv", "-o"),
    "suspects": ("suspects", "good.csv", "pairs.csv", "--model", "model", "-o"),
}


@pytest.mark.parametrize("command", WRITING)
@pytest.mark.parametrize("target", ["taken", "no/such/folder/o", "/dev/full", "pairs.csv/o"])
def test_output_that_cannot_be_is_said_and_harms_nothing(command, target, folder):
    ending = {"report": ".html", "save": ""}.get(command, ".csv")
    name = target if target.startswith("/dev") else target + ending
    if target == "taken":
        Path(name).mkdir()
        Path(name, "mine.txt").write_text("mine")
    before = contents(folder)
    done = run(*WRITING[command], name)
    assert done.exit_code in (Exit.BAD_INPUT, Exit.NOT_WRITTEN), done.output
    assert done.stderr.count("\n") <= 3
    assert contents(folder) == before
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)  # not replaced by a file


@pytest.mark.parametrize("command", ["fit", "predict"])
def test_output_to_the_input_file_is_refused_or_whole(command, folder):
    rows = Path("good.csv").read_text().splitlines()
    done = run(*WRITING[command], "good.csv")
    after = Path("good.csv").read_text().splitlines()
    if done.exit_code:
        assert after == rows
    else:
        assert len(after) == len(rows)
        assert after[0].startswith("id,") or after[0].startswith("id")
    assert not [name for name in os.listdir(".") if name.startswith(".")]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.parametrize("command", ["fit", "predict", "report", "suspects"])
def test_a_pipe_is_not_replaced_by_a_file(command, folder):
    """It was, with --force, and who read the pipe waited for ever."""
    name = "pipe.html" if command == "report" else "pipe.csv"
    os.mkfifo(name)
    done = run(*WRITING[command], name, "--force")
    assert (done.exit_code, done.stderr.count("\n")) == (Exit.NOT_WRITTEN, 1), done.output
    assert stat.S_ISFIFO(os.stat(name).st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("command", ["fit data", "predict", "check", "score"])
def test_a_full_device_for_the_screen_is_said(command, folder):
    arguments = ("-" if str(a).startswith("new") else str(a) for a in READING[command]("good.csv"))
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "coterie", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == Exit.NOT_WRITTEN, done.stderr
    assert "the output was not written: No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_who_stops_reading_ends_the_command_without_a_word_too_many(folder):
    with subprocess.Popen(
        [sys.executable, "-m", "coterie", *map(str, FIT), "-o", "-"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        said = child.stderr.read()
    assert "Traceback" not in said
    assert "a file:" not in said


DRIVING = "\x1b[2J\x07\x9b31m"  # clears the screen, rings, writes red


def drives(text: str) -> bool:
    return bool({"\x1b", "\x07", "\x9b"} & set(text))


def test_data_does_not_drive_the_terminal(folder):
    """Ids, names of columns and values in notes, results and errors."""
    rows = [f"{DRIVING}{t},{t % 2 * 9 + t / 10},7,{DRIVING}" for t in range(12)]
    Path("d.csv").write_text(f"id,x,same{DRIVING},note\n" + "\n".join(rows))
    Path("p.csv").write_text("a,b,kind\n" + f"{DRIVING}0,{DRIVING}1,must\n" * 2)
    Path("hard.csv").write_text(
        f"a,b,kind,weight\n{DRIVING}0,{DRIVING}1,must,inf\n{DRIVING}0,{DRIVING}1,cannot,inf\n"
    )
    fit = ("fit", "d.csv", "--id", "id", "-k", 2, "--method", "pckmeans")
    for code, arguments in (
        (Exit.DONE, (*fit, "--constraints", "p.csv", "--save", "new-model")),
        (Exit.DONE, ("suspects", "d.csv", "p.csv", "--model", "new-model")),
        (Exit.UNSATISFIABLE, (*fit, "--constraints", "hard.csv")),
    ):
        done = run(*arguments)
        assert done.exit_code == code, done.output
        assert "31m" in done.output  # the harmless part of it
        assert not drives(done.output), arguments


def test_questions_do_not_drive_the_terminal():
    records = Records([f"f{DRIVING}"], [f"a{DRIVING}", "b"], [[DRIVING], ["x"]])
    assert not drives(side_by_side(records, 0, 1, width=60))


def answers_in(name: str) -> list[object]:
    """The answers of a log, which says itself whether it is whole."""
    with AnswerStore(name) as store:
        return list(store.answers())


def is_log(name: str) -> bool:
    return name.endswith((".db", ".db-wal", ".lock"))


def is_whole(name: str, data: bytes, like: bytes) -> bool:
    """Whether a file ends as the other does; Ctrl-C in a fit may leave another clustering."""
    if is_log(name):
        return not name.endswith(".db") or isinstance(answers_in(name), list)
    return data.count(b"\n") == like.count(b"\n") and data[-1:] == like[-1:]


def remove_new(folder: Path) -> None:
    for path in folder.glob("new*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


#: How a command that a signal reaches may end.
ENDS = (Exit.DONE, Exit.STOPPED_EARLY, Exit.INTERRUPTED, Exit.TERMINATED, Exit.HUNG_UP)


def at_random_moments(folder, kind, count, arguments):
    """How often the command was stopped; every time its folder is as before or complete."""
    begun = time.monotonic()
    whole = run(*arguments)
    longest = 1.1 * (time.monotonic() - begun)
    assert whole.exit_code == 0, whole.output
    made = contents(folder)
    new = {str(path) for start in folder.glob("new*") for path in (start, *start.rglob("*"))}
    told = {name: answers_in(name) for name in made if name.endswith(".db") and name not in new}
    stopped = 0
    for seed in range(count):
        remove_new(folder)
        moment = random.Random(seed).uniform(0, longest)
        timer = threading.Timer(moment, os.kill, [os.getpid(), kind])
        code = None
        try:
            try:
                timer.start()
                done = run(*arguments)
                code = done.exit_code
                assert code in ENDS, (seed, code, done.output)
                assert "Traceback" not in done.output, seed
            finally:
                timer.cancel()
                timer.join()
        except KeyboardInterrupt:  # it came before the command began, or after it ended
            timer.join()
        found = contents(folder)
        assert not [name for name in os.listdir(folder) if name.startswith(".")]
        left = {name: data for name, data in found.items() if name in new}
        assert all(is_whole(name, data, made[name]) for name, data in left.items()), seed
        for start in folder.glob("new*/"):  # a folder is there with all that is in it, or not
            inside = {str(path) for path in start.rglob("*")}
            assert inside == {name for name in new if name.startswith(f"{start}/")}, seed
        old = {k: v for k, v in made.items() if k not in new and not is_log(k)}
        assert {k: v for k, v in found.items() if k not in new and not is_log(k)} == old, seed
        for name, said in told.items():  # a log that is gone on with holds what it held
            assert answers_in(name) == said, seed
        stopped += code != 0
    return stopped


KINDS = {"ctrl-c": signal.SIGINT, "term": signal.SIGTERM, "hang-up": signal.SIGHUP}


@pytest.fixture
def outside():
    """A signal that comes when no command runs ends nothing."""
    ending = (signal.SIGTERM, signal.SIGHUP)
    before = {kind: signal.signal(kind, signal.default_int_handler) for kind in ending}
    yield
    for kind, how in before.items():
        signal.signal(kind, how)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", ["fit", "predict"])
def test_signals_at_random_moments(command, kind, folder, outside, record_property):
    record_property("tried", 8)
    arguments = READING["predict" if command == "predict" else "fit data"]("good.csv")
    at_random_moments(folder, KINDS[kind], 8, arguments)


#: Every command but the studio, which is stopped in tests/studio/test_process.py.
COMMANDS = {name: of(WHOLE.get(name, "good.csv")) for name, of in READING.items()} | {
    "demo": ("demo", "--folder", "new-demo"),
    "warmup": ("warmup", "pckmeans"),
    "completion": ("completion", "bash"),
}


def test_every_command_is_there():
    known = main.list_commands(click.Context(main))
    assert {arguments[0] for arguments in COMMANDS.values()} == {*known} - {"studio"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", COMMANDS)
def test_signals_at_a_hundred_random_moments(command, kind, folder, outside, record_property):
    record_property("tried", 100)
    at_random_moments(folder, KINDS[kind], 100, COMMANDS[command])
