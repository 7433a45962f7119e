"""How fast a program may be called: so many calls a minute, and pauses that it asks for."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

__all__ = ["Pace"]

_WINDOW = 60.0  # seconds


class Pace:
    """Lets at most `per_minute` calls begin in any 60 seconds, and none while it is paused.

    Parameters
    ----------
    per_minute : int or None
        None: as many as come.
    clock : callable
        Seconds.
    sleep : callable
        Waits so many seconds; a coroutine function.
    """

    def __init__(
        self,
        per_minute: int | None,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._per_minute = None if per_minute is None else int(per_minute)
        self._clock = clock
        self._sleep = sleep
        self._begun: deque[float] = deque(maxlen=self._per_minute)
        self._paused_until = -float("inf")
        self._turn = asyncio.Lock()

    def pause(self, seconds: float) -> None:
        """No call begins for so long."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    async def wait(self) -> None:
        """Return when the next call may begin; those who wait come one after the other."""
        async with self._turn:
            while (needed := self._free_at() - self._clock()) > 0:
                await self._sleep(needed)
            if self._per_minute is not None:
                self._begun.append(self._clock())

    def _free_at(self) -> float:
        full = self._per_minute is not None and len(self._begun) == self._per_minute
        return max(self._paused_until, self._begun[0] + _WINDOW if full else -float("inf"))
