"""What a fit holds beside the rows: nothing of the starts once they were tried, no costs twice."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from coterie import HMRFKMeans, MPCKMeans
from coterie.constraints import sample_pairs
from coterie.data import use_threads

N, D, K = 100_000, 16, 10


@pytest.fixture(scope="module")
def problem() -> Any:
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=N)
    X = rng.standard_normal((N, D), dtype=np.float32)
    X += 1.5 * rng.standard_normal((K, D), dtype=np.float32)[y]
    return X, sample_pairs(y, N // 10, random_state=0)


@pytest.mark.parametrize(
    ("cls", "times"), [(HMRFKMeans, 3.5), (MPCKMeans, 3.9)], ids=lambda value: str(value)
)
def test_a_fit_holds_so_many_times_its_rows(cls: Any, times: float, problem: Any) -> None:
    X, known = problem
    cls(K, random_state=0, max_iter=2).fit(X[:2000], constraints=known.subset(np.arange(2000)))
    with use_threads(1):  # of two, what each holds in passing may or may not meet
        tracemalloc.start()
        cls(K, random_state=0).fit(X, constraints=known)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < times * X.nbytes, peak / X.nbytes
