"""Pairs from partial knowledge of classes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from coterie import Constraints
from coterie.exceptions import InvalidConstraints, InvalidParameter


def naive(sets):
    """What is true in every way to choose a class for each row, by trying all of them."""
    n = len(sets)
    same, differ = np.ones((n, n), bool), np.ones((n, n), bool)
    for chosen in itertools.product(*sets):
        equal = np.equal.outer(chosen, chosen)
        same &= equal
        differ &= ~equal
    return same, differ


def test_says_what_follows_and_nothing_else():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        names = ["A", "B", "C", "D"]
        sets = [set(rng.choice(names, rng.integers(1, 4), replace=False)) for _ in range(6)]
        known = Constraints.from_class_sets(sets)
        same, differ = naive(sets)
        closed = known.entailed()
        got = {
            (int(i), int(j)): int(k) for (i, j), k in zip(closed.pairs, closed.kind, strict=True)
        }
        for i, j in itertools.combinations(range(6), 2):
            assert got.get((i, j), 0) == int(same[i, j]) - int(differ[i, j]), (seed, i, j)
        assert known.is_hard.all()


def test_every_way_to_say_it_is_the_same():
    table = np.array([[1, 1, 0], [0, 0, 1], [0, 0, 1], [1, 1, 1]], dtype=bool)
    by_table = Constraints.from_class_sets(table)
    assert by_table == Constraints.from_class_sets([{"a", "b"}, "c", ["c"], None])
    assert by_table == Constraints.from_class_sets([(0, 1), 2, 2.0, float("nan")])
    assert by_table.must_link.tolist() == [[1, 2]]
    assert by_table.cannot_link.tolist() == [[0, 1], [0, 2]]
    soft = Constraints.from_class_sets(table, weight=1.0, certainty=0.9)
    assert not soft.is_hard.any()
    assert (soft.certainty == 0.9).all()


def test_some_pairs_of_each_row():
    """The paper's six snow blocks for every block without snow."""
    sets = [{"snow", "ice"}] * 40 + [{"rock", "sea"}] * 10
    some = Constraints.from_class_sets(sets, per_row=6, random_state=0)
    assert some.must_link.size == 0
    assert ((some.cannot_link[:, 0] < 40) & (some.cannot_link[:, 1] >= 40)).all()
    per_row = np.bincount(some.cannot_link.ravel(), minlength=50)
    assert per_row.min() >= 6
    assert some == Constraints.from_class_sets(sets, per_row=6, random_state=0)
    every = Constraints.from_class_sets(sets)
    assert every.n_pairs == 400
    assert Constraints.from_class_sets(sets, per_row=100) == every


def test_bad_input_is_named():
    with pytest.raises(InvalidConstraints, match="row 1 has no possible class"):
        Constraints.from_class_sets([{"a"}, set()])
    with pytest.raises(InvalidConstraints, match="booleans"):
        Constraints.from_class_sets(np.zeros((2, 2)))
    with pytest.raises(InvalidParameter, match="per_row"):
        Constraints.from_class_sets(["a", "b"], per_row=0)
    many = np.zeros((20_000, 2), dtype=bool)
    many[:10_000, 0] = many[10_000:, 1] = True
    with pytest.raises(InvalidParameter, match="give per_row"):
        Constraints.from_class_sets(many)
