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
from itertools import chain, pairwise, zip_longest
from typing import Any, Protocol, TypeVar

import numpy as np

from coterie._typing import Array
from coterie.data.engines import current_engine, one_blas_thread
from coterie.data.room import Room
from coterie.data.rows import Block, MemoryRows, Rows, Stretch
from coterie.exceptions import InvalidData
from coterie.progress import count_blocks

__all__ = ["block_edges", "check_blocks", "edges_of", "fold", "join", "map_blocks"]

Arguments = TypeVar("Arguments")
Result = TypeVar("Result")

_BLOCK_ROWS = 8192  # rows a block holds at least: below that, threads wait for one another
_FEW_BLOCKS = 64  # as many as there are if they fit: partial sums stay small beside the rows
_BLOCK_BYTES = 1 << 25  # a block holds at most, or one row: a worker holds a few of them
_SPARSE_ROW_BYTES = 512  # what a row of a sparse matrix is taken for: some forty entries
_NOTHING = np.empty(0, dtype=np.int64)


def block_edges(n: int, row_bytes: int = 0) -> list[tuple[int, int]]:
    """Start and stop of each block, from the number of rows and their width alone.

    So they are the same wherever the rows are kept and whoever reads them. Rows of a sparse matrix
    (`row_bytes` is 0) are as wide as can be known without reading them.
    """
    count = max(1, min(_FEW_BLOCKS, n // _BLOCK_ROWS))
    most = max(1, _BLOCK_BYTES // (row_bytes or _SPARSE_ROW_BYTES))  # rows of a block
    count = max(count, -(-n // most))
    if count == 1:  # of few rows a pass takes hardly longer than this
        return [(0, n)]
    edges = np.linspace(0, n, count + 1).astype(np.int64).tolist()
    return list(pairwise(edges))


def edges_of(rows: Rows) -> list[tuple[int, int]]:
    """Start and stop of each block of these rows."""
    return block_edges(rows.n, 0 if rows.is_sparse else rows.d * rows.dtype.itemsize)


def map_blocks(
    rows: Rows,
    function: Callable[[Block, Arguments], Result],
    arguments: Arguments,
    *,
    state: Any = None,
    listed: Array | None = None,
    listed_state: Any = None,
    room: Room | None = None,
) -> Iterator[Result]:
    """Yield `function(block, arguments)` of every block, in the order of the blocks.

    Blocks are cut by the number of rows and their width alone, so what is folded in this order is
    bitwise the same for any number of threads, in other processes and from other places.

    Parameters
    ----------
    rows : Rows
    function : callable
        A function of a module, so that another process can run it. It writes to nothing that it
        is given but to `Block.empty`.
    arguments : NamedTuple of arrays and small objects, or one of these
        The same for every block.
    state : NamedTuple of arrays (n, ...), optional
        What belongs to the rows: each block gets its part.
    listed : (r,) int64, optional
        Some rows, sorted, that the function treats apart.
    listed_state : NamedTuple of arrays (r, ...), optional
        What belongs to the listed rows.
    room : Room, optional
        Where blocks that run in this process put what belongs to rows; `fold` is given it, too.
    """
    edges, runner = edges_of(rows), current_engine(rows.source)
    if not getattr(runner, "shares_memory", False):
        room = None
    stretches = [_stretch(rows, *edge, state, listed, listed_state, room) for edge in edges]
    with one_blas_thread():
        results = runner.map(function, stretches, arguments)
        yield from count_blocks(results, len(edges))


def _stretch(
    rows: Rows,
    start: int,
    stop: int,
    state: Any,
    listed: Array | None,
    listed_state: Any,
    room: Room | None,
) -> Stretch:
    inside, own, first, last = _NOTHING, None, 0, 0
    if listed is not None:
        first, last = np.searchsorted(listed, (start, stop)).tolist()
        inside, own = listed[first:last] - start, _part(listed_state, first, last)
    source = rows.source.cut(start, stop)
    here = None if room is None else room.part(start, stop, first, last)
    return Stretch(start, stop, source, rows.shift, _part(state, start, stop), inside, own, here)


def _part(state: Any, start: int, stop: int) -> Any:
    """The same NamedTuple with its arrays cut to start..stop, but for those of size 0."""
    if state is None:
        return None
    return type(state)(*(value[start:stop] if value.size else value for value in state))


def fold(
    parts: Iterable[Result],
    joined: tuple[str, ...] = (),
    lengths: tuple[int, ...] = (),
    room: Room | None = None,
) -> Result:
    """The parts as one: numbers and arrays are added in their order.

    Parts are numbers, arrays, or NamedTuples of these; the fields of a NamedTuple that are named in
    `joined` belong to rows, and are put one behind the other instead. Where `lengths` says how
    long they will be, they are copied as they come, so that no two copies are ever held. Fields
    that have a place in the `room` of the pass belong to rows, too, and are or come to be there.
    """
    rest = iter(parts)
    first: Any = next(rest)
    second: Any = next(rest, None)
    if second is None:  # few rows are one block, and a pass over it takes hardly longer than sums
        return first
    rest = chain([second], rest)
    if not hasattr(first, "_fields"):
        return _added(first, rest)
    rows = {
        name: _Joined(getattr(first, name), length)
        for name, length in zip_longest(joined, lengths, fillvalue=None)
        if name is not None
    }
    for name, place in ({} if room is None else room.rows | room.listed).items():
        rows[name] = _Joined(getattr(first, name), len(place), place)
    total = {name: _own(getattr(first, name)) for name in first._fields if name not in rows}
    for part in rest:
        for name, pieces in rows.items():
            pieces.add(getattr(part, name))
        for name, value in total.items():
            total[name] = _plus(value, getattr(part, name))
    return type(first)(**total, **{name: pieces.whole() for name, pieces in rows.items()})


def join(parts: Iterable[Array], length: int) -> Array:
    """Arrays of `length` rows in all, one behind the other, copied as they come."""
    rest = iter(parts)
    joined = _Joined(next(rest), length)
    for part in rest:
        joined.add(part)
    return joined.whole()


class _Joined:
    """Arrays that are put one behind the other, in an array of known length or in a list."""

    def __init__(self, first: Array, length: int | None, place: Array | None = None) -> None:
        self.pieces: list[Array] = []
        self.filled, self.place = 0, place
        if place is None and length is not None and length > len(first):
            self.place = np.empty((length, *first.shape[1:]), first.dtype)
        self.add(first)

    def add(self, piece: Array) -> None:
        if self.place is None:
            self.pieces.append(piece)
            return
        here = self.place[self.filled : self.filled + len(piece)]
        self.filled += len(piece)
        if not np.may_share_memory(piece, here):  # else the block has put it there
            here[...] = piece

    def whole(self) -> Array:
        if self.place is not None:
            return self.place
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


class Domain(Protocol):
    """What rows may be; a value that another process can be given."""

    def check_rows(self, X: Any) -> None:
        """Raise `InvalidData`, naming row and column, if a row (b, d) is outside."""


def check_blocks(rows: Rows, domain: Domain) -> None:
    """Refuse rows outside the domain, naming the first."""
    if isinstance(rows.source, MemoryRows):
        domain.check_rows(rows.source.X)
        return
    for found in map_blocks(rows, _check_block, domain):
        if found is not None:
            start, problem = found
            place = rows.source.place(start)
            raise InvalidData(f"in the rows from {place} on, counted from there: {problem}")


def _check_block(block: Block, domain: Domain) -> tuple[int, str] | None:
    """Where the block begins and what is wrong in it, if anything is."""
    try:
        domain.check_rows(block.rows)
    except InvalidData as problem:
        return block.start, str(problem)
    return None
