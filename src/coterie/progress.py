"""How far a fit has come, and how to end it early with the best found so far.

Loops of the estimators call `keep_going` once per iteration. Unless a watcher is installed that
costs next to nothing and never stops them.

>>> import numpy as np
>>> from coterie import PCKMeans
>>> from coterie.progress import watching
>>> X = np.random.default_rng(0).normal(size=(50, 2))
>>> seen = []
>>> with watching(seen.append):
...     model = PCKMeans(3, init="k-means++", random_state=0).fit(X)
>>> seen[0].step, seen[0].total
(1, 300)
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, NamedTuple, TypeVar

__all__ = [
    "COMPILING",
    "Blocks",
    "Interruption",
    "Step",
    "Watcher",
    "announce_compiling",
    "compiling",
    "count_blocks",
    "interruptible",
    "keep_going",
    "watching",
    "watching_blocks",
]

#: What is said while kernels are compiled.
COMPILING = "compiling, once on this machine"


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


class Blocks(NamedTuple):
    """How far a pass over the rows is: blocks of rows that are done, and all there are."""

    done: int
    total: int


_block_watchers: ContextVar[tuple[Callable[[Blocks], None], ...]] = ContextVar(
    "coterie_block_watchers", default=()
)
Item = TypeVar("Item")


@contextmanager
def watching_blocks(watcher: Callable[[Blocks], None]) -> Iterator[None]:
    """Call `watcher` with `Blocks` after every block of rows of the passes inside this block.

    An iteration makes one pass or several; from files each may take minutes.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import PCKMeans
    >>> from coterie.progress import watching_blocks
    >>> seen = []
    >>> with watching_blocks(seen.append):
    ...     model = PCKMeans(2, random_state=0).fit(np.array([[0.0], [1.0], [8.0]]))
    >>> seen[0]
    Blocks(done=1, total=1)
    """
    token = _block_watchers.set((*_block_watchers.get(), watcher))
    try:
        yield
    finally:
        _block_watchers.reset(token)


def count_blocks(results: Iterable[Item], total: int) -> Iterator[Item]:
    """For passes: the results of blocks as they come, each told to whoever watches."""
    for done, result in enumerate(results, start=1):
        for watcher in _block_watchers.get():
            watcher(Blocks(done, total))
        yield result


@contextmanager
def compiling(watcher: Callable[[bool], None]) -> Iterator[None]:
    """Call `watcher` with True when numba begins to compile inside this block, False when it ends.

    Kernels that are in numba's cache are loaded, which is quick and not told. A fit may compile
    several times. The watcher is called in the thread that compiles.

    Examples
    --------
    >>> import numba
    >>> from coterie.progress import compiling
    >>> seen = []
    >>> with compiling(seen.append):
    ...     numba.njit(lambda x: x + 1)(1)
    2
    >>> seen
    [True, False]
    """
    from numba.core import event

    with event.install_listener("numba:compile", _compile_listener(watcher)):
        yield


def _compile_listener(watcher: Callable[[bool], None]) -> Any:
    """A listener of numba's that tells the outermost compilation; those inside it are its parts."""
    from numba.core import event

    class Listener(event.Listener):
        depth = 0

        def on_start(self, event: Any) -> None:
            self.depth += 1
            if self.depth == 1:
                watcher(True)

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if self.depth == 0:
                watcher(False)

    return Listener()


class _Announcer:
    """Says once that kernels are being compiled, when that has taken a second."""

    PATIENCE = 1.0  # seconds

    def __init__(self) -> None:
        self.begun: float | None = None
        self.said = False

    def watch(self, active: bool) -> None:
        now = time.monotonic()
        if self.begun is None:
            self.begun = now
        if not self.said and now - self.begun >= self.PATIENCE:
            self.said = True
            print(f"Coterie: {COMPILING}; this may take half a minute.", file=sys.stderr)


_announcer: _Announcer | None = None


def announce_compiling(*, anywhere: bool = False) -> None:
    """In a notebook or at a prompt, say it (on the standard error) when a first fit compiles.

    Estimators call it; the second call and later ones change nothing. Elsewhere nothing is said,
    unless `anywhere`: for programs that know somebody is looking.
    """
    global _announcer
    if _announcer is not None or not (anywhere or _is_interactive()):
        return
    from numba.core import event

    _announcer = _Announcer()
    event.register("numba:compile", _compile_listener(_announcer.watch))


def _is_interactive() -> bool:
    """A notebook's kernel, or Python's own prompt."""
    return "ipykernel" in sys.modules or hasattr(sys, "ps1")


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
