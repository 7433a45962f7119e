from __future__ import annotations

import itertools

import numpy as np
import pytest
from inference.problems import assemble, random_problem

from coterie.inference import NoFeasibleLabels, energy, icm, icm_plan
from reference.pairwise import enumerate_model, naive_energy


def single_moves(model, labels):
    for i, k in itertools.product(range(model.n_nodes), range(model.n_labels)):
        y = labels.copy()
        y[i] = k
        yield y


@pytest.mark.parametrize("seed", range(300))
def test_never_raises_and_ends_at_a_local_minimum(seed):
    problem = random_problem(seed)
    lowest = enumerate_model(*problem[1:5])[0]
    if np.isinf(lowest):
        with pytest.raises(NoFeasibleLabels):
            icm(problem.model, random_state=seed)
        return
    rng = np.random.default_rng(seed)
    start = rng.integers(problem.model.n_labels, size=problem.model.n_nodes)
    before = naive_energy(*problem[1:5], start)
    found = icm(problem.model, start, random_state=seed)
    assert found.converged
    assert found.energy == pytest.approx(naive_energy(*problem[1:5], found.labels), abs=1e-12)
    assert lowest - 1e-9 <= found.energy <= before + 1e-12
    for y in single_moves(problem.model, found.labels):
        assert energy(problem.model, y) >= found.energy - 1e-9


def test_usually_finds_the_minimum():
    hits = total = 0
    for seed in range(300):
        problem = random_problem(seed)
        lowest = enumerate_model(*problem[1:5])[0]
        if np.isfinite(lowest):
            total += 1
            hits += icm(problem.model, random_state=0).energy <= lowest + 1e-9
    assert hits / total > 0.75


def test_component_moves_pass_a_barrier_single_moves_cannot():
    # both prefer 1 a little less than the link costs, so one alone never moves
    problem = assemble([[1.0, 0.0], [1.0, 0.0]], [(0, 1)], [[0.0]], [[5.0]])
    found = icm(problem.model, [0, 0], random_state=0)
    assert found.labels.tolist() == [1, 1]
    assert found.report["component_moves"] == 1


def test_swaps_pass_hard_cannot_links():
    problem = assemble([[1.0, 0.0], [0.0, 1.0]], [(0, 1)], [[np.inf]], [[0.0]])
    found = icm(problem.model, [0, 1], random_state=0)
    assert found.labels.tolist() == [1, 0]
    assert found.report["swaps"] == 1


def test_a_long_chain_is_left_alone_and_reported():
    n = 6
    edges = [(i, i + 1) for i in range(n - 1)]
    unary = np.zeros((n, 2))
    unary[0, 0] = 1.0
    start = np.arange(n) % 2
    problem = assemble(unary, edges, np.full((n - 1, 1), np.inf), np.zeros((n - 1, 1)))
    short = icm(problem.model, start, random_state=0, max_chain=3)
    assert short.labels.tolist() == start.tolist()
    assert not short.report["all_chains_tried"]
    assert icm(problem.model, start, random_state=0).labels.tolist() == (1 - start).tolist()


def test_repeats_for_one_seed_and_with_a_plan():
    problem = random_problem(3)
    plan = icm_plan(problem.model)
    a, b = icm(problem.model, random_state=5), icm(problem.model, random_state=5, plan=plan)
    assert a.labels.tolist() == b.labels.tolist()
    assert a.report == b.report


def test_start_is_not_written_to():
    problem = random_problem(1)
    start = np.zeros(problem.model.n_nodes, dtype=np.int64)
    icm(problem.model, start, random_state=0)
    assert not start.any()
