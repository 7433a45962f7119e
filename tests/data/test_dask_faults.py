"""A fit on a cluster that loses workers, files or patience: the same bits or a typed error."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coterie import PCKMeans, engine
from coterie.constraints import sample_pairs
from coterie.data import DaskRows, open_rows
from coterie.data.stored import FileStamp
from coterie.exceptions import RowsChanged, WorkersLost
from coterie.progress import interruptible, watching

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

N, D, K = 30_000, 5, 12
PATIENCE = 300.0  # seconds within which a fit ends, well or with an error


def made() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=N)
    return y, 2.0 * rng.normal(size=(K, D))[y] + rng.normal(size=(N, D))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Parquet files with row groups of every length, none among them."""
    folder = tmp_path_factory.mktemp("rows")
    _, X = made()
    for number, part in enumerate(np.array_split(X, [7, 7, 12_000])):
        table = pa.table({f"f{m}": part[:, m] for m in range(D)})
        with pq.ParquetWriter(folder / f"{number}.parquet", table.schema) as writer:
            writer.write_table(table.slice(0, 0))
            writer.write_table(table, row_group_size=6_000)
            writer.write_table(table.slice(0, 0))
    return folder


KNOWN = sample_pairs(made()[0], 300, random_state=0)


def model(**settings):
    given = {"init": "k-means++", "n_init": 1, "max_iter": 10, "tol": 0, "random_state": 0}
    return PCKMeans(K, **(given | settings))


def result(fitted):
    return fitted.labels_, fitted.cluster_centers_, fitted.objective_


def same(one, other) -> None:
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.fixture(scope="module")
def expected(folder):
    found = result(model().fit(made()[1], constraints=KNOWN))
    same(result(model().fit(open_rows(folder), constraints=KNOWN)), found)
    return found


@contextmanager
def two_workers():
    """A cluster of its own: a nanny whose worker dies while it starts may not start another."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit="1GB"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def client():
    with two_workers() as client:
        yield client


def pids(client) -> list[int]:
    """Of the two workers, once both are there: the scheduler may not know yet that one died."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        client.wait_for_workers(2, timeout=PATIENCE)
        found = client.run(os.getpid, on_error="ignore")
        if len(found) == 2:
            return list(found.values())
        time.sleep(0.1)
    raise TimeoutError("two workers did not come back")


@contextmanager
def killed_after(seconds: float, who: list[int]):
    def kill() -> None:
        for pid in who:
            os.kill(pid, signal.SIGKILL)

    killer = threading.Timer(seconds, kill)
    killer.start()
    try:
        yield
    finally:
        killer.join()


def kill_at_random(folder, expected, rounds: int, *, seed: int = 0, everybody=False) -> int:
    """Fits that lose workers at a random moment; how many of them ended well."""
    chance = random.Random(seed)
    with two_workers() as client, engine(client):
        pids(client)
        begun = time.monotonic()
        same(result(model().fit(open_rows(folder), constraints=KNOWN)), expected)
        whole = time.monotonic() - begun
    well = 0
    for _ in range(rounds):
        with two_workers() as client, engine(client):
            there = pids(client)
            who = there if everybody else [chance.choice(there)]
            begun = time.monotonic()
            with killed_after(chance.uniform(0, whole), who):
                estimator, told = model(), ""
                try:
                    estimator.fit(open_rows(folder), constraints=KNOWN)
                except WorkersLost as error:
                    told = str(error)
            if told:
                assert "nothing was written" in told
                assert not hasattr(estimator, "labels_")
            else:
                same(result(estimator), expected)
                well += 1
            assert time.monotonic() - begun < whole + PATIENCE
    return well


def test_a_worker_killed_at_a_random_moment_changes_no_bit(folder, expected):
    assert kill_at_random(folder, expected, 5) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_a_hundred_workers_killed_at_random_moments_change_no_bit(folder, expected, part):
    assert kill_at_random(folder, expected, 10, seed=part + 1) >= 9


def test_all_workers_killed_at_once_are_replaced_or_told(folder, expected):
    kill_at_random(folder, expected, 1, everybody=True)


