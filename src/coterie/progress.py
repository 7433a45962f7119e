"""How far a fit has come, and how to end it early with the best found so far.

Loops of the estimators call `keep_going` once per iteration. Unless a watcher is installed that
costs next to nothing and never stops them.

>>> import numpy as np
>>> from coterie import PCKMeans
>>> from coterie.progress import watching
>>> X = np.random.default_rng(0).normal(size=(50, 2))
>>> seen = []
>>> with watching(seen.append):
...     model = PCKMeans(3, random_state=0).fit(X)
>>> seen[0].step, seen[0].total
(1, 300)
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import NamedTuple

__all__ = ["Interruption", "Step", "Watcher", "interruptible", "keep_going", "watching"]


class Step(NamedTuple):
    """One finished iteration: its number from 1, the most there can be, and the objective.

    A fit may run several loops one after the other (starts, stages); `step` then begins again.
    """

    step: int
    total: int
    objective: float


Watcher = Callable[[Step], bool | None]

_watchers: ContextVar[tuple[Watcher, ...]] = ContextVar("coterie_watchers", default=())


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Call `watcher` with a `Step` after every iteration of the fits inside this block.

    A watcher that returns True ends the running loop after this iteration, as `max_iter` would.
    It is asked again in the next loop, so to end a whole fit it must go on returning True.
    """
    token = _watchers.set((*_watchers.get(), watcher))
    try:
        yield
    finally:
        _watchers.reset(token)


def keep_going(step: int, total: int, objective: float) -> bool:
    """For loops: report a finished iteration; False means end here, with the best so far."""
    watchers = _watchers.get()
    if not watchers:
        return True
    report = Step(int(step), int(total), float(objective))
    verdicts = [watcher(report) for watcher in watchers]  # every one is told
    return True not in verdicts


class Interruption:
    """What Ctrl-C did inside an `interruptible` block.

    Attributes
    ----------
    pressed : bool
        It was pressed.
    ended : bool
        A loop was ended by it: the result is the best so far.
    """

    def __init__(self) -> None:
        self.pressed = False
        self.ended = False

    def watch(self, step: Step) -> bool:
        """The watcher that ends loops once Ctrl-C was pressed."""
        self.ended = self.pressed
        return self.pressed


@contextmanager
def interruptible(on_press: Callable[[], None] | None = None) -> Iterator[Interruption]:
    """Inside this block Ctrl-C ends fits after the current iteration; pressed again, at once.

    The fit returns as if it had reached its last iteration, with the best found so far. A second
    Ctrl-C raises `KeyboardInterrupt` as usual.

    Parameters
    ----------
    on_press : callable, optional
        Called at the first Ctrl-C, for instance to tell the person what happens next.

    Yields
    ------
    Interruption
        Its `ended` is True if the result is one that Ctrl-C ended early.

    Notes
    -----
    Signals reach the main thread only; in other threads the block changes nothing.
    """
    state = Interruption()

    def handle(number: int, frame: FrameType | None) -> None:
        if state.pressed:
            raise KeyboardInterrupt
        state.pressed = True
        if on_press is not None:
            on_press()

    if threading.current_thread() is not threading.main_thread():
        yield state
        return
    before = signal.signal(signal.SIGINT, handle)
    try:
        with watching(state.watch):
            yield state
    finally:
        signal.signal(signal.SIGINT, before)
