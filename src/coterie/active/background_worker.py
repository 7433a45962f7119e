"""A thread that works when it is asked to, for whoever must not wait."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["BackgroundWorker"]


class BackgroundWorker:
    """One thread that does a piece of work when asked to; what is asked meanwhile is done once.

    Parameters
    ----------
    name : str
        Of the thread.
    work : callable
        Does the work, and says for how many seconds to leave the machine to others afterwards.
    """

    def __init__(self, name: str, work: Callable[[], float]) -> None:
        self._work = work
        self._wanted, self._idle, self._ended = (threading.Event() for _ in range(3))
        self._idle.set()
        self._thread = threading.Thread(target=self._loop, name=name, daemon=True)
        self._thread.start()

    @property
    def closed(self) -> bool:
        """Whether the thread ends after what it is doing."""
        return self._ended.is_set()

    def request(self) -> None:
        """Work, after what is being done."""
        self._idle.clear()
        self._wanted.set()

    def wait(self, seconds: float) -> bool:
        """Whether everything that was asked for is done within that time."""
        return self._idle.wait(seconds)

    def end(self) -> None:
        """End after what is being done, without waiting for that."""
        self._ended.set()
        self._wanted.set()

    def close(self) -> bool:
        """End after what is being done; whether it has ended within half a minute."""
        self.end()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=30)
        return not self._thread.is_alive()

    def _loop(self) -> None:
        while True:
            self._wanted.wait()
            if self.closed:
                return
            self._wanted.clear()
            pause = self._work()
            if not self._wanted.is_set():
                self._idle.set()
                if self._wanted.is_set():  # asked for between the two lines above
                    self._idle.clear()
            self._ended.wait(pause)
