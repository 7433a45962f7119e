from __future__ import annotations

import numpy as np
import pytest
from inference.problems import assemble, random_problem

from coterie.inference import NoFeasibleLabels, auto, eliminate, exact_plan
from reference.pairwise import enumerate_model


@pytest.mark.parametrize("seed", range(150))
def test_exact_when_everything_is_narrow(seed):
    problem = random_problem(seed)
    lowest, log_z, marginals, _ = enumerate_model(*problem[1:5])
    if np.isinf(lowest):
        with pytest.raises(NoFeasibleLabels):
            auto(problem.model)
        return
    found = auto(problem.model, random_state=0)
    assert found.energy == pytest.approx(lowest, abs=1e-10)
    assert found.log_partition == pytest.approx(log_z, abs=1e-10)
    np.testing.assert_allclose(found.marginals, marginals, atol=1e-10)
    assert found.report["log_partition"] == "exact"
    labels_only = auto(problem.model, marginals=False)
    assert labels_only.energy == pytest.approx(lowest, abs=1e-10)
    assert labels_only.marginals is None


@pytest.mark.parametrize("seed", range(60))
def test_wide_components_are_bounded_not_refused(seed):
    rng = np.random.default_rng(seed)
    clique = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    edges = [*clique, (5, 6), (6, 7)]
    cost = rng.exponential(size=(12, 1))
    kind = rng.random((12, 1)) < 0.5
    problem = assemble(
        rng.normal(size=(8, 3)), edges, np.where(kind, cost, 0), np.where(kind, 0, cost), rng
    )
    lowest, log_z, marginals, together = enumerate_model(*problem[1:5])
    found = auto(problem.model, random_state=0, max_table=3**3)
    assert found.report["exact_nodes"] == 3
    assert found.report["approximate_nodes"] == 5
    assert found.energy >= lowest - 1e-10
    assert found.log_partition <= log_z + 1e-10
    assert found.report["log_partition"] == "lower bound"
    np.testing.assert_allclose(found.marginals[5:], marginals[5:], atol=1e-10)
    tree = problem.entry_edge >= 10
    expected = together[problem.entry_edge[tree]]
    np.testing.assert_allclose(found.edge_same[tree], expected, atol=1e-10)


def test_a_plan_serves_other_costs_on_the_same_graph():
    problem = random_problem(12, hard=False)
    plan = exact_plan(problem.model)
    rng = np.random.default_rng(0)
    for _ in range(3):
        other = problem.model._replace(unary=rng.normal(size=problem.model.unary.shape))
        a, b = auto(other, plan=plan), eliminate(other)
        np.testing.assert_array_equal(a.marginals, b.marginals)
        assert a.log_partition == b.log_partition
