"""Labels of least energy against enumeration, with and without time."""

from __future__ import annotations

import numpy as np
import pytest
from inference.problems import assemble, graph, random_problem

from coterie.inference import NoFeasibleLabels, energy, icm, infer, least_energy
from coterie.inference.improving import possible_labels
from reference.pairwise import enumerate_model


@pytest.mark.parametrize("max_table", [1, 2**16])  # 1: every component with a cycle by HiGHS
@pytest.mark.parametrize("seed", range(150))
def test_is_the_minimum(seed, max_table):
    problem = random_problem(seed, k_max=6 if seed % 3 == 0 else 3, n_max=4 if seed % 3 == 0 else 7)
    lowest = enumerate_model(*problem[1:5])[0]
    if np.isinf(lowest):
        with pytest.raises(NoFeasibleLabels):
            least_energy(problem.model, max_table=max_table)
        return
    found = least_energy(problem.model, max_table=max_table, random_state=seed)
    assert found.converged
    assert found.energy == pytest.approx(lowest, abs=1e-7)
    assert found.energy == pytest.approx(energy(problem.model, found.labels))
    assert found.report["bound"] == pytest.approx(lowest, abs=1e-7)


@pytest.mark.parametrize("seed", range(150))
def test_labels_ruled_out_are_in_no_better_labelling(seed):
    """Each label ruled out costs at least E(start) wherever it is used."""
    problem = random_problem(seed)
    try:
        start = icm(problem.model, random_state=seed).labels
    except NoFeasibleLabels:
        return
    allowed = possible_labels(problem.model, start)
    value = energy(problem.model, start)
    for i, k in np.argwhere(~allowed):
        unary = problem.model.unary.copy()
        unary[i, np.arange(problem.model.n_labels) != k] = np.inf
        forced = problem.model._replace(unary=unary)
        try:
            assert least_energy(forced).energy >= value - 1e-9
        except NoFeasibleLabels:
            continue


def frustrated(seed, n=40, k=4):
    """A dense graph of random pulls and pushes: no program proves its optimum in no time."""
    rng = np.random.default_rng(seed)
    edges = graph("clique", n, rng)
    push = rng.random((len(edges), 1)) < 0.5
    strength = rng.random((len(edges), 1))
    return assemble(
        rng.random((n, k)), edges, np.where(push, strength, 0), np.where(push, 0, strength)
    ).model


def test_without_time_the_start_is_kept_and_nothing_is_claimed():
    model = frustrated(0)
    start = icm(model, random_state=0)
    found = least_energy(model, start.labels, time_limit=0.0)
    assert not found.converged
    assert found.report["unproven"] == 40
    assert found.energy == start.energy
    assert found.report["bound"] == pytest.approx(model.unary.min(axis=1).sum())


def test_out_of_time_is_never_worse_than_the_start():
    model = frustrated(1)
    start = icm(model, random_state=0)
    found = least_energy(model, start.labels, time_limit=0.5)
    assert found.energy <= start.energy
    assert found.report["bound"] <= found.energy


def test_nodes_that_all_want_the_same_labels():
    edges = graph("clique", 6, np.random.default_rng(0))
    unary = np.tile(np.arange(6.0), (6, 1))
    problem = assemble(unary, edges, np.full((15, 1), np.inf), np.zeros((15, 1)))
    assert least_energy(problem.model, max_table=1).energy == pytest.approx(15.0)
    soft = assemble(unary, edges, np.full((15, 1), 100.0), np.zeros((15, 1)))
    assert least_energy(soft.model, max_table=1).energy == pytest.approx(15.0)


def test_by_name():
    model = random_problem(3).model
    found = infer(model, "least_energy", random_state=0, time_limit=5.0)
    assert found.energy == least_energy(model).energy
