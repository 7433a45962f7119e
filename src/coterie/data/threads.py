"""How many threads the bulk of the work may use; never changes a result, only its speed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["num_threads", "one_blas_thread", "one_thread", "thread_pool", "use_threads"]

_chosen: ContextVar[int | None] = ContextVar("coterie_threads", default=None)


def num_threads() -> int:
    """Threads in use: `use_threads`, else COTERIE_NUM_THREADS, else OMP_NUM_THREADS, else cores."""
    chosen = _chosen.get()
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
    token = _chosen.set(n)
    try:
        yield
    finally:
        _chosen.reset(token)


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
    return ThreadpoolController()


def one_blas_thread() -> Any:
    """Return a context in which a BLAS call uses one thread.

    Blocks of rows are the unit of parallel work: a BLAS that splits a product by its own thread
    count could round differently for 1 and for 2 threads.
    """
    return _controller().limit(limits=1, user_api="blas")


def one_thread() -> Any:
    """Return a context in which libraries, OpenMP's too, use one thread.

    For scikit-learn's K-Means, whose sums over threads round by their number.
    """
    return _controller().limit(limits=1)
