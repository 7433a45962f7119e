"""Clusters that nothing is left of, and those that are joined or parted as wholes."""

import numpy as np
import pytest
from mosaic_problems import posed
from sklearn.metrics import adjusted_rand_score
from sklearn.svm import SVC

from coterie import Constraints, Mosaic
from coterie.cluster.mosaic import everyone
from coterie.cluster.mosaic.beliefs import form_beliefs, merit, start_from
from coterie.cluster.mosaic.clusters import fill_clusters
from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.field import MosaicField
from coterie.cluster.mosaic.finish import MosaicFit
from coterie.cluster.mosaic.mending import mend
from coterie.cluster.mosaic.passes import Landmarks
from coterie.cluster.mosaic.starts import knows_groups
from coterie.cluster.mosaic.tuning import Tuning
from coterie.constraints import sample_pairs


def test_an_empty_cluster_does_not_take_what_fits_elsewhere():
    """The field of a row far from all prototypes, of few and small features, is high everywhere.

    On 58,000 rows of shuttle, 580 of them compared, such a cluster took nearly all: ARI .07.
    """
    features = np.array([[1.0, 3.0]] * 10 + [[0.02, 0.05], [0.4, -0.3]], dtype=np.float32)
    labels, weights = np.zeros(12, dtype=np.int64), np.array([[0.5, 0.0], [0.0, 0.0]])
    eye = np.eye(2, dtype=np.float32)
    field = MosaicField(Landmarks(eye, eye, 2.0), features, eye, labels)
    found = MosaicFit(labels, labels, field, weights, 1.0, 0.01, [0.0], np.empty(0), 1)
    filled = fill_clusters(found, Evidence(Constraints(12), Tuning()), np.ones(12))
    assert np.flatnonzero(filled.labels == 1).tolist() == [11]
    np.testing.assert_array_equal(
        features @ filled.field_weights[:, 1] > features @ weights[:, 0], filled.labels == 1
    )


def test_a_cluster_that_pairs_would_empty_keeps_its_rows(monkeypatch):
    """Rows in hard pairs stay; a cluster that is seen in the last rows alone is not empty."""
    monkeypatch.setattr(everyone, "_ROWS_AT_ONCE", 4)
    eye, labels = np.eye(4, dtype=np.float32), np.array([0, 2, 2, 2, 3])
    field = MosaicField(Landmarks(eye, eye, 2.0), eye, eye, labels)
    fit = MosaicFit(labels, labels, field, np.eye(4), 1.0, 0.01, [0.0], np.empty(0), 1)
    known = Constraints(10, must_link=[(0, 7)]).as_hard()
    learned = everyone.Learned(np.array([1, 3, 5, 7, 9]), Evidence(known, Tuning()), None, fit)
    placed = np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, 3], dtype=np.int32)
    everyone._give_back(placed, learned, known)
    assert placed.tolist() == [0, 0, 0, 2, 0, 2, 0, 0, 0, 3]


def batch(y, size, seed):
    """Every two of `size` rows compared."""
    rows = np.sort(np.random.default_rng(seed).choice(y.size, size, replace=False))
    first, other = np.triu_indices(size, 1)
    pairs = np.column_stack([rows[first], rows[other]])
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return Constraints(y.size, must_link=pairs[same], cannot_link=pairs[~same])


def test_a_batch_that_was_compared_is_worth_its_labels():
    """Ten classes of two blobs each, 60 rows compared; the yardstick is told their labels."""
    told, found = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = rng.integers(10, size=1500)
        part = 2 * y + rng.integers(2, size=1500)
        X = 2.2 * rng.normal(size=(20, 6))[part] + rng.normal(size=(1500, 6))
        known = batch(y, 60, seed)
        rows = np.unique(known.pairs)
        told.append(adjusted_rand_score(y, SVC(C=10.0).fit(X[rows], y[rows]).predict(X)))
        labels = Mosaic(10, random_state=seed).fit_predict(X, constraints=known)
        found.append(adjusted_rand_score(y, labels))
    assert np.mean(found) >= np.mean(told)  # .70 and .65; .58 where nothing began from the groups


def test_groups_are_known_where_pairs_part_their_rows():
    y = np.repeat(np.arange(4), 10)
    assert knows_groups(batch(y, 20, 0), 4, 0)
    assert not knows_groups(batch(y, 20, 0), 3, 0)
    assert not knows_groups(Constraints(40, must_link=[(0, 1), (10, 11), (20, 21)]), 2, 0)
    assert not knows_groups(Constraints(40, must_link=[(0, 1)]), 2, 0)
    wrong = batch(y, 20, 0)
    kind = np.where(np.random.default_rng(0).random(wrong.n_pairs) < 0.1, -wrong.kind, wrong.kind)
    noisy = Constraints.from_arrays(40, wrong.pairs, kind)
    assert knows_groups(noisy, 4, 0)


@pytest.fixture
def cut():
    """Six classes of rows, one of them eight blobs, random pairs of every third row; and a state
    that has cut this class in two and joined two others.
    """
    rng = np.random.default_rng(0)
    y = rng.choice(6, 1200, p=[0.6, 0.2, 0.05, 0.05, 0.05, 0.05])
    part = np.where(y == 0, rng.integers(8, size=1200), 7 + y)
    X = 5.0 * rng.normal(size=(13, 3))[part] + rng.normal(size=(1200, 3))
    problem, _ = posed(X, sample_pairs(y, 400, random_state=0), n_clusters=6)
    start = np.where(y == 0, np.where(part < 4, 0, 5), np.minimum(y, 4))
    return problem, form_beliefs(problem, start_from(problem, start, 6), 25), y


def test_a_class_cut_in_two_is_joined_and_two_in_one_are_parted(cut):
    problem, state, y = cut
    assert adjusted_rand_score(y, state.rows.argmax(axis=1)) < 0.7
    mended = mend(problem, state, lambda begun: form_beliefs(problem, begun, 25))
    assert merit(problem, mended) > merit(problem, state)
    assert adjusted_rand_score(y, mended.rows.argmax(axis=1)) > 0.95


def test_what_does_no_better_is_not_taken(cut):
    problem, state, _ = cut
    worse = state._replace(score=-np.inf)
    assert mend(problem, state, lambda begun: worse) is state


def test_clusters_as_the_pairs_want_them_stay(cut):
    problem, _, y = cut

    def never(begun):
        raise AssertionError("nothing is to be moved")

    good = form_beliefs(problem, start_from(problem, y, 6), 25)
    assert mend(problem, good, never) is good
