"""The model itself, its helpers, the registry, and the corners every engine must survive."""

from __future__ import annotations

import numpy as np
import pytest
from inference.problems import assemble, random_problem

from coterie.exceptions import InvalidParameter
from coterie.inference import (
    ENGINES,
    NoFeasibleLabels,
    components,
    energy,
    infer,
    pairwise_model,
    subgraph,
)
from coterie.inference.contraction import contract
from coterie.inference.model import matching_entries
from reference.pairwise import naive_energy


@pytest.mark.parametrize("seed", range(200))
def test_energy_is_the_definition(seed):
    problem = random_problem(seed)
    y = np.random.default_rng(seed).integers(problem.model.n_labels, size=problem.model.n_nodes)
    assert energy(problem.model, y) == pytest.approx(naive_energy(*problem[1:5], y), abs=1e-12)


@pytest.mark.parametrize("seed", range(50))
def test_components_and_subgraphs_add_up(seed):
    problem = random_problem(seed, hard=False)
    y = np.random.default_rng(seed).integers(problem.model.n_labels, size=problem.model.n_nodes)
    count, component = components(problem.model)
    parts = [np.flatnonzero(component == c) for c in range(count)]
    total = sum(energy(subgraph(problem.model, nodes)[0], y[nodes]) for nodes in parts)
    assert total == pytest.approx(energy(problem.model, y))
    for nodes in parts:
        part, entries = subgraph(problem.model, nodes)
        np.testing.assert_array_equal(nodes[part.indices], problem.model.indices[entries])
        pairwise_model(*part)  # still a valid model


@pytest.mark.parametrize("seed", range(100))
def test_contraction_keeps_the_energy(seed):
    problem = random_problem(seed)
    contracted = contract(problem.model)
    welded = np.isinf(problem.differ).all(axis=1)
    assert (contracted is not None) == bool(welded.any())
    if contracted is None:
        return
    small, contraction = contracted
    pairwise_model(*small)
    y = np.random.default_rng(seed).integers(small.n_labels, size=small.n_nodes)
    whole = energy(problem.model, y[contraction.group])
    assert energy(small, y) == pytest.approx(whole, abs=1e-10)


def test_matching_entries_pair_up_in_any_order():
    model = random_problem(2).model
    twin = matching_entries(model)
    rows = np.repeat(np.arange(model.n_nodes), np.diff(model.indptr))
    np.testing.assert_array_equal(twin[twin], np.arange(twin.size))
    np.testing.assert_array_equal(rows[twin], model.indices)


EDGE = {
    "unary": np.zeros((2, 2)),
    "indptr": [0, 1, 2],
    "indices": [1, 0],
    "same": [1, 1],
    "differ": [0, 0],
}
TWICE = {"indptr": [0, 2, 4], "indices": [1, 1, 0, 0], "same": [1, 2, 1, 2], "differ": [0] * 4}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"unary": np.zeros(2)}, "unary must be"),
        ({"unary": [[0, np.nan], [0, 0]]}, "node 0"),
        ({"unary": [[0, 0], [0, -np.inf]]}, "node 1"),
        ({"indptr": [0, 2]}, "indptr must rise"),
        ({"indices": [1]}, "indptr\\[-1\\] = 2"),
        ({"indices": [1, 2]}, "0..1"),
        ({"indices": [0, 0]}, "Node 0 is its own neighbour"),
        ({"indptr": [0, 2, 2], "indices": [1, 1]}, "not symmetric"),
        (TWICE, "repeats an edge"),
        ({"same": [1, 1, 1]}, "same must be"),
        ({"same": [1, 2]}, "same is not the same at entries 0 and 1"),
        ({"differ": [-1, -1]}, "differ must be >= 0"),
        ({"differ": [np.nan, np.nan]}, "differ must be >= 0"),
    ],
)
def test_bad_models_are_refused(change, message):
    with pytest.raises(InvalidParameter, match=message):
        pairwise_model(**(EDGE | change))


