"""Means of clusters, and rows that may belong to another, beside naive twins."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from coterie.report.clusters import centers_of, least_certain

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)) + 4 * np.eye(4, 3)[np.repeat(range(4), 10)]
LABELS = RNG.permutation(np.repeat(range(4), 10))


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_the_mean_of_each_cluster(kind):
    found = centers_of(kind(X), LABELS, 5)
    for k in range(4):
        assert np.allclose(found[k], X[k == LABELS].mean(axis=0))
    assert np.array_equal(found[4], np.zeros(3))  # one that has no rows


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_the_rows_nearest_to_another_mean(kind):
    centers = centers_of(X, LABELS, 4)
    members = np.flatnonzero(LABELS == 2)
    expected = []
    for row in members:
        gaps = [float(((X[row] - center) ** 2).sum()) for center in centers]
        other = min((k for k in range(4) if k != 2), key=lambda k: gaps[k])
        expected.append((gaps[other] / gaps[2], int(row), other))
    expected = sorted(expected)[:4]
    found = least_certain(kind(X), members, centers, 2, 4)
    assert [(row, other) for row, other, _ in found] == [(row, k) for _, row, k in expected]
    assert [ratio for _, _, ratio in found] == pytest.approx([ratio for ratio, _, _ in expected])
    assert least_certain(X, members, centers[:1], 0, 4) == []
