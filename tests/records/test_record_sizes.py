"""Classes of pairs within those that seem the same, and what the sizes of things say of them."""

from __future__ import annotations

import numpy as np
import pytest

from coterie import Dossier
from coterie.records.sizes import compare_sizes


def chain(first, count, size):
    """Pairs of `count` things of `size` rows each, from row `first` on."""
    return [(at + k, at + k + 1) for at in range(first, first + count * size, size)
            for k in range(size - 1)]  # fmt: skip


def compared(sure, others):
    return compare_sizes(1000, np.array(sure), np.array(others))


def test_pairs_that_make_larger_things_than_sure_pairs_do_are_something_else():
    sure = chain(0, 100, 2)
    found = compared(sure, chain(500, 20, 4))
    assert found.log_odds < -20
    assert found.share < 0.01
    half = compared(sure, chain(500, 20, 4) + chain(700, 60, 2))  # 60 pairs of each kind
    assert half.log_odds < -10
    assert half.share == pytest.approx(0.5, abs=0.02)


def test_pairs_whose_things_are_as_large_are_left_alone():
    sure = chain(0, 100, 2)
    assert compared(sure, chain(500, 40, 2)).share == 1.0
    assert compared(sure, chain(500, 1, 3) + chain(600, 5, 2)).share > 0.8  # one is no proof
    # Where sure pairs make large things too, large things say nothing.
    assert compared(chain(0, 80, 2) + chain(200, 20, 3), chain(500, 100, 4)).share == 1.0
    assert compared(chain(0, 50, 4), chain(500, 100, 4)).share == 1.0


def test_a_pair_between_two_sure_things_makes_a_larger_one():
    between = [(at, at + 2) for at in range(0, 120, 4)]
    assert compared(chain(0, 100, 2), between).share < 0.01


@pytest.mark.parametrize("sizes", [(2, 2, 3), (4, 3, 2, 2), (6,)])
def test_the_evidence_is_of_further_records_beside_any_rate_of_them(sizes):
    others = [pair for k, size in enumerate(sizes) for pair in chain(500 + 20 * k, 1, size)]
    odds = 5 * 0.5 / 100.5  # five times those of the sure things
    rates = (np.arange(100_000) + 0.5) / 100_000

    def likelihood(rate):
        return np.prod([rate ** (size - 2) * (1 - rate) for size in sizes], axis=0)

    said = np.log(likelihood(odds / (1 + odds)) / likelihood(rates).mean())
    assert compared(chain(0, 100, 2), others).log_odds == pytest.approx(said, rel=1e-4)


def test_nothing_is_said_without_pairs():
    nobody = np.empty((0, 2), dtype=np.int64)
    assert compare_sizes(10, nobody, nobody).share == 1.0
    assert compare_sizes(10, np.array([(0, 1)]), nobody).share == 1.0


# -- rooms of hotels -----------------------------------------------------------------------------
def two_guides(seed):
    """120 places in both guides; and hotels of 4 rooms in one, which share the address and the
    first half of the phone.
    """
    rng = np.random.default_rng(seed)
    syllables = [c + v for c in "bdfgklmnprstvw" for v in "aeiou"]

    def word(length):
        return "".join(rng.choice(syllables, length))

    rows, truth = [], []

    def phone(start):
        return f"{start}{rng.integers(1000, 9999)}"

    for _ in range(120):
        name, street, called = word(4), f"{rng.integers(1, 999)} {word(3)} st.", phone(word(2))
        other = name if rng.random() < 0.7 else f"{name} {rng.choice(['cafe', 'grill', 'bar'])}"
        rows += [(name, street, called), (other, street, called)]
        truth += [len(rows), len(rows)]
    for _ in range(15):
        stem, street, start = word(2), f"{rng.integers(1, 999)} {word(3)} st.", word(2)
        for room in ("grill", "terrace", "oyster bar", "dining room"):
            rows.append((f"{stem} {room}", street, phone(start)))
            truth.append(-len(rows))
    columns = dict(zip(("name", "street", "phone"), np.array(rows, dtype=object).T, strict=True))
    return columns, np.array(truth)


@pytest.mark.parametrize("seed", range(3))
def test_rooms_of_a_hotel_are_not_one_place_where_places_have_two_records(seed):
    columns, truth = two_guides(seed)
    model = Dossier().fit(columns)
    i, j = model.pairs_.T
    joined = model.labels_[i] == model.labels_[j]
    right = truth[i] == truth[j]
    assert (joined & ~right).sum() <= 5  # of 90 pairs of rooms
    assert (joined & right).sum() >= 110  # of 120