def test_bad_labels_are_refused():
    model = pairwise_model(**EDGE)
    for bad in ([0], [0, 2], [0, -1]):
        with pytest.raises(InvalidParameter, match="labels must"):
            infer(model, "icm", labels=bad)


def test_unknown_engines_and_options_are_refused():
    model = pairwise_model(**EDGE)
    with pytest.raises(InvalidParameter, match="icm"):
        infer(model, "icn")
    with pytest.raises(InvalidParameter, match="max_sweeps"):
        infer(model, "icm", sweeps=3)


def check(model, method, expected_energy):
    found = infer(model, method, random_state=0)
    assert found.labels.shape == (model.n_nodes,)
    assert found.labels.dtype == np.int64
    assert found.energy == pytest.approx(expected_energy)
    if found.marginals is not None:
        assert found.marginals.shape == model.unary.shape
        np.testing.assert_allclose(found.marginals.sum(axis=1), 1.0)
        assert found.edge_same.shape == model.indices.shape
    return found


@pytest.mark.parametrize("method", sorted(ENGINES))
class TestCorners:
    def test_no_nodes(self, method):
        model = assemble(np.zeros((0, 3)), [], np.zeros((0, 1)), np.zeros((0, 1))).model
        check(model, method, 0.0)

    def test_no_edges(self, method):
        unary = np.array([[0.0, 5.0], [9.0, 1.0], [2.0, 7.0]])
        model = assemble(unary, [], np.zeros((0, 1)), np.zeros((0, 1))).model
        assert check(model, method, 3.0).labels.tolist() == [0, 1, 0]

    def test_one_label(self, method):
        problem = assemble([[1.0], [2.0], [4.0]], [(0, 1)], [[3.0]], [[8.0]])
        assert check(problem.model, method, 10.0).labels.tolist() == [0, 0, 0]

    def test_one_label_and_a_hard_cannot_link(self, method):
        problem = assemble([[1.0], [2.0]], [(0, 1)], [[np.inf]], [[0.0]])
        with pytest.raises(NoFeasibleLabels):
            infer(problem.model, method, random_state=0)

    def test_forbidden_labels(self, method):
        unary = [[np.inf, 3.0], [0.0, np.inf], [0.0, 20.0]]
        problem = assemble(unary, [(0, 1), (1, 2)], [[0.0], [0.0]], [[1.0], [30.0]])
        assert check(problem.model, method, 4.0).labels.tolist() == [1, 0, 0]

    def test_a_node_with_no_label_left(self, method):
        problem = assemble([[0.0, 0.0], [np.inf, np.inf]], [(0, 1)], [[0.0]], [[1.0]])
        with pytest.raises(NoFeasibleLabels) as caught:
            infer(problem.model, method, random_state=0)
        assert 1 in caught.value.nodes

    def test_huge_costs(self, method):
        unary = [[0.0, 1e300], [1e300, 0.0], [0.0, 1e300]]
        problem = assemble(unary, [(0, 1), (1, 2)], [[0.0], [1e299]], [[1e299], [0.0]])
        assert check(problem.model, method, 1e299).labels.tolist() == [0, 1, 0]

    def test_hard_must_links_hold(self, method):
        unary = [[0.0, 9.0], [4.0, 0.0], [0.0, 9.0]]
        problem = assemble(unary, [(0, 1), (1, 2)], [[0.0], [0.0]], [[np.inf], [np.inf]])
        found = check(problem.model, method, 4.0)
        assert found.labels.tolist() == [0, 0, 0]
        if found.edge_same is not None:
            np.testing.assert_array_equal(found.edge_same, 1.0)

    def test_wide_costs_of_one_kind_only(self, method):
        # same per cluster, differ one for all
        problem = assemble(
            np.array([[0.0, 9.0], [0.0, 9.0]]), [(0, 1)], np.array([[4.0, 0.0]]), [[30.0]]
        )
        check(problem.model, method, 4.0)
