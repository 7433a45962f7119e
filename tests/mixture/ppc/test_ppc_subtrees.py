"""log Ω of forests: subtrees that are alike are computed once, and nothing else changes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from coterie.constraints import Constraints, grid_neighbors
from coterie.inference import pairwise_model
from coterie.mixture.ppc.core import CoreGraph, PpcSettings
from coterie.mixture.ppc.prior import Prior
from coterie.mixture.ppc.subtrees import NodeByNode, Subtrees, log_omega_of_trees


def model_of(n, edges, k):
    """A pairwise model with edges (a, b, cost of equal labels, cost of different ones)."""
    entries = sorted(
        [(a, b, s, d) for a, b, s, d in edges] + [(b, a, s, d) for a, b, s, d in edges]
    )
    rows = np.array([e[0] for e in entries], dtype=np.int64)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n))))
    costs = [np.array([[e[c]] for e in entries]).reshape(-1, 1) for c in (2, 3)]
    return pairwise_model(np.zeros((n, k)), indptr, [e[1] for e in entries], *costs)


def random_forest(seed, n, k, kinds=3, hard=0.0):
    """Nodes hung on earlier ones, a few kinds of edges and of nodes, numbered at random."""
    rng = np.random.default_rng(seed)
    cost = np.round(rng.uniform(0.2, 3.0, kinds), 2)
    number = rng.permutation(n)
    edges = []
    for i in range(1, n):
        if rng.random() < 0.15:
            continue  # a root of its own
        c = np.inf if rng.random() < hard else cost[rng.integers(kinds)]
        together = bool(rng.random() < 0.5) and np.isfinite(c)  # hard must-links are one node
        ends = number[i], number[rng.integers(max(0, i - 6), i)]
        edges.append((*ends, 0.0 if together else c, c if together else 0.0))
    return model_of(n, edges, k), rng.integers(1, 4, n).astype(float), rng


def by_enumeration(model, exponent, log_pi):
    """log Ω and expected counts, over all assignments."""
    n, k = model.unary.shape
    rows = np.repeat(np.arange(n), np.diff(model.indptr))
    total, counts = 0.0, np.zeros(k)
    for y in itertools.product(range(k), repeat=n):
        y = np.array(y)
        equal = y[rows] == y[model.indices]
        cost = 0.5 * np.where(equal, model.same[:, 0], model.differ[:, 0]).sum()
        p = np.exp(exponent @ log_pi[y] - cost)
        total += p
        counts += p * np.bincount(y, weights=exponent, minlength=k)
    return np.log(total), counts / total


@pytest.mark.parametrize("hard", [0.0, 0.4])
@pytest.mark.parametrize("k", [2, 3])
def test_value_and_gradient_by_enumeration(k, hard):
    for seed in range(15):
        model, exponent, rng = random_forest(seed, 7, k, hard=hard)
        log_pi = np.log(rng.dirichlet(np.ones(k)))
        wanted, counts = by_enumeration(model, exponent, log_pi)
        for kind in (Subtrees, NodeByNode):
            value, slope = kind(model, exponent).log_omega(log_pi)
            assert value == pytest.approx(wanted, abs=1e-12)
            np.testing.assert_allclose(slope, counts, atol=1e-12)


def test_few_nodes_are_done_one_by_one_and_many_by_shapes():
    """Telling shapes apart is for graphs that are worth compiling its kernels."""
    for n, kind in ((50, NodeByNode), (600, Subtrees)):
        model, exponent, _ = random_forest(0, n, 3)
        assert type(log_omega_of_trees(model, exponent)) is kind


@pytest.mark.parametrize("hard", [0.0, 0.4])
@pytest.mark.parametrize("k", [2, 4, 9])
def test_the_same_as_node_by_node(k, hard):
    for seed in range(6):
        model, exponent, rng = random_forest(seed, 400, k, hard=hard)
        trees = Subtrees(model, exponent)
        assert trees.n_steps < 2 * 400
        for alpha in (0.2, 1.0, 50.0):
            log_pi = np.log(np.maximum(rng.dirichlet(np.full(k, alpha)), 1e-15))
            value, slope = trees.log_omega(log_pi)
            wanted, counts = NodeByNode(model, exponent).log_omega(log_pi)
            assert value == pytest.approx(wanted, rel=1e-10)
            np.testing.assert_allclose(slope, counts, rtol=1e-10, atol=1e-10)


def test_the_gradient_is_that_of_the_value():
    model, exponent, rng = random_forest(3, 60, 3)
    trees, log_pi = Subtrees(model, exponent), np.log(rng.dirichlet(np.ones(3)))
    slope = trees.log_omega(log_pi)[1]
    for k in range(3):
        step = 1e-5 * (np.arange(3) == k)
        change = trees.log_omega(log_pi + step)[0] - trees.log_omega(log_pi - step)[0]
        assert change / 2e-5 == pytest.approx(slope[k], rel=1e-8)


def test_expected_counts_add_up_along_the_deepest_trees():
    """A chain of 20,000: passing marginals down in logarithms drifted by 1e−7 here."""
    edges = [(i, i + 1, 0.0, 1.7) for i in range(19_999)]
    trees = Subtrees(model_of(20_000, edges, 3), np.ones(20_000))
    _, slope = trees.log_omega(np.log([0.6, 0.3, 0.1]))
    assert slope.sum() == pytest.approx(20_000, abs=1e-8)


def test_children_in_another_order_are_the_same_subtree():
    """Two roots with a chain of two, a leaf by one kind of edge and one by another."""
    order = [(1, 2, 3, 4), (8, 9, 6, 7)]
    edges = []
    for root, (a, b, c, d) in zip((0, 5), order, strict=True):
        edges += [(root, a, 0.0, 1.0), (a, b, 0.0, 1.0), (root, c, 2.0, 0.0), (root, d, 0.0, 1.0)]
    both = Subtrees(model_of(10, edges, 2), np.ones(10))
    once = Subtrees(model_of(5, edges[:4], 2), np.ones(5))
    assert both.n_steps == once.n_steps
    log_pi = np.log([0.7, 0.3])
    assert both.log_omega(log_pi)[0] == pytest.approx(2 * once.log_omega(log_pi)[0], rel=1e-14)


def test_many_children_of_one_node():
    """A star of 3,000 with two kinds of leaves; beliefs of its centre span hundreds of nats."""
    edges = [(0, i, 0.0 if i % 2 else 1.3, 2.1 if i % 2 else 0.0) for i in range(1, 3001)]
    star = model_of(3001, edges, 3), np.ones(3001)
    log_pi = np.log([0.4, 0.35, 0.25])
    by_shape, by_node = (kind(*star).log_omega(log_pi) for kind in (Subtrees, NodeByNode))
    for mine, wanted in zip(by_shape, by_node, strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-10)


def test_beliefs_too_small_for_doubles_are_kept_in_logarithms():
    """Two groups of 2,000 rows that are apart: .2^2000 is 0 as a number."""
    trees = Subtrees(model_of(2, [(0, 1, np.inf, 0.0)], 2), np.full(2, 2000.0))
    value, slope = trees.log_omega(np.log([0.8, 0.2]))
    assert value == pytest.approx(2000 * np.log(0.16) + np.log(2), rel=1e-12)
    np.testing.assert_allclose(slope, [2000, 2000], rtol=1e-10)


def test_a_grid_has_fewer_shapes_than_nodes():
    shape = (60, 60)
    core = CoreGraph(grid_neighbors(shape, q=0.1), 3, PpcSettings("mean_field", "point", 0.95), 0)
    prior = Prior(core.graph, core.exponent, core.wide)
    assert prior.n_steps < 0.4 * 2 * 3600


def test_pairs_alone_are_two_shapes():
    rows = np.arange(2000).reshape(-1, 2)
    c = Constraints(2000, rows[:700], rows[700:])
    core = CoreGraph(c, 3, PpcSettings("exact", "point", 0.95), 0)
    assert Prior(core.graph, core.exponent, core.wide).n_steps == 5
