"""Where output may not go, and signals at any moment: nothing is lost or half written."""

from __future__ import annotations

import os
import random
import signal
import stat
import threading
from pathlib import Path

import pytest
from commands import READING, make_folder, run

from coterie.cli.exits import Exit

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


def is_whole(data: bytes, like: bytes) -> bool:
    """Whether a file ends as the other does; Ctrl-C in a fit may leave another clustering."""
    return data.count(b"\n") == like.count(b"\n") and data[-1:] == like[-1:] == b"\n"


def at_random_moments(folder, kind, count, arguments, longest):
    """How often the command was stopped; every time its folder is as before or complete."""
    whole = run(*arguments)
    assert whole.exit_code == 0, whole.output
    made = contents(folder)
    new = {name for name in made if Path(name).name.startswith("new")}
    stopped = 0
    for seed in range(count):
        for name in new:
            Path(name).unlink(missing_ok=True)
        moment = random.Random(seed).uniform(0, longest)
        timer = threading.Timer(moment, os.kill, [os.getpid(), kind])
        timer.start()
        code = None
        try:
            try:
                code = run(*arguments).exit_code
            finally:
                timer.cancel()
                timer.join()
        except KeyboardInterrupt:  # it came before the command began, or after it ended
            timer.join()
        found = contents(folder)
        assert not [name for name in os.listdir(folder) if name.startswith(".")]
        left = {name: data for name, data in found.items() if name in new}
        assert all(is_whole(data, made[name]) for name, data in left.items())
        assert {k: v for k, v in found.items() if k not in new} == {
            k: v for k, v in made.items() if k not in new
        }
        stopped += code != 0
    return stopped


KINDS = {"ctrl-c": signal.SIGINT, "term": signal.SIGTERM}


@pytest.fixture
def outside():
    """A signal that comes when no command runs ends nothing."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", ["fit", "predict"])
def test_signals_at_random_moments(command, kind, folder, outside, record_property):
    record_property("tried", 8)
    arguments = READING["predict" if command == "predict" else "fit data"]("good.csv")
    at_random_moments(folder, KINDS[kind], 8, arguments, 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", READING)
def test_signals_at_a_hundred_random_moments(command, kind, folder, outside, record_property):
    record_property("tried", 100)
    file = {"fit pairs": "pairs.csv"}.get(command, "good.csv")
    at_random_moments(folder, KINDS[kind], 100, READING[command](file), 0.3)
