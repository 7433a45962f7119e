"""`coterie.config(engine=...)`: who runs passes in this process unless a `with` block says else."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import coterie
from coterie.data import MemoryRows, Rows, ThreadEngine, fold, map_blocks
from coterie.exceptions import InvalidParameter


class Recording(ThreadEngine):
    """Counts the passes it is given."""

    def __init__(self):
        self.passes = 0

    def map(self, function, stretches, arguments):
        self.passes += 1
        return super().map(function, stretches, arguments)


def total(block, _):
    return float(block.rows.sum())


def one_pass():
    return fold(map_blocks(Rows(np.ones((30, 2))), total, None))


@pytest.fixture
def configured():
    who = Recording()
    coterie.config(engine=who)
    yield who
    coterie.config(engine=None)


def test_it_runs_the_passes_of_every_thread(configured):
    assert one_pass() == 60.0
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(one_pass).result() == 60.0
    assert configured.passes == 2


def test_a_with_block_goes_before_it_and_none_takes_it_back(configured):
    other = Recording()
    with coterie.engine(other):
        one_pass()
    assert (configured.passes, other.passes) == (0, 1)
    coterie.config(engine=None)
    one_pass()
    assert configured.passes == 0


def test_what_is_no_engine_is_refused():
    with pytest.raises(InvalidParameter, match=r"distributed\.Client"):
        coterie.config(engine=3)


def test_rows_of_dask_are_worked_on_by_the_client_that_is_open():
    da = pytest.importorskip("dask.array")
    distributed = pytest.importorskip("distributed")
    X = np.random.default_rng(0).normal(size=(9_000, 2))
    with distributed.Client(n_workers=1, processes=False, dashboard_address=":0") as client:
        before = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
        model = coterie.DPMeans(n_clusters_hint=2, random_state=0).fit(da.from_array(X))
        after = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
    assert after > before
    np.testing.assert_array_equal(
        model.labels_, coterie.DPMeans(n_clusters_hint=2, random_state=0).fit(X).labels_
    )


def test_rows_in_memory_have_a_place_too():
    assert MemoryRows(np.ones((3, 1))).place(2) == "row 2"
