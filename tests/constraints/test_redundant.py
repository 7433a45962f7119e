"""`Constraints.redundant` against the naive closure."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from coterie.constraints import Constraints


def implied(constraints):
    """Every relation that follows from the pairs: the naive closure."""
    closure = constraints.closure(hard_only=False)
    n = constraints.n_samples
    return {(i, j): closure.relation(i, j).kind for i, j in itertools.combinations(range(n), 2)}


@pytest.mark.parametrize("seed", range(40))
def test_without_the_redundant_pairs_the_same_follows_and_no_other_can_go(seed):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 3, size=7)
    chosen = rng.integers(0, 7, size=(rng.integers(1, 14), 2))
    chosen = chosen[chosen[:, 0] != chosen[:, 1]]
    same = label[chosen[:, 0]] == label[chosen[:, 1]]
    c = Constraints(7, chosen[same], chosen[~same])
    gone = c.redundant()

    def without(numbers):
        left = np.setdiff1d(np.arange(c.n_pairs), numbers)
        must = left[c.kind[left] > 0]
        cannot = left[c.kind[left] < 0]
        return implied(Constraints(7, c.pairs[must], c.pairs[cannot]))

    assert without(gone) == implied(c)
    for other in np.setdiff1d(np.arange(c.n_pairs), gone):
        assert without(np.append(gone, other)) != implied(c)


def test_soft_pairs_make_no_hard_one_redundant():
    weight = [1.0, np.inf, np.inf]
    c = Constraints(3, must_link=[(0, 1), (0, 1), (1, 2)], must_weight=weight)
    assert c.pairs[c.redundant()].tolist() == [[0, 1]]
    assert c.redundant(hard_only=True).size == 0
    silent = Constraints(3, must_link=[(0, 1), (0, 1)], must_weight=[0.0, 1.0])
    assert silent.redundant().size == 0


def test_a_cannot_link_that_contradicts_is_never_redundant():
    c = Constraints(3, must_link=[(0, 1), (1, 2), (0, 2)], cannot_link=[(0, 1), (0, 2)])
    assert c.kind[c.redundant()].tolist() == [1]
    assert Constraints(4).redundant().size == 0
