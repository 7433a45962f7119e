"""min_size and max_size, with must-links and cannot-links."""

from __future__ import annotations

import numpy as np
import pytest

from coterie import Constraints, COPKMeans, PCKMeans, diff
from coterie.constraints import sample_pairs
from coterie.datasets import load
from coterie.exceptions import (
    CoterieWarning,
    InfeasibleConstraints,
    InfeasibleSizes,
    InvalidParameter,
)
from reference.sizes import least

IRIS = load("iris")


def random_case(seed):
    """Rows, centres, pairs that can be kept within the bounds, and the bounds."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(6, 8)), int(rng.integers(2, 4))
    X, centers = rng.normal(size=(n, 2)), rng.normal(size=(k, 2))
    hidden = rng.integers(0, k, n)
    held = np.bincount(hidden, minlength=k)
    low = np.maximum(held - rng.integers(0, 2, k), 0)
    high = held + rng.integers(0, 2, k)
    drawn = {tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(6)}
    pairs = np.array(sorted(drawn))
    same = hidden[pairs[:, 0]] == hidden[pairs[:, 1]]
    kept = ~same | (np.cumsum(same) <= 3)  # as many groups of rows as clusters are left
    pairs, same = pairs[kept], same[kept]
    return X, centers, pairs, same, low, high


def first_step(model_class, seed, **settings):
    X, centers, pairs, same, low, high = random_case(seed)
    known = Constraints(len(X), must_link=pairs[same], cannot_link=pairs[~same])
    model = model_class(
        len(low), init=centers, min_size=low, max_size=high, max_iter=1, random_state=0, **settings
    ).fit(X, constraints=known)
    cost = np.square(X[:, None] - centers).sum(axis=2) / 2
    listed = [(i, j, 1 if s else -1) for (i, j), s in zip(pairs.tolist(), same, strict=True)]
    price = 0.7 if model_class is PCKMeans else np.inf
    return model, least(cost, low, high, listed, [price] * len(listed)), low, high


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("model_class", [PCKMeans, COPKMeans])
def test_the_exact_step_is_the_least_of_every_labelling(model_class, seed):
    # A first fit compiles within its time limit, which on a busy machine is soon over.
    given = {"exact_assignment": True, "time_limit": 600.0}
    given |= {"w": 0.7} if model_class is PCKMeans else {}
    model, best, low, high = first_step(model_class, seed, **given)
    held = np.bincount(model.labels_, minlength=len(low))
    assert (held >= low).all()
    assert (held <= high).all()
    assert model.assignment_proven_
    assert model.objective_ == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("model_class", [PCKMeans, COPKMeans])
def test_local_search_is_seldom_above_it(model_class):
    weight = {"w": 0.7} if model_class is PCKMeans else {}
    gaps = []
    for seed in range(40):
        model, best, low, high = first_step(model_class, seed, **weight)
        held = np.bincount(model.labels_, minlength=len(low))
        assert (held >= low).all()
        assert (held <= high).all()
        assert model.objective_ >= best * (1 - 1e-9)
        gaps.append(model.objective_ > best * (1 + 1e-6))
    assert sum(gaps) <= 8


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("hard", [True, False])
def test_sizes_and_hard_pairs_hold_and_the_objective_never_rises(seed, hard):
    known = sample_pairs(IRIS.target, 80, noise=0.0 if hard else 0.2, random_state=seed)
    known = known.as_hard() if hard else known
    model = PCKMeans(4, min_size=30, max_size=45, random_state=seed)
    model.fit(IRIS.data, constraints=known)
    held = np.bincount(model.labels_, minlength=4)
    assert held.min() >= 30
    assert held.max() <= 45
    assert (np.diff(model.objective_history_) <= 1e-9 * abs(model.objective_)).all()
    if hard:
        assert len(model.violations_) == 0


def test_without_bounds_that_bind_it_is_the_fit_without_bounds():
    known = sample_pairs(IRIS.target, 40, random_state=0)
    plain = PCKMeans(3, random_state=0).fit(IRIS.data, constraints=known)
    wide = PCKMeans(3, max_size=150, random_state=0).fit(IRIS.data, constraints=known)
    assert wide.objective_ == pytest.approx(plain.objective_)
    assert diff(plain, wide).n_same == 150


def test_sizes_by_cluster_and_new_rows():
    model = COPKMeans(3, min_size=[10, 20, 30], max_size=[10, 20, 150], random_state=0)
    model.fit(IRIS.data)
    assert np.bincount(model.labels_).tolist() == [10, 20, 120]
    assert model.predict(IRIS.data[:1]).shape == (1,)  # however few


def test_rows_joined_by_must_links_take_their_places_together():
    X = np.array([[0.0], [0.1], [0.2], [5.0]])
    known = Constraints(4, must_link=[(0, 1), (1, 2)])
    model = COPKMeans(2, max_size=3, random_state=0).fit(X, constraints=known)
    assert sorted(np.bincount(model.labels_).tolist()) == [1, 3]
    with pytest.raises(
        InfeasibleSizes, match=r"max_size=2.*2 must-links.*rows 0, 1, 2\b"
    ) as raised:
        COPKMeans(2, max_size=2).fit(X, constraints=known)
    assert raised.value.bounds == ("max_size",)
    assert raised.value.conflict == known.as_hard()


def test_the_pairs_and_the_bound_that_clash_are_named_and_no_others():
    # Four pairs of rows do not fit in three clusters of at most three, though eight rows do.
    X = np.arange(8.0)[:, None]
    known = Constraints(8, must_link=[(0, 1), (2, 3), (4, 5), (6, 7)], cannot_link=[(0, 2)])
    model = COPKMeans(3, max_size=3, min_size=2, random_state=0)
    with pytest.raises(InfeasibleSizes, match="max_size=3 in 3 clusters clash with 4") as raised:
        model.fit(X, constraints=known)
    assert raised.value.bounds == ("max_size",)
    assert raised.value.conflict == known.only("must").as_hard()
    for left_out in range(4):  # without any one of them it can be done
        rest = np.delete(known.must_link, left_out, axis=0)
        model.fit(X, constraints=Constraints(8, must_link=rest, cannot_link=[(0, 2)]))


def test_cannot_links_may_clash_with_the_least_size():
    # Rows 0, 1 and 2 are all apart, so that the pair (3, 4) and they make 1 + 1 + 3 at best.
    X = np.arange(6.0)[:, None]
    apart = [(0, 1), (0, 2), (1, 2)]
    known = Constraints(6, must_link=[(3, 4), (4, 5)], cannot_link=apart)
    with pytest.raises(InfeasibleSizes) as raised:
        COPKMeans(3, min_size=2, random_state=0).fit(X, constraints=known)
    assert raised.value.bounds == ("min_size",)
    COPKMeans(3, min_size=1, random_state=0).fit(X, constraints=known)


def test_pairs_that_clash_by_themselves_are_told_as_ever():
    known = Constraints(4, cannot_link=[(0, 1), (0, 2), (1, 2)])
    with pytest.raises(InfeasibleConstraints, match="need more than 2"):
        COPKMeans(2, max_size=3).fit(np.arange(4.0)[:, None], constraints=known)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"min_size": 60}, "min_size asks for 180 rows"),
        ({"max_size": 40}, "room for 120 rows"),
        ({"min_size": 50, "max_size": [60, 40, 60]}, "of cluster 1 is above its max_size"),
        ({"min_size": [1, 2]}, "2 numbers, and there are 3 clusters"),
        ({"max_size": 10.5}, "max_size=10.5"),
        ({"max_size": [50.5, 50, 50]}, "whole number"),
        ({"min_size": -1}, "min_size=-1"),
        ({"max_size": 50, "inference": "gibbs"}, "knows no sizes"),
    ],
)
def test_bad_sizes_are_refused_with_what_to_do(settings, words):
    with pytest.raises((InfeasibleSizes, InvalidParameter), match=words):
        PCKMeans(3, **settings).fit(IRIS.data)


def test_groups_that_are_all_different_hold_too():
    source = np.repeat([0, 1, 2], 4)
    X = np.random.default_rng(0).normal(size=(12, 2))
    known = Constraints.from_exclusive_groups(source)
    model = COPKMeans(4, min_size=3, max_size=3, random_state=0)
    with pytest.warns(CoterieWarning, match="written out as 18 cannot-links"):
        model.fit(X, constraints=known)
    for part in range(3):
        assert len(set(model.labels_[source == part])) == 4


def test_a_warm_start_keeps_its_labels_where_they_fit():
    model = PCKMeans(3, min_size=40, random_state=0, warm_start=True).fit(IRIS.data)
    first = model.labels_.copy()
    assert np.array_equal(model.fit(IRIS.data).labels_, first)
