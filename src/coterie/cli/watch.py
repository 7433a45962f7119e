"""A fit on the command line: a progress bar after two seconds, and Ctrl-C keeps the best so far."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import click

from coterie.cli.command import Talk
from coterie.progress import (
    COMPILING,
    Blocks,
    Interruption,
    Step,
    announce_compiling,
    compiling,
    interruptible,
    watching,
    watching_blocks,
)

__all__ = ["TURN", "Bar", "announce", "shown", "watched"]

_PATIENCE = 2.0  # seconds before a bar is worth its lines
_BLINK = 0.1  # seconds between two counts of blocks
TURN = 1.0  # seconds without a word after which another thread's loop is shown instead


@contextmanager
def watched(
    talk: Talk, what: str | Callable[[], str], *, blocks: bool = False
) -> Iterator[Interruption]:
    """Show how far the fits inside this block are, on a terminal and unless told to be quiet.

    `what` is being fitted; a function says what it is at the moment. With `blocks` the blocks of
    rows that a pass has read are counted too: from files a step may take minutes.
    """

    def say() -> None:
        click.echo("\nEnding after this step; press Ctrl-C again to stop at once.", err=True)

    with (
        interruptible(say) as interruption,
        shown(talk, what, blocks=blocks) as bar,
        nullcontext() if bar is None else watching(bar.show),
    ):
        yield interruption


@contextmanager
def shown(
    talk: Talk, what: str | Callable[[], str], *, blocks: bool = False
) -> Iterator[Bar | None]:
    """Show that work without steps goes on, as `watched` does; None if nobody would see it.

    Ctrl-C ends it at once, as ever.
    """
    if not sys.stderr.isatty() or talk.quiet:
        yield None
        return
    bar = Bar(what if callable(what) else lambda: what)
    waiting = threading.Timer(_PATIENCE, bar.open)
    waiting.daemon = True
    waiting.start()
    try:
        with compiling(bar.compile), watching_blocks(bar.count) if blocks else nullcontext():
            yield bar
    finally:
        waiting.cancel()
        bar.close()


def announce(talk: Talk) -> None:
    """For commands without a bar: say on a terminal when something has to be compiled."""
    if sys.stderr.isatty() and not talk.quiet:
        announce_compiling(anywhere=True)


class Bar:
    """A progress bar that appears once the work has taken two seconds.

    It says which step a loop has come to, or that something else is going on: kernels are being
    compiled, or a loop has ended and the next has not begun.
    """

    def __init__(self, what: Callable[[], str]) -> None:
        self.what = what
        self.progress: Any = None
        self.task: Any = None
        self.closed = False
        self.compiles = False
        self.step: Step | None = None
        self.blocks: Blocks | None = None
        self.counted_at = -_BLINK
        self.shown_thread, self.shown_at = 0, -TURN
        self.turns = threading.RLock()

    def open(self) -> None:
        """Show the bar; from now on it is kept up to date."""
        with self.turns:
            if self.progress is None and not self.closed:
                self.progress = _progress()
                self.task = self.progress.add_task(self.what(), total=None, detail="", limit="")
                self._draw()
                self.progress.start()

    def show(self, step: Step) -> None:
        """Take note of an iteration; also the watcher's signature, so it must return None.

        Of loops that run side by side one is shown: the bar would jump to and fro.
        """
        with self.turns:
            now, thread = time.monotonic(), threading.get_ident()
            if thread == self.shown_thread or now - self.shown_at > TURN:
                self.shown_thread, self.shown_at = thread, now
                if self.progress is not None and self.step and step.step <= self.step.step:
                    self.progress.reset(self.task)  # another loop: another start, another stage
                self.step = step
                self._draw()

    def count(self, blocks: Blocks) -> None:
        """Take note of a block of rows that is done; drawn a few times a second at most."""
        with self.turns:
            self.blocks = blocks
            now = time.monotonic()
            if now - self.counted_at > _BLINK:
                self.counted_at = now
                self._draw()

    def compile(self, active: bool) -> None:
        """Take note that compiling has begun, or ended."""
        with self.turns:
            self.compiles = active
            self._draw()

    def close(self) -> None:
        """Take the bar away."""
        with self.turns:
            self.closed = True
            if self.progress is not None:
                self.progress.stop()

    def _draw(self) -> None:
        if self.progress is None or self.closed:
            return
        total, detail = self._state()
        if total is None:  # the bar moves to and fro and promises no time; `update` cannot say so
            self.progress.tasks[0].total = None
        elif self.step is not None:
            self.progress.update(self.task, completed=self.step.step, total=total)
        limit = "" if total is None else "at most"
        self.progress.update(self.task, description=self.what(), detail=detail, limit=limit)

    def _state(self) -> tuple[int | None, str]:
        """How many steps there are at most, if that says when it ends, and what is going on."""
        if self.compiles:
            return None, COMPILING
        read = "" if self.blocks is None else f", block {self.blocks.done} of {self.blocks.total}"
        if self.step is None:
            return None, f"working{read}"
        step, total, objective = self.step
        # Both would leave no room for the bar and the time on a line of 80 signs.
        last = read or f", objective {objective:.6g}"
        text = f"step {step} of at most {total}{last}"
        # After its last step a loop has nothing to wait for, and what follows is not counted.
        return (total if step < total else None), text


def _progress() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[detail]}"),
        TextColumn("{task.fields[limit]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
