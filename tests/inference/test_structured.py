"""Structured mean field against enumeration, and messages that go on from where they were."""

from __future__ import annotations

import numpy as np
import pytest
from problems import assemble, random_problem
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from coterie.exceptions import InvalidParameter
from coterie.inference import (
    NoFeasibleLabels,
    belief_propagation,
    energy,
    mean_field,
    structured_mean_field,
    tree_classes,
)
from reference.pairwise import enumerate_model


@pytest.mark.parametrize("seed", range(120))
def test_bound_lies_between_mean_field_and_log_z_and_never_falls(seed):
    problem = random_problem(seed)
    _, log_z, *_ = enumerate_model(*problem[1:5])
    if log_z is None:
        with pytest.raises(NoFeasibleLabels):
            structured_mean_field(problem.model, random_state=seed)
        return
    naive = mean_field(problem.model, random_state=seed, max_sweeps=100)
    found = structured_mean_field(problem.model, random_state=seed)
    assert naive.log_partition - 1e-9 <= found.log_partition <= log_z + 1e-9
    assert np.diff(found.report["bounds"]).min(initial=0.0) > -1e-9
    np.testing.assert_allclose(found.marginals.sum(axis=1), 1)
    if found.report["classes"] == 1:  # nothing is left out
        assert found.log_partition == pytest.approx(log_z, abs=1e-9)


def test_on_a_tree_it_is_exact():
    for seed in range(0, 60, 5):  # trees
        problem = random_problem(seed, hard=False)
        _, log_z, marginals, together = enumerate_model(*problem[1:5])
        found = structured_mean_field(problem.model)
        assert found.log_partition == pytest.approx(log_z, abs=1e-9)
        np.testing.assert_allclose(found.marginals, marginals, atol=1e-9)
        np.testing.assert_allclose(found.edge_same, together[problem.entry_edge], atol=1e-9)


def test_it_is_nearer_the_truth_than_naive_mean_field():
    """Grids of soft must-links, where naive mean field is too sure of itself."""
    errors = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        edges = [(i, i + 1) for i in range(8) if i % 3 != 2] + [(i, i + 3) for i in range(6)]
        problem = assemble(0.5 * rng.normal(size=(9, 2)), edges, np.zeros(12), np.full(12, 0.8))
        _, _, marginals, _ = enumerate_model(*problem[1:5])
        both = mean_field(problem.model), structured_mean_field(problem.model)
        errors.append([np.abs(found.marginals - marginals).mean() for found in both])
    naive, structured = np.mean(errors, axis=0)
    assert structured < 0.8 * naive


def test_classes_have_no_cycles_and_hold_every_node_once():
    for seed in range(40):
        model = random_problem(seed, n_max=8, hard=False).model
        classes = tree_classes(model)
        nodes = np.concatenate([part.nodes for part in classes])
        assert np.array_equal(np.sort(nodes), np.arange(model.n_nodes))
        for part in classes:
            s, entries = part.nodes.size, part.graph.indices.size
            graph = csr_array((np.ones(entries), part.graph.indices, part.graph.indptr), (s, s))
            assert entries // 2 == s - connected_components(graph)[0]
    grid = [(10 * r + c, 10 * r + c + 1) for r in range(10) for c in range(9)]
    grid += [(10 * r + c, 10 * r + c + 10) for r in range(9) for c in range(10)]
    model = assemble(np.zeros((100, 2)), grid, np.zeros(180), np.ones(180)).model
    assert len(tree_classes(model)) == 2


# -- belief propagation --------------------------------------------------------------------------
def test_messages_go_on_from_where_they_were():
    for seed in range(1, 40, 5):  # cycles
        problem = random_problem(seed, hard=False)
        first = belief_propagation(problem.model, decode=False)
        again = belief_propagation(problem.model, decode=False, messages=first.report["messages"])
        assert again.sweeps == 1
        np.testing.assert_allclose(again.marginals, first.marginals, atol=1e-6)
        np.testing.assert_array_equal(again.labels, first.marginals.argmax(axis=1))
        afresh = belief_propagation(problem.model)
        np.testing.assert_array_equal(afresh.marginals, first.marginals)
        assert again.energy == energy(problem.model, again.labels) >= afresh.energy - 1e-9


def test_undecoded_labels_keep_hard_pairs_and_bad_messages_are_refused():
    for seed in range(60):
        problem = random_problem(seed)
        if enumerate_model(*problem[1:5])[1] is None:
            continue
        found = belief_propagation(problem.model, decode=False, random_state=0)
        assert np.isfinite(energy(problem.model, found.labels))
    model = random_problem(1, hard=False).model
    with pytest.raises(InvalidParameter, match="messages have shape"):
        belief_propagation(model, messages=np.zeros((1, 7)))
    with pytest.raises(InvalidParameter, match="decode"):
        belief_propagation(model, decode=False, marginals=False)


def test_labels_keep_hard_pairs_where_the_likeliest_do_not():
    """Found by `make fuzz`: each node's likeliest label, taken alone, broke a hard edge."""
    problem = random_problem(410156723)
    assert np.isfinite(enumerate_model(*problem[1:5])[0])
    found = structured_mean_field(problem.model, random_state=0)
    assert np.isfinite(found.energy)
    assert found.energy == pytest.approx(energy(problem.model, found.labels))
