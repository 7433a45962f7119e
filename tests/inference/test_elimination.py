from __future__ import annotations

import numpy as np
import pytest
from inference.problems import assemble, random_problem

from coterie.exceptions import TooWide
from coterie.inference import NoFeasibleLabels, eliminate, exact_plan
from coterie.inference.elimination import log_partition
from reference.pairwise import enumerate_model, naive_energy


@pytest.mark.parametrize("seed", range(400))
def test_agrees_with_enumeration(seed):
    problem = random_problem(seed)
    lowest, log_z, marginals, together = enumerate_model(*problem[1:5])
    if np.isinf(lowest):
        with pytest.raises(NoFeasibleLabels):
            eliminate(problem.model)
        return
    found = eliminate(problem.model)
    assert found.energy == pytest.approx(lowest, abs=1e-10)
    assert naive_energy(*problem[1:5], found.labels) == pytest.approx(lowest, abs=1e-10)
    assert found.log_partition == pytest.approx(log_z, abs=1e-10)
    np.testing.assert_allclose(found.marginals, marginals, atol=1e-10)
    np.testing.assert_allclose(found.edge_same, together[problem.entry_edge], atol=1e-10)


@pytest.mark.parametrize("seed", range(100))
def test_log_z_alone_has_the_bits_of_the_whole_answer(seed):
    model = random_problem(seed).model
    plan = exact_plan(model)
    try:
        whole = eliminate(model, plan=plan)
    except NoFeasibleLabels:
        with pytest.raises(NoFeasibleLabels):
            log_partition(model, plan)
        return
    log_z, marginals = log_partition(model, plan)
    assert log_z == whole.log_partition
    np.testing.assert_array_equal(marginals, whole.marginals)


def test_many_components_of_one_shape_are_grouped():
    rng = np.random.default_rng(0)
    triangles = [(3 * t + a, 3 * t + b) for t in range(50) for a, b in ((0, 1), (0, 2), (1, 2))]
    unary = rng.normal(size=(150, 3))
    same = rng.exponential(size=(150, 1))
    problem = assemble(unary, triangles, same, np.zeros((150, 1)))
    plan = exact_plan(problem.model)
    assert len(plan.loopy) == 1
    assert plan.loopy[0].nodes.shape == (50, 3)
    found = eliminate(problem.model, plan=plan)
    total = 0.0
    for t in range(50):
        local = [(0, 1), (0, 2), (1, 2)]
        cost = np.repeat(same[3 * t : 3 * t + 3], 3, axis=1)
        args = (unary[3 * t : 3 * t + 3], local, cost, np.zeros((3, 3)))
        _, log_z, marginals, _ = enumerate_model(*args)
        total += log_z
        np.testing.assert_allclose(found.marginals[3 * t : 3 * t + 3], marginals, atol=1e-10)
    assert found.log_partition == pytest.approx(total, abs=1e-8)


def test_refuses_what_is_too_wide():
    edges = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    problem = assemble(np.zeros((6, 3)), edges, np.ones((15, 1)), np.zeros((15, 1)))
    with pytest.raises(TooWide, match="6 nodes"):
        eliminate(problem.model, max_table=3**5)
    assert eliminate(problem.model, max_table=3**6).report["largest_width"] == 5


def test_a_long_chain_and_a_long_cycle():
    n, k = 3000, 4
    rng = np.random.default_rng(1)
    unary = rng.normal(size=(n, k))
    chain = [(i, i + 1) for i in range(n - 1)]
    cost = rng.exponential(size=(n - 1, 1))
    found = eliminate(assemble(unary, chain, cost, np.zeros((n - 1, 1))).model)
    # transfer matrices, the textbook way
    log_z, alpha = 0.0, np.exp(-unary[0])
    for i in range(1, n):
        alpha = _step(alpha, cost[i - 1, 0]) * np.exp(-unary[i])
        log_z += np.log(alpha.sum())
        alpha /= alpha.sum()
    assert found.log_partition == pytest.approx(log_z, rel=1e-12)
    weak = np.concatenate((cost, [[0.0]]))  # closing the ring at no cost changes nothing
    ring = assemble(unary, [*chain, (0, n - 1)], weak, np.zeros((n, 1)))
    looped = eliminate(ring.model)
    assert looped.report["largest_width"] == 2
    assert looped.log_partition == pytest.approx(log_z, rel=1e-12)
    np.testing.assert_allclose(looped.marginals, found.marginals, atol=1e-10)


def _step(alpha, cost):
    transfer = np.ones((alpha.size, alpha.size))
    np.fill_diagonal(transfer, np.exp(-cost))
    return alpha @ transfer


def test_costs_far_beyond_what_exp_can_hold():
    unary = np.array([[0.0, 5000.0], [5000.0, 0.0], [0.0, 3000.0]])
    problem = assemble(unary, [(0, 1), (1, 2)], [[0.0], [0.0]], [[2000.0], [2000.0]])
    lowest, log_z, marginals, _ = enumerate_model(*problem[1:5])
    found = eliminate(problem.model)
    assert found.energy == lowest == 4000.0
    assert found.log_partition == pytest.approx(log_z, abs=1e-10)
    np.testing.assert_allclose(found.marginals, marginals, atol=1e-12)
