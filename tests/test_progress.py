"""Watchers see every iteration and can end a fit early; Ctrl-C ends it with the best so far."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import numba
import numpy as np
import pytest

from coterie import (
    PPC,
    Constraints,
    DPMeans,
    GPKMeans,
    Mosaic,
    MPCKMeans,
    PCKMeans,
    RDPMeans,
    TVClust,
)
from coterie.progress import (
    Blocks,
    compiling,
    interruptible,
    keep_going,
    watching,
    watching_blocks,
)

FITS = [
    PCKMeans(4, random_state=0),
    MPCKMeans(4, random_state=0),
    Mosaic(4, random_state=0),
    PPC(4, random_state=0, tol=0.0),
    TVClust(random_state=0, tol=0.0, truncation=6),
    TVClust("gibbs", random_state=0, n_sweeps=30, burn_in=10, truncation=6),
    DPMeans(n_clusters_hint=4, init="single", random_state=0),
    RDPMeans(n_clusters_hint=4, random_state=0),
    GPKMeans(MPCKMeans(4, random_state=0)),
]


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)) + 2 * rng.integers(0, 3, size=(120, 1))
    pairs = rng.permutation(120)[:40].reshape(-1, 2)
    return X, Constraints(120, must_link=pairs[:10], cannot_link=pairs[10:])


def fit(estimator, problem):
    X, pairs = problem
    if isinstance(estimator, DPMeans):
        return estimator.fit(X)
    return estimator.fit(X, constraints=pairs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", FITS, ids=lambda e: type(e).__name__)
def test_every_loop_reports_and_can_be_ended(estimator, problem):
    seen = []
    with watching(seen.append):
        whole = fit(estimator, problem).labels_.copy()
    assert seen
    assert all(1 <= step.step <= step.total for step in seen)
    assert all(np.isfinite(step.objective) for step in seen)

    short = []
    with watching(lambda step: short.append(step) or True):
        model = fit(estimator, problem)
    assert len(short) < len(seen)
    assert model.labels_.shape == whole.shape
    assert np.array_equal(fit(estimator, problem).labels_, whole)  # watching left nothing behind


def test_every_watcher_is_told_and_any_may_end():
    told = []
    with watching(lambda step: True), watching(told.append):
        assert not keep_going(1, 10, 0.5)
    assert told == [(1, 10, 0.5)]
    assert keep_going(2, 10, 0.5)


@pytest.mark.filterwarnings("ignore")
def test_ctrl_c_keeps_the_best_so_far(problem):
    X, pairs = problem
    presses = []
    with interruptible(lambda: presses.append(1)) as interruption:
        os.kill(os.getpid(), signal.SIGINT)
        model = PCKMeans(4, random_state=0, tol=0.0).fit(X, constraints=pairs)
    assert interruption.pressed
    assert interruption.ended
    assert presses == [1]
    assert model.n_iter_ == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_fit_that_has_no_steps_is_not_called_ended():
    with interruptible() as interruption:
        os.kill(os.getpid(), signal.SIGINT)
    assert interruption.pressed
    assert not interruption.ended


def test_ctrl_c_twice_stops_at_once():
    with interruptible():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_are_left_alone():
    found = []

    def work():
        with interruptible() as interruption:
            found.append(interruption.pressed)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [False]


# -- compiling -------------------------------------------------------------------------------------
def fresh_kernel():
    """A kernel that was never compiled and calls another one."""

    @numba.njit
    def inner(x):
        return x + 1

    @numba.njit
    def outer(x):
        return inner(x) * 2

    return outer


def test_compiling_is_told_when_it_begins_and_ends_and_only_then():
    seen, kernel = [], fresh_kernel()
    with compiling(seen.append):
        kernel(1)
        kernel(2)
        assert seen == [True, False]  # the inner one is a part of it
        kernel(1.5)
    assert seen == [True, False] * 2
    fresh_kernel()(1)  # nobody listens any more
    assert len(seen) == 4


NOTEBOOK = """
import sys, types
sys.modules["ipykernel"] = types.ModuleType("ipykernel") if {notebook} else None
if not {notebook}:
    del sys.modules["ipykernel"]
import numpy as np
from coterie import Constraints, PCKMeans
X = np.arange(8.0).reshape(4, 2)
known = Constraints(4, must_link=[(0, 1)], cannot_link=[(1, 2)])  # whose kernels take seconds
PCKMeans(2, random_state=0).fit(X, constraints=known)
PCKMeans(2, random_state=0).fit(X, constraints=known)
"""


@pytest.mark.parametrize("notebook", [True, False])
def test_a_notebook_is_told_once_that_a_first_fit_compiles(notebook, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", NOTEBOOK.format(notebook=notebook)],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.count("compiling, once on this machine") == int(notebook)
    assert done.stdout == ""


def test_blocks_of_a_pass_are_counted_for_whoever_watches(monkeypatch):
    monkeypatch.setattr("coterie.data.passes._BLOCK_ROWS", 40)
    X = np.random.default_rng(0).normal(size=(120, 2))
    seen: list[Blocks] = []
    with watching_blocks(seen.append):
        PCKMeans(2, random_state=0, max_iter=1).fit(X)
    passes = [seen[start : start + 3] for start in range(0, len(seen), 3)]
    assert passes
    assert all(one == [Blocks(1, 3), Blocks(2, 3), Blocks(3, 3)] for one in passes)
    count = len(seen)
    PCKMeans(2, random_state=0, max_iter=1).fit(X)
    assert len(seen) == count
