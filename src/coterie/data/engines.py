"""Who runs a pass: threads, the processes of a pool, or whatever takes a function and a block.

How many threads there are never changes a result, only its speed.
"""

from __future__ import annotations

import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import islice
from multiprocessing import parent_process
from typing import Any, Protocol, TypeVar, cast

import threadpoolctl

from coterie.data.parquet import decoded_groups
from coterie.data.rows import Stretch
from coterie.exceptions import InvalidParameter, WorkersLost
from coterie.memory import memory_bytes

__all__ = [
    "Engine",
    "ProcessEngine",
    "ThreadEngine",
    "as_engine",
    "config",
    "current_engine",
    "engine",
    "in_order",
    "in_runs",
    "num_threads",
    "one_blas_thread",
    "one_thread",
    "run_alone",
    "thread_pool",
    "use_threads",
]

Result = TypeVar("Result")
_LONGEST_RUN = 16  # blocks that one worker takes at once
_AHEAD = 2  # blocks in flight for each worker: enough to keep it busy, few enough to hold


class Engine(Protocol):
    """Runs a function on blocks, wherever it likes; the results come in the order of the blocks.

    One that runs them in this process may say so by an attribute `shares_memory`: what blocks find
    for their rows then need not be copied.
    """

    def map(
        self, function: Callable[[Any, Any], Result], stretches: Iterable[Stretch], arguments: Any
    ) -> Iterator[Result]:
        """Yield `function(stretch.read(), arguments)` of every stretch."""


class ThreadEngine:
    """The blocks side by side in `num_threads()` threads; kernels and BLAS let go of the lock."""

    shares_memory = True  # what blocks write is seen here

    def map(
        self, function: Callable[[Any, Any], Result], stretches: Iterable[Stretch], arguments: Any
    ) -> Iterator[Result]:
        """Yield `function(stretch.read(), arguments)` of every stretch."""
        waiting = list(stretches)
        threads = min(num_threads(), len(waiting)) if len(waiting) > 1 else 1
        if threads == 1:
            yield from (function(stretch.read(), arguments) for stretch in waiting)
            return
        unwanted = threading.Event()

        def work(run: list[Stretch]) -> list[Result]:
            return [function(each.read(), arguments) for each in run if not unwanted.is_set()]

        try:
            for results in thread_pool(threads).map(work, in_runs(waiting, threads)):
                yield from results
        finally:  # an error, Ctrl-C, or nobody wants the rest
            unwanted.set()


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
        runs = in_runs(list(stretches), self.workers)
        many = self.workers
        started = (self.pool.submit(_run_beside, function, run, arguments, many) for run in runs)
        try:
            for results in in_order(started, self.workers * _AHEAD):
                yield from results
        except BrokenExecutor as error:
            raise WorkersLost(
                "a process of the pool died (killed, or out of memory); nothing was written. Make "
                "a new pool and fit again, of fewer processes if memory is short."
            ) from error


