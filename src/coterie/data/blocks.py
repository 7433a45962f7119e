"""A pass over rows: one function of a block of rows, run wherever the blocks are.

>>> import numpy as np
>>> from coterie.data import Block, Rows, fold, map_blocks
>>> def add_up(block: Block, power: int) -> float:
...     return float((block.rows**power).sum())
>>> fold(map_blocks(Rows(np.arange(6.0).reshape(3, 2)), add_up, 2))
55.0
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from coterie.data.engine import current_engine
from coterie.data.rows import Rows
from coterie.data.threads import one_blas_thread

__all__ = ["Block", "block_edges", "fold", "map_blocks"]

Array = NDArray[Any]
Arguments = TypeVar("Arguments")
Result = TypeVar("Result")

_BLOCK_ROWS = 4096  # rows a block holds at least: below that, threads cost more than they bring
_MOST_BLOCKS = 64  # so that partial sums stay small beside the rows
_CHUNK_BYTES = 1 << 20  # rows handled at once: a chunk and its distances stay in the cache
_SPARSE_CHUNK = 4096
_NOTHING = np.empty(0, dtype=np.int64)


class Block(NamedTuple):
    """A stretch of the rows with what belongs to them.

    Attributes
    ----------
    start, stop : int
        Its place among all rows.
    rows : ndarray or CSR matrix of shape (b, d)
        As the source has them: see `chunks` for rows measured from the origin.
    shift : ndarray of shape (d,), or (0,) where the rows are not shifted
    state : NamedTuple of arrays, or None
        This block's part of the arrays (n, ...) given to `map_blocks`; arrays of size 0, which
        stand for "the same for every row", come as they are.
    listed : (r,) int64
        Positions in the block of those of its rows that were listed, sorted.
    listed_state : NamedTuple of arrays, or None
        The part for these rows of the arrays given with the list.
    """

    start: int
    stop: int
    rows: Any
    shift: Array
    state: Any = None
    listed: Array = _NOTHING
    listed_state: Any = None

    def chunks(self, extra: int = 0) -> Iterator[tuple[int, int, Any]]:
        """Yield (lo, hi, rows lo..hi of the block) in pieces that fit the cache with `extra`
        columns beside, measured from the origin.

        A dense piece may be overwritten by the next one: use it before going on.
        """
        size, d = self.rows.shape
        step = _SPARSE_CHUNK
        if isinstance(self.rows, np.ndarray):
            step = max(64, _CHUNK_BYTES // ((d + extra) * self.rows.itemsize))
        buffer = np.empty((min(step, size), d), self.rows.dtype) if self.shift.size else None
        for lo in range(0, size, step):
            hi = min(lo + step, size)
            piece = self.rows[lo:hi]
            if buffer is not None:
                piece = np.subtract(piece, self.shift, out=buffer[: hi - lo])
            yield lo, hi, piece

    def take(self, at: Array) -> Any:
        """Rows at positions `at` of the block, measured from the origin, as new ones."""
        picked = self.rows[at]
        return np.subtract(picked, self.shift, out=picked) if self.shift.size else picked


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
    blocks = (
        _block(rows, start, stop, state, listed, listed_state)
        for start, stop in block_edges(rows.n)
    )
    with one_blas_thread():
        yield from current_engine().map(function, blocks, arguments)


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


def fold(parts: Iterable[Result], joined: tuple[str, ...] = ()) -> Result:
    """The parts as one: numbers and arrays are added in their order.

    Parts are numbers, arrays, or NamedTuples of these; the fields of a NamedTuple that are named in
    `joined` belong to rows, and are put one behind the other instead.
    """
    rest = iter(parts)
    first: Any = next(rest)
    if not hasattr(first, "_fields"):
        return _added(first, rest)
    rows: dict[str, list[Any]] = {name: [getattr(first, name)] for name in joined}
    total = {name: _own(getattr(first, name)) for name in first._fields if name not in joined}
    for part in rest:
        for name in joined:
            rows[name].append(getattr(part, name))
        for name, value in total.items():
            total[name] = _plus(value, getattr(part, name))
    whole = {
        name: pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        for name, pieces in rows.items()
    }
    return type(first)(**total, **whole)


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
