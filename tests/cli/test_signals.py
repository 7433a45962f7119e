"""Ctrl-C, SIGTERM, SIGHUP and a reader that has gone: an exit code, a line, nothing half written.

Signals at random moments are in tests/fuzz/test_outputs.py; here they come at known ones.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from terminal_cli import Terminal, listing

from coterie.active import AnswerStore
from coterie.cli import _fitting
from coterie.cli import main as group
from coterie.cli.exits import Exit

ENDS = {
    signal.SIGINT: Exit.INTERRUPTED,
    signal.SIGTERM: Exit.TERMINATED,
    signal.SIGHUP: Exit.HUNG_UP,
}
ROWS = "id,x,y\n" + "".join(f"r{t},{t % 2 * 9 + t / 10},{t / 7:.3f}\n" for t in range(12))
FIT = ("fit", "rows.csv", "--id", "id", "-k", 2, "--method", "pckmeans", "-o", "new.csv")


@pytest.fixture(autouse=True)
def heard():
    """Tests that are run below `nohup` would ignore SIGHUP, and so would what they start."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
def signalled(monkeypatch):
    """Send this process a signal whenever a fit is about to begin."""

    def send(kind):
        check = _fitting.check_fits

        def and_check(*arguments):
            os.kill(os.getpid(), kind)
            return check(*arguments)

        monkeypatch.setattr(_fitting, "check_fits", and_check)

    return send


@pytest.mark.parametrize("kind", ENDS)
@pytest.mark.parametrize("command", [FIT, ("demo",)], ids=["fit", "demo"])
def test_a_signal_ends_the_command_in_order(kind, command, folder, run, signalled):
    """The demo called it a bug of its own, as a fit inside it had ended otherwise than well."""
    (folder / "rows.csv").write_text(ROWS)
    before = listing(".")
    signalled(kind)
    done = run(*command)
    assert done.exit_code == ENDS[kind], done.output
    assert "nothing is half written" in done.stderr
    assert "should not happen" not in done.output
    assert listing(".") == before


def test_ctrl_c_that_a_fit_takes_ends_the_demo(folder, run, monkeypatch):
    """A first one only ends the iterations of the fit; the demo went on, and called it a bug."""
    fit = _fitting.fit_model
    stopped_early = lambda *given, **how: fit(*given, **how) or True  # noqa: E731
    monkeypatch.setattr(_fitting, "fit_model", stopped_early)
    done = run("demo")
    assert done.exit_code == Exit.INTERRUPTED, done.output
    assert listing(".") == {}


def test_a_folder_that_appears_while_the_demo_begins_is_left(folder, run, monkeypatch):
    from coterie.cli import _files

    def made_meanwhile(path, *_):
        path.mkdir()
        (path / "mine.txt").write_text("mine")

    monkeypatch.setattr(_files, "check_target", made_meanwhile)
    done = run("demo")
    assert done.exit_code == Exit.NOT_WRITTEN, done.output
    assert (folder / "coterie-demo" / "mine.txt").read_text() == "mine"


def test_hanging_up_is_ignored_below_nohup(folder, run, signalled):
    (folder / "rows.csv").write_text(ROWS)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        signalled(signal.SIGHUP)
        assert run(*FIT).exit_code == Exit.DONE
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_ctrl_c_while_a_command_is_loaded(folder, run, monkeypatch):
    """click says 1, which is "the pairs cannot all be kept" here."""

    def interrupted(name):
        raise KeyboardInterrupt

    monkeypatch.setattr(group, "import_module", interrupted)
    done = run(*FIT)
    assert (done.exit_code, done.stderr) == (
        Exit.INTERRUPTED,
        "Error: stopped; nothing is half written.\n",
    )


PRINTING = {
    "completion": ("completion", "bash"),
    "warmup": ("warmup", "dpmeans"),
    "demo": ("demo",),
    "ask": ("ask", "rows.csv", "--id", "id", "-k", 2, "--answers", "log.db"),
    "fit": (*FIT[:-1], "-"),
    "help": ("--help",),
}


@pytest.mark.parametrize("command", PRINTING)
def test_nobody_reads(command, folder):
    """As `| head` does at once: no traceback, and not the code of pairs that cannot be kept."""
    (folder / "rows.csv").write_text(ROWS)
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "coterie", *map(str, PRINTING[command])],
            stdin=subprocess.DEVNULL,
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == (1 if command == "help" else Exit.NOBODY_READS), done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert {name.split("/")[0] for name in listing(".")} <= {"rows.csv", "log.db", "log.db.lock"}


@pytest.mark.parametrize("kind", ENDS)
def test_a_conversation_keeps_its_answers(kind, folder):
    """While it waits for a key; a closed terminal sends SIGHUP."""
    (folder / "rows.csv").write_text(ROWS)
    terminal = Terminal(*PRINTING["ask"])
    terminal.read_until("Same?")
    terminal.press("n")
    terminal.read_until("Same?")
    terminal.process.send_signal(kind)
    if kind is signal.SIGINT:  # stops asking, and writes what was found
        terminal.read_until("all answers are saved")
        terminal.read_until("Constraints")
        assert terminal.close() == Exit.DONE
    else:
        terminal.read_until("nothing is half written")
        assert terminal.close() == ENDS[kind]
    with AnswerStore(folder / "log.db") as store:
        assert [answer.answer for answer in store.answers()] == ["different"]
    assert not [name for name in os.listdir(".") if name.startswith(".")]
