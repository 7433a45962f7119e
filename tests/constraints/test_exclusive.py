"""Groups that are all different: whatever they say is what their pairs, written out, would say."""

from __future__ import annotations

import pickle
import time
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import build, raw_pairs

from coterie.constraints import Constraints
from coterie.exceptions import InfeasibleConstraints, InvalidConstraints, InvalidParameter


@st.composite
def grouped(draw, hard=True):
    """Random pairs and up to three groups, overlapping or not."""
    n, pairs = draw(raw_pairs(max_rows=7, max_pairs=4, hard=hard))
    groups = draw(st.lists(st.sets(st.integers(0, n - 1), max_size=4), max_size=3))
    weights = draw(
        st.lists(
            st.sampled_from((0.5, 2.0, np.inf) if hard else (0.5, 2.0)),
            min_size=len(groups), max_size=len(groups),
        )
    )  # fmt: skip
    made = Constraints(n, exclusive=[list(g) for g in groups], exclusive_weight=weights or None)
    return build(n, pairs) + made


def clashes(constraints):
    """Whether hard pairs of both kinds stand for the same rows once groups are written out."""
    try:
        constraints.expanded()
    except InfeasibleConstraints:
        return True
    return False


@settings(max_examples=150, deadline=None)
@given(grouped())
def test_the_closure_says_what_the_pairs_say(c):
    if clashes(c):
        assert len(c.conflicts(hard_only=True)) > 0
        return
    for hard_only in (True, False):
        ours, theirs = c.closure(hard_only), c.expanded().closure(hard_only)
        for i, j in combinations(range(c.n_samples), 2):
            found = ours.relation(i, j)
            assert found.kind == theirs.relation(i, j).kind
            if found.kind != "unknown":
                assert found.path[0].i == i
                assert found.path[-1].j == j
        parted = {
            tuple(sorted((int(a), int(b))))
            for members in ours.exclusive()
            for a, b in combinations(members, 2)
        }
        assert all(a != b for a, b in parted)


@settings(max_examples=150, deadline=None)
@given(grouped())
def test_conflicts_are_found_exactly_where_the_pairs_have_some(c):
    if clashes(c):
        return
    for hard_only in (True, False):
        ours, theirs = c.conflicts(hard_only), c.expanded().conflicts(hard_only)
        assert (len(ours) > 0) == (len(theirs) > 0)
        for conflict in ours:
            assert len(conflict.conflicts()) == 1
    if len(c.conflicts(hard_only=True)):
        with pytest.raises(InfeasibleConstraints):
            c.core()
    else:
        assert np.array_equal(np.unique(c.core().rows), c.expanded().core().rows)


@settings(max_examples=150, deadline=None)
@given(grouped(), st.integers(1, 4))
def test_feasibility_by_enumeration(c, k):
    def kept(labels):
        labels = np.array(labels)
        same = labels[c.pairs[:, 0]] == labels[c.pairs[:, 1]]
        pairs = ((same == (c.kind > 0)) | (c.weight == 0)).all()
        return pairs and all(len(set(labels[g])) == len(g) for g in c.exclusive.listed())

    possible = any(kept(labels) for labels in product(range(k), repeat=c.n_samples))
    try:
        assert kept(c.check_feasible(k))
        assert possible
    except InfeasibleConstraints as error:
        assert not possible
        with pytest.raises(InfeasibleConstraints):
            error.conflict.check_feasible(k)


@settings(max_examples=100, deadline=None)
@given(c=grouped(), data=st.data())
def test_other_forms_say_the_same(c, data, tmp_path_factory):
    rows = data.draw(st.permutations(range(c.n_samples)))[: c.n_samples - 1]
    assert pickle.loads(pickle.dumps(c)) == c
    assert Constraints(**c.__coterie_state__()) == c
    for suffix in ("csv", "parquet"):
        path = tmp_path_factory.mktemp("c") / f"c.{suffix}"
        c.save(path)
        assert Constraints.load(path) == c
    assert c.only("must").exclusive.n_groups == 0
    assert c.only("must") + c.only("cannot") == c
    if clashes(c):
        return
    assert c.subset(rows).expanded() == c.expanded().subset(rows)
    assert c.as_soft(3.0).expanded() == c.expanded().as_soft(3.0)
    assert len(c.to_frame()) == c.expanded().n_pairs
    assert hash(c) == hash(pickle.loads(pickle.dumps(c)))


def test_the_order_of_groups_and_rows_does_not_matter():
    one = Constraints(6, exclusive=[(3, 1, 2), (0, 5)], exclusive_weight=[2, 3])
    other = Constraints(6, exclusive=[(5, 0), (2, 3, 1)], exclusive_weight=[3, 2])
    assert one == other
    assert one != Constraints(6, exclusive=[(3, 1, 2), (0, 5)])
    assert repr(one.as_hard()) == (
        "Constraints(6 rows: 0 must-link, 0 cannot-link, 2 exclusive groups (2 hard))"
    )
    assert Constraints(6, exclusive=[(3,), ()]) == Constraints(6)


def test_wrong_groups_are_refused_by_name():
    with pytest.raises(InvalidConstraints, match="row 3 stands twice"):
        Constraints(6, exclusive=[(3, 1, 3)])
    with pytest.raises(InvalidConstraints, match=r"exclusive\[1\]: row 9"):
        Constraints(6, exclusive=[(0, 1), (0, 9)])
    with pytest.raises(InvalidConstraints, match="from_exclusive_groups"):
        Constraints(6, exclusive=[["a", "b"]])
    with pytest.raises(InvalidConstraints, match="no one opposite"):
        Constraints(6, exclusive=[(0, 1)], exclusive_certainty=0.3)
    with pytest.raises(InvalidConstraints, match="stands twice"):
        Constraints(3, exclusive=[(0, 1)]).relabel([0, 0, 1])
    with pytest.raises(InvalidParameter, match="10 pairs, more than max_pairs=9"):
        Constraints(5, exclusive=[range(5)]).expanded(9)


def test_too_large_a_group_is_named():
    c = Constraints(9, must_link=[(0, 1)], exclusive=[(1, 2, 3, 4, 5)], must_weight=np.inf)
    with pytest.raises(InfeasibleConstraints, match=r"group of 5 rows.*there are 3") as error:
        c.check_feasible(3)
    (conflict,) = error.value.conflict.exclusive.listed()
    assert len(conflict) == 4


def test_a_million_rows_in_groups_cost_like_a_million_rows():
    start = time.process_time()
    c = Constraints.from_exclusive_groups(np.repeat(np.arange(1000), 1000))
    assert c.exclusive.n_pairs == 499_500_000
    assert len(c.conflicts()) == 0
    assert c.core().group_nodes.size == 1_000_000
    labels = c.check_feasible(1000).reshape(1000, 1000)
    assert (np.sort(labels, axis=1) == np.arange(1000)).all()
    assert c.subset(np.arange(0, 10**6, 2)).exclusive.n_groups == 1000
    # 500 million pairs would take minutes and 8 GB; this is a bound, not a timing.
    assert time.process_time() - start < 60
