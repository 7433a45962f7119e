"""What runs the blocks of a pass: threads of this process, or other processes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import Any, Protocol, TypeVar

from coterie.data.threads import num_threads, one_blas_thread

__all__ = ["Engine", "ProcessEngine", "ThreadEngine", "current_engine", "use_engine"]

Result = TypeVar("Result")
_AHEAD = 2  # blocks in flight for each worker: enough to keep it busy, few enough to hold


class Engine(Protocol):
    """Runs a function on blocks, wherever it likes; the results come in the order of the blocks."""

    def map(
        self, function: Callable[[Any, Any], Result], blocks: Iterable[Any], arguments: Any
    ) -> Iterator[Result]:
        """Yield `function(block, arguments)` of every block."""


class ThreadEngine:
    """The blocks side by side in `num_threads()` threads; kernels and BLAS let go of the lock."""

    def map(
        self, function: Callable[[Any, Any], Result], blocks: Iterable[Any], arguments: Any
    ) -> Iterator[Result]:
        """Yield `function(block, arguments)` of every block."""
        blocks = list(blocks)
        threads = min(num_threads(), len(blocks))
        if threads == 1:
            yield from (function(block, arguments) for block in blocks)
            return
        with ThreadPoolExecutor(threads) as pool:
            yield from pool.map(function, blocks, [arguments] * len(blocks))


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
        self, function: Callable[[Any, Any], Result], blocks: Iterable[Any], arguments: Any
    ) -> Iterator[Result]:
        """Yield `function(block, arguments)` of every block; few blocks travel at a time."""
        rest = iter(blocks)
        waiting: deque[Future[Result]] = deque()
        while True:
            for block in islice(rest, self.workers * _AHEAD - len(waiting)):
                waiting.append(self.pool.submit(_alone, function, block, arguments))
            if not waiting:
                return
            yield waiting.popleft().result()


def _alone(function: Callable[[Any, Any], Result], block: Any, arguments: Any) -> Result:
    """Run in a worker as a thread of ours would: a product by one BLAS thread."""
    with one_blas_thread():
        return function(block, arguments)


_chosen: ContextVar[Engine | None] = ContextVar("coterie_engine", default=None)
_threads = ThreadEngine()


def current_engine() -> Engine:
    """The engine of `use_engine`, or threads."""
    return _chosen.get() or _threads


@contextmanager
def use_engine(engine: Engine) -> Iterator[None]:
    """Run passes over rows by `engine` inside a `with` block."""
    token = _chosen.set(engine)
    try:
        yield
    finally:
        _chosen.reset(token)
