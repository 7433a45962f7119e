"""The clique cover holds every edge, and nothing but cliques."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from coterie.inference.cliques import clique_cover


@pytest.mark.parametrize("seed", range(60))
def test_covers_every_edge_by_cliques(seed):
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(int(rng.integers(1, 25)), rng.random(), seed=seed)
    matrix = nx.to_scipy_sparse_array(graph, format="csr")
    member, clique = clique_cover(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64))
    covered = set()
    for number in range(clique.max(initial=-1) + 1):
        nodes = member[clique == number].tolist()
        assert len(nodes) == len(set(nodes)) >= 2
        edges = {(a, b) for a in nodes for b in nodes if a < b}
        assert all(graph.has_edge(a, b) for a, b in edges)
        assert edges - covered, "every clique holds an edge that no earlier one holds"
        covered |= edges
    assert covered == {tuple(sorted(edge)) for edge in graph.edges}


def test_all_apart_is_one_clique():
    matrix = nx.to_scipy_sparse_array(nx.complete_graph(30), format="csr")
    member, clique = clique_cover(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64))
    assert sorted(member.tolist()) == list(range(30))
    assert not clique.any()
