"""Propagation along a graph against dense solves, and the graph against brute force."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise_distances

from coterie import Constraints
from coterie.exceptions import InvalidData, InvalidParameter, MissingDependency
from coterie.propagation import neighbor_graph, neighbors, propagate_graph
from reference import propagation as reference
from reference.propagation import as_dict, some_pairs


def brute_graph(X, k, metric):
    D = pairwise_distances(X, metric=metric)
    n = len(X)
    W = np.zeros((n, n))
    others = [sorted((D[i, j], j) for j in range(n) if j != i)[:k] for i in range(n)]
    reach = [near[-1][0] for near in others]
    for i in range(n):
        for d, j in others[i]:
            W[i, j] = np.exp(-(d**2) / (reach[i] * reach[j]))
    return np.maximum(W, W.T)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_neighbor_graph_equals_brute_force(metric, monkeypatch):
    monkeypatch.setattr(neighbors, "_BLOCK", 200)  # several blocks
    X = np.random.default_rng(0).uniform(0.1, 1, (70, 4))
    got = neighbor_graph(X, 5, metric=metric)
    np.testing.assert_allclose(got.toarray(), brute_graph(X, 5, metric), atol=1e-10)
    assert (got != got.T).nnz == 0
    if metric != "manhattan":
        rows = sparse.csr_array(X)
        np.testing.assert_allclose(
            neighbor_graph(rows, 5, metric=metric).toarray(), got.toarray(), atol=1e-10
        )


def test_neighbor_graph_of_duplicates_and_few_rows():
    X = np.concatenate([np.zeros((6, 2)), [[1.0, 0], [2, 0], [3, 1]]])
    graph = neighbor_graph(X, 3)
    assert np.isfinite(graph.data).all()
    assert (graph.data > 0).all()
    assert not graph.diagonal().any()
    assert (np.diff(graph.indptr) >= 3).all()
    assert neighbor_graph(X[:1], 5).nnz == 0
    assert neighbor_graph(X[-3:], 5).nnz == 6


@pytest.mark.parametrize("alpha", [0.5, 0.9, 0.98])
@pytest.mark.parametrize("reduce", ["max", "sum"])
def test_equals_the_definition(alpha, reduce):
    n_new = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((60, 5)) + 4 * rng.integers(0, 2, (60, 1))
        graph = neighbor_graph(X, 6)
        pairs = some_pairs(rng, 60, 6)
        share = seed != 1
        ends = {
            row: reference.hitting(graph.toarray(), alpha, row)
            for row in np.unique(pairs.pairs).tolist()
        }
        sources = [(i, j, kind, w) for (i, j, kind), w in as_dict(pairs).items()]
        wanted = reference.propagate(60, sources, ends, 0.0117, reduce, share, hard_weight=2.0)
        got = as_dict(
            propagate_graph(
                graph,
                pairs,
                0.0117,
                alpha=alpha,
                reduce=reduce,
                share_ends=share,
                hard_weight=2.0,
                tol=1e-10,
            )
        )
        assert got.keys() == wanted.keys()
        np.testing.assert_allclose(
            [got[key] for key in sorted(got)], [wanted[key] for key in sorted(wanted)], rtol=1e-6
        )
        n_new += len(got) - pairs.n_pairs
    assert n_new > 0


def test_error_of_the_walks_is_within_tol():
    rng = np.random.default_rng(0)
    graph = neighbor_graph(rng.standard_normal((200, 3)), 8)
    pair = Constraints(200, must_link=[(0, 1)])
    exact = as_dict(propagate_graph(graph, pair, 1e-3, tol=1e-12))
    for tol in (1e-2, 1e-3):
        rough = as_dict(propagate_graph(graph, pair, 1e-3, tol=tol))
        gaps = [abs(exact.get(key, 1e-3) - w) for key, w in rough.items()]
        assert max(gaps) <= 4 * tol


def test_walks_do_not_leave_a_component():
    X = np.concatenate([np.zeros((8, 1)), np.ones((8, 1))]) + 0.01 * np.arange(16)[:, None]
    graph = neighbor_graph(X, 3)
    got = propagate_graph(graph, Constraints(16, cannot_link=[(0, 8)]), 1e-4)
    assert ((got.cannot_link[:, 0] < 8) & (got.cannot_link[:, 1] >= 8)).all()
    assert got.n_pairs > 20


def test_isolated_rows_reach_nobody():
    graph = sparse.csr_array((5, 5))
    known = Constraints(5, must_link=[(0, 1)], cannot_link=[(0, 4)])
    assert propagate_graph(graph, known, 1e-3) == known


def test_too_many_pairs_names_a_threshold_that_fits():
    X = np.random.default_rng(0).standard_normal((300, 2))
    graph, known = neighbor_graph(X, 10), Constraints(300, must_link=[(0, 1), (5, 9)])
    with pytest.raises(InvalidParameter, match="would fit"):
        propagate_graph(graph, known, 1e-3, max_pairs=50)


def test_bad_graphs_are_refused():
    known = Constraints(3, must_link=[(0, 1)])
    one_way = sparse.csr_array(([1.0], ([0], [1])), shape=(3, 3))
    with pytest.raises(InvalidData, match="symmetric"):
        propagate_graph(one_way, known)
    with pytest.raises(InvalidData, match="negative"):
        propagate_graph(-(one_way + one_way.T), known)
    with pytest.raises(InvalidParameter, match="alpha"):
        propagate_graph(one_way + one_way.T, known, alpha=1.0)
    with pytest.raises(InvalidParameter, match="approximate"):
        neighbor_graph(np.eye(3), approximate="yes")


def test_without_pynndescent_the_error_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    with pytest.raises(MissingDependency, match=r"coterie\[neighbors\].*approximate=False"):
        neighbor_graph(np.eye(4), 2, approximate=True)


@pytest.mark.slow
def test_approximate_neighbors_are_used_for_many_rows(monkeypatch):
    # Slow: pynndescent compiles for a minute and a half.
    pytest.importorskip("pynndescent", reason="the extra coterie[neighbors] is not installed")
    X = np.random.default_rng(0).standard_normal((600, 4))
    monkeypatch.setattr(neighbors, "EXACT_BELOW", 500)
    rough = neighbor_graph(X, 5, random_state=0)
    exact = neighbor_graph(X, 5, approximate=False)
    shared = (rough > 0).multiply(exact > 0).nnz / exact.nnz
    assert shared > 0.9
