"""Answers thought over and questions planned in a thread of their own, where that takes long."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie.active.background_worker import BackgroundWorker
from coterie.data import one_blas_thread

if TYPE_CHECKING:
    from coterie.active.query import Query
    from coterie.active.session import ActiveSession

__all__ = ["BackgroundPlans", "Planning"]


class Planning(NamedTuple):
    """Questions that are still to be planned.

    Attributes
    ----------
    run : callable
        Plans them by the answers of now; touches nothing of the session that `tell` and `ask` do.
    keep : bool
        Whether the questions themselves are wanted, or only what was thought over for them.
    """

    run: Callable[[], list[Query]]
    keep: bool


class BackgroundPlans:
    """One thread that does for a session what those who answer should not wait for.

    Parameters
    ----------
    session : ActiveSession
    lock : lock
        Held while the session is touched.
    """

    def __init__(self, session: ActiveSession, lock: Any) -> None:
        self._session, self._lock = session, lock
        self._worker = BackgroundWorker("coterie-plans", self._plan)

    def request(self) -> None:
        """Answers have changed."""
        self._worker.request()

    def wait(self, seconds: float) -> bool:
        """Whether everything that was asked for is done within that time."""
        return self._worker.wait(seconds)

    def close(self) -> bool:
        """End after what is being planned; whether that has ended."""
        return self._worker.close()

    def _plan(self) -> float:
        """Plan, and give those who answer a part of the time: none where nothing takes long."""
        begun = time.monotonic()
        try:
            with self._lock:
                task = self._session.planning()
            if task is None:
                return 0.0
            with one_blas_thread():  # the other cores are for those who answer
                questions = task.run()
            with self._lock:
                if not self._worker.closed:
                    self._session.adopt_plans(questions if task.keep else [])
        except Exception:  # then who answers plans; it must not end the thread
            logging.getLogger("coterie").exception("questions could not be planned ahead")
        return min((time.monotonic() - begun) / 4, 0.1)