def in_runs(stretches: list[Stretch], workers: int) -> Iterator[list[Stretch]]:
    """Stretches that follow one another, as work for one: rows of files are read on and on.

    Who begins within a row group decodes the rows before for nothing. So runs begin where few
    rows have to be passed over, and are no shorter than what is. They get shorter towards the
    end, so that all workers end together.
    """
    at = 0
    longest = max(1, min(_LONGEST_RUN, len(stretches) // workers))
    while at < len(stretches):
        size = max(1, min(longest, (len(stretches) - at) // (2 * workers)))
        alone = not getattr(stretches[at].source, "in_turn", False)
        end = at + 1 if alone else _end_of_run(stretches, at, size, longest)
        yield stretches[at:end]
        at = end


def _end_of_run(stretches: list[Stretch], at: int, size: int, longest: int) -> int:
    """Where a run of about `size` stretches from `at` on ends, so that the next begins cheaply.

    It may go on to where the next row group begins, if it is not longer than `longest` then.
    """
    count, rows = len(stretches), max(1, stretches[at].stop - stretches[at].start)
    least = min(max(1, size // 2, -(-_passed_over(stretches[at]) // rows)), count - at)
    most = min(max(least, longest), count - at)
    begun = {
        k: 0 if at + k == count else _passed_over(stretches[at + k]) for k in range(1, most + 1)
    }
    next_group = next((k for k in range(least, most + 1) if begun[k] < rows), least)
    ends = range(least, max(next_group, min(2 * size, most)) + 1)
    return at + min(ends, key=lambda length: (begun[length], abs(length - size)))


def _passed_over(stretch: Stretch) -> int:
    """Rows that are decoded before the first of the stretch is."""
    return int(getattr(stretch.source, "passed_over", 0))


def run_alone(
    function: Callable[[Any, Any], Result], stretches: list[Stretch], arguments: Any
) -> list[Result]:
    """Run in a worker as a thread of ours would: a product by one BLAS thread."""
    with one_blas_thread():
        return [function(stretch.read(), arguments) for stretch in stretches]


def _run_beside(
    function: Callable[[Any, Any], Result], run: list[Stretch], arguments: Any, workers: int
) -> list[Result]:
    """Run in one of so many processes, which share the machine's memory."""
    if parent_process() is not None:  # else a pool of threads, which keep what they decode together
        decoded_groups.within(memory_bytes() // workers)
    return run_alone(function, run, arguments)


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
    if isinstance(who, str) and who == "threads":
        return _threads
    if isinstance(who, Executor):
        return ProcessEngine(who, num_threads())
    if type(who).__module__.partition(".")[0] == "distributed":
        from coterie.data.dask_engine import DaskEngine

        return DaskEngine(who)
    if not hasattr(who, "map") or hasattr(who, "__len__"):  # a data frame has a map, too
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


# -- threads ---------------------------------------------------------------------------------------
_thread_count: ContextVar[int | None] = ContextVar("coterie_threads", default=None)


def num_threads() -> int:
    """Threads in use: `use_threads`, else COTERIE_NUM_THREADS, else OMP_NUM_THREADS, else cores."""
    chosen = _thread_count.get()
    if chosen is not None:
        return chosen
    for variable in ("COTERIE_NUM_THREADS", "OMP_NUM_THREADS"):
        value = os.environ.get(variable, "")
        if value.isdigit() and int(value) > 0:
            return int(value)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def use_threads(n: int) -> Iterator[None]:
    """Use `n` threads inside a `with` block.

    >>> from coterie.data import num_threads, use_threads
    >>> with use_threads(3):
    ...     num_threads()
    3
    """
    if n < 1:
        raise ValueError(f"use_threads({n}): give at least one thread.")
    token = _thread_count.set(n)
    try:
        yield
    finally:
        _thread_count.reset(token)


@cache
def thread_pool(n: int) -> ThreadPoolExecutor:
    """The `n` threads that passes share, started once: a fit makes hundreds of short passes.

    What runs in them must not wait for another task of theirs.
    """
    return ThreadPoolExecutor(n, thread_name_prefix="coterie")


if hasattr(os, "register_at_fork"):  # a forked child has none of its parent's threads
    os.register_at_fork(after_in_child=thread_pool.cache_clear)


@cache
def _controller() -> Any:
    return threadpoolctl.ThreadpoolController()


def _anybody_may_limit_blas() -> None:
    """Newer threadpoolctl lets the first thread that set a limit set others, and no other thread.

    Here who comes first sets it and who goes last resets it, which may be different threads.
    """
    openblas: Any = getattr(threadpoolctl, "OpenBLASController", None)
    if hasattr(openblas, "clear_controlling_thread"):
        openblas.clear_controlling_thread(force=True)


class _OneBlasThread:
    """BLAS's number of threads belongs to the process: who comes first sets it, the last resets it.

    Each fit by itself would put back what it found, which may be what another one had set.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside: Counter[int] = Counter()  # of each thread
        self.limit: Any = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        thread = threading.get_ident()
        with self.lock:
            if not self.inside:
                _anybody_may_limit_blas()
                # Of BLAS alone: OpenMP's number is that of the thread which comes first.
                self.limit = _controller().select(user_api="blas").limit(limits=1)
                _anybody_may_limit_blas()
            self.inside[thread] += 1
        try:
            yield
        finally:
            with self.lock:
                self._leave(thread, 1)

    def _leave(self, thread: int, times: int) -> None:
        self.inside[thread] -= times
        if not self.inside[thread]:
            del self.inside[thread]
        if not self.inside:
            _anybody_may_limit_blas()
            self.limit.restore_original_limits()
            _anybody_may_limit_blas()

    def forked(self) -> None:
        """Forget the parent's other threads: none of them is here to leave or to free the lock."""
        self.lock = threading.Lock()
        for thread in set(self.inside) - {threading.get_ident()}:
            self._leave(thread, self.inside[thread])


_one_blas_thread = _OneBlasThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_one_blas_thread.forked)


def one_blas_thread() -> Any:
    """Return a context in which a BLAS call uses one thread.

    Blocks of rows are the unit of parallel work: a BLAS that splits a product by its own thread
    count could round differently for 1 and for 2 threads.
    """
    return _one_blas_thread()


@contextmanager
def one_thread() -> Iterator[None]:
    """A context in which libraries, OpenMP's too, use one thread.

    For all of scikit-learn that has threads of its own, which are OpenMP's: K-Means and searches
    for neighbours. Its sums round by the number of threads, and a forked child waits for ever for
    threads that its parent had started. It also leaves the limit of BLAS as it finds it, which
    is right for fits side by side only inside of ours. OpenMP's number belongs to the calling
    thread.
    """
    with one_blas_thread(), _controller().select(user_api="openmp").limit(limits=1):
        yield
