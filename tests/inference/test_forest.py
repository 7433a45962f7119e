"""The strongest spanning forest: a bound on log Z from above, by enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from inference.problems import assemble, random_problem

from coterie.inference import components, eliminate, spanning_forest
from coterie.inference.model import entry_rows
from reference.pairwise import enumerate_model


def edges_of(model):
    rows = entry_rows(model)
    return {(int(a), int(b)) for a, b in zip(rows, model.indices, strict=True) if a < b}


@pytest.mark.parametrize("seed", range(120))
def test_a_tree_for_each_component_whose_log_z_is_no_smaller(seed):
    problem = random_problem(seed)
    forest = spanning_forest(problem.model)
    count, _ = components(problem.model)
    assert components(forest)[0] == count
    assert edges_of(forest) <= edges_of(problem.model)
    assert len(edges_of(forest)) == problem.model.n_nodes - count
    lowest, log_z, _, _ = enumerate_model(*problem[1:5])
    if np.isfinite(lowest):
        assert eliminate(forest).log_partition >= log_z - 1e-10


def test_it_is_the_strongest_and_always_the_same():
    rng = np.random.default_rng(0)
    edges = [(i, j) for i in range(8) for j in range(i + 1, 8)]
    cost = rng.permutation(np.arange(1.0, len(edges) + 1))
    kind = rng.random(len(edges)) < 0.5
    model = assemble(np.zeros((8, 3)), edges, cost * kind, cost * ~kind, rng).model
    group, chosen = list(range(8)), set()
    for e in np.argsort(-cost):  # Kruskal
        a, b = edges[e]
        if group[a] != group[b]:
            group = [group[a] if g == group[b] else g for g in group]
            chosen.add((a, b))
    assert edges_of(spanning_forest(model)) == chosen
    even = model._replace(same=np.ones_like(model.same), differ=np.zeros_like(model.differ))
    assert edges_of(spanning_forest(even)) == edges_of(spanning_forest(even))


def test_a_model_without_edges_is_its_own_forest():
    model = assemble(np.zeros((4, 2)), [], np.zeros((0, 1)), np.zeros((0, 1))).model
    assert spanning_forest(model).n_edges == 0
