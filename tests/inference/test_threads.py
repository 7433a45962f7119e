"""The local search gives the same labels for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.constraints import Constraints
from coterie.data import use_threads
from coterie.inference import energy, icm, icm_plan, pairwise_model, polish


def large_model(hard: float, seed: int = 0, n: int = 90_000, m: int = 70_000, k: int = 5):
    """Random pairs, so that components are many and of all sizes; a share of cannot-links hard."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(n, size=(m, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    half = len(ends) // 2
    weight = np.where(rng.random(len(ends) - half) < hard, np.inf, 1.0)
    known = Constraints(n, ends[:half], ends[half:], cannot_weight=weight)
    core = known.core()
    same, differ = core.costs(known.cost())
    unary = rng.exponential(size=(core.n_nodes, k))
    return pairwise_model(unary, core.indptr, core.indices, same, differ)


@pytest.mark.parametrize("hard", [0.0, 0.05])
def test_any_number_of_threads_gives_the_same_labels(hard):
    model = large_model(hard)
    assert model.n_nodes > 3 * 16384  # enough work for more than three
    plan = icm_plan(model)
    assert plan.hard == (hard > 0)
    found = []
    for threads in (1, 2, 3, 4):
        with use_threads(threads):
            found.append(icm(model, random_state=0, plan=plan))
    for other in found[1:]:
        np.testing.assert_array_equal(other.labels, found[0].labels)
        assert other.energy == found[0].energy
        assert other.report == found[0].report
    assert found[0].converged
    # Nothing is left to gain: no node, alone or with its group, moves from where the search ended.
    labels, savings = polish(model, plan, found[0].labels, None, random_state=5)
    np.testing.assert_array_equal(labels, found[0].labels)
    again, _ = polish(model, plan, labels, None, random_state=5, savings=savings)
    np.testing.assert_array_equal(again, labels)
    assert found[0].energy == pytest.approx(energy(model, found[0].labels))


def test_what_was_kept_of_the_last_search_changes_nothing():
    """Other unary costs, the same pairs: savings from the last search give the labels of none."""
    model = large_model(0.0, n=9_000, m=7_000)
    plan = icm_plan(model)
    labels, savings = polish(model, plan, icm(model, random_state=0).labels, None, 0)
    rng = np.random.default_rng(1)
    for seed in range(5):
        moved = model._replace(unary=model.unary * rng.uniform(0.5, 1.5, size=model.unary.shape))
        fresh, _ = polish(moved, plan, labels, None, seed)
        kept, savings = polish(moved, plan, labels, None, seed, savings)
        np.testing.assert_array_equal(kept, fresh)
        assert (kept != labels).any()
        labels = kept
    other = model._replace(same=model.same * 3, differ=model.differ * 3)  # no longer theirs
    np.testing.assert_array_equal(
        polish(other, plan, labels, None, 7, savings)[0], polish(other, plan, labels, None, 7)[0]
    )
