"""Constrained complete-link against its definition, scipy, and dead ends."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import adjusted_rand_score

from coterie import ConstrainedCompleteLink, Constraints
from coterie.cluster import complete_link
from coterie.exceptions import CoterieWarning, InfeasibleConstraints, InvalidData, InvalidParameter
from reference import complete_link as naive


def problem(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 22))
    X = rng.standard_normal((n, 2))
    truth = rng.integers(0, 4, n)
    pairs = np.column_stack(np.triu_indices(n, 1))
    pairs = pairs[rng.permutation(len(pairs))[: int(rng.integers(0, 2 * n))]]
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    return X, pairs[same], pairs[~same]


@pytest.mark.parametrize("seed", range(40))
def test_equals_the_definition_at_every_level(seed):
    X, must, cannot = problem(seed)
    D, group = naive.bent(squareform(pdist(X)), must, cannot)
    levels = naive.merge(D, group)
    for _, clusters in levels:
        model = ConstrainedCompleteLink(len(clusters)).fit(
            X, constraints=Constraints(len(X), must, cannot)
        )
        found = {
            frozenset(np.flatnonzero(model.labels_ == c).tolist()) for c in range(len(clusters))
        }
        assert found == set(clusters)
        assert not model.violations_.value.size
    if len(levels) > 1:
        model = ConstrainedCompleteLink(len(levels[-1][1])).fit(
            X, constraints=Constraints(len(X), must, cannot)
        )
        np.testing.assert_allclose(model.heights_, [h for h, _ in levels[1:]], rtol=1e-5)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine"])
def test_without_pairs_equals_scipy(metric):
    X = np.random.default_rng(0).standard_normal((200, 3))
    name = {"manhattan": "cityblock"}.get(metric, metric)
    tree = linkage(pdist(X, name), "complete")
    for k in (1, 2, 7, 50):
        model = ConstrainedCompleteLink(k, metric=metric).fit(X)
        assert adjusted_rand_score(model.labels_, fcluster(tree, k, "maxclust")) == 1.0
    np.testing.assert_allclose(
        ConstrainedCompleteLink(1, metric=metric).fit(X).heights_, tree[:, 2], rtol=1e-4
    )


def test_many_must_links_take_the_short_ways():
    """More groups than one tile of the compiled loops holds."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((150, 2))
    must = rng.permutation(150)[:132].reshape(-1, 2)
    D, group = naive.bent(squareform(pdist(X)), must, [])
    nodes = complete_link.Nodes(Constraints(150, must_link=must).as_hard())
    bent = complete_link.bent_distances(X, nodes, "euclidean")
    np.testing.assert_allclose(bent, D[np.ix_(nodes.first_row, nodes.first_row)], atol=1e-5)
    assert len(np.unique(group)) == nodes.count == 84


def test_dead_ends_are_avoided():
    # Rows 1 and 2 are nearest and free to join, but then 0, {1, 2} and 3 are all apart:
    # two clusters exist only as {0, 2} and {1, 3}.
    X = np.array([[0.0], [4.0], [5.0], [9.0]])
    known = Constraints(4, cannot_link=[(0, 1), (2, 3), (0, 3)])
    model = ConstrainedCompleteLink(2).fit(X, constraints=known)
    assert model.labels_.tolist() == [0, 1, 0, 1]
    assert model.heights_.tolist() == [5.0, 5.0]


@pytest.mark.parametrize("k", [3, 4, 6])
@pytest.mark.parametrize("seed", range(5))
def test_what_can_be_clustered_is(k, seed):
    """Planted clusters hidden from the distances, near the density where few others exist."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, 60)
    pairs = np.column_stack(np.triu_indices(60, 1))
    pairs = pairs[truth[pairs[:, 0]] != truth[pairs[:, 1]]]
    pairs = pairs[rng.permutation(len(pairs))[: int(60 * k * np.log(k) * 0.8)]]
    known = Constraints(60, cannot_link=pairs)
    model = ConstrainedCompleteLink(k).fit(rng.standard_normal((60, 2)), constraints=known)
    assert len(np.unique(model.labels_)) == k
    assert not model.violations_.value.size
    assert (np.diff(model.heights_) >= -1e-6).all()


def test_what_cannot_be_clustered_is_explained():
    known = Constraints(5, cannot_link=[(0, 1), (1, 2), (0, 2), (3, 4)])
    with pytest.raises(InfeasibleConstraints) as caught:
        ConstrainedCompleteLink(2).fit(np.arange(5.0)[:, None], constraints=known)
    assert caught.value.conflict.n_pairs == 3


def test_new_rows_go_with_their_nearest():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 2))
    model = ConstrainedCompleteLink(4).fit(X, constraints=Constraints(50, must_link=[(0, 9)]))
    new = rng.standard_normal((30, 2))
    nearest = ((new[:, None] - X[None]) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(new), model.labels_[nearest])
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.predict(csr_array(new)), model.predict(new))


def test_too_many_rows_for_the_memory():
    with pytest.raises(InvalidData, match=r"10,000,000 rows need 400000.0 GB"):
        complete_link._allocate(10_000_000)


def test_must_links_that_leave_too_few_groups():
    known = Constraints(4, must_link=[(0, 1), (1, 2)])
    with pytest.warns(CoterieWarning, match="2 groups"):
        labels = ConstrainedCompleteLink(3).fit_predict(np.arange(4.0)[:, None], constraints=known)
    assert labels.tolist() == [0, 0, 0, 1]


def test_bad_metric():
    with pytest.raises(InvalidParameter, match="Did you mean 'euclidean'"):
        ConstrainedCompleteLink(2, metric="euclidian").fit(np.eye(3))
