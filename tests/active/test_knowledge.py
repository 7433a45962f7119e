"""Groups and contradictions against networkx."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.active.knowledge import Knowledge
from coterie.active.query import ANSWERS, Answer, Query, SetQuery, free_of

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


def test_what_is_counted_on_the_way_is_what_there_is():
    rng = np.random.default_rng(0)
    answers = []
    for number in range(1, 200):
        word = ANSWERS[rng.integers(4)]
        rows = tuple(int(r) for r in rng.choice(12, 2, replace=False))
        phase = "known" if rng.random() < 0.1 else "explore"
        step = None if rng.random() < 0.5 else number - number % 3
        answers.append(
            Answer(number, rows, word, None, "ab "[rng.integers(3)].strip(), "", phase, step)
        )
        known = Knowledge(answers)
        told = [a for a in answers if a.phase != "known"]
        assert known.words == Counter(a.answer for a in told)
        assert known.by == Counter(a.annotator or "" for a in told)
        asked = [a for a in told if a.answer != "later"]
        assert known.asked == {a.number if a.step is None else a.step for a in asked}


def test_questions_free_of_those_that_others_have():
    """As each with each."""
    rng = np.random.default_rng(1)

    def some(size):
        return tuple(int(r) for r in rng.choice(8, size, replace=False))

    for _ in range(200):
        held = [Query(some(2), "x", "") for _ in range(rng.integers(4))]
        held += [SetQuery(some(4), "set", "") for _ in range(rng.integers(3))]
        asked = [Query(some(2), "x", "") for _ in range(12)]
        expected = [
            query
            for query in asked
            if not any(set(query.rows) <= set(other.rows) for other in held)
            and not any(isinstance(o, Query) and o.rows[0] == query.rows[0] for o in held)
        ]
        assert list(free_of(asked, held)) == expected
