"""The core's arrays against dictionaries."""

from __future__ import annotations

import numpy as np
import pytest
from constraints.strategies import constraint_sets
from hypothesis import given, settings

from coterie.constraints import Constraints
from coterie.exceptions import InfeasibleConstraints, InvalidParameter
from reference import constraints as naive

INF = np.inf


def clashes(c):
    return len(c.conflicts(hard_only=True)) > 0


@settings(max_examples=200)
@given(constraint_sets(max_rows=9, max_pairs=20))
def test_core_against_dictionaries(c):
    if clashes(c):
        with pytest.raises(InfeasibleConstraints) as error:
            c.core()
        assert not naive.consistent(error.value.conflict)
        return
    core = c.core()
    informative = c.weight > 0
    label = naive.components(c, hard_only=True)
    rows = sorted(set(c.pairs[informative].ravel().tolist()))
    assert core.rows.tolist() == rows
    numbers = {number: t for t, number in enumerate(sorted({label[row] for row in rows}))}
    node = [numbers[label[row]] for row in rows]
    assert core.node.tolist() == node
    assert core.n_nodes == len(numbers)

    cost = c.cost()
    expected = {
        (numbers[a], numbers[b]): value for (a, b), value in naive.edge_costs(c, cost).items()
    }
    assert [tuple(edge) for edge in core.edges.tolist()] == sorted(expected)
    same, differ = core.costs(cost)
    assert same.shape == differ.shape == (2 * len(expected), 1)
    seen = set()
    for a in range(core.n_nodes):
        neighbours = core.indices[core.indptr[a] : core.indptr[a + 1]].tolist()
        assert neighbours == sorted(set(neighbours))
        for t in range(core.indptr[a], core.indptr[a + 1]):
            b = int(core.indices[t])
            assert core.edges[core.edge_of[t]].tolist() == sorted((a, b))
            np.testing.assert_allclose([same[t, 0], differ[t, 0]], expected[min(a, b), max(a, b)])
            seen.add((a, b))
    assert len(seen) == 2 * len(expected)

    np.testing.assert_array_equal(core.must, c.kind > 0)
    position = {row: t for t, row in enumerate(rows)}
    for number, (i, j) in enumerate(c.pairs.tolist()):
        if not informative[number] or node[position[i]] == node[position[j]]:
            assert core.pair_edge[number] == -1
        else:
            ends = sorted((node[position[i]], node[position[j]]))
            assert core.edges[core.pair_edge[number]].tolist() == ends
    inside = [
        number
        for number, (i, j) in enumerate(c.pairs)
        if informative[number] and c.kind[number] < 0 and label[i] == label[j]
    ]
    assert core.inside_cannot.tolist() == inside
    assert core.constant(cost) == pytest.approx(sum(cost[inside]))


def test_costs_per_cluster():
    c = Constraints(4, [(0, 1), (0, 1)], [(0, 1), (2, 3)])
    cost = np.arange(12.0).reshape(4, 3)
    core = c.core()
    same, differ = core.costs(cost)
    assert core.edges.tolist() == [[0, 1], [2, 3]]
    must = core.must[:3]
    np.testing.assert_array_equal(differ[0], cost[:3][must].sum(axis=0))
    np.testing.assert_array_equal(same[0], cost[:3][~must].sum(axis=0))
    np.testing.assert_array_equal(same[2], cost[3])
    np.testing.assert_array_equal(same[0], same[1])


def test_cannot_links_inside_a_node():
    c = Constraints(4, [(0, 1), (1, 2)], [(0, 2), (2, 3)], must_weight=INF, cannot_weight=3)
    core = c.core()
    assert core.n_nodes == 2
    assert c.pairs[core.inside_cannot].tolist() == [[0, 2]]
    assert core.constant(c.cost()) == pytest.approx(3)
    per_cluster = np.outer([9, 1, 9, 9], [1.0, 2.0])
    np.testing.assert_array_equal(core.unary(per_cluster), [[1, 2], [0, 0]])
    with pytest.raises(InvalidParameter, match="unary"):
        core.constant(per_cluster)


def test_contract_and_expand():
    c = Constraints(6, [(0, 4)], [(2, 4), (4, 5)], must_weight=INF)
    core = c.core()
    assert core.rows.tolist() == [0, 2, 4, 5]
    values = np.arange(24, dtype=np.float32).reshape(4, 3, 2)
    contracted = core.contract(values)
    assert contracted.dtype == np.float32
    np.testing.assert_array_equal(contracted, [values[0] + values[2], values[1], values[3]])
    np.testing.assert_array_equal(core.contract(np.ones(4)), [2, 1, 1])
    assert core.expand(np.array([7, 8, 9])).tolist() == [7, 8, 7, 9]
    soft = c.as_soft().core()
    untouched = np.arange(4.0)
    out = soft.contract(untouched)
    out[0] = 9
    assert untouched[0] == 0
    with pytest.raises(InvalidParameter, match="4 rows"):
        core.contract(np.ones(3))


def test_uninformative_pairs_leave_no_trace():
    core = Constraints(5, [(0, 1), (2, 3)], must_weight=[0, 1]).core()
    assert core.rows.tolist() == [2, 3]
    assert core.pair_edge.tolist() == [-1, 0]


def test_empty_core():
    core = Constraints(5).core()
    assert core.n_nodes == 0
    assert core.edges.shape == (0, 2)
    same, differ = core.costs(np.empty(0))
    assert same.shape == differ.shape == (0, 1)
    assert core.contract(np.empty((0, 3))).shape == (0, 3)
    assert core.indptr.tolist() == [0]


def test_wrong_number_of_costs():
    with pytest.raises(InvalidParameter, match="2 pairs"):
        Constraints(5, [(0, 1), (2, 3)]).core().costs([1.0])


@given(constraint_sets())
def test_where_rows_and_nodes_lie(c):
    """`slot`, `node_of_row`, `members`, `first_rows` and `members_of` say what a walk finds."""
    try:
        core = c.core()
    except InfeasibleConstraints:
        return
    place = {int(row): at for at, row in enumerate(core.rows)}
    assert core.n_samples == c.n_samples
    assert core.slot.tolist() == [place.get(row, -1) for row in range(c.n_samples)]
    assert core.node_of_row.tolist() == [
        int(core.node[place[row]]) if row in place else -1 for row in range(c.n_samples)
    ]
    groups = [[row for row in place if core.node[place[row]] == a] for a in range(core.n_nodes)]
    ptr = core.member_ptr
    assert [core.members[ptr[a] : ptr[a + 1]].tolist() for a in range(core.n_nodes)] == groups
    assert core.sizes.tolist() == [len(group) for group in groups]
    assert core.first_rows.tolist() == [group[0] for group in groups]
    some = np.arange(core.n_nodes)[::-2]
    rows, owner = core.members_of(some)
    assert rows.tolist() == [row for a in some for row in groups[a]]
    assert owner.tolist() == [at for at, a in enumerate(some) for _ in groups[a]]
    for array in (core.slot, core.members, core.member_ptr, core.first_rows):
        assert array.dtype == np.int64
