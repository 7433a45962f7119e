"""Single keys from the terminal, none lost between two questions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

__all__ = ["key_reader"]


@contextmanager
def key_reader() -> Iterator[Callable[[], str]]:
    """A function that waits for the next key and returns it; "" at the end of input.

    The terminal is switched once for the whole conversation, not for every key: a key pressed
    while the next question is being worked out is kept.
    """
    if not sys.stdin.isatty():
        yield lambda: sys.stdin.read(1)
        return
    if sys.platform == "win32":
        yield click.getchar
        return
    import termios
    import tty

    device = sys.stdin.fileno()
    before = termios.tcgetattr(device)
    try:
        tty.setcbreak(device, termios.TCSANOW)
        yield lambda: sys.stdin.read(1)
    finally:
        termios.tcsetattr(device, termios.TCSADRAIN, before)
