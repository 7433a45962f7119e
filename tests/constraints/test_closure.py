"""Components, relations and contradictions against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from constraints.strategies import constraint_sets
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.constraints import Constraints
from coterie.exceptions import InvalidConstraints, InvalidParameter
from reference import constraints as naive


@given(constraint_sets(), st.booleans())
def test_components_equal_networkx(c, hard_only):
    closure = c.closure(hard_only=hard_only)
    expected = naive.components(c, hard_only)
    assert closure.component.tolist() == expected
    assert closure.n_components == max(expected) + 1
    assert closure.sizes.tolist() == np.bincount(expected).tolist()
    groups = [g.tolist() for g in closure.groups(min_size=1)]
    assert groups == [
        [row for row, label in enumerate(expected) if label == number]
        for number in range(closure.n_components)
    ]
    assert [g.tolist() for g in closure.groups()] == [g for g in groups if len(g) > 1]


@given(constraint_sets())
def test_closure_is_idempotent(c):
    closure = c.closure()
    again = Constraints.from_groups(closure.component).closure()
    np.testing.assert_array_equal(closure.component, again.component)


@given(constraint_sets(), st.booleans())
def test_cannot_links_between_components(c, hard_only):
    closure = c.closure(hard_only=hard_only)
    label = naive.components(c, hard_only)
    expected = np.zeros((closure.n_components,) * 2)
    clashing = []
    for number, ((i, j), kind, cost) in enumerate(zip(c.pairs, c.kind, c.cost(), strict=True)):
        if kind < 0 and cost > 0:
            if label[i] == label[j]:
                clashing.append(number)
            else:
                expected[label[i], label[j]] += cost
                expected[label[j], label[i]] += cost
    np.testing.assert_allclose(closure.cannot.toarray(), expected)
    assert closure.cannot.has_sorted_indices
    assert closure.clashing.tolist() == clashing


@given(constraint_sets(max_rows=6), st.booleans())
def test_relation_and_its_proof(c, hard_only):
    closure = c.closure(hard_only=hard_only)
    must = naive.must_graph(c, hard_only)
    counts = c.is_hard if hard_only else c.weight > 0
    for i, j in naive.all_pairs(c.n_samples):
        for a, b in ((i, j), (j, i)):
            relation = closure.relation(a, b)
            kind, length = _expected_relation(c, must, counts, a, b)
            assert relation.kind == kind
            assert len(relation.path) == length
            _check_walk(c, counts, relation, a, b)


def _expected_relation(c, must, counts, a, b):
    if nx.has_path(must, a, b):
        return "must", nx.shortest_path_length(must, a, b)
    lengths = [
        nx.shortest_path_length(must, a, p) + 1 + nx.shortest_path_length(must, q, b)
        for (i, j), kind, used in zip(c.pairs.tolist(), c.kind, counts, strict=True)
        for p, q in ((i, j), (j, i))
        if kind < 0 and used and nx.has_path(must, a, p) and nx.has_path(must, q, b)
    ]
    return ("cannot", min(lengths)) if lengths else ("unknown", 0)


def _check_walk(c, counts, relation, a, b):
    for link in relation.path:
        assert link.i == a
        assert {link.i, link.j} == set(c.pairs[link.pair].tolist())
        assert link.kind == ("must" if c.kind[link.pair] > 0 else "cannot")
        assert counts[link.pair]
        a = link.j
    assert relation.kind == "unknown" or a == b
    assert sum(link.kind == "cannot" for link in relation.path) == (relation.kind == "cannot")


def test_relation_of_a_row_with_itself():
    assert Constraints(3).closure().relation(1, 1) == ("must", ())


def test_relation_refuses_unknown_rows():
    with pytest.raises(InvalidParameter, match="row 3"):
        Constraints(3).closure().relation(0, 3)


def test_soft_pairs_entail_nothing_by_default():
    c = Constraints(3, [(0, 1), (1, 2)])
    assert c.closure().relation(0, 2).kind == "unknown"
    assert c.closure(hard_only=False).relation(0, 2).kind == "must"


@settings(max_examples=200)
@given(constraint_sets(), st.booleans())
def test_conflicts_are_all_and_minimal(c, hard_only):
    conflicts = c.conflicts(hard_only=hard_only)
    label = naive.components(c, hard_only)
    counts = c.is_hard if hard_only else c.weight > 0
    expected = [
        number
        for number, (i, j) in enumerate(c.pairs)
        if counts[number] and c.kind[number] < 0 and label[i] == label[j]
    ]
    assert conflicts.cannot_links.tolist() == expected
    assert len(list(conflicts)) == len(conflicts) == len(expected)
    for conflict in conflicts:
        assert not naive.consistent(conflict)
        for pair in range(conflict.n_pairs):
            assert naive.consistent(naive.without(conflict, pair))


def test_conflicts_in_words():
    c = Constraints(9, [(0, 4), (4, 2), (2, 7), (0, 7)], [(0, 2), (5, 6)])
    conflicts = c.conflicts()
    assert len(conflicts) == 1
    assert "rows 0 and 2" in repr(conflicts)
    assert "0 – 4 – 2" in repr(conflicts) or "0 – 7 – 2" in repr(conflicts)
    assert conflicts[0].n_pairs == 3
    assert conflicts[-1] == conflicts[0]
    assert conflicts[:5] == [conflicts[0]]
    with pytest.raises(IndexError):
        conflicts[1]
    assert repr(c.only("must").conflicts()) == "no conflicts"


def test_twin_agrees_on_a_known_case():
    c = Constraints(4, [(0, 1), (1, 2)], [(0, 2)])
    assert not naive.consistent(c)
    assert naive.consistent(naive.without(c, 0))


@pytest.mark.parametrize("n", [2**49, 2**62, 2**70])
def test_more_rows_than_there_are_addresses_are_refused(n):
    """`closure` ended in numpy's error about an array that is too big."""
    with pytest.raises(InvalidConstraints, match=f"n_samples={n} is more rows than"):
        Constraints(n)
