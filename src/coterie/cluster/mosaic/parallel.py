"""Tasks that do not depend on one another, on the threads there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from coterie.data import num_threads, one_blas_thread, use_threads

__all__ = ["side_by_side"]

T = TypeVar("T")


def side_by_side(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """Results of independent tasks, run on as many threads as there are.

    Each task is the same for any number of threads, and so is the order of the results.
    """
    threads = num_threads()
    workers = min(threads, len(tasks))

    def work(task: Callable[[], T]) -> T:
        with use_threads(max(1, threads // workers)):
            return task()

    with one_blas_thread():
        if workers == 1:
            return [task() for task in tasks]
        with ThreadPoolExecutor(workers) as pool:
            # A copy of the context: settings and watchers of this thread hold in the others.
            futures = [pool.submit(copy_context().run, work, task) for task in tasks]
            return [future.result() for future in futures]
