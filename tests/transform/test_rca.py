"""RCA against its definition, metric-learn, and what a transformer must do."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie import RCA, Constraints, PCKMeans
from coterie.constraints import sample_pairs
from coterie.exceptions import InvalidConstraints, InvalidData, InvalidParameter


@parametrize_with_checks([RCA(), RCA(n_components=1)])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def wine():
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    chunks = np.where(rng.random(len(X)) < 0.5, 3 * y + rng.integers(0, 3, len(X)), -1)
    return X, y, chunks


def within(X, chunks):
    """(2.10) as a loop; chunklets of one row add nothing but are not chunklets."""
    total, n = np.zeros((X.shape[1], X.shape[1])), 0
    for c in np.unique(chunks[chunks >= 0]):
        rows = X[chunks == c]
        if len(rows) > 1:
            gap = rows - rows.mean(axis=0)
            total, n = total + gap.T @ gap, n + len(rows)
    return total / n


def test_metric_is_the_inverse_of_2_10(wine):
    X, _, chunks = wine
    model = RCA(shrinkage=0).fit(X, constraints=Constraints.from_groups(chunks))
    assert model.shrinkage_ == 0.0
    C = within(X, chunks)
    np.testing.assert_allclose(model.metric_ @ C, np.eye(13), atol=1e-6)
    W = model.components_
    np.testing.assert_allclose(W @ C @ W.T, np.eye(13), atol=1e-7)


def weighted_within(X, chunks, weight):
    """(2.10) with weighted rows (section 5.4.3), as a loop."""
    total, mass = np.zeros((X.shape[1], X.shape[1])), 0.0
    for c in np.unique(chunks[chunks >= 0]):
        rows, w = X[chunks == c], weight[chunks == c]
        center = (w[:, None] * rows).sum(axis=0) / w.sum()
        for x, own in zip(rows, w, strict=True):
            total += own * np.outer(x - center, x - center)
        mass += w.sum()
    return total / mass


def test_rows_weigh_as_their_strongest_must_link():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((40, 3))
    pairs = [(3 * c, 3 * c + k) for c in range(10) for k in (1, 2)]
    weights = rng.choice([0.2, 1.0, 2.5], len(pairs))
    known = Constraints(40, must_link=pairs, must_weight=weights)
    model = RCA(shrinkage=0).fit(X, constraints=known)
    strongest = np.zeros(40)
    for (i, j), w in zip(pairs, weights, strict=True):
        strongest[[i, j]] = np.maximum(strongest[[i, j]], w)
    C = weighted_within(X, model.chunklets_, strongest)
    np.testing.assert_allclose(model.metric_ @ C, np.eye(3), atol=1e-9)
    assert model.shrinkage_ == 0.0


@pytest.mark.parametrize("weight", [1.0, 0.3, 7.0, np.inf])
def test_must_links_that_weigh_alike_give_2_10(wine, weight):
    X, _, chunks = wine
    known = Constraints.from_groups(chunks)
    alike = Constraints(len(X), must_link=known.must_link, must_weight=weight)
    plain, other = (RCA().fit(X, constraints=c).components_ for c in (known, alike))
    np.testing.assert_allclose(other, plain, rtol=1e-7, atol=1e-9)


def test_a_must_link_that_weighs_nothing_says_nothing_and_a_doubtful_one_little():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2)) * [1.0, 5.0]
    good = [(k, k + 1) for k in range(0, 20, 2)]
    metrics = {}
    for certainty in (None, 0.95, 0.7, 0.51):
        bad = Constraints(30, must_link=[(20, 29)], must_certainty=certainty)
        known = Constraints(30, must_link=good) + bad
        metrics[certainty] = RCA(shrinkage=0).fit(X, constraints=known).metric_
    without = RCA(shrinkage=0).fit(X, constraints=Constraints(30, must_link=good)).metric_
    away = [np.abs(metrics[c] - without).max() for c in (0.95, 0.7, 0.51)]
    np.testing.assert_allclose(metrics[0.95], metrics[None])  # what a plain pair is worth
    assert away[0] > away[1] > away[2]
    assert away[2] < 0.05 * away[0]


def test_freedom_counts_light_rows_in_part():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 10))
    known = Constraints(50, must_link=[(0, 1), (5, 6)], must_weight=[1.0, 0.25])
    model = RCA().fit(X, constraints=known)
    assert model.shrinkage_ == pytest.approx(10 / (10 + 1.25))


@pytest.mark.parametrize("n_components", [None, 1, 4])
def test_equals_metric_learn(wine, n_components, monkeypatch):
    theirs = pytest.importorskip("metric_learn")
    # Its input checks call scikit-learn with an argument that 1.8 has dropped.
    monkeypatch.setattr(theirs.RCA, "_prepare_inputs", lambda self, X, y, **options: (X, y))
    X, _, chunks = wine
    X, chunks = X[chunks >= 0], chunks[chunks >= 0]  # it reads the rows in chunklets only
    ours = RCA(n_components, shrinkage=0).fit(X, constraints=Constraints.from_groups(chunks))
    L = theirs.RCA(n_components=n_components).fit(X, chunks).components_.real
    scale = np.trace(L.T @ L) / np.trace(ours.metric_)
    np.testing.assert_allclose(L.T @ L, scale * ours.metric_, rtol=1e-4, atol=1e-6 * scale)
    assert scale == pytest.approx(1.0, rel=1e-4)


def test_n_components_keeps_the_first_directions(wine):
    X, _, chunks = wine
    known = Constraints.from_groups(chunks)
    full, part = (RCA(c).fit(X, constraints=known) for c in (None, 3))
    np.testing.assert_allclose(part.transform(X), full.transform(X)[:, :3], rtol=1e-9)
    spread = full.transform(X).var(axis=0)  # relative to chunklets, so it falls
    assert (np.diff(spread) <= 1e-9).all()


def test_units_of_the_columns_do_not_matter(wine):
    X, _, chunks = wine
    known = Constraints.from_groups(chunks)
    units = 10.0 ** np.linspace(-8, 8, 13)
    plain, scaled = (RCA().fit(rows, constraints=known) for rows in (X, X * units + 1e3 * units))
    np.testing.assert_allclose(
        scaled.transform(X * units + 1e3 * units), plain.transform(X), atol=1e-6
    )


def test_few_pairs_shrink_instead_of_failing():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 10))
    two = Constraints(50, must_link=[(0, 1), (1, 2), (5, 6)])
    model = RCA().fit(X, constraints=two)
    assert model.shrinkage_ == pytest.approx(10 / (10 + 3))
    variances, C = X.var(axis=0), within(X, model.chunklets_)
    columns = np.diag(variances) * (C.diagonal() / variances).mean()
    mixed = model.shrinkage_ * columns + (1 - model.shrinkage_) * C
    np.testing.assert_allclose(model.metric_ @ mixed, np.eye(10), atol=1e-9)
    with pytest.raises(InvalidData, match="3 of 10 directions"):
        RCA(shrinkage=0).fit(X, constraints=two)


def test_no_pairs_standardise():
    X = np.random.default_rng(0).standard_normal((40, 3)) @ np.diag([1, 5, 9])
    np.testing.assert_allclose(RCA().fit(X).metric_, np.diag(1 / X.var(axis=0)), atol=1e-9)


def test_few_pairs_do_not_spoil_what_k_means_finds():
    """A covariance of 30 columns known from 30 degrees of freedom: its inverse gives ARI .3."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)

    def score(rows):
        return adjusted_rand_score(y, KMeans(2, n_init=5, random_state=0).fit_predict(rows))

    told = [sample_pairs(y, 57, random_state=seed) for seed in range(4)]
    found = [score(RCA().fit_transform(X, constraints=known)) for known in told]
    assert np.mean(found) >= score(X) - 0.02


