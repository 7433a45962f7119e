"""`Constraints.entailed` against the naive closure."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from coterie.constraints import Constraints
from coterie.exceptions import InfeasibleConstraints, InvalidParameter


def naive(n, must, cannot):
    """Must and cannot-links by applying the two rules until nothing changes."""
    must = {frozenset(p) for p in must}
    cannot = {frozenset(p) for p in cannot}
    while True:
        more_must, more_cannot = set(must), set(cannot)
        for a, b, c in itertools.permutations(range(n), 3):
            if frozenset((a, b)) in must and frozenset((b, c)) in must:
                more_must.add(frozenset((a, c)))
            if frozenset((a, b)) in must and frozenset((b, c)) in cannot:
                more_cannot.add(frozenset((a, c)))
        if (more_must, more_cannot) == (must, cannot):
            return must, cannot
        must, cannot = more_must, more_cannot


def as_sets(constraints, kind):
    return {frozenset(p) for p in constraints.pairs[constraints.kind == kind].tolist()}


@pytest.mark.parametrize("seed", range(40))
def test_all_that_follows_and_nothing_else(seed):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 3, size=7)
    chosen = rng.integers(0, 7, size=(rng.integers(0, 10), 2))
    chosen = np.unique(np.sort(chosen[chosen[:, 0] != chosen[:, 1]], axis=1), axis=0)
    same = label[chosen[:, 0]] == label[chosen[:, 1]]
    given = Constraints(7, chosen[same], chosen[~same], must_weight=2.0)
    found = given.entailed(hard_only=False)
    must, cannot = naive(7, chosen[same].tolist(), chosen[~same].tolist())
    assert as_sets(found, 1) == must
    assert as_sets(found, -1) == cannot
    assert found.n_pairs == len(must) + len(cannot)  # none twice
    kept = {tuple(p): w for p, w in zip(found.pairs.tolist(), found.weight, strict=True)}
    assert all(kept[tuple(p)] == 2.0 for p in given.must_link.tolist())
    assert given.entailed() == given  # nothing is hard


def test_what_follows_from_hard_pairs_is_hard_and_soft_ones_stay():
    given = Constraints(
        5, must_link=[(0, 1), (1, 2), (3, 4)], cannot_link=[(2, 3)],
        must_weight=[np.inf, np.inf, 1.0], cannot_weight=np.inf,
    )  # fmt: skip
    found = given.entailed()
    assert as_sets(found, 1) == {frozenset(p) for p in [(0, 1), (1, 2), (0, 2), (3, 4)]}
    assert as_sets(found, -1) == {frozenset(p) for p in [(0, 3), (1, 3), (2, 3)]}
    assert found.is_hard.tolist() == [p != [3, 4] for p in found.pairs.tolist()]


def test_a_contradiction_and_too_many_pairs_are_refused():
    clash = Constraints(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    with pytest.raises(InfeasibleConstraints, match="contradict") as error:
        clash.entailed(hard_only=False)
    assert error.value.conflict.n_pairs == 3
    many = Constraints.from_groups(np.zeros(2000, dtype=int))
    with pytest.raises(InvalidParameter, match="1999000 pairs"):
        many.entailed()
    assert many.entailed(max_pairs=2_000_000).n_pairs == 1_999_000
