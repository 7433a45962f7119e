"""Learning from answers and planning questions, in a thread of its own."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Any

from coterie.active.background_worker import BackgroundWorker
from coterie.data import one_blas_thread

if TYPE_CHECKING:
    from coterie.active.session import ActiveSession

__all__ = ["BackgroundPlans"]

_SHORT = 0.05  # seconds: for a plan that takes no longer somebody may wait
_LONGEST_REST = 0.5


class BackgroundPlans:
    """One thread that does for a session what those who answer should not wait for.

    Parameters
    ----------
    session : ActiveSession
    lock : lock
        Held while the session is touched: to read the answers, and to hand in the questions.
    """

    def __init__(self, session: ActiveSession, lock: Any) -> None:
        self._session, self._lock = session, lock
        self._news = threading.Condition()
        self._version = -1  # of the answers that the last plan is by
        self._took: list[float] = []  # seconds, the last two times
        self._worker = BackgroundWorker("coterie-plans", self._plan)

    def request(self) -> None:
        """Answers have changed, or there are more people."""
        self._worker.request()

    def wait(self, seconds: float) -> bool:
        """Whether everything that was asked for is done within that time."""
        return self._worker.wait(seconds)

    def await_plan(self, version: int, seconds: float) -> None:
        """Wait for a plan of these answers; not at all where it would not come in that time."""
        with self._news:
            if min(self._took, default=0.0) <= seconds:
                self._news.wait_for(lambda: self._version >= version, seconds)

    def close(self) -> bool:
        """End after what is being planned; whether that has ended."""
        return self._worker.close()

    def _plan(self) -> float:
        """Plan, and say for how long to rest."""
        begun = time.monotonic()
        try:
            with self._lock:
                task = self._session.planning()
            if task is None:
                return 0.0
            with one_blas_thread():  # the other cores are for those who answer
                plan = task()
            with self._lock:
                if not self._worker.closed:
                    self._session.adopt_plan(plan)
            self._tell(plan.version, time.monotonic() - begun)
        except Exception as error:  # it must not end the thread
            logging.getLogger("coterie").exception("questions could not be planned ahead")
            with self._lock:
                self._session.adopt_failure(error)
        return _rest(time.monotonic() - begun)

    def _tell(self, version: int, seconds: float) -> None:
        with self._news:
            self._version, self._took = version, [*self._took[-1:], seconds]
            self._news.notify_all()


def _rest(spent: float) -> float:
    """Seconds that are left to those who answer; half of the time, where plans take long."""
    return spent / 4 if spent <= _SHORT else min(spent, _LONGEST_REST)
