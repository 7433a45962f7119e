"""Rows to clusters of bounded sizes: exact, by every labelling and by a linear program."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import eye_array, kron

from coterie.inference import transport
from reference.sizes import least

MODULE = sys.modules["coterie.inference.transport"]  # the function has its name


def by_program(cost, low, high):
    n, k = cost.shape
    rows = LinearConstraint(kron(eye_array(n), np.ones((1, k))), 1, 1)
    sizes = LinearConstraint(kron(np.ones((1, n)), eye_array(k)), low, high)
    return milp(cost.ravel(), constraints=[rows, sizes], bounds=Bounds(0, 1)).fun


def random_problem(rng, n, k):
    cost = rng.normal(size=(n, k)) if rng.random() < 0.6 else 1.0 * rng.integers(0, 3, (n, k))
    held = np.bincount(rng.integers(0, k, n), minlength=k)
    low, high = np.maximum(held - rng.integers(0, 3, k), 0), held + rng.integers(0, 3, k)
    if rng.random() < 0.2:
        high[:] = n
    return cost, low, high


@pytest.mark.parametrize("seed", range(60))
def test_it_is_the_least_of_every_labelling(seed):
    rng = np.random.default_rng(seed)
    cost, low, high = random_problem(rng, int(rng.integers(1, 7)), int(rng.integers(1, 4)))
    found = transport(cost, low, high)
    held = np.bincount(found.labels, minlength=cost.shape[1])
    assert (held >= low).all()
    assert (held <= high).all()
    assert found.cost == pytest.approx(least(cost, low, high), abs=1e-9)


@pytest.mark.parametrize("few", [1, 10**9])
@pytest.mark.parametrize("seed", range(20))
def test_prices_of_a_part_change_nothing(seed, few, monkeypatch):
    monkeypatch.setattr(MODULE, "_FEW", few)
    monkeypatch.setattr(MODULE, "_A_CLUSTER", 1)
    rng = np.random.default_rng(seed)
    cost, low, high = random_problem(rng, 60, 4)
    found = transport(cost, low, high)
    assert found.cost == pytest.approx(by_program(cost, low, high), abs=1e-7)
    # Every row is where cost and price are least; only full clusters have a price.
    priced = cost + found.price
    assert (priced[np.arange(len(cost)), found.labels] <= priced.min(axis=1) + 1e-9).all()
    held = np.bincount(found.labels, minlength=4)
    assert ((found.price <= 1e-9) | (held == high)).all()
    assert ((found.price >= -1e-9) | (held == low)).all()
