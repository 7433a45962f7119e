"""Fits side by side: in threads, in forked and spawned processes, and 500 in a row.

The same bits as alone, in a bounded time.
"""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_info

from coterie import RCA, Mosaic, PCKMeans
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


def test_the_last_of_overlapping_passes_gives_blas_its_threads_back():
    """Of our passes; scikit-learn's K-Means, which starts use, resets them by itself."""
    before = blas_threads()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    inside = [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"]
    assert set(inside) == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before


def test_different_estimators_beside_each_other():
    classes = [PCKMeans, Mosaic, estimator_class("ppc"), estimator_class("rdpmeans")]
    alone = [labels_of(cls) for cls in classes]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(labels_of, classes * 2, timeout=LONGEST))
    assert all(np.array_equal(a, b) for a, b in zip(alone * 2, found, strict=True))


def _answer(cls: type, queue: Any) -> None:
    queue.put(labels_of(cls))


def in_process(kind: str, cls: type) -> Any:
    """Labels by a child that is ended if it hangs."""
    context: Any = multiprocessing.get_context(kind)
    queue = context.Queue()
    child = context.Process(target=_answer, args=(cls, queue), daemon=True)
    child.start()
    try:
        return queue.get(timeout=LONGEST)
    finally:
        child.join(5)
        child.kill()


@pytest.mark.slow  # TVClust's child hangs: not mended yet, see docs/reliability.md
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of a fork beside threads: as it is
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_a_forked_child_after_a_fit_in_the_parent(cls):
    alone = labels_of(cls)
    assert np.array_equal(in_process("fork", cls), alone)


def test_a_spawned_child():
    assert np.array_equal(in_process("spawn", PCKMeans), labels_of(PCKMeans))


@pytest.mark.slow
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_spawned_child(cls):
    assert np.array_equal(in_process("spawn", cls), labels_of(cls))


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_joblib(backend):
    classes = [PCKMeans, estimator_class("lcvqe")]
    found = Parallel(2, backend=backend, timeout=LONGEST)(delayed(labels_of)(c) for c in classes)
    assert all(np.array_equal(labels_of(c), f) for c, f in zip(classes, found, strict=True))


def _resident() -> int:
    with open("/proc/self/statm") as stream:
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read from /proc")
@pytest.mark.parametrize("cls", [*CLASSES, RCA], ids=lambda cls: cls.__name__)
def test_memory_is_flat_over_500_fits(cls):
    X, known = rows(2000)
    pairs = {"constraints": known} if has_fit_parameter(cls, "constraints") else {}
    cheap = {"max_iter": 3, "n_init": 1, "n_rounds": 1}
    params = make(cls).get_params(deep=False)
    model = make(cls).set_params(**{k: v for k, v in cheap.items() if k in params})
    if cls.__name__ in ("ConstrainedCompleteLink", "Dossier"):
        X, known = X[:200], known.subset(np.arange(200))
        pairs = {"constraints": known}
    sizes = []
    for t in range(500):
        clone(model).fit(X, **pairs)
        if t in (100, 499):
            sizes.append(_resident())
    assert sizes[1] - sizes[0] < 20 * MB, [size // MB for size in sizes]
