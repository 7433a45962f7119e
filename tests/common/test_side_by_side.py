"""Fits side by side: in threads, forked and spawned processes, a Dask worker, and 500 in a row.

The same bits as alone, in a bounded time.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import threading
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_info, threadpool_limits

from coterie import (
    PPC,
    RCA,
    ConstrainedCompleteLink,
    GraphPropagation,
    Mosaic,
    PCKMeans,
    RDPMeans,
)
from coterie.cluster import complete_link
from coterie.constraints import sample_pairs
from coterie.data.engines import one_blas_thread
from coterie.estimators import ESTIMATORS, estimator_class

CLASSES = [*map(estimator_class, ESTIMATORS)]
LONGEST = 120  # seconds
MB = 1 << 20


def rows(n: int = 60) -> tuple[Any, Any]:
    y = np.arange(n) % 3
    X = np.random.default_rng(0).normal(size=(n, 3)) + 4 * np.eye(3)[y]
    return X - X.min() + 0.1, sample_pairs(y, n // 3, random_state=0)


def make(cls: type) -> Any:
    params = cls().get_params(deep=False)
    given = {key: 3 for key in ("n_clusters", "n_components") if key in params}
    return cls(**given, **({"random_state": 0} if "random_state" in params else {}))


def labels_of(cls: type) -> Any:
    """Labels of a fit from the beginning, on rows of its own."""
    X, known = rows()
    pairs = {"constraints": known} if has_fit_parameter(cls, "constraints") else {}
    return clone(make(cls)).fit(X, **pairs).labels_


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info()]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_threads_give_the_same_bits(cls):
    alone = labels_of(cls)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(labels_of, [cls] * 4, timeout=LONGEST))
    assert all(np.array_equal(labels, alone) for labels in found)


def of_blas() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.mark.parametrize("who", ["one thread", "two threads"])
def test_the_last_of_overlapping_passes_gives_blas_its_threads_back(who):
    """The first may be over and its thread still there, as those of a pool are.

    What is put back is BLAS's limit alone: OpenMP's is that of each thread.
    """
    with threadpool_limits(2), ThreadPoolExecutor(1) as pool:
        pool.submit(threadpool_limits, 1, "openmp").result()
        before = blas_threads()
        in_first = pool.submit if who == "two threads" else lambda call, *args: call(*args)
        first, second = one_blas_thread(), one_blas_thread()
        in_first(first.__enter__)
        second.__enter__()
        in_first(first.__exit__, None, None, None)
        pool.submit(int).result()  # the calls before it are done
        assert of_blas() == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == before


@pytest.mark.parametrize("who", ["the first", "another"])
def test_every_thread_sees_one_blas_thread_inside_a_pass(who):
    """Also where somebody else has set a limit of their own."""

    def look() -> set[int]:
        with one_blas_thread():
            return of_blas()

    with threadpool_limits(2), ThreadPoolExecutor(1) as pool:
        assert (look() if who == "the first" else pool.submit(look).result()) == {1}
        assert of_blas() == {2}


def wide_rows(pairs: int = 100, noise: float = 0.0) -> tuple[Any, Any]:
    """So many rows and columns that scikit-learn would share them out among its threads."""
    y = np.arange(600) % 3
    X = np.random.default_rng(0).normal(size=(600, 20)) + 3 * np.eye(3, 20)[y]
    return X, sample_pairs(y, pairs, noise=noise, random_state=0)


def _fit_wide(model: Any, *pairs: Any) -> Any:
    X, known = wide_rows(*pairs)
    return model.fit(X, constraints=known)


#: What else calls scikit-learn's own threads than a fit as it is by default.
DETOURS: dict[str, Callable[[], Any]] = {
    "PPC from K-Means": lambda: _fit_wide(
        PPC(3, init="kmeans", components_per_cluster=2, random_state=0)
    ),
    "RDPMeans, spectral": lambda: _fit_wide(RDPMeans(init="spectral", random_state=0)),
    "pairs that clash": lambda: _fit_wide(PCKMeans(3, random_state=0), 1200, 0.2),
    "neighbours": lambda: _fit_wide(GraphPropagation(PCKMeans(3, random_state=0))),
    "complete link": lambda: _fit_wide(ConstrainedCompleteLink(3)).predict(wide_rows()[0]),
}
WAYS = {cls.__name__: (lambda cls=cls: labels_of(cls)) for cls in CLASSES} | DETOURS


@pytest.mark.parametrize("way", WAYS)
def test_scikit_learn_uses_one_thread_inside_a_fit(way, monkeypatch):
    """Else a forked child waits for its parent's threads, and BLAS's limit goes astray.

    K-Means puts back the limit of BLAS that it found: of fits side by side the last would put back
    that of another, unless ours holds it all the while.
    """
    seen = []

    def watched(function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            seen.extend(blas_threads())
            return function(*args, **kwargs)

        return call

    monkeypatch.setattr(KMeans, "fit", watched(KMeans.fit))
    monkeypatch.setattr(NearestNeighbors, "kneighbors", watched(NearestNeighbors.kneighbors))
    argmin = watched(complete_link.pairwise_distances_argmin)
    monkeypatch.setattr(complete_link, "pairwise_distances_argmin", argmin)
    with threadpool_limits(2):
        before = blas_threads()
        WAYS[way]()
        assert blas_threads() == before
    assert set(seen) <= {1}
    assert seen or way not in ("TVClust", "Mosaic", *DETOURS)


def test_different_estimators_beside_each_other():
    classes = [PCKMeans, Mosaic, estimator_class("ppc"), estimator_class("rdpmeans")]
    alone = [labels_of(cls) for cls in classes]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(labels_of, classes * 2, timeout=LONGEST))
    assert all(np.array_equal(a, b) for a, b in zip(alone * 2, found, strict=True))


def _answer(way: Callable[[], Any], queue: Any) -> None:
    queue.put(way())


def in_process(kind: str, way: Callable[[], Any]) -> Any:
    """What a child found, which is ended if it hangs."""
    context: Any = multiprocessing.get_context(kind)
    queue = context.Queue()
    child = context.Process(target=_answer, args=(way, queue), daemon=True)
    child.start()
    try:
        return queue.get(timeout=LONGEST)
    finally:
        child.join(5)
        child.kill()


forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
beside_threads = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a fork: as it is


@pytest.fixture
def started_threads():
    """A user's own K-Means before: OpenMP has threads now, which no forked child has."""
    with threadpool_limits(2):
        KMeans(3, n_init=1).fit(wide_rows()[0])
        yield


