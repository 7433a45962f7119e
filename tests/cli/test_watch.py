"""What a terminal shows of a long fit before its first step."""

from __future__ import annotations

import io
import sys
import threading
import time

import pytest

from coterie.cli import _watch
from coterie.cli._command import Talk
from coterie.progress import Step, keep_going

WAITING = "Working. (The first fit"


class Screen(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


def shown(monkeypatch, *, terminal=True, quiet=False, step=False, seconds=0.4):
    """What a watched piece of work leaves on the screen, with little patience."""
    monkeypatch.setattr(_watch, "_PATIENCE", 0.05)
    monkeypatch.setattr(sys, "stderr", Screen(terminal))
    with _watch.watched(Talk(as_json=False, quiet=quiet), "PCKMeans"):
        if step:
            keep_going(1, 10, 5.0)
        time.sleep(seconds)
    time.sleep(0.2)  # a timer that is left running would speak now
    return sys.stderr.getvalue()


def test_a_long_wait_for_the_first_step_is_explained_once(monkeypatch):
    assert shown(monkeypatch).count(WAITING) == 1


@pytest.mark.parametrize(
    "how", [{"step": True}, {"quiet": True}, {"seconds": 0.0}, {"terminal": False}], ids=str
)
def test_nothing_is_said_once_steps_come_or_to_nobody(monkeypatch, how):
    assert WAITING not in shown(monkeypatch, **how)


def test_of_loops_side_by_side_one_is_shown_until_it_is_silent(monkeypatch):
    monkeypatch.setattr(_watch, "_PATIENCE", 0.0)
    monkeypatch.setattr(_watch, "_TURN", 0.2)
    bar = _watch.Bar(lambda: "Mosaic")
    seen = []
    monkeypatch.setattr(bar, "_show", lambda step, now: seen.append(step.step))

    def elsewhere(number):
        other = threading.Thread(target=bar.show, args=(Step(number, 9, 0.0),))
        other.start()
        other.join()

    bar.show(Step(1, 9, 0.0))
    elsewhere(7)  # another loop, while this one speaks
    bar.show(Step(2, 9, 0.0))
    time.sleep(0.3)
    elsewhere(8)  # this one has ended
    assert seen == [1, 2, 8]
