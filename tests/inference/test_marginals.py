"""Mean field, Gibbs sampling and belief propagation against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from inference.problems import assemble, random_problem

from coterie.exceptions import InvalidParameter
from coterie.inference import NoFeasibleLabels, belief_propagation, energy, gibbs, mean_field
from reference.pairwise import enumerate_model


def feasible(seed, **options):
    """A problem and its enumeration, or a skip-free None when nothing is feasible."""
    problem = random_problem(seed, **options)
    answer = enumerate_model(*problem[1:5])
    return (problem, answer) if np.isfinite(answer[0]) else None


@pytest.mark.parametrize("seed", range(300))
def test_mean_field_bound_rises_and_stays_below_log_z(seed):
    case = feasible(seed)
    if case is None:
        with pytest.raises(NoFeasibleLabels):
            mean_field(random_problem(seed).model, random_state=seed)
        return
    problem, (_, log_z, _, _) = case
    found = mean_field(problem.model, random_state=seed)
    bounds = found.report["bounds"]
    assert np.isfinite(bounds).all()
    assert (np.diff(bounds) >= -1e-10).all()
    assert found.log_partition == bounds[-1] <= log_z + 1e-10
    np.testing.assert_allclose(found.marginals.sum(axis=1), 1.0)
    assert found.edge_same.shape == problem.model.indices.shape


def test_mean_field_is_exact_without_edges():
    unary = np.random.default_rng(0).normal(size=(6, 3))
    problem = assemble(unary, [], np.zeros((0, 1)), np.zeros((0, 1)))
    _, log_z, marginals, _ = enumerate_model(*problem[1:5])
    found = mean_field(problem.model)
    assert found.log_partition == pytest.approx(log_z, abs=1e-10)
    np.testing.assert_allclose(found.marginals, marginals, atol=1e-12)


def test_mean_field_from_given_marginals():
    problem = random_problem(11, hard=False)
    first = mean_field(problem.model, random_state=0)
    again = mean_field(problem.model, marginals=first.marginals, random_state=0)
    assert again.sweeps == 1
    assert again.log_partition == pytest.approx(first.log_partition, abs=1e-8)
    with pytest.raises(InvalidParameter, match="rows summing to 1"):
        mean_field(problem.model, marginals=2 * first.marginals)


@pytest.mark.parametrize("seed", range(300))
def test_belief_propagation_is_exact_on_trees(seed):
    case = feasible(seed, shapes=("tree", "forest"))
    if case is None:
        with pytest.raises(NoFeasibleLabels):
            belief_propagation(random_problem(seed, shapes=("tree", "forest")).model)
        return
    problem, (lowest, log_z, marginals, together) = case
    found = belief_propagation(problem.model)
    assert found.converged
    assert found.report["max_product_sweeps"] <= 2  # the second sees nothing change
    assert found.energy == pytest.approx(lowest, abs=1e-10)
    assert found.log_partition == pytest.approx(log_z, abs=1e-9)
    np.testing.assert_allclose(found.marginals, marginals, atol=1e-9)
    np.testing.assert_allclose(found.edge_same, together[problem.entry_edge], atol=1e-9)


@pytest.mark.parametrize("seed", range(150))
def test_belief_propagation_on_loops_stays_sane(seed):
    case = feasible(seed, shapes=("cycle", "clique", "random"))
    if case is None:
        with pytest.raises(NoFeasibleLabels):
            belief_propagation(random_problem(seed, shapes=("cycle", "clique", "random")).model)
        return
    problem, (lowest, _, _, _) = case
    found = belief_propagation(problem.model, random_state=0)
    assert lowest - 1e-9 <= found.energy < np.inf
    assert found.energy == pytest.approx(energy(problem.model, found.labels), abs=1e-10)
    np.testing.assert_allclose(found.marginals.sum(axis=1), 1.0)
    assert ((found.edge_same >= 0) & (found.edge_same <= 1 + 1e-9)).all()


def test_belief_propagation_is_close_on_weak_cycles():
    # with weak coupling the Bethe estimate is nearly exact, which a wrong update would not be
    rng = np.random.default_rng(2)
    unary = rng.normal(size=(6, 3))
    ring = [(i, i + 1) for i in range(5)] + [(0, 5)]
    problem = assemble(unary, ring, np.full((6, 1), 0.3), np.zeros((6, 1)))
    _, log_z, marginals, together = enumerate_model(*problem[1:5])
    found = belief_propagation(problem.model)
    assert found.converged
    assert found.log_partition == pytest.approx(log_z, abs=1e-4)
    np.testing.assert_allclose(found.marginals, marginals, atol=1e-4)
    np.testing.assert_allclose(found.edge_same, together[problem.entry_edge], atol=1e-4)


def test_belief_propagation_breaks_ties_consistently():
    chain = [(i, i + 1) for i in range(5)]
    problem = assemble(np.zeros((6, 2)), chain, np.full((5, 1), 1.0), np.zeros((5, 1)))
    assert belief_propagation(problem.model, marginals=False).energy == 0.0


@pytest.mark.parametrize("seed", range(20))
def test_gibbs_within_sampling_error(seed):
    problem = random_problem(seed, hard=False)
    _, _, marginals, together = enumerate_model(*problem[1:5])
    found = gibbs(problem.model, random_state=seed, burn_in=200, n_samples=40_000)
    # 40,000 draws, correlated: five standard errors at an autocorrelation time of 20
    np.testing.assert_allclose(found.marginals, marginals, atol=0.05)
    np.testing.assert_allclose(found.edge_same, together[problem.entry_edge], atol=0.05)
    assert np.abs(found.marginals - marginals).mean() < 0.01


@pytest.mark.parametrize("seed", range(100))
def test_gibbs_never_breaks_a_hard_edge(seed):
    case = feasible(seed)
    if case is None:
        with pytest.raises(NoFeasibleLabels):
            gibbs(random_problem(seed).model, n_samples=10)
        return
    problem, (lowest, _, _, _) = case
    found = gibbs(problem.model, random_state=seed, burn_in=0, n_samples=50)
    assert lowest - 1e-9 <= found.energy < np.inf
    np.testing.assert_allclose(found.marginals.sum(axis=1), 1.0)
    forbidden = np.isinf(problem.same).all(axis=1)
    assert (found.edge_same[forbidden[problem.entry_edge]] == 0).all()


def test_gibbs_mixes_over_hard_edges_when_labels_abound():
    chain = [(i, i + 1) for i in range(3)]
    unary = np.random.default_rng(0).normal(size=(4, 3))
    problem = assemble(unary, chain, np.full((3, 1), np.inf), np.zeros((3, 1)))
    _, _, marginals, _ = enumerate_model(*problem[1:5])
    found = gibbs(problem.model, random_state=0, n_samples=40_000)
    np.testing.assert_allclose(found.marginals, marginals, atol=0.03)


def test_gibbs_repeats_for_one_seed():
    model = random_problem(4, hard=False).model
    a, b = gibbs(model, random_state=7, n_samples=50), gibbs(model, random_state=7, n_samples=50)
    assert (a.marginals == b.marginals).all()


# -- hard edges that freeze single changes -------------------------------------------------------
def hard_chain(k, n=6, seed=0):
    """A chain of hard cannot-links over `n` nodes, with soft pairs across it."""
    rng = np.random.default_rng(seed)
    edges = [(i, i + 1) for i in range(n - 1)] + [(0, 3), (1, 5)]
    same = np.concatenate([np.full(n - 1, np.inf), [0.7, 0.0]])[:, None]
    differ = np.concatenate([np.zeros(n), [0.9]])[:, None]
    return assemble(rng.normal(size=(n, k)), edges, same, differ)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_gibbs_draws_swaps_along_hard_edges(k, seed):
    """With two labels single changes never leave the start; by enumeration with swaps."""
    problem = hard_chain(k, seed=seed)
    _, _, marginals, together = enumerate_model(*problem[1:5])
    found = gibbs(problem.model, random_state=seed, n_samples=40_000)
    assert found.report["swaps"]
    np.testing.assert_allclose(found.marginals, marginals, atol=0.03)
    np.testing.assert_allclose(found.edge_same, together[problem.entry_edge], atol=0.03)


def test_gibbs_draws_no_swaps_where_edges_are_hard_for_some_labels_only():
    same = np.array([[np.inf, 0.0]])
    problem = assemble(np.zeros((2, 2)), [(0, 1)], same, np.zeros((1, 2)))
    found = gibbs(problem.model, random_state=0, n_samples=20_000)
    _, _, marginals, _ = enumerate_model(*problem[1:5])
    assert not found.report["swaps"]
    np.testing.assert_allclose(found.marginals, marginals, atol=0.03)


@pytest.mark.parametrize("seed", range(40))
def test_mean_field_ends_at_the_best_labels_of_hard_pairs(seed):
    """Two labels, pairs that must differ: the field freezes, but where the energy is least."""
    rng = np.random.default_rng(seed)
    edges = [(2 * i, 2 * i + 1) for i in range(4)]
    problem = assemble(
        rng.normal(size=(8, 2)), edges, np.full((4, 1), np.inf), np.zeros((4, 1)), rng
    )
    lowest, log_z, _, _ = enumerate_model(*problem[1:5])
    found = mean_field(problem.model, random_state=seed)
    assert found.energy == pytest.approx(lowest, abs=1e-10)
    assert found.log_partition <= log_z
    assert found.report["frozen"] == 8


def test_mean_field_is_frozen_nowhere_without_hard_edges():
    assert mean_field(random_problem(4, hard=False).model).report["frozen"] == 0