@forks
@beside_threads
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_a_forked_child_after_a_fit_in_the_parent(cls, started_threads):
    alone = labels_of(cls)
    assert np.array_equal(in_process("fork", partial(labels_of, cls)), alone)


def _nothing(way: Callable[[], Any]) -> bool:
    way()
    return True


@forks
@beside_threads
@pytest.mark.parametrize("way", DETOURS)
def test_what_else_a_forked_child_may_call(way, started_threads):
    DETOURS[way]()
    assert in_process("fork", partial(_nothing, DETOURS[way]))


def _limits_inside_and_after() -> tuple[set[int], list[int]]:
    with one_blas_thread():
        inside = of_blas()
    return inside, blas_threads()


@forks
@beside_threads
def test_a_fork_while_another_thread_fits():
    """The other thread is not there in the child: its lock is free, its limit is taken back."""
    with threadpool_limits(2):
        outside, leave, inside = blas_threads(), threading.Event(), threading.Event()

        def pass_over_rows() -> None:
            with one_blas_thread():
                inside.set()
                leave.wait(LONGEST)

        other = threading.Thread(target=pass_over_rows)
        other.start()
        assert inside.wait(LONGEST)
        try:
            assert in_process("fork", _limits_inside_and_after) == ({1}, outside)
        finally:
            leave.set()
            other.join()
        assert blas_threads() == outside


def test_a_spawned_child():
    assert np.array_equal(in_process("spawn", partial(labels_of, PCKMeans)), labels_of(PCKMeans))


@pytest.mark.slow
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_spawned_child(cls):
    assert np.array_equal(in_process("spawn", partial(labels_of, cls)), labels_of(cls))


def check_joblib(backend: str, classes: list[type], longest: float = LONGEST) -> None:
    found = Parallel(2, backend=backend, timeout=longest)(delayed(labels_of)(c) for c in classes)
    for cls, labels in zip(classes, found, strict=True):
        assert np.array_equal(labels_of(cls), labels), cls.__name__


def test_joblib_in_threads():
    check_joblib("threading", CLASSES)


def test_joblib_in_processes():
    check_joblib("loky", [PCKMeans, estimator_class("lcvqe")])


@pytest.mark.slow
def test_joblib_in_processes_every_estimator():
    check_joblib("loky", CLASSES, 10 * LONGEST)


@pytest.fixture(scope="module")
def worker():
    """A Dask worker: a process of its own, which has none of this one's."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0") as made,
        distributed.Client(made, set_as_default=False) as client,
    ):
        yield client


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_a_dask_worker(cls, worker):
    """Two at a time, as its threads take them."""
    found = [worker.submit(labels_of, cls, pure=False) for _ in range(2)]
    alone = labels_of(cls)
    assert all(np.array_equal(f.result(timeout=LONGEST), alone) for f in found)


def _resident() -> int:
    with open("/proc/self/statm") as stream:
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read from /proc")
@pytest.mark.parametrize("cls", [*CLASSES, RCA], ids=lambda cls: cls.__name__)
def test_memory_is_flat_over_500_fits(cls):
    """Less than an object a fit, by the last fifty less than a vector of rows, and in all.

    Numpy's memory is traced at the end only: it makes a fit three times as long.
    """
    X, known = rows(150)
    pairs = {"constraints": known} if has_fit_parameter(cls, "constraints") else {}
    inner = PCKMeans(3, n_init=1, max_iter=3, random_state=0)
    cheap = {"max_iter": 3, "n_init": 1, "n_rounds": 1, "estimator": inner}
    cheap |= {"truncation": 10, "n_prototypes": 20}
    cheap |= {"init": "kmeans"} if cls is PPC else {}  # else Mosaic is fitted for a start
    params = make(cls).get_params(deep=False)
    model = make(cls).set_params(**{k: v for k, v in cheap.items() if k in params})
    blocks, resident, traced = [], [], []
    for t in range(500):
        clone(model).fit(X, **pairs)
        if t in (100, 449, 460, 499):
            gc.collect()
        if t in (100, 449):
            blocks.append(sys.getallocatedblocks())
        if t == 449:
            tracemalloc.start()
        if t in (460, 499):
            traced.append(tracemalloc.get_traced_memory()[0])
        if t in (100, 499):
            resident.append(_resident())
    tracemalloc.stop()
    assert blocks[1] - blocks[0] < 349, blocks
    assert traced[1] - traced[0] < 39 * X[:, 0].nbytes, traced
    assert resident[1] - resident[0] < 20 * MB, [size // MB for size in resident]
