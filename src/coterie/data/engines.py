"""Who runs a pass: threads, the processes of a pool, or whatever takes a function and a block."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import Any, Protocol, TypeVar, cast

from coterie.data.block import Stretch
from coterie.data.threads import num_threads, one_blas_thread, thread_pool
from coterie.exceptions import InvalidParameter, WorkersLost

__all__ = [
    "Engine",
    "ProcessEngine",
    "ThreadEngine",
    "as_engine",
    "config",
    "current_engine",
    "engine",
    "in_order",
    "run_alone",
]

Result = TypeVar("Result")
_AHEAD = 2  # blocks in flight for each worker: enough to keep it busy, few enough to hold


class Engine(Protocol):
    """Runs a function on blocks, wherever it likes; the results come in the order of the blocks."""

    def map(
        self, function: Callable[[Any, Any], Result], stretches: Iterable[Stretch], arguments: Any
    ) -> Iterator[Result]:
        """Yield `function(stretch.read(), arguments)` of every stretch."""


class ThreadEngine:
    """The blocks side by side in `num_threads()` threads; kernels and BLAS let go of the lock."""

    def map(
        self, function: Callable[[Any, Any], Result], stretches: Iterable[Stretch], arguments: Any
    ) -> Iterator[Result]:
        """Yield `function(stretch.read(), arguments)` of every stretch."""
        waiting = list(stretches)
        threads = min(num_threads(), len(waiting))
        if threads == 1:
            yield from (function(stretch.read(), arguments) for stretch in waiting)
            return

        def work(stretch: Stretch) -> Result:
            return function(stretch.read(), arguments)

        yield from thread_pool(threads).map(work, waiting)


class ProcessEngine:
    """The blocks in the processes of a pool, for instance `ProcessPoolExecutor`.

    Parameters
    ----------
    pool : concurrent.futures.Executor
    workers : int
        How many of its processes to keep busy.
    """

    def __init__(self, pool: Executor, workers: int) -> None:
        self.pool = pool
        self.workers = workers

    def map(
        self, function: Callable[[Any, Any], Result], stretches: Iterable[Stretch], arguments: Any
    ) -> Iterator[Result]:
        """Yield `function(stretch.read(), arguments)` of every stretch; few travel at a time."""
        started = (
            self.pool.submit(run_alone, function, stretch, arguments) for stretch in stretches
        )
        try:
            yield from in_order(started, self.workers * _AHEAD)
        except BrokenExecutor as error:
            raise WorkersLost(
                "a process of the pool died (killed, or out of memory); nothing was written. Make "
                "a new pool and fit again, of fewer processes if memory is short."
            ) from error


def run_alone(function: Callable[[Any, Any], Result], stretch: Stretch, arguments: Any) -> Result:
    """Run in a worker as a thread of ours would: a product by one BLAS thread."""
    with one_blas_thread():
        return function(stretch.read(), arguments)


def in_order(started: Iterator[Any], ahead: int) -> Iterator[Any]:
    """Results of futures in their order; `ahead` of them are started before one is waited for."""
    waiting: deque[Any] = deque(islice(started, ahead))
    try:
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(islice(started, 1))
    finally:  # an error, Ctrl-C, or nobody wants the rest
        for future in waiting:
            future.cancel()


def as_engine(who: Any) -> Engine:
    """The engine that something is: see `engine`."""
    if who == "threads":
        return _threads
    if isinstance(who, Executor):
        return ProcessEngine(who, num_threads())
    if type(who).__module__.partition(".")[0] == "distributed":
        from coterie.data.dask_engine import DaskEngine

        return DaskEngine(who)
    if not hasattr(who, "map"):
        raise InvalidParameter(
            f"engine={who!r} is not known. Give 'threads', a pool of concurrent.futures, a "
            "distributed.Client, or an object like coterie.data.Engine."
        )
    return cast(Engine, who)


_chosen: ContextVar[Engine | None] = ContextVar("coterie_engine", default=None)
_threads = ThreadEngine()
_configured: Engine | None = None  # of the whole process, for code that has no `with` block


def config(*, engine: Any) -> None:
    """Set who runs passes from here on, in every thread of this process.

    Parameters
    ----------
    engine : "threads", pool, distributed.Client, Engine or None
        As in `coterie.engine`, which goes before it. None: as if nothing had been set, that is,
        rows of Dask's by the client that holds them and all others by threads.

    Examples
    --------
    >>> import coterie
    >>> coterie.config(engine="threads")
    >>> coterie.config(engine=None)
    """
    global _configured
    _configured = None if engine is None else as_engine(engine)


def current_engine(source: Any) -> Engine:
    """That of `engine`, else of `config`, else the cluster that holds the rows, else threads."""
    chosen = _chosen.get() or _configured
    if chosen is not None:
        return chosen
    client = getattr(source, "client", None)
    return _threads if client is None else as_engine(client)


@contextmanager
def engine(who: Any) -> Iterator[None]:
    """Who runs the passes over rows inside a `with` block. It never changes a result.

    Parameters
    ----------
    who : "threads", pool, distributed.Client or Engine
        A pool of `concurrent.futures` (processes, of a kind that can be spawned) works on rows in
        memory and in files; a Dask cluster on rows that it can reach by itself, and leaves those
        in memory to threads.

    Examples
    --------
    >>> import numpy as np
    >>> import coterie
    >>> with coterie.engine("threads"):
    ...     labels = coterie.PCKMeans(2, random_state=0).fit(np.array([[0.0], [1], [8]])).labels_
    """
    token = _chosen.set(as_engine(who))
    try:
        yield
    finally:
        _chosen.reset(token)
