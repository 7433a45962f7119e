"""Passes over rows: what a block holds, how results are folded, who runs them."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

from coterie.data import (
    Block,
    ProcessEngine,
    Rows,
    Scratch,
    centered,
    engine,
    fold,
    make_room,
    map_blocks,
    use_threads,
)
from coterie.data.passes import block_edges

N = 3 * 8192 + 17


class State(NamedTuple):
    weight: Any
    label: Any


class Mark(NamedTuple):
    value: Any


class Sums(NamedTuple):
    place: Any
    columns: Any
    count: int


def column_sums(block: Block, power: int) -> Sums:
    total = np.zeros(block.rows.shape[1])
    place = np.empty(block.stop - block.start, dtype=np.int64)
    for lo, hi, piece in block.chunks():
        total += np.asarray((piece**power).sum(axis=0)).ravel()
        place[lo:hi] = block.start + np.arange(lo, hi)
    return Sums(place, total, block.stop - block.start)


def seen(block: Block, _: None) -> list[Block]:
    return [block]


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(N, 3)) + 5


def test_edges_depend_on_the_number_of_rows_only_and_cover_them():
    for n in (1, 8192, 16384, N, 10**6):
        edges = block_edges(n)
        assert edges[0][0] == 0
        assert edges[-1][1] == n
        assert all(stop == start for (_, stop), (start, _) in pairwise(edges))
        assert len(edges) <= 64


@pytest.mark.parametrize(
    ("n", "row_bytes"), [(10**8, 64), (10**5, 8 * 4096), (5000, 8 * 10**5), (7, 10**9), (10**8, 0)]
)
def test_blocks_follow_the_width_of_rows(n, row_bytes):
    edges = block_edges(n, row_bytes)
    most = max(stop - start for start, stop in edges)
    assert edges[-1][1] == n
    assert min(stop - start for start, stop in edges) >= 1
    assert most == 1 or most * (row_bytes or 512) <= 2**25


def test_results_are_folded_in_order_rows_joined_and_sums_added(X):
    found = fold(map_blocks(Rows(X), column_sums, 2), joined=("place",))
    np.testing.assert_array_equal(found.place, np.arange(N))
    np.testing.assert_allclose(found.columns, (X**2).sum(axis=0))
    assert found.count == N


def test_rows_of_known_length_are_joined_alike(X):
    plain = fold(map_blocks(Rows(X), column_sums, 2), joined=("place",))
    known = fold(map_blocks(Rows(X), column_sums, 2), joined=("place",), lengths=(N,))
    np.testing.assert_array_equal(plain.place, known.place)
    np.testing.assert_array_equal(plain.columns, known.columns)


class Placed(NamedTuple):
    place: Any
    first: Any
    count: int


def placed(block: Block, into: bool) -> Placed:
    place = block.empty("place", (block.stop - block.start,), np.int64)
    first = (
        block.empty("first", (block.listed.size, 1)) if into else np.empty((len(block.listed), 1))
    )
    place[:] = np.arange(block.start, block.stop)
    first[:, 0] = block.rows[block.listed, 0]
    return Placed(place, first, block.stop - block.start)


class Elsewhere:
    """An engine that does not say where its blocks run."""

    def map(self, function, stretches, arguments):
        for stretch in stretches:
            assert stretch.room is None
            yield function(stretch.read(), arguments)


@pytest.mark.parametrize("into", [True, False])
@pytest.mark.parametrize("who", ["one thread", "threads", "elsewhere", "one block"])
def test_blocks_put_results_into_the_room_or_fold_does(X, into, who):
    rows = Rows(X[:100] if who == "one block" else X)
    listed = np.sort(np.random.default_rng(1).permutation(rows.n)[:99])
    room = make_room(
        Scratch(),
        rows={"place": ((rows.n,), np.int64)},
        listed={"first": ((listed.size, 1), np.float64)},
    )
    blocks = (use_threads(1 if who == "one thread" else 3), engine(Elsewhere()))
    with blocks[who == "elsewhere"]:
        parts = list(map_blocks(rows, placed, into, listed=listed, room=room))
    threads = who != "elsewhere"
    assert all(np.may_share_memory(part.place, room.rows["place"]) == threads for part in parts)
    found = fold(iter(parts), room=room)
    np.testing.assert_array_equal(found.place, np.arange(rows.n))
    np.testing.assert_array_equal(found.first[:, 0], rows.source.X[listed, 0])
    assert found.count == rows.n
    if len(parts) > 1:
        assert found.place is room.rows["place"]
        assert found.first is room.listed["first"]


def test_a_room_of_another_kind_is_not_used(X):
    room = make_room(Scratch(), rows={"place": ((N,), np.int32)}, listed={})
    with use_threads(2):
        found = fold(map_blocks(Rows(X), column_sums, 1), joined=("place",))
        parts = list(map_blocks(Rows(X), placed, False, listed=np.arange(2), room=room))
    assert parts[0].place.dtype == np.int64
    np.testing.assert_array_equal(
        fold(iter(parts), joined=("first",), room=room).place, found.place
    )


def test_a_fold_does_not_write_into_a_result():
    parts = [np.ones(2), np.ones(2)]
    np.testing.assert_array_equal(fold(iter(parts)), [2, 2])
    np.testing.assert_array_equal(parts[0], [1, 1])


def test_chunks_are_measured_from_the_origin_and_leave_the_rows_alone(X):
    rows = centered(X)
    before = X.copy()
    found = fold(map_blocks(rows, column_sums, 1), joined=("place",))
    np.testing.assert_allclose(found.columns, 0, atol=1e-6)
    np.testing.assert_array_equal(X, before)
    picked = rows.take(np.array([5, 2]))
    np.testing.assert_allclose(picked + rows.origin, X[[5, 2]])


def taken(block: Block, at: Any) -> list[Any]:
    return [block.take(at)]


def test_a_block_gives_rows_by_their_position_in_it(X):
    rows, at = centered(X), np.array([7, 2])
    before = X.copy()
    for (start, _), found in zip(block_edges(N), fold(map_blocks(rows, taken, at)), strict=True):
        np.testing.assert_array_equal(found, rows.take(start + at))
    np.testing.assert_array_equal(X, before)


def test_a_block_of_csr_rows_is_the_same_rows(X):
    sparse = sp.random(N, 7, density=0.2, random_state=1, format="csr")
    blocks = fold(map_blocks(Rows(sparse), seen, None))
    assert len(blocks) > 1
    np.testing.assert_array_equal(
        np.vstack([block.rows.toarray() for block in blocks]), sparse.toarray()
    )
    assert np.shares_memory(blocks[1].rows.data, sparse.data)


def test_state_and_listed_rows_come_as_the_blocks_own_part(X):
    listed = np.array([0, 3, 5000, N - 1])
    state = State(weight=np.empty(0), label=np.arange(N))
    blocks = fold(
        map_blocks(
            Rows(X), seen, None, state=state, listed=listed, listed_state=Mark(np.arange(4) * 10)
        )
    )
    assert all(block.state.weight.size == 0 for block in blocks)
    np.testing.assert_array_equal(
        np.concatenate([block.state.label for block in blocks]), np.arange(N)
    )
    found = np.concatenate([block.start + block.listed for block in blocks])
    np.testing.assert_array_equal(found, listed)
    marks = np.concatenate([block.listed_state.value for block in blocks])
    np.testing.assert_array_equal(marks, [0, 10, 20, 30])


def test_threads_and_processes_give_the_same_bits(X):
    rows = centered(X)
    with use_threads(1):
        alone = fold(map_blocks(rows, column_sums, 2), joined=("place",))
    with use_threads(3):
        threads = fold(map_blocks(rows, column_sums, 2), joined=("place",))
    with (
        ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool,
        engine(ProcessEngine(pool, 2)),
    ):
        processes = fold(map_blocks(rows, column_sums, 2), joined=("place",))
    for other in (threads, processes):
        np.testing.assert_array_equal(alone.columns, other.columns)
        np.testing.assert_array_equal(alone.place, other.place)


def test_an_error_in_a_block_reaches_the_caller(X):
    with use_threads(2), pytest.raises(TypeError):
        fold(map_blocks(Rows(X), column_sums, "two"))
