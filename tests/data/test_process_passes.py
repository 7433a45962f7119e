"""Every estimator's passes over rows give the same bits in other processes as in threads."""

from __future__ import annotations

from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
import scipy.sparse as sp
from common.estimators import CASES
from sklearn.base import clone
from sklearn.datasets import load_iris

from coterie import HMRFKMeans, MPCKMeans, PCKMeans, RDPMeans
from coterie.constraints import sample_pairs
from coterie.data import Block, ProcessEngine, Rows, engine, map_blocks, use_threads
from coterie.data.parquet import decoded_groups
from coterie.memory import memory_bytes

X, y = load_iris(return_X_y=True)
KNOWN = sample_pairs(y, 40, random_state=0)
# What the common table does not pose: every form of metric, starts and distortion that has passes
# of its own.
MORE = [
    HMRFKMeans(metric_form="full", per_cluster=True),
    HMRFKMeans(distortion="cosine", init="perturb"),
    HMRFKMeans(distortion="i-divergence"),
    MPCKMeans(metric_form="full"),
    PCKMeans(metric="mahalanobis", init="k-means++"),
    RDPMeans(divergence="euclidean", init="spectral"),
]

WITHOUT_PASSES = {"ConstrainedCompleteLink", "Dossier"}  # they compare rows with one another


@pytest.fixture(scope="module")
def pool():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


class Counting(ProcessEngine):
    """Counts the blocks it sends out."""

    def __init__(self, pool: Executor, workers: int) -> None:
        super().__init__(pool, workers)
        self.sent = 0

    def map(self, function, blocks, arguments):
        def counted():
            for block in blocks:
                self.sent += 1
                yield block

        return super().map(function, counted(), arguments)


def prepared(case):
    estimator = clone(case if not hasattr(case, "estimator") else case.estimator)
    prepare = getattr(getattr(case, "capabilities", None), "prepare", None)
    rows = np.abs(X) + 0.1
    rows = rows if prepare is None else prepare(rows)
    parameters = estimator.get_params()
    settings = {"random_state": 0, "n_clusters": 3, "n_components": 3, "n_clusters_hint": 3}
    estimator.set_params(**{k: v for k, v in settings.items() if k in parameters})
    return estimator, rows


def result(estimator, rows, known):
    model = clone(estimator).fit(rows, **({} if known is None else {"constraints": known}))
    numbers = [
        np.asarray(getattr(model, name))
        for name in ("labels_", "objective_", "cluster_centers_", "means_", "lower_bound_")
        if hasattr(model, name)
    ]
    if hasattr(model, "predict"):
        numbers.append(model.predict(rows))
    return numbers


@pytest.mark.parametrize(
    "case", [*CASES, *MORE], ids=lambda case: getattr(case, "name", None) or repr(case)
)
def test_processes_give_the_bits_of_threads(case, pool, monkeypatch):
    monkeypatch.setattr("coterie.data.passes._BLOCK_ROWS", 40)  # so that few rows are some blocks
    estimator, rows = prepared(case)
    hard = getattr(getattr(case, "capabilities", None), "soft", True) is False
    known = KNOWN.as_hard() if hard else KNOWN
    if getattr(getattr(case, "capabilities", None), "constraints", True) is False:
        known = None
    with use_threads(2):
        here = result(estimator, rows, known)
    counting = Counting(pool, 2)
    with engine(counting):
        there = result(estimator, rows, known)
    for one, two in zip(here, there, strict=True):
        np.testing.assert_array_equal(one, two)
    assert counting.sent > 0 or type(estimator).__name__ in WITHOUT_PASSES


def test_sparse_rows_too(pool, monkeypatch):
    monkeypatch.setattr("coterie.data.passes._BLOCK_ROWS", 40)
    rows = sp.csr_matrix(np.abs(X))
    for estimator in (PCKMeans(3, random_state=0), HMRFKMeans(3, distortion="kl", random_state=0)):
        here = result(estimator, rows, KNOWN)
        with engine(ProcessEngine(pool, 2)):
            there = result(estimator, rows, KNOWN)
        for one, two in zip(here, there, strict=True):
            np.testing.assert_array_equal(one, two)


def _kept(block: Block, _: None) -> int:
    return decoded_groups.most_bytes


def test_processes_keep_no_more_together_than_one_does_alone(pool):
    alone = decoded_groups.most_bytes
    with engine(ProcessEngine(pool, 2)):
        found = list(map_blocks(Rows(X), _kept, None))
    assert all(0 < kept <= memory_bytes() // 2 // 8 for kept in found)
    assert decoded_groups.most_bytes == alone
    with ThreadPoolExecutor(2) as threads, engine(ProcessEngine(threads, 2)):
        assert list(map_blocks(Rows(X), _kept, None)) == [alone]
