"""Constraints cut by rows the way scikit-learn cuts whatever belongs to rows."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.utils import _safe_indexing, check_consistent_length

from coterie.constraints import Constraints, PairRows
from coterie.exceptions import InvalidConstraints, LostPairs


@pytest.fixture
def known():
    return Constraints(6, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 4), (3, 5)])


@pytest.mark.parametrize(
    "rows",
    [[0, 1, 2, 3], np.array([3, 2, 1, 0]), np.array([True, True, True, True, False, False])],
    ids=["list", "array", "mask"],
)
def test_scikit_learn_cuts_constraints_as_subset_does(known, rows):
    assert _safe_indexing(known, rows) == known[rows] == known.subset(rows)


def test_rows_may_be_a_slice(known):
    assert known[:4] == known.subset([0, 1, 2, 3])
    assert known[3::-1] == known.subset([3, 2, 1, 0])


def test_as_many_as_rows_whatever_the_pairs(known):
    assert len(known) == 6
    assert known.shape == (6,)
    check_consistent_length(np.zeros((6, 2)), known)
    assert bool(Constraints(0)) is True


def test_one_value_to_numpy_and_nothing_to_walk_through(known):
    whole = np.asarray(known)
    assert whole.shape == ()
    assert whole.item() == known
    with pytest.raises(TypeError):
        iter(known)


@pytest.mark.parametrize("rows", [3, np.zeros((2, 2), dtype=int)])
def test_one_row_or_a_table_of_rows_is_refused(known, rows):
    with pytest.raises(InvalidConstraints, match="row"):
        known[rows]


def test_rows_counted_from_the_end_without_pairs_are_refused(known):
    with pytest.raises(InvalidConstraints, match="from the end"):
        known[np.array([-1, -2])]


def test_lost_pairs_are_counted_and_said_once():
    known = Constraints(40, must_link=[(i, i + 20) for i in range(20)])
    with pytest.warns(LostPairs, match="20 of the 40 rows keeps 0 of the 20 pairs"):
        known[:20]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        known[20:]  # said before
        Constraints(4, must_link=[(0, 1), (2, 3)])[:2]  # half is not lost


def test_rows_of_a_fold_of_pairs_bring_their_pairs_through_arrays_and_pickles(known):
    chosen = np.array([True, False, True, False])
    rows = PairRows(np.arange(6), 6, chosen)
    for form in (rows, np.asarray(rows), np.asarray(pickle.loads(pickle.dumps(rows)))):
        assert known[form] == known._take(chosen)
    assert np.arange(6)[np.asarray(rows)].tolist() == [0, 1, 2, 3, 4, 5]


def test_a_fold_of_other_pairs_is_refused(known):
    rows = PairRows(np.arange(6), 6, np.ones(3, dtype=bool))
    with pytest.raises(InvalidConstraints, match="made for 3 pairs"):
        known[rows]
