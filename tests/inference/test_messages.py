"""Messages along a pair graph, against enumeration and their own equations."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.constraints import Constraints
from coterie.inference.messages import (
    PairFactors,
    edge_posterior,
    equal_ends,
    no_messages,
    pair_graph,
    send_again,
    send_messages,
)
from reference import mosaic as naive


def random_graph(rng, s, edges):
    """A pair graph of the distinct `edges`, and costs (E,) of equal and of different ends."""
    core = Constraints(s, must_link=edges).core()
    graph = pair_graph(core.indptr, core.indices, core.edge_of)
    same, differ = rng.uniform(0, 3, (2, len(graph.edges)))
    factors = PairFactors(np.exp(-same[core.edge_of]), np.exp(-differ[core.edge_of]))
    return graph, factors, same, differ


def random_tree(rng, s):
    return random_graph(rng, s, [(int(rng.integers(0, j)), j) for j in range(1, s)])


def softmax(logits):
    chance = np.exp(logits)
    return chance / chance.sum(axis=1, keepdims=True)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_both_entries_of_an_edge_are_found(rng):
    edges = np.array([(0, 3), (1, 2), (0, 1), (2, 3)])
    graph, *_ = random_graph(rng, 4, edges)
    node = np.repeat(np.arange(4), np.diff(graph.indptr))
    for (i, j), (forth, back) in zip(graph.edges, graph.entries, strict=True):
        assert i < j
        assert (node[forth], graph.indices[forth]) == (i, j)
        assert (node[back], graph.indices[back]) == (j, i)
        assert (graph.twin[forth], graph.twin[back]) == (back, forth)


@pytest.mark.parametrize("seed", range(20))
def test_sum_product_is_exact_on_trees(seed):
    rng = np.random.default_rng(seed)
    s, k = int(rng.integers(2, 7)), int(rng.integers(2, 4))
    graph, factors, same, differ = random_tree(rng, s)
    logits = rng.normal(size=(s, k))
    marginals, equal = naive.joint(logits, graph.edges.tolist(), same, differ)
    start = no_messages(graph, k, mean_field=False)
    # Messages are kept in single precision; in double they are exact.
    for dtype, rounding in ((np.float32, 1e-5), (np.float64, 1e-9)):
        begun = start._replace(along=start.along.astype(dtype))
        found, said = send_messages(softmax(logits), graph, factors, begun, sweeps=s, tol=0.0)
        assert found == pytest.approx(marginals, abs=rounding)
        assert edge_posterior(graph, factors, said, found) == pytest.approx(equal, abs=rounding)
    assert start.along.min() == 1.0  # what was given is left alone


def test_mean_field_ends_at_its_own_equation(rng):
    graph, factors, same, differ = random_tree(rng, 6)
    logits = rng.normal(size=(6, 3))
    start = no_messages(graph, 3, mean_field=True)
    found, said = send_messages(softmax(logits), graph, factors, start, sweeps=200, tol=0.0)
    wanted = logits.copy()
    for (i, j), pull in zip(graph.edges, differ - same, strict=True):
        wanted[i] += pull * found[j]
        wanted[j] += pull * found[i]
    assert found == pytest.approx(softmax(wanted), abs=1e-9)
    i, j = graph.edges.T
    independent = (found[i] * found[j]).sum(axis=1)
    assert edge_posterior(graph, factors, said, found) == pytest.approx(independent)
    assert equal_ends(graph, found) == pytest.approx(independent)


@pytest.mark.parametrize("mean_field", [False, True])
def test_a_node_without_news_is_silent_and_little_is_lost(rng, mean_field):
    edges = rng.integers(0, 300, (900, 2))
    edges = np.unique(np.sort(edges[edges[:, 0] != edges[:, 1]], axis=1), axis=0)
    s = int(edges.max()) + 1
    graph, factors, *_ = random_graph(rng, s, edges)
    prior = softmax(rng.normal(size=(graph.indptr.size - 1, 3)))
    found = {}
    for tol in (0.0, 1e-3):
        said = no_messages(graph, 3, mean_field=mean_field)
        found[tol], said = send_messages(prior, graph, factors, said, sweeps=60, tol=tol)
        again, later = send_messages(prior, graph, factors, said, sweeps=1, tol=1e-3)
        np.testing.assert_array_equal(later.sent, said.sent)  # nobody spoke
        assert again == pytest.approx(found[tol], abs=2e-3)
    assert found[1e-3] == pytest.approx(found[0.0], abs=0.02)


@pytest.mark.parametrize("mean_field", [False, True])
def test_sending_again_makes_up_for_factors_that_changed(rng, mean_field):
    graph, factors, *_ = random_tree(rng, 6)
    prior = softmax(rng.normal(size=(6, 3)))
    options = {"sweeps": 100, "tol": 1e-6}
    start = no_messages(graph, 3, mean_field=mean_field)
    weak = PairFactors(np.sqrt(factors.together), np.sqrt(factors.apart))
    _, said = send_messages(prior, graph, factors, start, **options)
    moved, _ = send_messages(prior, graph, weak, send_again(said), **options)
    wanted, _ = send_messages(prior, graph, weak, start, **options)
    assert moved == pytest.approx(wanted, abs=1e-4)


def test_without_edges_the_posterior_is_the_prior(rng):
    core = Constraints(2, must_link=[(0, 1)], must_weight=np.inf).core()
    graph = pair_graph(core.indptr, core.indices, core.edge_of)
    factors = PairFactors(np.empty(0), np.empty(0))
    prior = softmax(rng.normal(size=(1, 3)))
    said = no_messages(graph, 3, mean_field=False)
    found, said = send_messages(prior, graph, factors, said, sweeps=2, tol=0.0)
    assert found == pytest.approx(prior)
    assert edge_posterior(graph, factors, said, found).size == 0
