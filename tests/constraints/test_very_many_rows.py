"""Pairs are few, rows may be a thousand million: what is made of pairs is as small as they are."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from coterie import Constraints
from coterie.exceptions import InvalidConstraints

MANY = 10**9
FIELDS = (
    "node", "n_nodes", "edges", "must", "pair_edge", "inside_cannot", "inside_node", "indptr",
    "indices", "edge_of", "sizes", "member_ptr",
)  # fmt: skip


def peak(function):
    tracemalloc.start()
    try:
        return function(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def told(rng, n, place):
    """The same random pairs, hard ones and some of no weight among them, between other rows."""
    pairs = rng.integers(n, size=(60, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    must, cannot = place[pairs[:20]], place[pairs[20:]]
    weights = np.where(np.arange(len(must)) % 5 == 0, np.inf, np.arange(len(must)) % 3)
    n_samples = int(place.max()) + 1
    return Constraints(n_samples, must_link=must, cannot_link=cannot, must_weight=weights)


@pytest.mark.parametrize("seed", range(20))
def test_the_core_of_very_many_rows_is_that_of_few(seed):
    n = 40
    place = np.sort(np.random.default_rng(seed).choice(MANY, n, replace=False))
    few = told(np.random.default_rng(seed), n, np.arange(n)).core()
    many, held = peak(told(np.random.default_rng(seed), n, place).core)
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(many, name), getattr(few, name), err_msg=name)
    for name in ("rows", "members", "first_rows"):
        np.testing.assert_array_equal(getattr(many, name), place[getattr(few, name)])
    assert held < 1 << 20
    asked = np.array([[0, 5], [place[3], MANY - 1]])
    np.testing.assert_array_equal(few.slots_of(np.arange(n)), few.slot)
    assert (many.slots_of(asked) >= 0).tolist() == np.isin(asked, many.rows).tolist()


def test_a_subset_of_very_many_rows_is_small_too():
    known = Constraints(MANY, must_link=[(5, 10**8)], cannot_link=[(7, 5), (8, 9)])
    part, held = peak(lambda: known.subset([7, 10**8, 5]))
    assert part.n_samples == 3
    assert part.must_link.tolist() == [[1, 2]]
    assert part.cannot_link.tolist() == [[0, 2]]
    assert held < 1 << 20
    with pytest.raises(InvalidConstraints, match="row 7 more than once"):
        known.subset([7, 3, 7])


TOO_MANY = 2**40  # 8.8 TB for a number a row
NUMBERED = {
    "closure": lambda known: known.closure(),
    "conflicts": lambda known: known.conflicts(),
    "redundant": lambda known: known.redundant(),
    "entailed": lambda known: known.entailed(),
    "check_feasible": lambda known: known.check_feasible(2),
}


@pytest.mark.parametrize("rows", [TOO_MANY, 2**48])
@pytest.mark.parametrize("way", NUMBERED)
def test_rows_that_no_memory_holds_a_number_for_are_told(way, rows):
    """They ended in numpy's MemoryError."""
    known = Constraints(rows, must_link=[(0, 1)], cannot_link=[(1, 2)])
    with pytest.raises(InvalidConstraints, match=rf"n_samples={rows}.*GB, more memory than"):
        NUMBERED[way](known)


def test_what_needs_no_number_a_row_works_with_as_many_rows_as_can_be():
    known = Constraints(2**48, must_link=[(0, 1)], cannot_link=[(1, 2)])
    assert known[:5].n_pairs == 2
    assert known[2::-1].pairs.tolist() == [[0, 1], [1, 2]]
    assert known.core().n_nodes == 3