def test_chunks_that_die_with_their_worker_are_made_again(expected):
    rows = da.from_array(made()[1], chunks=(7_000, D))
    with two_workers() as client:
        doomed = pids(client)[0]
        seen = []

        def at_the_second(step) -> None:
            seen.append(step)
            if len(seen) == 2:
                os.kill(doomed, signal.SIGKILL)

        with watching(at_the_second):
            found = model().fit(rows, constraints=KNOWN)
    assert len(seen) > 2
    same(result(found), expected)


@contextmanager
def without_nanny(address: str):
    """A worker that nobody starts again."""
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny"]
    worker = subprocess.Popen(
        [*command, "--nthreads", "1", "--no-dashboard"], stderr=subprocess.DEVNULL
    )
    try:
        yield worker
    finally:
        worker.kill()
        worker.wait()


def test_workers_without_a_nanny_one_gone_and_then_the_other(folder, expected, monkeypatch):
    monkeypatch.setattr("coterie.data.dask_engine._PATIENCE", 2.0)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        without_nanny(cluster.scheduler_address) as first,
        without_nanny(cluster.scheduler_address) as second,
        engine(client),
    ):
        client.wait_for_workers(2, timeout=PATIENCE)
        with watching(lambda step: first.kill()):
            found = model().fit(open_rows(folder), constraints=KNOWN)
        same(result(found), expected)
        begun = time.monotonic()
        with (
            watching(lambda step: second.kill()),
            pytest.raises(WorkersLost, match="has had no worker for 2 s; nothing was written"),
        ):
            found.set_params(random_state=1).fit(open_rows(folder), constraints=KNOWN)
        assert time.monotonic() - begun < PATIENCE
    same(result(found), expected)  # the model is as it was


def test_chunks_that_nobody_is_left_to_make_are_told(monkeypatch):
    monkeypatch.setattr("coterie.data.dask_engine._PATIENCE", 1.0)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        rows = DaskRows(da.ones((20, 2), chunks=(5, 2)))
        for work in (lambda: rows.take(np.array([3, 17])), lambda: rows.read(2, 9)):
            with pytest.raises(WorkersLost, match="has had no worker for 1 s; nothing was"):
                work()


def test_a_scheduler_that_dies_is_told(folder):
    with subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"],
        stderr=subprocess.PIPE,
        text=True,
    ) as scheduler:
        line = next(line for line in scheduler.stderr if "Scheduler at:" in line)
        address = line.split()[-1]
        threading.Thread(target=scheduler.stderr.read, daemon=True).start()
        with without_nanny(address), distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=PATIENCE)
            begun = time.monotonic()
            with (
                engine(client),
                watching(lambda step: scheduler.kill()),
                pytest.raises(WorkersLost, match="nothing was written"),
            ):
                model(tol=0, max_iter=10_000).fit(open_rows(folder), constraints=KNOWN)
            assert time.monotonic() - begun < PATIENCE


def rewrite(path) -> None:
    seen = path.stat()
    table = pq.read_table(path)
    pq.write_table(table.slice(0, len(table) - 1), path)
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))  # noticed by its size alone


