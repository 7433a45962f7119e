"""A pass over rows: one function of a block of rows, run wherever the blocks are.

>>> import numpy as np
>>> from coterie.data import Block, Rows, fold, map_blocks
>>> def add_up(block: Block, power: int) -> float:
...     return float((block.rows**power).sum())
>>> fold(map_blocks(Rows(np.arange(6.0).reshape(3, 2)), add_up, 2))
55.0
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice, pairwise, zip_longest
from typing import Any, Protocol, TypeVar

import numpy as np

from coterie._typing import Array
from coterie.data.block import Block
from coterie.data.rows import Rows
from coterie.data.threads import num_threads, one_blas_thread, thread_pool

__all__ = [
    "Engine",
    "ProcessEngine",
    "ThreadEngine",
    "block_edges",
    "fold",
    "map_blocks",
    "use_engine",
]

Arguments = TypeVar("Arguments")
Result = TypeVar("Result")

_BLOCK_ROWS = 4096  # rows a block holds at least: below that, threads cost more than they bring
_MOST_BLOCKS = 64  # so that partial sums stay small beside the rows
_AHEAD = 2  # blocks in flight for each worker: enough to keep it busy, few enough to hold
_NOTHING = np.empty(0, dtype=np.int64)


def block_edges(n: int) -> list[tuple[int, int]]:
    """Start and stop of each block; their number depends on the number of rows only."""
    count = max(1, min(_MOST_BLOCKS, n // _BLOCK_ROWS))
    edges = np.linspace(0, n, count + 1).astype(np.int64).tolist()
    return list(pairwise(edges))


def map_blocks(
    rows: Rows,
    function: Callable[[Block, Arguments], Result],
    arguments: Arguments,
    *,
    state: Any = None,
    listed: Array | None = None,
    listed_state: Any = None,
) -> Iterator[Result]:
    """Yield `function(block, arguments)` of every block, in the order of the blocks.

    The number of blocks depends on the number of rows alone, so what is folded in this order is
    bitwise the same for any number of threads, and in other processes.

    Parameters
    ----------
    rows : Rows
    function : callable
        A function of a module, so that another process can run it. It writes to nothing that it
        is given.
    arguments : NamedTuple of arrays and small objects, or one of these
        The same for every block.
    state : NamedTuple of arrays (n, ...), optional
        What belongs to the rows: each block gets its part.
    listed : (r,) int64, optional
        Some rows, sorted, that the function treats apart.
    listed_state : NamedTuple of arrays (r, ...), optional
        What belongs to the listed rows.
    """
    edges = block_edges(rows.n)
    blocks = (_block(rows, *edge, state, listed, listed_state) for edge in edges)
    with one_blas_thread():
        yield from (_chosen.get() or _threads).map(function, blocks, arguments)


def _block(
    rows: Rows, start: int, stop: int, state: Any, listed: Array | None, listed_state: Any
) -> Block:
    inside, own = _NOTHING, None
    if listed is not None:
        first, last = np.searchsorted(listed, (start, stop))
        inside, own = listed[first:last] - start, _part(listed_state, first, last)
    read = rows.source.read(start, stop)
    return Block(start, stop, read, rows.shift, _part(state, start, stop), inside, own)


def _part(state: Any, start: int, stop: int) -> Any:
    """The same NamedTuple with its arrays cut to start..stop, but for those of size 0."""
    if state is None:
        return None
    return type(state)(*(value[start:stop] if value.size else value for value in state))


def fold(
    parts: Iterable[Result], joined: tuple[str, ...] = (), lengths: tuple[int, ...] = ()
) -> Result:
    """The parts as one: numbers and arrays are added in their order.

    Parts are numbers, arrays, or NamedTuples of these; the fields of a NamedTuple that are named in
    `joined` belong to rows, and are put one behind the other instead. Where `lengths` says how
    long they will be, they are copied as they come, so that no two copies are ever held.
    """
    rest = iter(parts)
    first: Any = next(rest)
    if not hasattr(first, "_fields"):
        return _added(first, rest)
    rows = {
        name: _Joined(getattr(first, name), length)
        for name, length in zip_longest(joined, lengths, fillvalue=None)
        if name is not None
    }
    total = {name: _own(getattr(first, name)) for name in first._fields if name not in joined}
    for part in rest:
        for name, pieces in rows.items():
            pieces.add(getattr(part, name))
        for name, value in total.items():
            total[name] = _plus(value, getattr(part, name))
    return type(first)(**total, **{name: pieces.whole() for name, pieces in rows.items()})


class _Joined:
    """Arrays that are put one behind the other, in an array of known length or in a list."""

    def __init__(self, first: Array, length: int | None) -> None:
        self.pieces = [first]
        self.filled = len(first)
        self.room = None
        if length is not None and length > len(first):
            self.room = np.empty((length, *first.shape[1:]), dtype=first.dtype)
            self.room[: self.filled] = first

    def add(self, piece: Array) -> None:
        if self.room is None:
            self.pieces.append(piece)
        else:
            self.room[self.filled : self.filled + len(piece)] = piece
            self.filled += len(piece)

    def whole(self) -> Array:
        if self.room is not None:
            return self.room
        return self.pieces[0] if len(self.pieces) == 1 else np.concatenate(self.pieces)


def _added(first: Any, rest: Iterator[Any]) -> Any:
    total = _own(first)
    for part in rest:
        total = _plus(total, part)
    return total


def _own(value: Any) -> Any:
    """A copy that sums may be added to in place."""
    if hasattr(value, "_fields"):
        return type(value)(*map(_own, value))
    return value.copy() if isinstance(value, np.ndarray) else value


def _plus(total: Any, part: Any) -> Any:
    if hasattr(total, "_fields"):
        return type(total)(*map(_plus, total, part))
    if isinstance(total, np.ndarray):
        total += part
        return total
    return total if total is None else total + part


# -- who runs the blocks ------------------------------------------------------------------------


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
        yield from thread_pool(threads).map(function, blocks, [arguments] * len(blocks))


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


@contextmanager
def use_engine(engine: Engine) -> Iterator[None]:
    """Run passes over rows by `engine` inside a `with` block."""
    token = _chosen.set(engine)
    try:
        yield
    finally:
        _chosen.reset(token)
