"""Memory that is handed out again: never while anybody holds a part of it."""

from __future__ import annotations

import gc
import weakref
from typing import Any, NamedTuple

import numpy as np

from coterie.data import Rows, Scratch, fold, make_room, map_blocks

SHAPE = (600, 400)  # more than a megabyte


def address(array):
    return array.__array_interface__["data"][0]


def test_memory_comes_again_when_nobody_holds_the_array():
    scratch = Scratch()
    first = scratch.empty(SHAPE, np.float64)
    place = address(first)
    del first
    gc.collect()
    assert address(scratch.empty(SHAPE, np.float64)) == place


def test_a_view_of_any_kind_keeps_the_memory():
    scratch = Scratch()
    for part_of in (
        lambda a: a[5:7, ::3],
        lambda a: a.T,
        lambda a: a.ravel()[:10].reshape(2, 5),
        lambda a: a.view(np.int64)[0],
        lambda a: np.asarray(memoryview(a)),
        lambda a: a[:, None].squeeze(),
    ):
        part = part_of(scratch.empty(SHAPE, np.float64))
        part[...] = 7
        gc.collect()
        for _ in range(3):
            scratch.empty(SHAPE, np.float64)[:] = 1
        assert (part == 7).all()


def test_two_at_a_time_are_two():
    scratch = Scratch()
    held = [scratch.empty(SHAPE, np.float64) for _ in range(4)]
    assert len({address(array) for array in held}) == 4


def test_shape_type_and_size_are_those_asked_for():
    scratch = Scratch()
    for shape, dtype in (
        ((3, 4), np.float32),
        ((1_000_000,), np.int32),
        ((500, 7, 60), np.float64),
    ):
        array = scratch.empty(shape, dtype)
        assert array.shape == shape
        assert array.dtype == dtype
        assert array.flags.c_contiguous
        assert array.flags.writeable
        assert array.flags.aligned
    copied = scratch.copy(np.arange(300_000.0).reshape(3, -1).T)
    np.testing.assert_array_equal(copied, np.arange(300_000.0).reshape(3, -1).T)


def test_memory_goes_with_the_scratch_whatever_outlives_it():
    scratch = Scratch()
    kept = scratch.empty(SHAPE, np.float64)
    scratch.empty(SHAPE, np.float64)
    gc.collect()
    (free,) = scratch._free.values()
    gone = weakref.ref(free)
    del free, scratch
    gc.collect()
    assert gone() is None  # though `kept` is still there
    kept[:] = 1
    del kept


class Found(NamedTuple):
    values: Any  # (b, 3) belongs to the rows
    blocks: int  # is added up


def double(block, factor):
    return Found(block.rows * factor, 1)


def test_folding_into_it_gives_what_folding_gives():
    X = np.random.default_rng(0).normal(size=(70_000, 3))
    scratch, rows = Scratch(), Rows(X)
    for factor in (2.0, 3.0, 2.0):
        room = make_room(scratch, rows={"values": (X.shape, np.float64)}, listed={})
        found = fold(map_blocks(rows, double, factor), room=room)
        np.testing.assert_array_equal(found.values, factor * X)
