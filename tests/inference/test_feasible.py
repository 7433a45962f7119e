from __future__ import annotations

import numpy as np
import pytest
from inference.problems import assemble, graph, random_problem

from coterie.inference import NoFeasibleLabels, energy, exact_map, feasible_start
from reference.pairwise import enumerate_model


@pytest.mark.parametrize("seed", range(300))
@pytest.mark.parametrize("restarts", [0, 10])
def test_found_when_it_exists_and_refused_when_not(seed, restarts):
    problem = random_problem(seed)
    if np.isinf(enumerate_model(*problem[1:5])[0]):
        with pytest.raises(NoFeasibleLabels) as caught:
            feasible_start(problem.model, seed, restarts=restarts)
        assert caught.value.nodes.size > 0
    else:
        labels = feasible_start(problem.model, seed, restarts=restarts)
        assert np.isfinite(energy(problem.model, labels))


@pytest.mark.parametrize("seed", range(150))
def test_exact_map_is_the_minimum(seed):
    problem = random_problem(seed, k_max=6 if seed % 3 == 0 else 3, n_max=4 if seed % 3 == 0 else 7)
    lowest = enumerate_model(*problem[1:5])[0]
    if np.isinf(lowest):
        with pytest.raises(NoFeasibleLabels):
            exact_map(problem.model)
    else:
        assert exact_map(problem.model).energy == pytest.approx(lowest, abs=1e-7)


def test_exact_map_lets_in_labels_left_out_at_first():
    # six nodes that must all differ, with the same order of preference
    edges = graph("clique", 6, np.random.default_rng(0))
    unary = np.tile(np.arange(6.0), (6, 1))
    problem = assemble(unary, edges, np.full((15, 1), np.inf), np.zeros((15, 1)))
    assert exact_map(problem.model).energy == pytest.approx(15.0)
    soft = assemble(unary, edges, np.full((15, 1), 100.0), np.zeros((15, 1)))
    assert exact_map(soft.model).energy == pytest.approx(15.0)


def test_the_error_names_the_component():
    edges = [(1, 2), (1, 3), (2, 3), (4, 5)]
    problem = assemble(np.zeros((6, 2)), edges, np.full((4, 1), np.inf), np.zeros((4, 1)))
    with pytest.raises(NoFeasibleLabels, match="1, 2, 3") as caught:
        feasible_start(problem.model)
    assert caught.value.nodes.tolist() == [1, 2, 3]


def test_hard_must_links_share_forbidden_labels():
    unary = [[np.inf, 0.0, 0.0], [0.0, np.inf, 0.0], [0.0, 0.0, np.inf]]
    problem = assemble(unary, [(0, 1), (1, 2)], [[0.0]] * 2, [[np.inf]] * 2)
    with pytest.raises(NoFeasibleLabels) as caught:
        feasible_start(problem.model)
    assert caught.value.nodes.tolist() == [0, 1, 2]
