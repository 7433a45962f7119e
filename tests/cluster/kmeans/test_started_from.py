"""What a fit goes on from may be anything: no kernel is reached with a label of no cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coterie import LCVQE, Constraints, COPKMeans, HMRFKMeans, MPCKMeans, PCKMeans

N = 60
X = np.abs(np.random.default_rng(0).normal(size=(N, 3)) + 5 * np.eye(3)[np.arange(N) % 3])
KNOWN = Constraints(N, must_link=[(0, 3), (1, 4)], cannot_link=[(0, 1), (1, 2)])
ODD = [
    np.full(N, 10**9), np.full(N, -5), np.full(N, 2**62), np.full(N, np.nan), np.arange(N) * 1000,
    np.zeros((N, 2), dtype=int), np.array(["a"] * N), "x", None, 5, np.full(N, 3),
]  # fmt: skip


@pytest.mark.parametrize("way", ["warm_start", "init"])
@pytest.mark.parametrize("cls", [PCKMeans, COPKMeans, LCVQE, MPCKMeans], ids=lambda c: c.__name__)
def test_labels_of_no_cluster_are_not_used(cls: Any, way: str) -> None:
    """They ended the process by a segmentation fault, or had other memory counted."""
    for labels in ODD:
        model = cls(3, random_state=0).fit(X, constraints=KNOWN)
        model.labels_ = labels
        again = model.set_params(warm_start=True) if way == "warm_start" else cls(3, init=model)
        found = again.fit(X, constraints=KNOWN).labels_
        assert found.min() >= 0
        assert found.max() < 3


def test_a_metric_of_no_numbers_is_not_used() -> None:
    """A fit that went on from it never ended."""
    model = HMRFKMeans(3, random_state=0).fit(X, constraints=KNOWN)
    model.distortion_params_ = np.full_like(model.distortion_params_, np.nan)
    again = model.set_params(warm_start=True).fit(X, constraints=KNOWN)
    assert np.isfinite(again.distortion_params_).all()
