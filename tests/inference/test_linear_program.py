from __future__ import annotations

import numpy as np
import pytest
from inference.problems import assemble, random_problem

from coterie.inference import NoFeasibleLabels, linear_program
from reference.pairwise import enumerate_model


@pytest.mark.parametrize("seed", range(200))
def test_bound_below_optimum_below_rounding(seed):
    problem = random_problem(seed)
    lowest = enumerate_model(*problem[1:5])[0]
    if np.isinf(lowest):
        with pytest.raises(NoFeasibleLabels):
            linear_program(problem.model, random_state=0)
        return
    found = linear_program(problem.model, random_state=0)
    tolerance = 1e-6 * (1 + abs(lowest))
    assert found.report["lower_bound"] <= lowest + tolerance
    assert found.energy >= lowest - tolerance
    if found.report["fractional_nodes"] == 0:
        assert found.energy == pytest.approx(lowest, abs=tolerance)
        assert found.report["lower_bound"] == pytest.approx(lowest, abs=tolerance)


def test_must_links_between_two_labels_are_solved_exactly():
    # with K = 2 and must-links only the relaxation is a minimum cut: always integral
    rng = np.random.default_rng(0)
    for _ in range(20):
        edges = [(i, j) for i in range(7) for j in range(i + 1, 7) if rng.random() < 0.5]
        cost = rng.exponential(size=(len(edges), 1))
        problem = assemble(rng.normal(size=(7, 2)), edges, np.zeros_like(cost), cost)
        found = linear_program(problem.model)
        lowest = enumerate_model(*problem[1:5])[0]
        assert found.report["lower_bound"] == pytest.approx(lowest, abs=1e-6)
        assert found.energy == pytest.approx(lowest, abs=1e-6)


def test_components_at_no_cost_stay_out_of_the_program():
    unary = [[0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]
    problem = assemble(unary, [(0, 1), (2, 3)], [[0.0], [1.0]], [[1.0], [0.0]])
    found = linear_program(problem.model, random_state=0)
    assert found.report["program_nodes"] == 2
    assert found.energy == pytest.approx(1.0)
