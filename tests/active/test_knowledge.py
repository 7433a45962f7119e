"""Groups and contradictions against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.active.knowledge import Knowledge
from coterie.active.query import Answer

PAIRS = st.lists(
    st.tuples(
        st.integers(0, 7),
        st.integers(0, 7),
        st.sampled_from(["same", "different", "unknown", "later"]),
    ).filter(lambda t: t[0] != t[1]),
    max_size=25,
)


def answers(items):
    return [Answer(t + 1, (i, j), word) for t, (i, j, word) in enumerate(items)]


def graphs(items):
    """Last answer about each pair, as a graph of "same" and the list of "different"."""
    last = {frozenset((i, j)): word for i, j, word in items}
    same = nx.Graph()
    same.add_nodes_from(range(8))
    same.add_edges_from(tuple(p) for p, word in last.items() if word == "same")
    return same, [tuple(p) for p, word in last.items() if word == "different"]


@settings(deadline=None)
@given(PAIRS)
def test_relation_is_the_closure_of_the_last_answers(items):
    known = Knowledge(answers(items))
    same, different = graphs(items)
    home = {row: c for c, part in enumerate(nx.connected_components(same)) for row in part}
    barred = {frozenset((home[i], home[j])) for i, j in different}
    for i in range(8):
        assert sorted(known.members(i)) == sorted(r for r in range(8) if home[r] == home[i])
        for j in range(8):
            if home[i] == home[j]:
                assert known.relation(i, j) == 1
            else:
                assert known.relation(i, j) == -(frozenset((home[i], home[j])) in barred)


@settings(deadline=None)
@given(PAIRS, st.integers(0, 7), st.integers(0, 7), st.sampled_from([1, -1]))
def test_a_clash_is_a_set_of_answers_that_implies_the_opposite_and_is_minimal(items, i, j, sign):
    if i == j:
        return
    known = Knowledge(answers(items))
    clash = known.clash(i, j, sign)
    assert bool(clash) == (known.relation(i, j) == -sign)
    if clash:
        assert Knowledge(clash).relation(i, j) == -sign
        for left_out in clash:
            rest = [a for a in clash if a is not left_out]
            assert Knowledge(rest).relation(i, j) == 0


@settings(deadline=None)
@given(PAIRS)
def test_taking_answers_in_one_by_one_equals_all_at_once(items):
    grown = Knowledge()
    for answer in answers(items):
        grown.add(answer)
    whole = Knowledge(answers(items))
    matrix = [[k.relation(i, j) for i in range(8) for j in range(8)] for k in (grown, whole)]
    assert matrix[0] == matrix[1]


@settings(deadline=None)
@given(PAIRS)
def test_heads_are_the_first_subjects_of_the_groups(items):
    known = Knowledge(answers(items))
    expected = {}
    for i, _, _ in items:
        expected.setdefault(known.group(i), i)
    assert known.heads() == list(expected.values())


def test_a_doubt_reaches_the_whole_group_and_ends_with_an_answer():
    known = Knowledge(answers([(0, 1, "same"), (5, 1, "unknown")]))
    assert [answer.rows for answer in known.doubts(5, 0)] == [(5, 1)]
    assert not known.doubts(5, 2)
    known.add(Answer(3, (5, 1), "different"))
    assert not known.doubts(5, 0)
    assert known.relation(5, 0) == -1


def test_later_comes_back_and_unknown_does_not():
    known = Knowledge(answers([(0, 1, "later"), (2, 3, "unknown"), (4, 5, "later")]))
    assert known.put_off == [(0, 1), (4, 5)]
    known.add(Answer(4, (0, 1), "same"))
    assert known.put_off == [(4, 5)]
    assert not known.is_open(2, 3)


@pytest.mark.parametrize("n", [200, 2000])
def test_chains_do_not_recurse_and_stay_quick(n):
    chain = [(t, t + 1, "same") for t in np.random.default_rng(0).permutation(n).tolist()]
    known = Knowledge(answers(chain))
    assert len(known.clash(0, n, -1)) == n
