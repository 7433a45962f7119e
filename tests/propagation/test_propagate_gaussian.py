"""Gaussian propagation against its definition, and what its options and guards mean."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import Constraints
from coterie.exceptions import CoterieError, InvalidData, InvalidParameter
from coterie.propagation import propagate_gaussian, spreading
from reference import propagation as reference
from reference.propagation import as_dict, some_pairs


def clusters(rng, n, d, k, metric, grid=False):
    """Rows around k places, labels, centres, and metrics in the shape asked for."""
    places = 4 * rng.standard_normal((k, d))
    labels = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    X = places[labels] + rng.standard_normal((n, d))
    if grid:  # equal rows and equal distances
        X = np.round(X)
    centers = np.array([X[labels == h].mean(axis=0) for h in range(k)])
    root = rng.standard_normal((k, d, d))
    full = root @ root.transpose(0, 2, 1) + 0.3 * np.eye(d)
    given = {
        "none": None,
        "shared diagonal": full[0].diagonal().copy(),
        "diagonal": full.diagonal(axis1=1, axis2=2).copy(),
        "shared full": full[:1],
        "full": full,
    }[metric]
    return X, labels, centers, given


def as_matrices(metrics, k, d):
    if metrics is None:
        return np.tile(np.eye(d), (k, 1, 1))
    A = np.asarray(metrics)
    if A.ndim == 1:
        A = A[None]
    if A.ndim == 2:
        A = A[:, None, :] * np.eye(d)
    return np.broadcast_to(A, (k, d, d))


def by_definition(
    X,
    labels,
    centers,
    metrics,
    constraints,
    threshold,
    scale="aim",
    radius="euclidean",
    **options,
):
    matrices = as_matrices(metrics, len(centers), X.shape[1])
    widths = reference.covariances(X, labels, centers, matrices, scale, radius)
    ends = {
        row: reference.end_weights(X, labels, centers, widths, row)
        for row in np.unique(constraints.pairs).tolist()
    }
    sources = [(i, j, kind, w) for (i, j, kind), w in as_dict(constraints).items()]
    return reference.propagate(len(X), sources, ends, threshold, **options)


def require_equal(got, wanted):
    got = as_dict(got)
    assert got.keys() == wanted.keys()
    np.testing.assert_allclose(
        [got[key] for key in sorted(got)], [wanted[key] for key in sorted(wanted)], rtol=1e-9
    )


METRICS = ("none", "shared diagonal", "diagonal", "shared full", "full")


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("scale", ["aim", "paper"])
@pytest.mark.parametrize("radius", ["euclidean", "mahalanobis"])
@pytest.mark.parametrize("reduce", ["max", "sum"])
def test_equals_the_definition(metric, scale, radius, reduce):
    n_new = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        case = clusters(rng, 60, 3, 3, metric)
        pairs = some_pairs(rng, 60, 8)
        options = {
            "scale": scale,
            "radius": radius,
            "reduce": reduce,
            "share_ends": seed != 1,
            "hard_weight": 1.5,
        }
        threshold = (0.3, 0.05, 0.001)[seed]
        got = propagate_gaussian(*case, pairs, threshold, **options)
        require_equal(got, by_definition(*case, pairs, threshold, **options))
        n_new += got.n_pairs - pairs.n_pairs
    assert n_new > 0


def test_three_standard_deviations_of_the_mahalanobis_aim_reach_the_farthest_row():
    rng = np.random.default_rng(2)
    X, labels, centers, A = clusters(rng, 80, 3, 2, "full")
    own = [
        np.einsum("nd,de,ne->n", X[labels == h] - centers[h], A[h], X[labels == h] - centers[h])
        for h in range(2)
    ]
    wide = reference.covariances(X, labels, centers, A, radius="mahalanobis")
    for h in range(2):
        farthest = X[labels == h][own[h].argmax()] - centers[h]
        assert np.sqrt(farthest @ np.linalg.solve(wide[h], farthest)) == pytest.approx(3.0)


@pytest.mark.parametrize(("alias", "name"), [("reduced", "max"), ("full", "sum"), ("auto", "max")])
def test_words_of_the_thesis(alias, name):
    rng = np.random.default_rng(0)
    case, pairs = clusters(rng, 80, 2, 2, "none"), some_pairs(rng, 80, 8)
    got = propagate_gaussian(*case, pairs, 0.1, reduce=alias)
    assert got == propagate_gaussian(*case, pairs, 0.1, reduce=name)
    other = {"max": "sum", "sum": "max"}[name]
    assert got != propagate_gaussian(*case, pairs, 0.1, reduce=other)


@pytest.mark.parametrize("d", [1, 2, 4, 20])
@pytest.mark.parametrize("share_ends", [True, False])
def test_auto_threshold_gives_a_source_as_many_pairs_in_every_dimension(d, share_ends):
    rng = np.random.default_rng(d)
    case = clusters(rng, 400, d, 3, "none")
    pairs = some_pairs(rng, 400, 20, shared=False)
    n_found = {}
    for threshold in ("auto", 0.01):
        got = propagate_gaussian(*case, pairs, threshold, reduce="sum", share_ends=share_ends)
        n_found[threshold] = got.n_pairs - pairs.n_pairs
    most = spreading.PAIRS_A_SOURCE * pairs.n_pairs
    assert n_found["auto"] <= most
    if d < 20:  # pairs of several sources on the same rows are one
        assert n_found["auto"] > 0.7 * most
    else:
        assert n_found["auto"] == n_found[0.01] < most


def test_auto_threshold_is_one_that_could_have_been_given():
    rng = np.random.default_rng(1)
    case = clusters(rng, 300, 2, 3, "none")
    pairs = some_pairs(rng, 300, 10, shared=False)
    got = propagate_gaussian(*case, pairs, "auto")
    low, high = 0.01, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        if propagate_gaussian(*case, pairs, middle).n_pairs > got.n_pairs:
            low = middle
        else:
            high = middle
    assert propagate_gaussian(*case, pairs, high) == got
    assert 0.01 < high < 1


def test_auto_threshold_among_equal_rows_reaches_only_them():
    X = np.repeat(np.arange(4.0), 30)[:, None]
    labels = np.repeat([0, 0, 1, 1], 30)
    known = Constraints(120, cannot_link=[(0, 119)])
    got = propagate_gaussian(X, labels, np.array([[0.5], [2.5]]), None, known, "auto")
    ends = X[got.pairs, 0]
    assert (ends == [0.0, 3.0]).all()
    assert got.n_pairs == 900  # more than it aims for, but no threshold gives fewer


def test_other_words_for_a_threshold_are_refused():
    rng = np.random.default_rng(0)
    case, pairs = clusters(rng, 30, 2, 2, "none"), some_pairs(rng, 30, 4)
    with pytest.raises(InvalidParameter, match="'auto', or a finite number"):
        propagate_gaussian(*case, pairs, "high")
    with pytest.raises(InvalidParameter, match="mahalanobis"):
        propagate_gaussian(*case, pairs, radius="mahalonobis")


@pytest.mark.parametrize("metric", ["none", "full"])
def test_equals_the_definition_on_300_rows(metric):
    rng = np.random.default_rng(7)
    case = clusters(rng, 300, 2, 3, metric)
    pairs = some_pairs(rng, 300, 3, shared=False)
    require_equal(propagate_gaussian(*case, pairs, 0.2), by_definition(*case, pairs, 0.2))


@pytest.mark.parametrize("threshold", [1.0, 0.317])
@pytest.mark.parametrize("metric", METRICS)
def test_ties_and_duplicate_rows(threshold, metric):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        case = clusters(rng, 50, 2, 2, metric, grid=True)
        pairs = some_pairs(rng, 50, 6)
        for reduce in ("max", "sum"):
            require_equal(
                propagate_gaussian(*case, pairs, threshold, reduce=reduce),
                by_definition(*case, pairs, threshold, reduce=reduce),
            )


def test_a_cluster_of_equal_rows_reaches_only_them():
    X = np.array([[0.0], [0.0], [0.0], [1e-9], [5.0], [6.0], [7.0]])
    labels = np.array([0, 0, 0, 1, 1, 1, 1])
    known = Constraints(7, cannot_link=[(0, 5)])
    got = propagate_gaussian(X, labels, np.array([[0.0], [6.0]]), None, known, 0.1)
    pairs = set(map(tuple, got.cannot_link.tolist()))
    assert {(0, 5), (1, 5), (2, 5), (1, 4), (2, 6)} <= pairs
    assert not any(3 in pair for pair in pairs)


def test_rows_far_from_the_origin():
    rng = np.random.default_rng(0)
    X, labels, centers, A = clusters(rng, 80, 3, 2, "full")
    X, centers = np.round(X, 3), np.round(centers, 3)
    pairs = some_pairs(rng, 80, 6)
    near = propagate_gaussian(X, labels, centers, A, pairs, 0.1)
    far = propagate_gaussian(X + 1e6, labels, centers + 1e6, A, pairs, 0.1)
    assert np.array_equal(near.pairs, far.pairs)
    np.testing.assert_allclose(near.weight, far.weight, rtol=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(METRICS), st.sampled_from([0.02, 0.4, 1.0]))
def test_orientation_order_and_row_numbers_do_not_matter(seed, metric, threshold):
    rng = np.random.default_rng(seed)
    X, labels, centers, A = clusters(rng, 25, 2, 2, metric)
    pairs = some_pairs(rng, 25, 4)
    number = rng.permutation(25)  # row i becomes row number[i]: orders and orientations change
    moved, y = np.empty_like(X), np.empty_like(labels)
    moved[number], y[number] = X, labels
    once = propagate_gaussian(X, labels, centers, A, pairs, threshold)
    again = propagate_gaussian(moved, y, centers, A, pairs.relabel(number), threshold)
    relabelled = once.relabel(number)
    assert np.array_equal(again.pairs, relabelled.pairs)
    assert np.array_equal(again.kind, relabelled.kind)
    np.testing.assert_allclose(again.weight, relabelled.weight, rtol=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(METRICS), st.booleans())
def test_propagating_again_at_threshold_one_changes_nothing(seed, metric, grid):
    rng = np.random.default_rng(seed)
    case = clusters(rng, 25, 2, 2, metric, grid=grid)
    pairs = some_pairs(rng, 25, 4).as_soft(2.0)
    once = propagate_gaussian(*case, pairs, 1.0)
    assert propagate_gaussian(*case, once, 1.0) == once
    if not grid:
        assert once == pairs


def test_a_lower_threshold_only_adds():
    rng = np.random.default_rng(3)
    case = clusters(rng, 60, 2, 3, "diagonal")
    pairs = some_pairs(rng, 60, 5)
    high, low = (as_dict(propagate_gaussian(*case, pairs, g)) for g in (0.5, 0.1))
    assert high.items() <= low.items()
    assert len(high) < len(low)


def test_hard_sources_stay_hard_and_hand_on_a_finite_weight():
    X = np.array([[0.0], [0.5], [1.0], [9.0], [9.5], [10.0]])
    y, centers = np.array([0, 0, 0, 1, 1, 1]), np.array([[0.5], [9.5]])
    known = Constraints(6, cannot_link=[(1, 4)], cannot_weight=np.inf)
    got = propagate_gaussian(X, y, centers, None, known, 0.001, hard_weight=0.25)
    assert got.is_hard.sum() == 1
    assert got.pairs[got.is_hard].tolist() == [[1, 4]]
    assert got.n_pairs > 1
    assert got.weight[~got.is_hard].max() < 0.25


def test_a_pair_twice_is_a_pair_of_weight_two_and_certainty_is_strength():
    rng = np.random.default_rng(5)
    case = clusters(rng, 40, 2, 2, "none")
    c = Constraints(40, must_link=[(0, 2), (3, 9)], cannot_link=[(0, 1)])
    double = Constraints(
        40, must_link=c.must_link, cannot_link=c.cannot_link, must_weight=2.0, cannot_weight=2.0
    )
    certain = Constraints(
        40,
        must_link=c.must_link,
        cannot_link=c.cannot_link,
        must_certainty=1 / (1 + (0.05 / 0.95) ** 2),  # odds squared: twice the strength
        cannot_certainty=1 / (1 + (0.05 / 0.95) ** 2),
    )
    for reduce in ("max", "sum"):
        wanted = propagate_gaussian(*case, double, 0.1, reduce=reduce)
        assert propagate_gaussian(*case, c + c, 0.1, reduce=reduce) == wanted
        got = propagate_gaussian(*case, certain, 0.1, reduce=reduce)
        assert np.array_equal(got.pairs, wanted.pairs)
        np.testing.assert_allclose(got.weight, wanted.weight)


def test_no_pairs_and_pairs_of_no_weight():
    rng = np.random.default_rng(0)
    case = clusters(rng, 20, 2, 2, "none")
    assert propagate_gaussian(*case, Constraints(20)).n_pairs == 0
    nothing = Constraints(20, must_link=[(0, 1)], must_weight=0.0)
    assert propagate_gaussian(*case, nothing, 0.01).n_pairs == 0


@pytest.mark.parametrize("share_ends", [True, False])
def test_too_many_pairs_names_a_threshold_that_fits(share_ends):
    rng = np.random.default_rng(0)
    case = clusters(rng, 400, 2, 2, "none")
    pairs = some_pairs(rng, 400, 10)
    with pytest.raises(InvalidParameter, match="would fit") as error:
        propagate_gaussian(*case, pairs, 0.01, max_pairs=200, share_ends=share_ends)
    named = re.search(r"threshold=(\S+) would fit, with (\d+)", str(error.value))
    fits, count = float(named[1]), int(named[2])
    assert count <= 200
    got = propagate_gaussian(*case, pairs, fits, max_pairs=200, share_ends=share_ends)
    assert got.n_pairs <= count + pairs.n_pairs
    with pytest.raises(InvalidParameter):  # not needlessly high
        propagate_gaussian(*case, pairs, fits - 0.05, max_pairs=200, share_ends=share_ends)


def test_too_many_duplicates():
    X = np.zeros((50, 2))
    with pytest.raises(InvalidParameter, match="Even threshold=1"):
        propagate_gaussian(
            X,
            np.zeros(50, dtype=int),
            X[:1],
            None,
            Constraints(50, must_link=[(0, 1)]),
            max_pairs=100,
        )


BAD = {
    "threshold 0": ({"threshold": 0.0}, InvalidParameter, "threshold"),
    "threshold above 1": ({"threshold": 1.5}, InvalidParameter, "at most 1"),
    "scale": ({"scale": "papier"}, InvalidParameter, "paper"),
    "reduce": ({"reduce": "mean"}, InvalidParameter, "reduce"),
    "max_pairs": ({"max_pairs": 0}, InvalidParameter, "max_pairs"),
    "hard_weight": ({"hard_weight": np.inf}, InvalidParameter, "hard_weight"),
    "metric shape": ({"metrics": np.ones((5, 2))}, InvalidParameter, "shape"),
    "indefinite": ({"metrics": np.array([1.0, 0.0])}, InvalidParameter, "positive definite"),
    "labels": ({"labels": np.full(20, 2)}, InvalidData, "labels"),
    "centers": ({"centers": np.ones((2, 3))}, InvalidData, "columns"),
    "other rows": ({"constraints": Constraints(19)}, CoterieError, "subset"),
    "no constraints": ({"constraints": [(0, 1)]}, CoterieError, "Constraints"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused(name):
    change, error, words = BAD[name]
    X, labels, centers, metrics = clusters(np.random.default_rng(0), 20, 2, 2, "none")
    given = {
        "X": X,
        "labels": labels,
        "centers": centers,
        "metrics": metrics,
        "constraints": Constraints(20, must_link=[(0, 1)]),
    }
    with pytest.raises(error, match=words):
        propagate_gaussian(**{**given, **change})
