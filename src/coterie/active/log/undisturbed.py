"""Ctrl-C and its like wait for the end of a statement that calls Python."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

__all__ = ["undisturbed"]

_KINDS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # not every system has all


@contextmanager
def undisturbed() -> Iterator[None]:
    """What signals would raise is raised at the end.

    SQLite drops what is raised in a function that it calls, and says "user-defined function raised
    exception" instead: a log that is whole would be called damaged, and Ctrl-C not heard.
    """
    if threading.current_thread() is not threading.main_thread():  # no other is disturbed
        yield
        return
    came: list[tuple[Any, int, Any]] = []

    def keep(how: Any) -> Any:
        return lambda number, frame: came.append((how, number, frame))

    try:
        with ExitStack() as put_back:
            for name in _KINDS:
                kind = getattr(signal, name, None)
                if kind is not None and callable(how := signal.getsignal(kind)):
                    put_back.callback(signal.signal, kind, how)
                    signal.signal(kind, keep(how))
            yield
    finally:
        for how, number, frame in came:
            how(number, frame)
