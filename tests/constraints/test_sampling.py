"""Sampled pairs: distinct, uniform, of the kinds and noise asked for."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from coterie.constraints import learning_curve_pairs, sample_pairs
from coterie.exceptions import InvalidParameter

LABELS = np.array([0, 1, 2, 0, 1, 0, 0, -1])  # sizes 4, 2, 1, and one unknown
KNOWN = list(combinations(range(7), 2))
MUST = [(i, j) for i, j in KNOWN if LABELS[i] == LABELS[j]]


def truthful(c, labels):
    same = labels[c.pairs[:, 0]] == labels[c.pairs[:, 1]]
    return (same == (c.kind > 0)).all()


def cannot_be_had(y, m, replace, overlap, must_fraction):
    """Whether a refusal is right, by counting all pairs; for disjoint ones, whether it may be."""
    if not overlap:
        return replace or m > 0
    same = [y[i] == y[j] for i, j in combinations(np.flatnonzero(y != -1), 2)]
    if must_fraction is None:
        asked, offered = [m], [len(same)]
    else:
        n_must = round(must_fraction * m)
        asked, offered = [n_must, m - n_must], [sum(same), len(same) - sum(same)]
    return any(
        a > 0 and (o == 0 or (a > o and not replace)) for a, o in zip(asked, offered, strict=True)
    )


@given(
    st.lists(st.integers(-1, 3), min_size=2, max_size=12),
    st.integers(0, 30),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 0.0, 0.3, 0.5, 1.0]),
    st.integers(0, 99),
)
def test_what_is_asked_for_or_an_error(labels, m, replace, overlap, must_fraction, seed):
    y = np.array(labels)
    options = {"replace": replace, "overlap": overlap, "must_fraction": must_fraction}
    try:
        c = sample_pairs(y, m, **options, random_state=seed)
    except InvalidParameter:
        assert cannot_be_had(y, m, **options)
        return
    assert c.n_pairs == m
    assert c.n_samples == y.size
    assert truthful(c, y)
    assert (y[c.pairs] != -1).all()
    if not replace:
        assert len(set(map(tuple, c.pairs.tolist()))) == m
    if not overlap:
        assert np.unique(c.pairs).size == 2 * m
    if must_fraction is not None:
        assert (c.kind > 0).sum() == round(must_fraction * m)
    assert sample_pairs(y, m, **options, random_state=seed) == c


@pytest.mark.parametrize(
    ("options", "population"),
    [
        ({}, KNOWN),
        ({"replace": True}, KNOWN),
        ({"must_fraction": 1.0}, MUST),
        ({"must_fraction": 0.0}, [pair for pair in KNOWN if pair not in MUST]),
        ({"overlap": False}, KNOWN),
    ],
)
def test_every_pair_is_equally_likely(options, population):
    rng = np.random.default_rng(0)
    seen = Counter(
        tuple(pair)
        for _ in range(1500)
        for pair in sample_pairs(LABELS, 2, **options, random_state=rng).pairs.tolist()
    )
    assert set(seen) == set(population)
    assert chisquare([seen[pair] for pair in population]).pvalue > 1e-3


def test_all_pairs_can_be_drawn():
    c = sample_pairs(LABELS, len(KNOWN), random_state=0)
    assert [tuple(pair) for pair in c.pairs.tolist()] == KNOWN
    with pytest.raises(InvalidParameter, match="only 21"):
        sample_pairs(LABELS, len(KNOWN) + 1)
    with pytest.raises(InvalidParameter, match=r"8 must-link pairs.*only 7"):
        sample_pairs(LABELS, 8, must_fraction=1.0)


def test_disjoint_kinds_as_many_as_there_are():
    labels = np.repeat([0, 1], 50)
    c = sample_pairs(labels, 50, overlap=False, must_fraction=0.4, random_state=0)
    assert np.unique(c.pairs).size == 100
    assert (c.kind > 0).sum() == 20
    with pytest.raises(InvalidParameter, match="share no row"):
        sample_pairs(labels, 51, overlap=False)
    with pytest.raises(InvalidParameter, match="2 cannot-links that share no row"):
        sample_pairs(np.repeat([0, 1], [9, 1]), 2, overlap=False, must_fraction=0.0)


def test_noise_and_certainty():
    labels = np.arange(400) % 4
    c = sample_pairs(labels, 4000, noise=0.2, give_certainty=True, random_state=0)
    same = labels[c.pairs[:, 0]] == labels[c.pairs[:, 1]]
    wrong = np.mean(same != (c.kind > 0))
    assert abs(wrong - 0.2) < 4 * np.sqrt(0.2 * 0.8 / 4000)
    np.testing.assert_allclose(c.certainty, 0.8)
    assert np.isnan(sample_pairs(labels, 10, noise=0.2, random_state=0).certainty).all()
    assert sample_pairs(labels, 10, give_certainty=True, random_state=0).is_hard.all()


def test_noise_per_pair_matches_its_certainty():
    labels = np.arange(400) % 4
    noise = np.repeat([0.05, 0.4], 3000)
    c = sample_pairs(labels, 6000, noise=noise, give_certainty=True, random_state=0)
    same = labels[c.pairs[:, 0]] == labels[c.pairs[:, 1]]
    wrong = same != (c.kind > 0)
    for rate in (0.05, 0.4):
        chosen = np.isclose(c.certainty, 1 - rate)
        assert chosen.sum() == 3000
        assert abs(wrong[chosen].mean() - rate) < 4 * np.sqrt(rate * (1 - rate) / 3000)


def test_rows_restrict():
    rows = np.array([0, 3, 5])
    c = sample_pairs(LABELS, 3, rows=rows, random_state=0)
    assert np.unique(c.pairs).tolist() == rows.tolist()
    mask = np.isin(np.arange(8), rows)
    assert sample_pairs(LABELS, 3, rows=mask, random_state=0) == c


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_pairs": -1}, "negative"),
        ({"must_fraction": 1.5}, "must_fraction"),
        ({"noise": 1.5}, "noise"),
        ({"noise": [0.1]}, "noise"),
        ({"overlap": False, "replace": True}, "replace"),
        ({"labels": [[0, 1]]}, "shape"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(InvalidParameter, match=message):
        sample_pairs(**({"labels": LABELS, "n_pairs": 2} | options))


def test_millions_of_rows_take_no_quadratic_memory():
    labels = np.arange(2_000_000) % 7
    c = sample_pairs(labels, 1000, must_fraction=0.5, random_state=0)
    assert truthful(c, labels)


def test_learning_curve_pairs():
    labels = np.arange(60) % 3
    sizes = [5, 20, 40]
    splits = list(learning_curve_pairs(labels, sizes, n_splits=4, random_state=0))
    assert len(splits) == 4
    assert sorted(np.concatenate([s.test for s in splits]).tolist()) == list(range(60))
    for split in splits:
        assert sorted([*split.train, *split.test]) == list(range(60))
        assert [c.n_pairs for c in split.constraints] == sizes
        held = [set(map(tuple, c.pairs.tolist())) for c in split.constraints]
        assert held[0] < held[1] < held[2]
        for c in split.constraints:
            assert c.n_samples == 60
            assert np.isin(c.pairs, split.train).all()
            assert truthful(c, labels)
    again = list(learning_curve_pairs(labels, sizes, n_splits=4, random_state=0))
    assert [s.constraints for s in again] == [s.constraints for s in splits]


def test_learning_curve_noise_and_bad_splits():
    split = next(
        learning_curve_pairs(
            np.arange(60) % 3, [300], noise=0.25, give_certainty=True, random_state=0
        )
    )
    c = split.constraints[0]
    np.testing.assert_allclose(c.certainty, 0.75)
    assert not truthful(c, np.arange(60) % 3)
    with pytest.raises(InvalidParameter, match="n_splits"):
        next(learning_curve_pairs([0, 1], [1], n_splits=3))
