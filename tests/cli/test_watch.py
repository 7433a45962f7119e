"""What a terminal shows of a long fit: its steps, and what else it is about."""

from __future__ import annotations

import io
import re
import sys
import threading
from collections import deque

import numba
import numba.extending
import pytest

from coterie.cli import watch
from coterie.cli.command import Talk
from coterie.progress import Blocks, Step, count_blocks, keep_going


class Screen(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


class Patience(threading.Thread):
    """A timer that goes off when the work says that it has taken long: no clock, no chance."""

    def __init__(self, _, function):
        super().__init__(daemon=True)
        self.function = function
        self.over, self.cancelled, self.spoken = (threading.Event() for _ in range(3))
        patience.append(self)

    def run(self):
        self.over.wait()
        if not self.cancelled.is_set():
            self.function()
        self.spoken.set()

    def cancel(self):
        self.cancelled.set()
        self.over.set()


patience = []  # of the command that is watched, if it has any


def shown(monkeypatch, work, *, terminal=True, quiet=False, blocks=False):
    """What a watched piece of work leaves on the screen."""
    monkeypatch.setattr(watch.threading, "Timer", Patience)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stderr", Screen(terminal))
    patience.clear()
    with watch.watched(Talk(as_json=False, quiet=quiet), "PCKMeans", blocks=blocks):
        work()
    left = sys.stderr.getvalue()
    for timer in patience:  # one that is left running would speak now
        timer.over.set()
        timer.join()
    assert sys.stderr.getvalue() == left
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", left)


def a_while():
    """Until patience is over, and the bar is there if there is to be one."""
    for timer in patience:
        timer.over.set()
        assert timer.spoken.wait(60)


def step(number, total):
    def work():
        keep_going(number, total, 5.0)
        a_while()

    return work


def step_over_blocks(number, total, count):
    def work():
        keep_going(number, total, 5.0)
        deque(count_blocks(range(count), count), maxlen=0)
        a_while()

    return work


def compile_something():
    def slow(x):
        a_while()  # while the arguments are being typed
        return x

    @numba.extending.overload(slow)
    def typed(x):
        slow(0)
        return lambda x: x + 1

    @numba.njit
    def kernel(x):
        return slow(x)

    assert kernel(1) == 2


def test_a_long_wait_for_the_first_step_is_shown(monkeypatch):
    assert "PCKMeans" in shown(monkeypatch, a_while)
    assert "working" in shown(monkeypatch, a_while)


def test_compiling_is_said_while_it_goes_on(monkeypatch):
    screen = shown(monkeypatch, compile_something)
    assert "compiling, once on this machine" in screen
    assert "compiling" not in shown(monkeypatch, a_while)


def test_steps_are_shown_with_the_time_they_may_take(monkeypatch):
    screen = shown(monkeypatch, step(3, 10))
    assert "step 3 of at most 10, objective 5" in screen
    assert re.search(r"at most (\d|-):", screen)


def test_a_line_has_room_for_steps_blocks_and_the_time(monkeypatch):
    screen = shown(monkeypatch, step_over_blocks(3, 300, 64), blocks=True)
    assert "step 3 of at most 300, block 64 of 64 at most" in screen
    assert re.search(r"at most .{0,8}(\d|-):", screen)
    assert "…" not in screen


def test_work_without_steps_counts_its_blocks(monkeypatch):
    def work():
        with watch.shown(Talk(as_json=False, quiet=False), "Placing rows") as bar:
            bar.count(Blocks(3, 12))
            a_while()

    screen = shown(monkeypatch, work)
    assert "Placing rows" in screen
    assert "working, block 3 of 12" in screen


def test_a_loop_that_has_ended_promises_no_time(monkeypatch):
    screen = shown(monkeypatch, step(8, 8))
    assert "step 8 of at most 8" in screen
    assert not re.search(r"\d:\d\d:\d\d", screen)
    assert "at most -" not in screen


@pytest.mark.parametrize("how", [{"quiet": True}, {"terminal": False}], ids=str)
@pytest.mark.parametrize("work", [a_while, step(3, 10)])
def test_nothing_is_said_to_nobody(monkeypatch, how, work):
    assert shown(monkeypatch, work, **how) == ""


def test_nothing_is_said_of_quick_work(monkeypatch):
    assert shown(monkeypatch, lambda: keep_going(1, 10, 5.0)) == ""


def test_of_loops_side_by_side_one_is_shown_until_it_is_silent(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(watch.time, "monotonic", lambda: now[0])
    bar = watch.Bar(lambda: "Mosaic")
    seen = []
    monkeypatch.setattr(bar, "_draw", lambda: seen.append(bar.step.step))

    def elsewhere(number):
        other = threading.Thread(target=bar.show, args=(Step(number, 9, 0.0),))
        other.start()
        other.join()

    bar.show(Step(1, 9, 0.0))
    elsewhere(7)  # another loop, while this one speaks
    bar.show(Step(2, 9, 0.0))
    now[0] += 1.5 * watch.TURN
    elsewhere(8)  # this one has ended
    assert seen == [1, 2, 8]
