"""Passes on a Dask cluster: the bits of threads, also when workers die."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from coterie.data import Block, Rows, engine, fold, map_blocks, open_rows
from coterie.exceptions import InvalidParameter, WorkersLost

distributed = pytest.importorskip("distributed")

N, D = 40_000, 3


def sums(block: Block, power: float) -> np.ndarray:
    return (block.rows.astype(np.float64) ** power).sum(axis=0)


def slow_sums(block: Block, power: float) -> np.ndarray:
    time.sleep(0.2)
    return sums(block, power)


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.npy"
    np.save(path, np.random.default_rng(0).random((N, D)))
    return Rows(open_rows(path))


def cluster(workers: int):
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=None, memory_limit=0
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_a_cluster_gives_the_bits_of_threads(rows, workers):
    expected = fold(map_blocks(rows, sums, 1.7))
    with cluster(workers) as local, distributed.Client(local) as client, engine(client):
        np.testing.assert_array_equal(fold(map_blocks(rows, sums, 1.7)), expected)


def whose(block: Block, _: None) -> int:
    return os.getpid()


def test_rows_in_memory_stay_where_they_are(rows):
    X = rows.source.read(0, N)
    with cluster(1) as local, distributed.Client(local) as client, engine(client):
        here = list(map_blocks(Rows(X), whose, None))
        there = list(map_blocks(rows, whose, None))
    assert set(here) == {os.getpid()}
    assert os.getpid() not in there


def kill_one_at_work(client, ended: threading.Event) -> None:
    while not any(client.processing().values()) and not ended.wait(0.01):
        pass
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)


def test_a_worker_that_is_killed_changes_nothing(rows):
    expected = fold(map_blocks(rows, sums, 1.3))
    with cluster(2) as local, distributed.Client(local) as client, engine(client):
        ended = threading.Event()
        killer = threading.Thread(target=kill_one_at_work, args=[client, ended])
        killer.start()
        try:
            found = fold(map_blocks(rows, slow_sums, 1.3))
        finally:
            ended.set()
            killer.join()
    np.testing.assert_array_equal(found, expected)


def test_a_cluster_without_workers_is_told_apart_from_a_slow_one(rows, monkeypatch):
    monkeypatch.setattr("coterie.data.dask_engine._PATIENCE", 1.0)
    with cluster(1) as local, distributed.Client(local) as client, engine(client):
        local.scale(0)
        while client.ncores():
            time.sleep(0.1)
        with pytest.raises(WorkersLost, match="has had no worker"):
            fold(map_blocks(rows, sums, 1.0))


def die(block: Block, _: None) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_block_that_kills_every_worker_is_given_up(rows):
    with (
        cluster(2) as local,
        distributed.Client(local) as client,
        engine(client),
        pytest.raises(WorkersLost, match="nothing was written"),
    ):
        list(map_blocks(rows, die, None))


def fail(block: Block, _: None) -> None:
    raise ZeroDivisionError(block.start)


def test_an_error_in_a_block_comes_back_as_it_is(rows):
    with (
        cluster(1) as local,
        distributed.Client(local) as client,
        engine(client),
        pytest.raises(ZeroDivisionError, match="0"),
    ):
        list(map_blocks(rows, fail, None))


def test_what_is_no_engine_is_refused():
    with pytest.raises(InvalidParameter, match="is not known"), engine("spark"):
        pass
