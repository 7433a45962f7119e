"""Correlation clustering: the best of all partitions, and never worse than the greedy one."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.records.partition import Graph, objective, partition
from reference.records import best_worth, contracted, partitions, worth


def random_graph(seed, n, *, hard=True):
    rng = np.random.default_rng(seed)
    every = np.column_stack(np.triu_indices(n, 1))
    pairs = every[rng.random(len(every)) < 0.6]
    apart = every[rng.random(len(every)) < 0.08 * hard]
    together = every[rng.random(len(every)) < 0.05 * hard]
    groups = rng.integers(-1, 3, n) if hard and seed % 2 else np.full(n, -1)
    weight = rng.normal(0.0, 2.0, len(pairs))
    return Graph(n, pairs, weight, 1.0, together, apart, groups[:, None])


def allowed(graph, labels):
    groups = graph.exclusive[:, 0]
    clash = any(
        labels[i] == labels[j] and groups[i] == groups[j] >= 0
        for i in range(graph.n)
        for j in range(i)
    )
    kept = all(labels[i] == labels[j] for i, j in graph.together)
    return kept and not clash and all(labels[i] != labels[j] for i, j in graph.apart)


@pytest.mark.parametrize("seed", range(60))
def test_a_small_component_is_divided_in_the_best_way(seed):
    graph = random_graph(seed, 2 + seed % 6)
    possible = [labels for labels in partitions(graph.n) if allowed(graph, labels)]
    if not possible:
        pytest.skip("the hard pairs contradict each other")
    best = max(worth(labels, graph.pairs, graph.weight, 1.0) for labels in possible)
    labels = partition(graph)
    assert allowed(graph, labels)
    assert objective(graph, labels) == pytest.approx(best, abs=1e-9)


def test_nine_rows_against_all_21147_partitions():
    graph = random_graph(4, 9, hard=False)
    best = max(worth(labels, graph.pairs, graph.weight, 1.0) for labels in partitions(9))
    assert objective(graph, partition(graph)) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_moves_never_lose_what_greedy_contraction_gained(seed):
    """In components that are too large to weigh all their partitions."""
    n = 11 + seed % 2
    rng = np.random.default_rng(seed)
    every = np.column_stack(np.triu_indices(n, 1))
    none, alone = np.empty((0, 2), dtype=np.int64), np.full((n, 1), -1)
    graph = Graph(n, every, rng.normal(-0.2, 2.0, len(every)), 1.0, none, none, alone)
    weight = np.zeros((n, n))
    weight[tuple(every.T)] = weight[tuple(every.T[::-1])] = graph.weight
    found = objective(graph, partition(graph))
    assert objective(graph, contracted(weight)) - 1e-9 <= found <= best_worth(weight) + 1e-9


def test_a_large_component_keeps_what_is_hard():
    rng = np.random.default_rng(0)
    n = 60
    every = np.column_stack(np.triu_indices(n, 1))
    pairs = every[rng.random(len(every)) < 0.2]
    groups = rng.integers(-1, 25, n)
    together = np.array([[0, 59], [3, 40]])
    groups[[0, 59, 3, 40]] = -1
    apart = np.array([[0, 3], [5, 6], [7, 8]])
    graph = Graph(n, pairs, rng.normal(1.0, 2.0, len(pairs)), 0.5, together, apart, groups[:, None])
    labels = partition(graph)
    assert allowed(graph, labels)
    assert objective(graph, labels) > 0


def test_strangers_are_not_joined_by_a_chain():
    # Each record is like the next, and the ends are no candidates.
    pairs = np.column_stack([np.arange(7), np.arange(1, 8)])
    none = np.empty((0, 2), dtype=np.int64)
    alone = np.full((8, 1), -1)
    chain = Graph(8, pairs, np.full(7, 1.0), 3.0, none, none, alone)
    assert np.bincount(partition(chain)).max() == 2
    free = chain._replace(penalty=0.0)
    assert partition(free).max() == 0


def test_labels_are_numbered_in_the_order_of_rows():
    none = np.empty((0, 2), dtype=np.int64)
    graph = Graph(4, np.array([[0, 2]]), np.array([1.0]), 1.0, none, none, np.full((4, 1), -1))
    assert partition(graph).tolist() == [0, 1, 0, 2]
