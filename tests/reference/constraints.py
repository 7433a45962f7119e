"""Naive twins of coterie.constraints: dictionaries, sets and enumeration, for small inputs."""

from __future__ import annotations

from itertools import combinations, product

import networkx as nx
import numpy as np

from coterie.constraints import Constraints


def must_graph(c: Constraints, hard_only: bool) -> nx.Graph:
    """Rows joined by the (hard) must-links."""
    graph = nx.Graph()
    graph.add_nodes_from(range(c.n_samples))
    for (i, j), kind, hard, weight in zip(
        c.pairs.tolist(), c.kind, c.is_hard, c.weight, strict=True
    ):
        if kind > 0 and (hard if hard_only else weight > 0):
            graph.add_edge(i, j)
    return graph


def components(c: Constraints, hard_only: bool) -> list[int]:
    """Component of each row, numbered by smallest row."""
    groups = sorted(sorted(g) for g in nx.connected_components(must_graph(c, hard_only)))
    label = {row: number for number, group in enumerate(groups) for row in group}
    return [label[row] for row in range(c.n_samples)]


def edge_costs(c: Constraints, pair_cost: np.ndarray) -> dict[tuple[int, int], list[float]]:
    """{(component, component): [same, differ]} summed over informative pairs between them."""
    label = components(c, hard_only=True)
    out: dict[tuple[int, int], list[float]] = {}
    for (i, j), kind, weight, cost in zip(
        c.pairs.tolist(), c.kind, c.weight, pair_cost, strict=True
    ):
        a, b = sorted((label[i], label[j]))
        if weight > 0 and a != b:
            entry = out.setdefault((a, b), [0.0, 0.0])
            entry[1 if kind > 0 else 0] += cost
    return out


def met_by(c: Constraints, labels: np.ndarray, hard_only: bool = False) -> bool:
    """Whether the labels meet every (hard) pair."""
    labels = np.asarray(labels)
    counts = c.is_hard if hard_only else c.weight > 0
    same = labels[c.pairs[:, 0]] == labels[c.pairs[:, 1]]
    return bool((same == (c.kind > 0))[counts].all())


def is_feasible(c: Constraints, n_clusters: int, hard_only: bool = False) -> bool:
    """Whether any of the K^r labellings of the rows in pairs meets every pair."""
    rows = np.unique(c.pairs)
    labels = np.zeros(c.n_samples, dtype=int)
    for choice in product(range(n_clusters), repeat=rows.size):
        labels[rows] = choice
        if met_by(c, labels, hard_only):
            return True
    return False


def without(c: Constraints, pair: int) -> Constraints:
    """All pairs but one."""
    keep = np.arange(c.n_pairs) != pair
    must, cannot = keep & (c.kind > 0), keep & (c.kind < 0)
    return Constraints(
        c.n_samples,
        c.pairs[must],
        c.pairs[cannot],
        must_weight=c.weight[must],
        cannot_weight=c.weight[cannot],
        must_certainty=c.certainty[must],
        cannot_certainty=c.certainty[cannot],
    )


def consistent(c: Constraints) -> bool:
    """Whether any number of clusters meets every pair: no cannot-link inside a component."""
    label = components(c, hard_only=False)
    return all(label[i] != label[j] for i, j in c.cannot_link.tolist())


def all_pairs(n: int) -> list[tuple[int, int]]:
    """Every pair of n rows."""
    return list(combinations(range(n), 2))