def test_constant_columns_are_left_out():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((60, 2)), np.full(60, 3.0)])
    model = RCA().fit(X, constraints=Constraints.from_groups(np.arange(60) // 4))
    assert model.shrinkage_ == pytest.approx(2 / (2 + 45))  # of two directions
    assert model.components_.shape == (2, 3)
    assert not model.components_[:, 2].any()
    with pytest.raises(InvalidParameter, match="vary in 2 direction"):
        RCA(3).fit(X)
    with pytest.raises(InvalidData, match="all rows are equal"):
        RCA().fit(np.ones((5, 2)))


def test_cannot_links_are_not_used():
    X = np.random.default_rng(0).standard_normal((12, 2))
    together = [(0, 1), (1, 2), (4, 5), (6, 7)]
    model = RCA().fit(X, constraints=Constraints(12, must_link=together, cannot_link=[(0, 2)]))
    assert model.chunklets_.tolist() == [0, 0, 0, -1, 1, 1, 2, 2] + [-1] * 4
    other = RCA().fit(X, constraints=Constraints(12, must_link=together))
    np.testing.assert_array_equal(model.components_, other.components_)


def test_float32_stays():
    X, _ = load_iris(return_X_y=True)
    model = RCA().fit(X.astype(np.float32))
    assert model.transform(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("bad", [{"n_components": 0}, {"n_components": 9}, {"shrinkage": 1.5}])
def test_bad_parameters(bad):
    with pytest.raises(InvalidParameter, match=next(iter(bad))):
        RCA(**bad).fit(load_iris().data)


def test_pipeline_without_routing():
    X, y = load_wine(return_X_y=True)
    known = Constraints.from_groups(np.where(np.arange(len(X)) % 3 == 0, y, -1))
    pipe = make_pipeline(RCA(), KMeans(3, n_init=5, random_state=0))
    pipe.fit(X, rca__constraints=known)
    plain = KMeans(3, n_init=5, random_state=0).fit_predict(X)
    assert adjusted_rand_score(y, pipe[-1].labels_) > adjusted_rand_score(y, plain) + 0.4
    both = make_pipeline(RCA(), PCKMeans(3, random_state=0))
    both.fit(X, rca__constraints=known, pckmeans__constraints=known)
    assert both[-1].violations_.value.size == 0


def test_pipeline_by_metadata_routing():
    X, y = load_wine(return_X_y=True)
    known = Constraints.from_groups(np.where(np.arange(len(X)) % 3 == 0, y, -1))
    by_name = make_pipeline(RCA(), KMeans(3, random_state=0)).fit(X, rca__constraints=known)
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = make_pipeline(RCA().set_fit_request(constraints=True), KMeans(3, random_state=0))
        pipe.fit(X, constraints=known)
        with pytest.raises(InvalidConstraints, match="subset"):
            pipe.fit(X[:100], constraints=known)
    np.testing.assert_array_equal(pipe[-1].labels_, by_name[-1].labels_)


@pytest.mark.parametrize("method", ["fit", "fit_transform"])
def test_constraints_as_y_are_refused(method):
    X = np.random.default_rng(0).normal(size=(6, 2))
    known = Constraints(6, must_link=[(0, 1)])
    with pytest.raises(TypeError, match=r"fit\(X, constraints="):
        getattr(RCA(), method)(X, known)
