"""A fit on the command line: a progress bar after two seconds, and Ctrl-C keeps the best so far."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from coterie.cli._command import Talk
from coterie.progress import Interruption, Step, interruptible, watching

__all__ = ["watched"]

_PATIENCE = 2.0  # seconds before a bar is worth its lines
_TURN = 1.0  # seconds without a word after which another thread's loop is shown instead


@contextmanager
def watched(talk: Talk, what: str | Callable[[], str]) -> Iterator[Interruption]:
    """Show how far the fits inside this block are, on a terminal and unless told to be quiet.

    `what` is being fitted; a function says what it is at the moment.
    """

    def say() -> None:
        click.echo("\nEnding after this step; press Ctrl-C again to stop at once.", err=True)

    visible = sys.stderr.isatty() and not talk.quiet
    bar = Bar(what if callable(what) else lambda: what)
    waiting = threading.Timer(_PATIENCE, bar.say_why_not_yet)
    try:
        with interruptible(say) as interruption:
            if visible:
                waiting.daemon = True
                waiting.start()
                with watching(bar.show):
                    yield interruption
            else:
                yield interruption
    finally:
        waiting.cancel()
        bar.close()


class Bar:
    """A progress bar that appears once the work has taken two seconds."""

    def __init__(self, what: Callable[[], str]) -> None:
        self.what = what
        self.begun = time.monotonic()
        self.progress: Any = None
        self.task: Any = None
        self.last = 0
        self.begun_steps = False
        self.shown_thread, self.shown_at = 0, -_TURN
        self.turns = threading.Lock()

    def show(self, step: Step) -> None:
        """Show an iteration; also the watcher's signature, so it must return None.

        Of loops that run side by side one is shown: the bar would jump to and fro.
        """
        self.begun_steps = True
        with self.turns:
            now, thread = time.monotonic(), threading.get_ident()
            if thread == self.shown_thread or now - self.shown_at > _TURN:
                self.shown_thread, self.shown_at = thread, now
                self._show(step, now)

    def _show(self, step: Step, now: float) -> None:
        if self.progress is None:
            if now - self.begun < _PATIENCE:
                return
            self._open()
        if step.step <= self.last:  # another loop has begun: another start, another stage
            self.progress.reset(self.task)
        self.last = step.step
        text = f"step {step.step} of at most {step.total}, objective {step.objective:.6g}"
        self.progress.update(
            self.task,
            description=self.what(),
            completed=step.step,
            total=step.total,
            detail=text,
        )

    def say_why_not_yet(self) -> None:
        """Called when the work has taken two seconds: a first fit may compile for much longer."""
        if not self.begun_steps:
            click.echo(
                "Working. (The first fit with a method compiles it, once, for up to a minute.)",
                err=True,
            )

    def close(self) -> None:
        """Take the bar away."""
        if self.progress is not None:
            self.progress.stop()

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[detail]}"),
            TextColumn("at most"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self.task = self.progress.add_task(self.what(), total=None, detail="")
        self.progress.start()
