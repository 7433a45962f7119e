"""The value itself: canonical form, refusals, meaning of weights and certainties."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from constraints.strategies import build, constraint_sets, raw_pairs
from hypothesis import given
from hypothesis import strategies as st

from coterie.constraints import Constraints
from coterie.exceptions import (
    CoterieWarning,
    InfeasibleConstraints,
    InvalidConstraints,
    InvalidParameter,
)

INF = np.inf


@given(raw_pairs(), st.randoms(use_true_random=False))
def test_order_and_orientation_do_not_matter(raw, random):
    n, pairs = raw
    shuffled = [(j, i, *rest) if random.random() < 0.5 else (i, j, *rest) for i, j, *rest in pairs]
    random.shuffle(shuffled)
    a, b = build(n, pairs), build(n, shuffled)
    assert a == b
    assert hash(a) == hash(b)


@given(raw_pairs())
def test_canonical_form_holds_exactly_the_given_pairs(raw):
    n, pairs = raw
    c = build(n, pairs)
    assert (c.pairs[:, 0] < c.pairs[:, 1]).all()
    held = list(
        zip(c.pairs.tolist(), c.kind, c.weight, np.nan_to_num(c.certainty, nan=9.0), strict=True)
    )
    assert held == sorted(held)
    expected = sorted(
        ([min(i, j), max(i, j)], kind, w, 9.0 if np.isnan(g) else g) for i, j, kind, w, g in pairs
    )
    assert held == expected


def test_attributes():
    c = Constraints(6, [(1, 0), (2, 1)], [(5, 3)], must_weight=[INF, 2], cannot_certainty=1)
    assert c.pairs.tolist() == [[0, 1], [1, 2], [3, 5]]
    assert c.pairs.dtype == np.int64
    assert c.kind.tolist() == [1, 1, -1]
    assert c.kind.dtype == np.int8
    assert c.weight.tolist() == [INF, 2, 1]
    assert c.is_hard.tolist() == [True, False, True]
    assert c.must_link.tolist() == [[0, 1], [1, 2]]
    assert c.cannot_link.tolist() == [[3, 5]]
    assert c.n_pairs == 3
    assert repr(c) == "Constraints(6 rows: 2 must-link (1 hard), 1 cannot-link (1 hard))"


def test_frozen():
    c = Constraints(3, [(0, 1)])
    with pytest.raises(AttributeError, match="frozen"):
        c.weight = np.ones(1)
    with pytest.raises(ValueError, match="read-only"):
        c.pairs[0, 0] = 2
    given_pairs = np.array([[0, 1]])
    c = Constraints(3, given_pairs)
    given_pairs[0, 1] = 2
    assert c.pairs.tolist() == [[0, 1]]


@given(constraint_sets())
def test_pickle_and_copy(c):
    for twin in (pickle.loads(pickle.dumps(c)), copy.deepcopy(c), copy.copy(c)):
        assert twin == c
        assert not twin.pairs.flags.writeable


def test_certainty_below_half_is_the_other_kind():
    c = Constraints(4, [(0, 1)], [(2, 3)], must_certainty=0.2, cannot_certainty=0.0)
    assert c == Constraints(4, [(2, 3)], [(0, 1)], must_certainty=1.0, cannot_certainty=0.8)
    assert c.is_hard.tolist() == [False, True]


def test_certainty_of_half_says_nothing():
    with pytest.warns(CoterieWarning, match=r"1 pair\(s\).*\(0, 1\)") as caught:
        c = Constraints(4, [(0, 1), (1, 2)], must_certainty=[0.5, 0.7])
    assert c.pairs.tolist() == [[1, 2]]
    assert caught[0].filename == __file__


def test_self_links():
    assert Constraints(3, [(1, 1), (0, 2)]).pairs.tolist() == [[0, 2]]
    assert Constraints(3, cannot_link=[(1, 1)], cannot_certainty=0.1).n_pairs == 0
    with pytest.raises(InvalidConstraints, match=r"\(1, 1\)"):
        Constraints(3, cannot_link=[(1, 1)])
    with pytest.raises(InvalidConstraints, match=r"\(1, 1\)"):
        Constraints(3, [(1, 1)], must_certainty=0.1)


def test_strength_and_cost():
    c = Constraints(
        9,
        [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (0, 7)],
        must_weight=[1, 3, 1, INF, 1, 0, 0],
        must_certainty=[np.nan, np.nan, 0.8, 0.7, 1.0, 0.9, 1.0],
    )
    odds = np.log(0.95 / 0.05)
    expected = [odds, 3 * odds, np.log(4), INF, INF, 0, 0]
    np.testing.assert_allclose(c.strength(), expected)
    np.testing.assert_allclose(c.cost(2.0)[:3], [2, 6, 2 * np.log(4) / odds])
    np.testing.assert_array_equal(c.cost(2.0)[3:], [INF, INF, 0, 0])
    np.testing.assert_array_equal(c.cost(0.0), [0, 0, 0, INF, INF, 0, 0])
    np.testing.assert_allclose(c.strength(default_certainty=0.8)[:2], [np.log(4), 3 * np.log(4)])
    with pytest.raises(InvalidParameter, match="default_certainty"):
        c.strength(1.0)


BAD = {
    "out of range": ({"must_link": [(0, 1), (2, 7)]}, r"must_link\[1\] = \(2, 7\).*n_samples=5"),
    "negative": ({"cannot_link": [(-1, 2)]}, r"cannot_link\[0\] = \(-1, 2\).*negative"),
    "float": ({"must_link": [(0, 1), (0.5, 2)]}, r"must_link\[1\] = \(0.5, 2.0\).*integers"),
    "whole float": ({"must_link": [(0.0, 1.0)]}, r"must_link\[0\].*float64.*astype"),
    "NaN": ({"must_link": [(0, np.nan)]}, r"must_link\[0\] = \(0.0, nan\)"),
    "bool": ({"must_link": [(True, False)]}, "bool"),
    "text": ({"must_link": [("a", "b")]}, "ids"),
    "too large for int64": (
        {"must_link": np.array([[0, 2**63]], dtype=np.uint64)},
        "out of range",
    ),
    "flat": ({"must_link": [0, 1]}, r"shape \(2,\).*\(m, 2\)"),
    "three columns": ({"must_link": [(0, 1, 2)]}, r"shape \(1, 3\)"),
    "ragged": ({"must_link": [(0, 1), (2,)]}, "different lengths"),
    "negative weight": ({"must_link": [(0, 1)], "must_weight": -1}, r"must_weight\[0\] = -1"),
    "NaN weight": (
        {"cannot_link": [(0, 1)], "cannot_weight": [np.nan]},
        r"cannot_weight\[0\] = nan",
    ),
    "weight length": ({"must_link": [(0, 1)], "must_weight": [1, 2]}, r"shape \(2,\) for 1 pair"),
    "weight text": ({"must_link": [(0, 1)], "must_weight": "much"}, "must_weight"),
    "certainty": ({"must_link": [(0, 1)], "must_certainty": 1.5}, r"must_certainty\[0\] = 1.5"),
    "self cannot-link": ({"cannot_link": [(3, 3)]}, r"\(3, 3\)"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_named(arguments, message):
    with pytest.raises(InvalidConstraints, match=message):
        Constraints(5, **arguments)


@pytest.mark.parametrize("n", [-1, 2.5, "3", None, True])
def test_bad_n_samples(n):
    with pytest.raises(InvalidConstraints, match="n_samples"):
        Constraints(n)


@pytest.mark.parametrize("empty", [None, [], np.empty((0, 2)), set()])
def test_no_pairs(empty):
    assert Constraints(3, empty, empty) == Constraints.empty(3)


def test_hard_pair_of_both_kinds():
    with pytest.raises(InfeasibleConstraints, match="rows 0 and 1") as error:
        Constraints(4, [(0, 1), (2, 3)], [(1, 0)], must_weight=INF, cannot_certainty=1)
    assert error.value.conflict.pairs.tolist() == [[0, 1], [0, 1]]
    assert sorted(error.value.conflict.kind.tolist()) == [-1, 1]
    both = Constraints(4, [(0, 1)], [(1, 0)], must_weight=INF)  # one soft: allowed
    assert both.n_pairs == 2
    with pytest.raises(InfeasibleConstraints):
        both.as_hard()


def test_add():
    a = Constraints(5, [(0, 1)], must_weight=2)
    b = Constraints(5, cannot_link=[(3, 0)], cannot_certainty=0.8)
    expected = Constraints(5, [(0, 1)], [(0, 3)], must_weight=2, cannot_certainty=0.8)
    assert a + b == b + a == expected
    with pytest.raises(InvalidConstraints, match="5 and 6 rows"):
        a + Constraints(6)
    hard = Constraints(5, cannot_link=[(0, 1)], cannot_weight=INF)
    with pytest.raises(InfeasibleConstraints):
        a.as_hard() + hard


@given(constraint_sets(), constraint_sets())
def test_equality_means_same_pairs(a, b):
    def listed(c):
        return [c.n_samples, c.pairs.tolist(), c.kind.tolist(), c.weight.tolist(), str(c.certainty)]

    assert (a == b) == (listed(a) == listed(b))


@given(constraint_sets())
def test_only_splits(c):
    assert c.only("must") + c.only("cannot") == c
    assert (c.only("must-link").kind == 1).all()
    with pytest.raises(InvalidParameter, match="perhaps"):
        c.only("perhaps")


def test_pick_takes_pairs_by_number_or_mask_and_leaves_groups():
    c = Constraints(
        6, [(0, 1), (1, 2), (2, 3)], [(3, 4)], must_weight=[1, 2, INF], exclusive=[(0, 4, 5)]
    )
    chosen = c.pick([3, 0])
    assert chosen.pairs.tolist() == [[0, 1], [3, 4]]
    assert chosen.kind.tolist() == [1, -1]
    assert chosen == c.pick(np.array([True, False, False, True]))
    assert c.pick(np.arange(c.n_pairs)) == c
    assert chosen.exclusive.listed() == [[0, 4, 5]]
    assert c.pick([]).n_pairs == 0
    for wrong in ([4], [True, False], [0.0]):
        with pytest.raises(InvalidConstraints, match="pair"):
            c.pick(wrong)


def test_as_hard_and_as_soft():
    c = Constraints(5, [(0, 1), (1, 2), (2, 3)], must_weight=[INF, 0, 2], must_certainty=0.9)
    assert c.as_hard().is_hard.tolist() == [True, False, True]
    soft = c.as_soft(3.0)
    assert soft.weight.tolist() == [3, 0, 2]
    assert np.isnan(soft.certainty[0])
    assert soft.certainty[1:].tolist() == [0.9, 0.9]
    with pytest.raises(InvalidParameter):
        c.as_soft(INF)