def cut_short(path) -> None:
    with path.open("rb+") as file:
        file.truncate(path.stat().st_size // 2)


@pytest.mark.parametrize("change", [os.remove, rewrite, cut_short])
@pytest.mark.parametrize("where", ["threads", "cluster"])
def test_a_file_changed_in_the_middle_of_a_fit_is_told(request, tmp_path, change, where):
    _, X = made()
    for number in range(2):
        table = pa.table({f"f{m}": X[:15_000, m] for m in range(D)})
        pq.write_table(table, tmp_path / f"{number}.parquet", row_group_size=5_000)
    rows = open_rows(tmp_path)
    found = model(max_iter=2).fit(rows)
    before = result(found)
    found.set_params(max_iter=100, random_state=3)
    seen = []

    def at_the_third(step) -> None:
        seen.append(step)
        if len(seen) == 3:
            change(tmp_path / "1.parquet")

    who = request.getfixturevalue("client") if where == "cluster" else "threads"
    with (
        engine(who),
        watching(at_the_third),
        pytest.raises(RowsChanged, match=r"1\.parquet .*nothing was written"),
    ):
        found.fit(rows)
    assert len(seen) == 3
    same(result(found), before)


@pytest.mark.parametrize("kind", ["npy", "arrow"])
def test_an_array_file_cut_short_while_it_is_read_does_not_end_the_process(tmp_path, kind):
    X = np.arange(200_000.0).reshape(-1, 2)
    path = tmp_path / f"rows.{kind}"
    if kind == "npy":
        np.save(path, X)
    else:
        table = pa.table({"a": X[:, 0], "b": X[:, 1]})
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    rows = open_rows(path)
    # Cut between the look at its date and the reading: a mapped file would end the process here.
    check = FileStamp.check
    looked = []

    def look_and_cut(stamp) -> None:
        check(stamp)
        if not looked:
            looked.append(stamp)
            cut_short(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("coterie.data.stored.FileStamp.check", look_and_cut)
        with pytest.raises(RowsChanged, match="was rewritten"):
            rows.read(90_000, 100_000)


def test_blocks_of_one_row(client, tmp_path, monkeypatch):
    monkeypatch.setattr("coterie.data.passes._BLOCK_ROWS", 1)
    monkeypatch.setattr("coterie.data.passes._FEW_BLOCKS", 10**6)
    y, X = made()
    X, known = X[:24], sample_pairs(y[:24], 20, random_state=0)
    pq.write_table(
        pa.table({f"f{m}": X[:, m] for m in range(D)}), tmp_path / "x.parquet", row_group_size=1
    )
    found = result(model(max_iter=2).fit(X, constraints=known))
    same(result(model(max_iter=2).fit(open_rows(tmp_path), constraints=known)), found)
    with engine(client):
        same(result(model(max_iter=2).fit(open_rows(tmp_path), constraints=known)), found)


def busy(client) -> int:
    return sum(map(len, client.processing().values()))


def is_idle(client) -> bool:
    """Whether the cluster comes to rest: what is cancelled is told to workers a moment later."""
    end = time.monotonic() + PATIENCE
    while busy(client) and time.monotonic() < end:
        time.sleep(0.1)
    return not busy(client)


def test_ctrl_c_keeps_the_best_so_far_and_frees_the_cluster(client, folder):
    pids(client)
    with engine(client), interruptible() as interruption:
        pressed = []

        def press(step) -> None:
            pressed or os.kill(os.getpid(), signal.SIGINT)
            pressed.append(step)

        with watching(press):
            found = model(max_iter=10_000, n_init=5).fit(open_rows(folder), constraints=KNOWN)
    assert interruption.ended
    assert found.n_iter_ < 10_000
    assert found.labels_.shape == (N,)
    assert is_idle(client)


def test_ctrl_c_at_once_leaves_no_task_behind(client, folder):
    pids(client)
    estimator = model(max_iter=10_000, n_init=10_000)  # it is at work when Ctrl-C comes
    ended = threading.Event()

    def press_while_workers_work() -> None:
        while not busy(client) and not ended.wait(0.01):
            pass
        if not ended.is_set():
            os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press_while_workers_work)
    presser.start()
    try:
        with engine(client), pytest.raises(KeyboardInterrupt):
            estimator.fit(open_rows(folder), constraints=KNOWN)
    finally:
        ended.set()
        presser.join()
    assert not hasattr(estimator, "labels_")
    assert is_idle(client)


def kept(worker_limit: int) -> int:
    from coterie.data.parquet import decoded_groups

    return decoded_groups.most_bytes


def test_workers_keep_what_their_memory_limit_allows(client, folder):
    with engine(client):
        model(max_iter=1, n_init=1).fit(open_rows(folder))
    assert set(client.run(kept, 0).values()) <= {10**9 // 8, 1 << 28}
    assert 10**9 // 8 in client.run(kept, 0).values()
