"""One stream of events for each page, and the JSON that goes over it."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator
from typing import Any

from starlette.concurrency import run_in_threadpool

from coterie.studio.core import Studio
from coterie.studio.guard import Visitor

__all__ = ["dumps", "stream"]

_BEAT = 15.0  # seconds between two signs of life
_MOST_WAITING = 500  # events that a page may be behind before it has to begin anew


def dumps(found: Any) -> str:
    """JSON, in which numbers that are none are null."""
    try:
        return json.dumps(found, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return json.dumps(_without_nan(found), ensure_ascii=False, allow_nan=False)


def _without_nan(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: _without_nan(value) for name, value in found.items()}
    if isinstance(found, list | tuple):
        return [_without_nan(value) for value in found]
    return None if isinstance(found, float) and not math.isfinite(found) else found


async def stream(studio: Studio, visitor: Visitor) -> AsyncIterator[str]:
    """The state, then everything that happens; ends for a page that is too far behind."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()

    def send(event: str, data: Any) -> None:
        loop.call_soon_threadsafe(waiting.put_nowait, (event, data))

    listener = await run_in_threadpool(studio.listen, send, visitor.person)
    visitor.listeners.append(listener)
    try:
        state = await run_in_threadpool(studio.state, visitor.person)
        yield _message("state", state)
        while waiting.qsize() < _MOST_WAITING:
            try:
                event, data = await asyncio.wait_for(waiting.get(), _BEAT)
            except TimeoutError:
                yield ": still here\n\n"
                continue
            yield _message(event, data)
    finally:
        visitor.listeners.remove(listener)
        loop.run_in_executor(None, studio.leave, listener)


def _message(event: str, data: Any) -> str:
    return f"event: {event}\ndata: {dumps(data)}\n\n"
