"""Clusterings made in a thread of their own, so that nobody who answers waits for one."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie.active.background_plans import BackgroundPlans
from coterie.active.background_worker import BackgroundWorker
from coterie.data import one_blas_thread
from coterie.exceptions import CoterieError
from coterie.parameters import check_arguments
from coterie.progress import Blocks, Step, compiling, watching, watching_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coterie.active.forecast import Forecast
    from coterie.active.session import ActiveSession

__all__ = ["BackgroundRefits", "FitState", "Labelled", "Labelling"]

_TELL_EVERY = 0.2  # seconds between two words about progress
_SHORTEST_PAUSE = 0.3  # seconds between two fits; longer ones pause as long as they took


class Labelled(NamedTuple):
    """Clusters of all rows, (n,), and how good they are, where the strategy says so.

    `certainty` is how well each row fits its cluster, (n,).
    """

    labels: NDArray[Any]
    forecast: Forecast | None = None
    certainty: NDArray[Any] | None = None


class Labelling(NamedTuple):
    """A clustering that is still to be made.

    Attributes
    ----------
    version : int
        Of the answers that it is by.
    run : callable
        Makes it; touches nothing of the session that `tell` and `ask` do, so that it may run
        beside them.
    best_so_far : bool
        Whether it can be ended early with a result; else nothing comes of it.
    """

    version: int
    run: Callable[[], Labelled]
    best_so_far: bool = True


@dataclass(frozen=True)
class FitState:
    """How far a clustering is.

    Attributes
    ----------
    running, stopping, compiling : bool
    step, total : int
        Of the loop that runs; a fit may have several.
    objective : float or None
    n_done : int
        Clusterings that were finished; who shows one knows by it whether there is a newer one.
    seconds : float or None
        That the last one took.
    error : str or None
        Why the last one failed; the one before it is then still shown.
    """

    running: bool = False
    stopping: bool = False
    compiling: bool = False
    step: int = 0
    total: int = 0
    objective: float | None = None
    n_done: int = 0
    seconds: float | None = None
    error: str | None = None


class _Stopped(CoterieError):
    """A clustering was stopped that has nothing to show yet."""


class BackgroundRefits:
    """One thread that clusters again whenever answers have changed: one at a time, newest wins.

    From now on `session.labels()` gives the last clustering that is finished and never fits
    itself. Answers that come while a fit runs are in the next one. A second thread learns from the
    answers and plans questions ahead; `session.ask()` gives those that are still open, which may
    be a few answers late, and plans itself only when none is left (`at_once=True`: not even then).
    Who asks right after answering can wait for questions that know the answer, without the lock
    and not for long: `await_plan`.

    Parameters
    ----------
    session : ActiveSession
    lock : lock
        Held while the session is touched; whoever else uses the session holds it too.
    on_change : callable, optional
        Called with the `FitState` when it changes, in this thread, without the lock.

    Examples
    --------
    >>> import threading
    >>> import numpy as np
    >>> from coterie import ActiveSession, PCKMeans
    >>> from coterie.active import BackgroundRefits
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1], [9.0]])
    >>> session = ActiveSession(X, strategy="random", estimator=PCKMeans(2, random_state=0))
    >>> refits = BackgroundRefits(session, threading.RLock())
    >>> _ = session.tell((2, 4), "same")
    >>> refits.request()
    >>> refits.wait(60), session.labels().tolist()[2] == session.labels().tolist()[4]
    (True, True)
    >>> refits.close()
    """

    def __init__(
        self,
        session: ActiveSession,
        lock: Any,
        on_change: Callable[[FitState], None] | None = None,
    ) -> None:
        check_arguments(BackgroundRefits, locals())
        self._session = session
        self._lock = lock
        self._on_change = on_change
        self.state = FitState()
        self._changing = threading.Lock()  # of the state: who stops a fit is another thread
        self._stop = False
        self._told = 0.0
        self._looped = False
        session.work_elsewhere()
        self._plans = BackgroundPlans(session, lock)
        self._worker = BackgroundWorker("coterie-refits", self._fit)

    def request(self) -> None:
        """Cluster by the answers of now, after what is running."""
        self._worker.request()
        self._plans.request()

    def request_plan(self) -> None:
        """Plan questions, if there are not enough; nothing is clustered."""
        self._plans.request()

    def await_plan(self, version: int, seconds: float) -> None:
        """Wait for questions by the answers of that `session.version`, at most for so long.

        Not at all where planning has taken longer than that. Not with the lock held.
        """
        self._plans.await_plan(version, seconds)

    def stop(self) -> None:
        """End the running fit after its current step, with the best found so far.

        A strategy's own clustering has none: the one before it stays.
        """
        with self._changing:  # a fit that ends at this moment is not to be shown as running
            if not self.state.running or self.state.stopping:
                return
            self._stop = True
            self.state = replace(self.state, stopping=True)
        self._tell()

    def wait(self, seconds: float) -> bool:
        """Whether everything that was asked for is done within that time."""
        end = time.monotonic() + seconds
        return self._worker.wait(seconds) and self._plans.wait(max(0.0, end - time.monotonic()))

    def close(self) -> None:
        """End, without waiting for the running fit to be complete; `session.labels()` fits again.

        Not with the lock held: a thread that is ending may be waiting for it.
        """
        self._stop = True
        self._worker.end()
        ended = [self._plans.close(), self._worker.close()]
        if all(ended):  # else one is in the middle of what the session would do itself
            with self._lock:
                self._session.work_here()

    # -- the thread ------------------------------------------------------------------------
    def _fit(self) -> float:
        """Cluster, and leave half of the time to those who answer."""
        begun = time.monotonic()
        self._stop, self._looped = self._worker.closed, False
        self._change(running=True, step=0, total=0, objective=None, error=None, stopping=False)
        try:
            with self._lock:
                task = self._session.labelling()
            blocks = self._watch_blocks if task.best_so_far else self._stop_at_blocks
            with (
                watching(self._watch),
                watching_blocks(blocks),
                compiling(self._compiling),
                one_blas_thread(),  # the other cores are for those who answer
            ):
                found = task.run()
            with self._lock:
                if not self._worker.closed:
                    self._session.adopt_labels(found, task.version)
        except CoterieError as error:
            self._end(begun, str(error))
        except Exception as error:  # a fit that fails must not end the thread
            self._end(begun, f"{type(error).__name__}: {error}")
        else:
            self._end(begun, None)
        return max(self.state.seconds or 0.0, _SHORTEST_PAUSE)

    def _end(self, begun: float, error: str | None) -> None:
        self._change(
            running=False,
            stopping=False,
            compiling=False,
            n_done=self.state.n_done + (error is None),
            seconds=time.monotonic() - begun,
            error=error,
        )

    def _watch(self, step: Step) -> bool:
        self._looped = True
        self._progress(step.step, step.total, step.objective)
        return self._stop

    def _watch_blocks(self, blocks: Blocks) -> None:
        """Blocks of rows are told where no loop tells its steps."""
        if not self._looped:
            self._progress(blocks.done, blocks.total, None)

    def _stop_at_blocks(self, blocks: Blocks) -> None:
        self._watch_blocks(blocks)
        if self._stop:
            raise _Stopped("stopped; the clusters shown are those from before.")

    def _progress(self, step: int, total: int, objective: float | None) -> None:
        now = time.monotonic()
        if now - self._told >= _TELL_EVERY:
            self._told = now
            self._change(step=step, total=total, objective=objective)

    def _compiling(self, active: bool) -> None:
        self._change(compiling=active)

    def _change(self, **values: Any) -> None:
        with self._changing:
            self.state = replace(self.state, **values)
        self._tell()

    def _tell(self) -> None:
        if self._on_change is not None and not self._worker.closed:
            try:
                self._on_change(self.state)
            except Exception:  # whoever listens must not end the clusterings
                logging.getLogger("coterie").exception("a listener of BackgroundRefits failed")
