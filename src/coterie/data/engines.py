"""Who runs a pass: threads, the processes of a pool, or whatever takes a function and a block."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import Any, Protocol, TypeVar

from coterie.data.block import Stretch
from coterie.data.threads import num_threads, one_blas_thread, thread_pool

__all__ = [
    "Engine",
    "ProcessEngine",
    "ThreadEngine",
    "current_engine",
    "in_order",
    "run_alone",
    "use_engine",
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
        return in_order(started, self.workers * _AHEAD)


def run_alone(function: Callable[[Any, Any], Result], stretch: Stretch, arguments: Any) -> Result:
    """Run in a worker as a thread of ours would: a product by one BLAS thread."""
    with one_blas_thread():
        return function(stretch.read(), arguments)


def in_order(started: Iterator[Any], ahead: int) -> Iterator[Any]:
    """Results of futures in their order; `ahead` of them are started before one is waited for."""
    waiting: deque[Any] = deque(islice(started, ahead))
    while waiting:
        yield waiting.popleft().result()
        waiting.extend(islice(started, 1))


_chosen: ContextVar[Engine | None] = ContextVar("coterie_engine", default=None)
_threads = ThreadEngine()


def current_engine() -> Engine:
    """The engine that `use_engine` chose, else threads."""
    return _chosen.get() or _threads


@contextmanager
def use_engine(engine: Engine) -> Iterator[None]:
    """Run passes over rows by `engine` inside a `with` block."""
    token = _chosen.set(engine)
    try:
        yield
    finally:
        _chosen.reset(token)
