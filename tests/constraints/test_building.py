"""From labels, groups and matrices; subset and relabel."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from constraints.strategies import constraint_sets
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

from coterie.constraints import Constraints
from coterie.exceptions import InfeasibleConstraints, InvalidConstraints

INF = np.inf
label_lists = st.lists(st.integers(-1, 3), min_size=1, max_size=8)


@given(label_lists)
def test_labels_entail_exactly_themselves(y):
    c = Constraints.from_labels(y)
    closure = c.closure()
    for i, j in combinations(range(len(y)), 2):
        known = y[i] != -1 and y[j] != -1
        expected = ("must" if y[i] == y[j] else "cannot") if known else "unknown"
        assert closure.relation(i, j).kind == expected
    assert c.is_hard.all()


@given(label_lists)
def test_groups_entail_exactly_themselves(g):
    c = Constraints.from_groups(g)
    closure = c.closure()
    for i, j in combinations(range(len(g)), 2):
        same = g[i] == g[j] != -1
        assert closure.relation(i, j).kind == ("must" if same else "unknown")
    grouped = [value for value in g if value != -1]
    assert c.n_pairs == len(grouped) - len(set(grouped))  # a tree for each group, never all pairs


@given(label_lists)
def test_exclusive_groups(g):
    c = Constraints.from_exclusive_groups(g)
    expected = [[i, j] for i, j in combinations(range(len(g)), 2) if g[i] == g[j] != -1]
    assert c.n_pairs == 0
    assert c.exclusive.n_pairs == len(expected)
    assert c.expanded().cannot_link.tolist() == expected
    assert c.expanded().must_link.size == 0


@pytest.mark.parametrize(
    "y",
    [
        [5, 5, -1, 7],
        [0.5, 0.5, np.nan, 2.0],
        np.array(["a", "a", None, "b"], dtype=object),
        pd.Series([5, 5, None, 7]),
    ],
)
def test_unknown_labels(y):
    assert Constraints.from_labels(y) == Constraints(
        4, [(0, 1)], [(0, 3)], must_weight=INF, cannot_weight=INF
    )


def test_text_labels_and_options():
    c = Constraints.from_labels(["a", "b", "a"], weight=2.0, certainty=0.9)
    assert c == Constraints(
        3, [(0, 2)], [(0, 1)],
        must_weight=2, cannot_weight=2, must_certainty=0.9, cannot_certainty=0.9,
    )  # fmt: skip
    with pytest.raises(InvalidConstraints, match=r"shape \(1, 2\)"):
        Constraints.from_labels([[0, 1]])
    with pytest.raises(InvalidConstraints, match="types"):
        Constraints.from_groups(np.array(["a", 3], dtype=object))


@given(constraint_sets(hard=False))
def test_matrices_round_trip(c):
    c = Constraints(c.n_samples, c.must_link)  # one kind and weight 1: a matrix holds one number
    matrix = np.zeros((c.n_samples, c.n_samples))
    matrix[tuple(c.pairs.T)] = 1
    expected = Constraints(c.n_samples, np.unique(c.pairs, axis=0))
    for given_matrix in (matrix, matrix.T, matrix + matrix.T):
        assert Constraints.from_dense(given_matrix) == expected
        assert Constraints.from_sparse(csr_array(given_matrix)) == expected


def test_matrix_values():
    matrix = np.array([[1, 2, -INF], [2, 0, 0], [0, 0, 0]])
    assert Constraints.from_dense(matrix) == Constraints(
        3, [(0, 1)], [(0, 2)], must_weight=2, cannot_weight=INF
    )
    assert Constraints.from_sparse(coo_array(np.eye(3))).n_pairs == 0


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), r"shape \(2, 3\)"),
        ([[0, 1], [-1, 0]], r"\(0, 1\) and \(1, 0\) differ"),
        ([[0, np.nan], [0, 0]], r"\(0, 1\).*NaN"),
        ([[-1, 0], [0, 0]], r"\(0, 0\)"),
    ],
)
def test_bad_matrices(matrix, message):
    with pytest.raises(InvalidConstraints, match=message):
        Constraints.from_dense(matrix)
    with pytest.raises(InvalidConstraints, match=message):
        Constraints.from_sparse(coo_array(np.asarray(matrix)))


def test_from_sparse_wants_sparse():
    with pytest.raises(InvalidConstraints, match="from_dense"):
        Constraints.from_sparse(np.eye(2))


@given(constraint_sets(), st.randoms(use_true_random=False))
def test_subset_against_a_loop(c, random):
    rows = random.sample(range(c.n_samples), random.randint(0, c.n_samples))
    sub = c.subset(rows)
    assert sub.n_samples == len(rows)
    expected = [
        (*sorted((rows.index(i), rows.index(j))), int(kind), weight)
        for (i, j), kind, weight in zip(c.pairs.tolist(), c.kind, c.weight, strict=True)
        if i in rows and j in rows
    ]
    held = zip(*sub.pairs.T.tolist(), sub.kind.tolist(), sub.weight.tolist(), strict=True)
    assert sorted(held) == sorted(expected)
    mask = np.isin(np.arange(c.n_samples), rows)
    assert c.subset(mask) == c.subset(sorted(rows))


@given(constraint_sets(), st.randoms(use_true_random=False))
def test_subset_and_relabel_undo_each_other(c, random):
    order = list(range(c.n_samples))
    random.shuffle(order)
    assert c.subset(order).relabel(order) == c
    assert c.relabel(order).subset(order) == c


@pytest.mark.parametrize(
    ("rows", "message"),
    [([0, 0], "more than once"), ([5], r"rows\[0\] = 5"), ([0.5], "float64"), ([-1], "-1")],
)
def test_bad_subsets(rows, message):
    with pytest.raises(InvalidConstraints, match=message):
        Constraints(3).subset(rows)


def test_relabel_merges_and_widens():
    c = Constraints(3, [(0, 1)], [(1, 2)])
    assert c.relabel([0, 0, 1]) == Constraints(3, cannot_link=[(0, 1)])
    assert c.relabel([4, 5, 6], 7).pairs.tolist() == [[4, 5], [5, 6]]
    with pytest.raises(InvalidConstraints, match=r"\(1, 1\)"):
        c.relabel([0, 1, 1])
    with pytest.raises(InvalidConstraints, match=r"mapping\[2\] = 3"):
        c.relabel([0, 1, 3])
    with pytest.raises(InvalidConstraints, match="3 rows"):
        c.relabel([0, 1])


# -- from arrays of both kinds -----------------------------------------------------------------
@given(constraint_sets())
def test_from_arrays_is_the_inverse_of_the_arrays(c):
    again = Constraints.from_arrays(
        c.n_samples, c.pairs, c.kind, weight=c.weight, certainty=c.certainty
    )
    assert again == c


def test_from_arrays_takes_signs_and_booleans_and_one_weight_for_all():
    pairs = [(0, 1), (3, 2)]
    split = Constraints(4, [(0, 1)], [(2, 3)], must_weight=2.0, cannot_weight=2.0)
    assert Constraints.from_arrays(4, pairs, [1, -1], weight=2.0) == split
    assert Constraints.from_arrays(4, pairs, [True, False], weight=2.0) == split
    assert Constraints.from_arrays(4, pairs, [0.5, -3.0], weight=2.0) == split
    assert Constraints.from_arrays(4, [], []) == Constraints(4)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ([1], r"kind has shape \(1,\) for 2 pair\(s\)"),
        ([1, 0], r"kind\[1\] = 0; give 1 \(must-link\) or -1"),
        ([1.0, np.nan], r"kind\[1\] = nan"),
        (["must", "cannot"], "from_frame"),
    ],
)
def test_from_arrays_refuses_kinds_that_say_nothing(kind, message):
    with pytest.raises(InvalidConstraints, match=message):
        Constraints.from_arrays(4, [(0, 1), (2, 3)], kind)


def test_from_arrays_names_the_number_of_the_pair_that_was_given():
    with pytest.raises(InvalidConstraints, match=r"pairs\[1\] = \(2, 9\)"):
        Constraints.from_arrays(4, [(0, 1), (2, 9)], [1, -1])
    with pytest.raises(InvalidConstraints, match=r"weight\[1\] = -1"):
        Constraints.from_arrays(4, [(0, 1), (2, 3)], [1, -1], weight=[1, -1])
    with pytest.raises(InfeasibleConstraints):
        Constraints.from_arrays(4, [(0, 1), (1, 0)], [1, -1], weight=np.inf)


def test_certainties_of_labels_are_those_of_the_pairs_by_counting():
    """Against every way in which labels may be wrong, each other class alike."""
    y, sure = np.array([0, 0, 1, 2, 0]), np.array([0.7, 0.9, 0.8, 0.6, 0.75])
    found = Constraints.from_labels(y, certainty=sure)
    assert not found.is_hard.any()
    truth = list(product(range(3), repeat=5))
    chance = [
        np.prod(
            [p if t == label else (1 - p) / 2 for t, label, p in zip(true, y, sure, strict=True)]
        )
        for true in truth
    ]
    for (i, j), kind, certainty in zip(found.pairs, found.kind, found.certainty, strict=True):
        right = [(true[i] == true[j]) == (kind > 0) for true in truth]
        assert certainty == pytest.approx(np.dot(chance, right))
    assert found.must_link.tolist() == [[0, 1], [1, 4]]  # row 1 is the most certain of its class


def test_certain_labels_stay_hard_and_unlabelled_rows_need_no_certainty():
    found = Constraints.from_labels([0, 0, -1, 1], certainty=[1, 1, np.nan, 0.9])
    assert found.is_hard.tolist() == [True, False]
    assert not Constraints.from_labels([0, 0, 1], certainty=0.8).is_hard.any()
    with pytest.raises(InvalidConstraints, match="3 rows"):
        Constraints.from_labels([0, 0, 1], certainty=[0.9, 0.8])
    with pytest.raises(InvalidConstraints, match=r"certainty\[1\] is missing"):
        Constraints.from_labels([0, 0, 1], certainty=[0.9, np.nan, 1])
    with pytest.raises(InvalidConstraints, match=r"certainty\[0\]"):
        Constraints.from_labels([0, 0, 1], certainty=[1.9, 0.5, 1])
