"""A lock that is given to those who wait in the order they came."""

from __future__ import annotations

import threading
from collections import deque
from types import TracebackType

__all__ = ["FairLock"]


class FairLock:
    """As `threading.RLock`, but first come, first served.

    Python's own lock goes to whoever asks at the right moment. Who has just had it is at work and
    asks at the right moment more often than those who sleep: of twenty people some would wait for
    seconds while others get one question after the other.

    Examples
    --------
    >>> lock = FairLock()
    >>> with lock, lock:
    ...     print("mine, and still mine")
    mine, and still mine
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()  # of what is below, for no longer than it takes to write it
        self._waiting: deque[tuple[int, threading.Lock]] = deque()
        self._owner: int | None = None
        self._depth = 0

    def acquire(self) -> bool:
        """Wait until it is this thread's turn."""
        me = threading.get_ident()
        if self._owner == me:
            self._depth += 1
            return True
        gate = threading.Lock()
        with self._guard:
            if self._owner is None:
                self._owner, self._depth = me, 1
                return True
            gate.acquire()
            self._waiting.append((me, gate))
        try:
            gate.acquire()  # opened by who had it before, who has written our name into it
        except BaseException:  # Ctrl-C in a notebook: nobody must wait for who has gone
            self._step_out(me, gate)
            raise
        return True

    def _step_out(self, me: int, gate: threading.Lock) -> None:
        with self._guard:
            if (me, gate) in self._waiting:
                self._waiting.remove((me, gate))
                return
        self.release()

    def release(self) -> None:
        """Give it to who has waited longest."""
        if self._owner != threading.get_ident():
            raise RuntimeError("cannot release a lock that another thread has, or nobody")
        self._depth -= 1
        if self._depth:
            return
        with self._guard:
            if not self._waiting:
                self._owner = None
                return
            self._owner, gate = self._waiting.popleft()
            self._depth = 1
            gate.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()
