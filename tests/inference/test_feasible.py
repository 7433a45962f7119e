from __future__ import annotations

import numpy as np
import pytest
from inference.problems import assemble, random_problem

from coterie.inference import NoFeasibleLabels, energy, feasible_start
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


def planted(rng, n, k, mean_degree):
    """Edges of a graph that has a colouring with k colours, dense enough to hide it."""
    hidden = rng.integers(0, k, n)
    pairs = np.column_stack(np.triu_indices(n, 1))
    pairs = pairs[hidden[pairs[:, 0]] != hidden[pairs[:, 1]]]
    return pairs[rng.permutation(len(pairs))[: int(n * mean_degree / 2)]]


@pytest.mark.parametrize("seed", range(8))
def test_colourings_near_the_threshold_are_found(seed):
    rng = np.random.default_rng(seed)
    edges = planted(rng, 120, 4, 8.6)
    unary = rng.random((120, 4))
    shape = (len(edges), 1)
    problem = assemble(unary, edges.tolist(), np.full(shape, np.inf), np.zeros(shape))
    labels = feasible_start(problem.model, seed, restarts=1, time_limit=1.0)
    assert np.isfinite(energy(problem.model, labels))
