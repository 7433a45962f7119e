"""Who is looking, and how each of them is told what happens."""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable
from typing import Any

__all__ = ["Audience", "Listener"]

Send = Callable[[str, Any], None]


class Listener:
    """Somebody who is told: `send(event, data)` is called in the thread where it happens.

    `person` may change (a page whose user gives a name); `send` must not wait.
    """

    def __init__(self, person: str, send: Send) -> None:
        self.person = person
        self.send = send


class Audience:
    """All listeners, and a clock that orders what they hear.

    Replies and events travel on different ways and may overtake each other. Whatever tells how
    things stand has `at`, taken *before* it was read: of two the one with the larger is shown, and
    what changed after a reading is told by an event with a larger one still.
    """

    def __init__(self) -> None:
        self._ticks = itertools.count(1)
        self._listeners: list[Listener] = []
        self._lock = threading.Lock()

    def now(self) -> int:
        """Larger every time it is asked for."""
        return next(self._ticks)

    def join(self, person: str, send: Send) -> Listener:
        """One more."""
        listener = Listener(person, send)
        with self._lock:
            self._listeners.append(listener)
        return listener

    def leave(self, listener: Listener) -> None:
        """One less."""
        with self._lock:
            self._listeners = [other for other in self._listeners if other is not listener]

    @property
    def people(self) -> list[str]:
        """Names, each once, sorted."""
        with self._lock:
            return sorted({listener.person for listener in self._listeners})

    def __len__(self) -> int:
        return len(self._listeners)

    def tell(self, event: str, data: Callable[[str], dict[str, Any]]) -> None:
        """Tell everybody; `data(person)` is what each of them hears, made once a person."""
        at = self.now()
        with self._lock:
            listeners = list(self._listeners)
        made: dict[str, Any] = {}
        for listener in listeners:
            if listener.person not in made:
                made[listener.person] = {**data(listener.person), "at": at}
            try:
                listener.send(event, made[listener.person])
            except Exception:  # what happened has happened, whoever can or cannot hear of it
                logging.getLogger("coterie.studio").exception("a listener of the studio failed")
