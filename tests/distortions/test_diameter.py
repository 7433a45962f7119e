"""The farthest pair of (2.6) against the search over all pairs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from coterie import Constraints, MPCKMeans
from coterie.distortions import SquaredEuclidean
from reference.pckmeans import squared_diameter


def drawn(kind, rng, n, d):
    """Rows with their farthest pair in different places: anywhere, at the rim, repeated."""
    X = rng.normal(size=(n, d))
    if kind == "sphere":  # no row can be left out by its distance from a centre
        return X / np.linalg.norm(X, axis=1, keepdims=True)
    if kind == "repeated":
        return X[rng.integers(0, max(1, n // 6), n)].round(1)
    if kind == "far":  # from the origin, beside their spread
        return X + 1e6
    return X


@pytest.mark.parametrize("kind", ["normal", "sphere", "repeated", "far"])
@pytest.mark.parametrize(("n", "d"), [(2, 3), (30, 1), (40, 2), (60, 5), (25, 40)])
def test_phi_max_is_the_squared_diameter(kind, n, d):
    rng = np.random.default_rng(n + d)
    X = drawn(kind, rng, n, d)
    roots = rng.normal(size=(2, d, d))
    full = roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(d)
    diagonal = rng.random((2, d)) + 0.1
    bound = SquaredEuclidean().bound(X)
    assert bound.value(None) == pytest.approx(squared_diameter(X, np.eye(d)), rel=1e-9)
    assert bound.value(diagonal[0]) == pytest.approx(
        squared_diameter(X, np.diag(diagonal[0])), rel=1e-9
    )
    expected = [squared_diameter(X, np.diag(a)) for a in diagonal]
    np.testing.assert_allclose(bound.value(diagonal), expected, rtol=1e-9)
    expected = [squared_diameter(X, A) for A in full]
    np.testing.assert_allclose(bound.value(full), expected, rtol=1e-7)
    assert bound.value(full[:1]) == pytest.approx(expected[0], rel=1e-7)


def test_more_rows_than_a_block_hold_are_searched():
    rng = np.random.default_rng(3)
    angle = rng.random(700) * 2 * np.pi
    X = np.column_stack([np.cos(angle), np.sin(angle)])  # every row is an end of some long pair
    gaps = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    assert SquaredEuclidean().phi_max(X) == pytest.approx(gaps.max(), rel=1e-12)


def test_sparse_rows_have_the_same_diameter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6)) * (rng.random((50, 6)) < 0.4)
    a = rng.random(6) + 0.1
    one, two = (SquaredEuclidean().phi_max(rows, a) for rows in (X, sp.csr_matrix(X)))
    assert one == pytest.approx(two, rel=1e-12)


def test_many_rows_are_bounded_by_their_box():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 2))
    a = np.array([0.5, 2.0])
    box = float(a @ np.ptp(X, axis=0) ** 2)
    assert SquaredEuclidean().phi_max(X, a) == pytest.approx(box)


def test_a_broken_cannot_link_costs_the_diameter_less_its_length():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    known = Constraints(40, cannot_link=[(0, 1), (5, 9), (20, 30)])
    model = MPCKMeans(1, w=1.0, random_state=0).fit(X, constraints=known)
    broken, metric = model.violations_, np.diag(model.metrics_[0])
    gaps = X[broken.i] - X[broken.j]
    expected = squared_diameter(X, metric) - np.einsum("md,de,me->m", gaps, metric, gaps)
    np.testing.assert_allclose(broken.value, expected, rtol=1e-9)
    assert len(broken.value) == 3
