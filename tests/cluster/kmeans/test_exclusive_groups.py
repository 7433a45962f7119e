"""Exclusive groups in the K-Means family and beyond: as their pairs, written out, would be kept."""

from __future__ import annotations

import numpy as np
import pytest

from coterie import (
    LCVQE,
    PPC,
    ConstrainedCompleteLink,
    Constraints,
    COPKMeans,
    HMRFKMeans,
    MPCKMeans,
    PCKMeans,
)
from coterie.cluster.kmeans import family
from coterie.exceptions import CoterieWarning, InfeasibleConstraints, InvalidConstraints
from coterie.metrics import constraint_satisfaction

SOURCES = np.repeat(np.arange(20), 4)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    truth = np.tile(np.arange(4), 20)
    return rng.normal(size=(80, 2)) + 3 * np.eye(4, 2)[truth] - 3 * np.eye(4, 2, k=-2)[truth], truth


def broken(labels, groups):
    return sum(len(g) - len(set(labels[g])) for g in groups.exclusive.listed())


@pytest.mark.parametrize(
    "estimator",
    [
        COPKMeans(4, random_state=0),
        PCKMeans(4, random_state=0),
        HMRFKMeans(4, random_state=0),
        MPCKMeans(4, random_state=0),
        ConstrainedCompleteLink(4),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_hard_groups_are_kept_and_better_known_than_by_pairs(rows, estimator):
    X, _ = rows
    known = Constraints.from_exclusive_groups(SOURCES)
    assert broken(type(estimator)(4).fit(X).labels_, known) > 0  # the rows alone do not say it
    model = estimator.fit(X, constraints=known)
    assert broken(model.labels_, known) == 0
    assert len(model.violations_) == 0
    assert constraint_satisfaction(model.labels_, known).kept == 1
    if hasattr(model, "objective_"):
        history = model.objective_history_
        assert (np.diff(history) <= 1e-9 * abs(history[0])).all()
        written = estimator.fit(X, constraints=known.expanded()).objective_
        assert history[-1] <= written + 1e-6 * abs(written)


@pytest.mark.parametrize("w", [0.1, 1.0, 20.0])
def test_soft_groups_are_bought_free_at_the_price_of_their_pairs(rows, w):
    X, _ = rows
    known = Constraints.from_exclusive_groups(SOURCES, weight=1.0)
    model = PCKMeans(4, w=w, random_state=0).fit(X, constraints=known)
    centers = model.cluster_centers_
    own = 0.5 * ((X - centers[model.labels_]) ** 2).sum()
    paid = constraint_satisfaction(model.labels_, known.expanded())
    assert model.objective_ == pytest.approx(own + w * paid.cost)
    assert len(model.violations_) == paid.n_broken
    assert constraint_satisfaction(model.labels_, known) == paid
    if paid.n_broken:
        assert model.violations_[0].value == pytest.approx(w)


def test_groups_together_with_pairs_and_overlapping_groups(rows):
    X, _ = rows
    rng = np.random.default_rng(1)
    known = Constraints.from_exclusive_groups(SOURCES) + Constraints(
        80,
        must_link=[(0, 5), (9, 14)],
        cannot_link=[(3, 6), (20, 33)],
        must_weight=np.inf,
        cannot_weight=np.inf,
        exclusive=[rng.choice(80, 4, replace=False) for _ in range(5)],
        exclusive_weight=np.inf,
    )
    model = PCKMeans(4, random_state=0).fit(X, constraints=known)
    assert broken(model.labels_, known) == 0
    assert constraint_satisfaction(model.labels_, known).n_broken == 0
    assert len(model.violations_) == 0


def test_groups_beside_pairs_too_many_to_write_out(rows, monkeypatch):
    X, _ = rows
    known = Constraints.from_exclusive_groups(SOURCES) + Constraints(
        80, must_link=[(0, 5), (9, 14)], cannot_link=[(3, 6), (20, 33)], must_weight=np.inf
    )
    written = PCKMeans(4, w=np.inf, random_state=0).fit(X, constraints=known)
    monkeypatch.setattr(family, "_FEW_PAIRS", 0)
    model = PCKMeans(4, w=np.inf, random_state=0).fit(X, constraints=known)
    for found in (written, model):
        assert constraint_satisfaction(found.labels_, known).n_broken == 0
    assert model.objective_ <= 1.05 * written.objective_


def test_soft_groups_under_a_learned_metric_are_written_out_and_said(rows):
    X, _ = rows
    known = Constraints.from_exclusive_groups(SOURCES, weight=0.7)
    with pytest.warns(CoterieWarning, match="120 cannot-links"):
        model = MPCKMeans(4, random_state=0).fit(X, constraints=known)
    same = MPCKMeans(4, random_state=0).fit(X, constraints=known.expanded())
    assert np.array_equal(model.labels_, same.labels_)


def test_estimators_of_pairs_are_given_pairs_or_refuse(rows):
    X, _ = rows
    known = Constraints.from_exclusive_groups(SOURCES[:79], weight=0.7)
    with pytest.warns(CoterieWarning, match="LCVQE knows pairs only"):
        model = LCVQE(4, random_state=0).fit(X[:79], constraints=known)
    same = LCVQE(4, random_state=0).fit(X[:79], constraints=known.expanded())
    assert np.array_equal(model.labels_, same.labels_)
    large = Constraints.from_exclusive_groups(np.zeros(1500))
    with pytest.raises(InvalidConstraints, match=r"PPC knows pairs only.*expanded"):
        PPC(2).fit(np.zeros((1500, 2)), constraints=large)


def test_too_large_a_group_is_refused(rows):
    X, _ = rows
    with pytest.raises(InfeasibleConstraints, match="needs as many clusters"):
        COPKMeans(3).fit(X, constraints=Constraints.from_exclusive_groups(SOURCES))
