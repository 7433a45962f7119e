"""Feasibility against enumeration, networkx, planted colourings; conflicts minimal."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from constraints.strategies import constraint_sets
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.constraints import Constraints, sample_pairs
from coterie.constraints.coloring import color_graph
from coterie.exceptions import InfeasibleConstraints, InvalidParameter, UndecidedFeasibility
from reference import constraints as naive


def csr_of(graph):
    matrix = nx.to_scipy_sparse_array(graph, nodelist=sorted(graph), format="csr")
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)


def as_constraints(graph):
    return Constraints(graph.number_of_nodes(), cannot_link=np.array(graph.edges).reshape(-1, 2))


def assert_minimal(conflict, n_clusters, feasible):
    assert not feasible(conflict, n_clusters)
    for pair in range(conflict.n_pairs):
        assert feasible(naive.without(conflict, pair), n_clusters)


@settings(max_examples=300)
@given(constraint_sets(max_rows=7, max_pairs=16), st.integers(1, 4), st.booleans())
def test_against_enumeration(c, n_clusters, hard_only):
    if naive.is_feasible(c, n_clusters, hard_only):
        labels = c.check_feasible(n_clusters, hard_only=hard_only)
        assert labels.shape == (c.n_samples,)
        assert labels.min() >= 0
        assert labels.max() < n_clusters
        assert naive.met_by(c, labels, hard_only)
    else:
        with pytest.raises(InfeasibleConstraints) as error:
            c.check_feasible(n_clusters, hard_only=hard_only)
        conflict = error.value.conflict
        assert_minimal(conflict, n_clusters, naive.is_feasible)
        held = set(zip(map(tuple, c.pairs.tolist()), c.kind.tolist(), strict=True))
        assert held.issuperset(
            zip(map(tuple, conflict.pairs.tolist()), conflict.kind.tolist(), strict=True)
        )
        if hard_only:
            assert conflict.is_hard.all()


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 3))
def test_conflicts_through_must_links_are_minimal(seed, n_clusters):
    # Dense cannot-links and long must-link chains: nodes of high degree, held by many must-links.
    rng = np.random.default_rng(seed)
    n = 30
    node = rng.integers(n_clusters + 4, size=n)
    chain = rng.permutation(n)
    chain = chain[np.argsort(node[chain], kind="stable")]
    must = [(a, b) for a, b in itertools.pairwise(chain) if node[a] == node[b]]
    cannot = [pair for pair in rng.integers(n, size=(60, 2)) if node[pair[0]] != node[pair[1]]]
    c = Constraints(n, must, cannot)

    if _chromatic_feasible(c, n_clusters):
        assert naive.met_by(c, c.check_feasible(n_clusters))
    else:
        with pytest.raises(InfeasibleConstraints) as error:
            c.check_feasible(n_clusters)
        assert_minimal(error.value.conflict, n_clusters, _chromatic_feasible)


def _chromatic_feasible(c, n_clusters):
    """Contract by networkx, colour by plain backtracking: an independent decision."""
    label = naive.components(c, hard_only=False)
    neighbours: dict[int, set[int]] = {}
    for i, j in c.cannot_link.tolist():
        if label[i] == label[j]:
            return False
        neighbours.setdefault(label[i], set()).add(label[j])
        neighbours.setdefault(label[j], set()).add(label[i])
    nodes = sorted(neighbours, key=lambda v: -len(neighbours[v]))
    color: dict[int, int] = {}

    def extend(at):
        if at == len(nodes):
            return True
        v = nodes[at]
        top = max(color.values(), default=-1) + 1
        for c_ in range(min(top + 1, n_clusters)):
            if all(color.get(u) != c_ for u in neighbours[v]):
                color[v] = c_
                if extend(at + 1):
                    return True
                del color[v]
        return False

    return extend(0)


CHROMATIC = {
    "Petersen": (nx.petersen_graph(), 3),
    "Chvatal": (nx.chvatal_graph(), 4),
    "Groetzsch, triangle-free": (nx.mycielski_graph(4), 4),
    "Mycielski 5": (nx.mycielski_graph(5), 5),
    "odd cycle": (nx.cycle_graph(101), 3),
    "even cycle": (nx.cycle_graph(100), 2),
    "wheel with odd rim": (nx.wheel_graph(12), 4),
    "complete": (nx.complete_graph(30), 30),
    "Turan": (nx.turan_graph(40, 6), 6),
    "icosahedron": (nx.icosahedral_graph(), 4),
    "many parts, one hard": (
        nx.disjoint_union_all([*[nx.mycielski_graph(3)] * 40, nx.mycielski_graph(4)]),
        4,
    ),
    "two parts, one hard": (nx.disjoint_union(nx.cycle_graph(9), nx.mycielski_graph(4)), 4),
}


@pytest.mark.parametrize(("graph", "chromatic"), CHROMATIC.values(), ids=CHROMATIC.keys())
def test_known_chromatic_numbers(graph, chromatic):
    graph = nx.convert_node_labels_to_integers(graph, ordering="sorted")
    indptr, indices = csr_of(graph)
    labels = color_graph(indptr, indices, chromatic).labels
    assert all(labels[u] != labels[v] for u, v in graph.edges)
    refused = color_graph(indptr, indices, chromatic - 1)
    assert refused.labels is None
    stuck = graph.subgraph(refused.stuck.tolist())
    assert color_graph(*csr_of(stuck), chromatic - 1).labels is None


def test_conflict_of_a_hidden_clique():
    rng = np.random.default_rng(0)
    clique = rng.choice(2000, size=5, replace=False)
    noise = rng.integers(2000, size=(2500, 2))
    noise = noise[noise[:, 0] != noise[:, 1]]
    c = Constraints(2000, cannot_link=noise) + Constraints(
        2000, cannot_link=clique[np.array(naive.all_pairs(5))]
    )
    with pytest.raises(InfeasibleConstraints, match="more than 4 cluster") as error:
        c.check_feasible(4)
    assert np.unique(error.value.conflict.pairs).tolist() == sorted(clique.tolist())
    assert error.value.conflict.n_pairs == 10
    assert naive.met_by(c, c.check_feasible(5))


def test_conflict_of_a_hidden_wheel():
    # No clique of four, and far away from most of the graph: restarts must find it.
    rng = np.random.default_rng(1)
    n = 3000
    truth = np.arange(n) % 3
    background = sample_pairs(truth, 2 * n, must_fraction=0.0, random_state=2)
    wheel = np.array(nx.wheel_graph(8).edges)
    c = background + Constraints(n, cannot_link=rng.choice(n, 8, replace=False)[wheel])
    with pytest.raises(InfeasibleConstraints) as error:
        c.check_feasible(3)
    conflict = error.value.conflict
    for pair in range(conflict.n_pairs):
        rest = naive.without(conflict, pair)
        assert naive.met_by(rest, rest.check_feasible(3))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n_clusters", "degree"), [(3, 4.6), (4, 8.7), (5, 13.6), (6, 19.2)])
def test_planted_colorings_near_the_threshold(n_clusters, degree, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_clusters, size=200)
    c = sample_pairs(truth, int(100 * degree), must_fraction=0.0, random_state=seed)
    assert naive.met_by(c, c.check_feasible(n_clusters, time_limit=60))


@pytest.mark.parametrize("seed", range(4))
def test_random_three_coloring_near_the_threshold(seed):
    rng = np.random.default_rng(seed)
    graph = nx.gnm_random_graph(60, int(60 * rng.uniform(2.2, 2.7)), seed=seed)
    c = as_constraints(graph)
    if _chromatic_feasible(c, 3):
        assert naive.met_by(c, c.check_feasible(3))
    else:
        with pytest.raises(InfeasibleConstraints) as error:
            c.check_feasible(3)
        assert_minimal(error.value.conflict, 3, _chromatic_feasible)


@pytest.mark.parametrize(("n", "n_clusters", "degree"), [(100, 4, 9.8), (60, 5, 15.0), (60, 7, 27)])
def test_what_cannot_be_met_above_the_threshold_is_explained(n, n_clusters, degree):
    c = as_constraints(nx.gnm_random_graph(n, int(n * degree / 2), seed=0))
    with pytest.raises(InfeasibleConstraints, match="remove any one of them") as error:
        c.check_feasible(n_clusters, time_limit=60)
    conflict = error.value.conflict
    assert conflict.n_pairs > n_clusters * (n_clusters + 1) // 2  # not just a clique
    for pair in range(0, conflict.n_pairs, 5):
        rest = naive.without(conflict, pair)
        assert naive.met_by(rest, rest.check_feasible(n_clusters))


def test_clashing_must_links_come_first():
    c = Constraints(5, [(0, 1), (1, 2)], [(0, 2)])
    with pytest.raises(InfeasibleConstraints, match="0 – 1 – 2") as error:
        c.check_feasible(5)
    assert error.value.conflict == c
    assert c.check_feasible(1, hard_only=True).tolist() == [0] * 5


def test_one_cluster_and_a_cannot_link():
    c = Constraints(4, [(0, 1)], [(1, 2), (2, 3)])
    with pytest.raises(InfeasibleConstraints) as error:
        c.check_feasible(1)
    assert error.value.conflict.n_pairs == 1


def test_undecided_within_the_time_limit():
    graph = nx.gnm_random_graph(300, 2400, seed=1)  # degree 16, five colours: no proof in reach
    with pytest.raises(UndecidedFeasibility, match="time_limit"):
        as_constraints(graph).check_feasible(5, time_limit=0.2)


def test_large_easy_graph():
    rng = np.random.default_rng(0)
    pairs = rng.integers(100_000, size=(500_000, 2))
    c = Constraints(100_000, cannot_link=pairs[pairs[:, 0] != pairs[:, 1]])
    assert naive.met_by(c, c.check_feasible(10))


@pytest.mark.parametrize(
    "arguments", [{"n_clusters": 0}, {"n_clusters": 2.5}, {"n_clusters": 3, "time_limit": np.nan}]
)
def test_bad_parameters(arguments):
    with pytest.raises(InvalidParameter):
        Constraints(4).check_feasible(**arguments)
