"""Neighbours of a grid against the definition, and the flip rate."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from coterie.constraints import estimate_flip_rate, grid_neighbors
from coterie.exceptions import InvalidParameter


def naive_pairs(shape, connectivity):
    """Every two cells that differ by at most one step along each of 1..connectivity axes."""
    cells = list(itertools.product(*(range(s) for s in shape)))
    out = []
    for (i, a), (j, b) in itertools.combinations(enumerate(cells), 2):
        steps = [abs(x - y) for x, y in zip(a, b, strict=True)]
        if max(steps) == 1 and sum(steps) <= connectivity:
            out.append([i, j])
    return sorted(out)


@pytest.mark.parametrize(
    ("shape", "connectivity"),
    [
        ((7,), 1),
        ((3, 4), 1),
        ((3, 4), 2),
        ((2, 3, 4), 1),
        ((2, 3, 4), 2),
        ((3, 3, 3), 3),
        ((1, 5), 2),
    ],
)
def test_pairs_are_the_neighbours(shape, connectivity):
    found = grid_neighbors(shape, connectivity)
    assert found.n_samples == np.prod(shape)
    assert found.must_link.tolist() == naive_pairs(shape, connectivity)
    assert found.cannot_link.size == 0


def test_certainty_and_q_say_the_same():
    assert grid_neighbors((3, 3), q=0.2) == grid_neighbors((3, 3), certainty=0.8)
    assert np.allclose(grid_neighbors(4, q=0.2).strength(), np.log(0.8 / 0.2))
    assert np.isnan(grid_neighbors(4).certainty).all()
    assert grid_neighbors(4, q=0.0).is_hard.all()


def test_flip_rate_counts_unlike_neighbours():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, (5, 6))
    for connectivity in (1, 2):
        pairs = np.array(naive_pairs((5, 6), connectivity))
        flat = labels.ravel()
        expected = np.mean(flat[pairs[:, 0]] != flat[pairs[:, 1]])
        assert estimate_flip_rate(labels, connectivity) == expected


def test_flip_rate_leaves_out_unknown_cells():
    labels = np.array([0, 0, -1, 1, 1, 2])
    assert estimate_flip_rate(labels) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: grid_neighbors((0, 3)), "shape"),
        (lambda: grid_neighbors((3, 3), 3), "connectivity"),
        (lambda: grid_neighbors((3, 3), 0), "connectivity"),
        (lambda: grid_neighbors((3, 3), q=0.5), "q=0.5"),
        (lambda: grid_neighbors((3, 3), q=-0.1), "q="),
        (lambda: grid_neighbors((3, 3), certainty=0.4), "certainty"),
        (lambda: grid_neighbors((3, 3), certainty=0.9, q=0.1), "both"),
        (lambda: estimate_flip_rate([-1, -1]), "labelled"),
        (lambda: estimate_flip_rate([[1]]), "labelled"),
    ],
)
def test_bad_input_is_named(call, word):
    with pytest.raises(InvalidParameter, match=word):
        call()
