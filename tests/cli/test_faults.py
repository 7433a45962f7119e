"""Full disks, Ctrl-C and the progress bar."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from terminal_cli import Terminal, listing

from coterie.cli.exits import Exit
from coterie.cluster import PCKMeans
from coterie.tables import load_bundle

FIT = ("fit", "data.csv", "--id", "id", "--drop", "class", "-k", "3", "--method", "pckmeans")

# A write beyond the limit fails as on a full disk once the signal is ignored. The first fit may
# store compiled code.
FULL = """
import resource, signal, sys
from coterie.cli.main import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
fit = sys.argv[1:]
main([*fit, "-o", "good.csv", "--save", "good"], standalone_mode=False)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
for target in ["-o o.csv", "-o o.tsv", "-o o.jsonl", "-o o.parquet", "-o o.feather", "-o o.npy",
               "--save m", "--force --save good", "--force -o good.csv"]:
    print(target, main([*fit, *target.split()], standalone_mode=False), flush=True)
"""


def test_a_full_disk_leaves_nothing_and_keeps_what_was(data):
    done = subprocess.run(
        [sys.executable, "-c", FULL, *FIT, "--quiet"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 9
    assert all(line.endswith(f" {Exit.NOT_WRITTEN.value}") for line in lines), done.stdout
    assert done.stderr.count(" was not written: ") == done.stderr.count("File too large") == 9, (
        done.stderr
    )
    assert "Traceback" not in done.stderr
    names = {path.name for path in Path().iterdir()}
    assert names == {"data.csv", "pairs.csv", "good.csv", "good"}
    assert load_bundle(Path("good")).model.labels_.shape == (30,)
    assert len(Path("good.csv").read_text().splitlines()) == 31


def pressed(monkeypatch, times):
    """Make every fit of PCKMeans begin with so many Ctrl-C."""
    fit = PCKMeans.fit

    def interrupted(self, *arguments, **options):
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)
        return fit(self, *arguments, **options)

    monkeypatch.setattr(PCKMeans, "fit", interrupted)


def test_ctrl_c_once_writes_the_best_so_far_and_says_so(data, run, rows, monkeypatch):
    pressed(monkeypatch, 1)
    result = run(*FIT, "--set", "tol=0", "--set", "n_init=5", "-o", "o.csv", "--save", "m")
    assert result.exit_code == Exit.STOPPED_EARLY
    assert "Ending after this step" in result.stderr
    assert "Stopped early: the best found in 1 step was kept" in result.stdout
    assert len(rows("o.csv")) == 30
    assert load_bundle(Path("m")).made["stopped_early"] is True
    result = run(*FIT, "--json", "--quiet")
    assert json.loads(result.stdout)["stopped_early"] is True


def test_ctrl_c_twice_stops_at_once_and_writes_nothing(data, run, monkeypatch):
    pressed(monkeypatch, 2)
    before = listing(".")
    result = run(*FIT, "-o", "o.csv", "--save", "m")
    assert result.exit_code == Exit.INTERRUPTED
    assert "nothing is half written" in result.stderr
    assert listing(".") == before


@pytest.fixture
def long(folder):
    """A fit that goes on until it is stopped."""
    rng = np.random.default_rng(0)
    np.save("x.npy", rng.normal(size=(3000, 4)))
    settings = ("--set", "tol=0", "--set", "max_iter=1000000", "--seed", 0)
    return ("fit", "x.npy", "-k", 5, "--method", "ppc", *settings, "-o", "o.npy")


def test_a_terminal_shows_progress_and_ctrl_c_keeps_the_best(long):
    terminal = Terminal(*long, kind="xterm")
    try:
        terminal.read_until("PPC ")
        terminal.read_until("of at most 1000000")
        terminal.press("\x03")
        terminal.read_until("Ending after this step")
        terminal.read_until("Stopped early")
        assert terminal.close() == Exit.STOPPED_EARLY
    finally:
        terminal.process.kill()
    assert np.load("o.npy").shape == (3000,)
