"""Time in which nobody waits."""

from __future__ import annotations

import asyncio


class VirtualTime:
    """A clock, and a sleep that moves it on once everybody else had a turn."""

    def __init__(self):
        self.now = 1000.0
        self.slept = []
        self._until = []

    def clock(self):
        return self.now

    async def sleep(self, seconds):
        self.slept.append(seconds)
        until = self.now + seconds
        self._until.append(until)
        while self.now < until:
            for _ in range(20):
                await asyncio.sleep(0)
            if until == min(self._until):
                self.now = max(self.now, until)
        self._until.remove(until)

    @property
    def options(self):
        return {"clock": self.clock, "sleep": self.sleep}
