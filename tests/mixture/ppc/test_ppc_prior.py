"""The prior of covariances, columns that a Gaussian does not fit, and the choice of a type."""

from __future__ import annotations

import numpy as np
import pytest
from ppc_problems import TYPES, assert_finite, blobs, fit, labelled_pairs
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score

import coterie
from coterie.constraints import sample_pairs
from coterie.mixture import PPC
from coterie.mixture.ppc import start
from coterie.mixture.ppc.covariances import COVARIANCES
from coterie.mixture.ppc.regularization import CovariancePrior

MIDDLES = np.array([[0, 0, 0], [3.5, 0, 1], [0, 3.5, -1]])


def numbers(rng, n=300):
    """Three clusters of different sizes in three columns that tell."""
    y = np.repeat([0, 1, 2], [n // 2, n // 3, n - n // 2 - n // 3])
    return MIDDLES[y] + rng.normal(size=(n, 3)), y


def awkward_columns(name, rng, n=300):
    """Columns that say nothing about clusters, and that have singular covariances."""
    return {
        "constant": lambda: np.column_stack([np.full(n, 7.0), np.zeros(n)]),
        "one-hot": lambda: np.eye(4)[rng.integers(0, 4, n)],
        "discrete": lambda: np.column_stack([rng.poisson(1.0, (n, 2)), rng.integers(0, 2, (n, 3))]),
        "doubled": lambda: np.repeat(rng.normal(size=(n, 1)), 3, axis=1),
        "mostly zero": lambda: np.where(rng.random((n, 2)) < 0.6, 0, rng.exponential(size=(n, 2))),
    }[name]()


AWKWARD = ("constant", "one-hot", "discrete", "doubled", "mostly zero")


# -- the prior -----------------------------------------------------------------------------------
@pytest.mark.parametrize("covariance_type", TYPES)
def test_most_probable_covariance_is_the_maximum_of_likelihood_and_prior(covariance_type):
    """By a search over all covariances above the floor, for one component."""
    rng = np.random.default_rng(0)
    d, count = 3, 7.0
    root = rng.normal(size=(2, d, d))
    scatter, target = root @ np.swapaxes(root, 1, 2) * np.array([0.2, 1.0])[:, None, None]
    target += 0.2 * np.eye(d)
    prior = CovariancePrior(4.0, target, np.array([0.3, 0.05, 0.4]))
    covariance = COVARIANCES[covariance_type]
    given = {
        "full": scatter[None],
        "tied": scatter,
        "diag": np.diag(scatter)[None],
        "spherical": np.array([np.trace(scatter) / d]),
    }[covariance_type]
    found = covariance.most_probable(given, np.array([count]), prior)

    def matrix(theta):
        """A covariance of the type from free numbers, never below the floor."""
        if covariance_type == "spherical":
            return (prior.floor.mean() + theta[0] ** 2) * np.eye(d)
        if covariance_type == "diag":
            return np.diag(prior.floor + theta[:d] ** 2)
        lower = np.zeros((d, d))
        lower[np.tril_indices(d)] = theta
        return np.diag(prior.floor) + lower @ lower.T

    goal = np.diag(np.diag(target)) if covariance_type == "diag" else target
    data = np.diag(np.diag(scatter)) if covariance_type == "diag" else scatter
    if covariance_type == "spherical":
        goal, data = (np.trace(m) / d * np.eye(d) for m in (goal, data))

    def loss(sigma):
        inverse = np.linalg.inv(sigma)
        log_det = np.linalg.slogdet(sigma)[1]
        likelihood = count * (log_det + np.trace(inverse @ data))
        penalty = prior.rows * (log_det + np.trace(inverse @ goal))
        return 0.5 * (likelihood + penalty)

    searched = min(
        minimize(lambda t: loss(matrix(t)), rng.normal(size=6), method="BFGS").fun for _ in range(5)
    )
    ours = covariance.matrix(found, 0, d)
    assert loss(ours) <= searched + 1e-6
    assert np.linalg.eigvalsh(ours - np.diag(prior.floor)).min() > -1e-9 or (
        covariance_type == "spherical"
    )
    factors = covariance.precision_factors(found)
    kl = covariance.divergence(found, factors, target)
    sigma = ours
    naive = 0.5 * (
        np.trace(np.linalg.inv(sigma) @ goal)
        - d
        + np.linalg.slogdet(sigma)[1]
        - np.linalg.slogdet(goal)[1]
    )
    assert kl == pytest.approx(naive, abs=1e-9)


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("covariance_type", [*TYPES, "auto"])
def test_awkward_columns_are_fitted_and_the_bound_never_falls(name, covariance_type):
    rng = np.random.default_rng(1)
    X, y = numbers(rng, 120)
    X = np.column_stack([X, awkward_columns(name, rng, 120)])
    known = labelled_pairs(y, 40, rng)
    model = fit(X, known, 3, covariance_type=covariance_type, inference="exact", tol=1e-6)
    assert np.diff(model.lower_bounds_).min() > -1e-9
    assert_finite(model)


@pytest.mark.parametrize("name", AWKWARD)
def test_columns_that_say_nothing_take_little_away_where_there_are_answers(name):
    rng = np.random.default_rng(2)
    X, y = numbers(rng)
    known = labelled_pairs(y, 75, rng)
    alone = PPC(3, random_state=0).fit(X, constraints=known)
    beside = np.column_stack([X, awkward_columns(name, rng)])
    model = PPC(3, random_state=0).fit(beside, constraints=known)
    before = adjusted_rand_score(y, alone.labels_)
    assert adjusted_rand_score(y, model.labels_) > before - 0.05


def test_scaling_columns_changes_nothing():
    """The prior is in the scale of each column; the start is that of given labels."""
    rng = np.random.default_rng(3)
    X, y = blobs(40, 2, 3, 4.0, rng)
    X = np.column_stack([X, rng.integers(0, 3, 80)])
    by = np.array([1e-4, 1.0, 1e5, 10.0])
    for covariance_type in ("full", "tied", "diag"):
        settings = {"covariance_type": covariance_type}
        one = fit(X, init=np.stack([X[y == k].mean(axis=0) for k in (0, 1)]), **settings)
        other = fit(X * by, init=one.means_ * by, **settings)
        np.testing.assert_allclose(other.means_, one.means_ * by, rtol=1e-6, atol=1e-9)
        assert (other.labels_ == one.labels_).all()


def test_fewer_rows_than_columns():
    rng = np.random.default_rng(4)
    X, y = blobs(8, 2, 30, 2.0, rng)
    model = PPC(2, random_state=0).fit(X, constraints=labelled_pairs(y, 10, rng))
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert_finite(model)


# -- the type ------------------------------------------------------------------------------------
def test_no_start_is_found_that_nothing_begins_with(monkeypatch):
    """One with the pairs, one without, and one for each third of the answers held out."""
    fitted = []

    class Counted(start.PCKMeans):
        def fit(self, X, y=None, *, constraints=None, sample_weight=None):
            fitted.append(constraints.n_pairs)
            return super().fit(X, y, constraints=constraints, sample_weight=sample_weight)

    monkeypatch.setattr(start, "PCKMeans", Counted)
    X, y = load_iris(return_X_y=True)
    known = sample_pairs(y, 30, random_state=0)
    PPC(3, random_state=0).fit(X, constraints=known)
    assert sorted(fitted) == [0, 20, 20, 20, 30]


def test_auto_says_what_it_chose_and_every_method_goes_by_it(tmp_path):
    rng = np.random.default_rng(5)
    X, y = blobs(60, 2, 3, 4.0, rng)
    model = PPC(2, random_state=0).fit(X, constraints=labelled_pairs(y, 20, rng))
    chosen = model.covariance_type_
    fixed = PPC(2, covariance_type=chosen, random_state=0)
    fixed.fit(X, constraints=model.constraints_)
    assert fixed.covariance_type_ == chosen
    assert fixed.lower_bound_ == model.lower_bound_
    assert (fixed.means_ == model.means_).all()
    assert fixed.bic(X) == model.bic(X)
    assert model.sample(5)[0].shape == (5, 3)
    model.save(tmp_path / "model")
    assert (coterie.load(tmp_path / "model").predict(X) == model.predict(X)).all()
    again = PPC(2, init=model, random_state=0).fit(X)  # goes on with the type of the model
    assert again.covariance_type_ == chosen


def test_answers_decide_where_density_does_not():
    """Long thin classes side by side: round clusters fit a density as well, and cut across."""
    rng = np.random.default_rng(6)
    y = np.repeat([0, 1], 150)
    X = rng.normal(size=(300, 2)) * [6, 0.4] + np.column_stack([np.zeros(300), 1.8 * y])
    model = PPC(2, random_state=0).fit(X, constraints=labelled_pairs(y, 60, rng))
    assert model.covariance_type_ in ("full", "tied", "diag")
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_a_type_is_not_chosen_for_answers_that_it_was_fitted_to():
    """Full covariances of 60 columns have room for any answers, and say nothing of other rows."""
    rng = np.random.default_rng(2)
    y = rng.integers(4, size=400)
    X = np.hstack([3.5 * rng.normal(size=(4, 3))[y], np.zeros((400, 57))])
    X += rng.normal(size=X.shape)
    X /= X.std(axis=0)
    alone = PPC(4, random_state=0).fit(X)
    told = PPC(4, random_state=0).fit(X, constraints=sample_pairs(y, 400, random_state=2))
    assert alone.covariance_type_ == told.covariance_type_ == "diag"
    assert adjusted_rand_score(y, told.labels_) >= adjusted_rand_score(y, alone.labels_) - 0.02


def test_must_links_alone_do_not_ask_for_one_cluster_that_takes_everything():
    """Neighbours in an image: a cluster of all rows would foretell every one of them."""
    from coterie.constraints import grid_neighbors
    from coterie.mixture.ppc.selection import foretold

    truth = np.add.outer(np.arange(12), np.arange(12)).ravel() // 8
    links = grid_neighbors((12, 12), q=0.1)
    right, all_in_one = np.eye(3)[truth], np.tile([1.0, 0.0, 0.0], (144, 1))
    in_sight = foretold(links, right, picked=True).sum()
    assert in_sight > foretold(links, all_in_one, picked=True).sum() + 3
    rng = np.random.default_rng(9)
    X = 3 * truth[:, None] + rng.normal(size=(144, 2))
    known = labelled_pairs(truth, 60, rng)  # of both kinds: by what was answered
    in_sight = foretold(known, right, picked=False).sum()
    assert in_sight > foretold(known, all_in_one, picked=False).sum() + 3
    model = PPC(3, random_state=0).fit(X, constraints=links)
    assert adjusted_rand_score(truth, model.labels_) > 0.9


def test_a_large_table_is_chosen_for_by_a_sample():
    rng = np.random.default_rng(7)
    X, y = blobs(4000, 2, 2, 4.0, rng)
    known = labelled_pairs(y[:300], 200, rng).relabel(np.arange(300), 8000)
    model = PPC(2, random_state=0).fit(X, constraints=known)
    assert adjusted_rand_score(y, model.labels_) > 0.95


def drawn_set(name, rng):
    """Rows and classes: a bundled set, or a made one drawn anew."""
    bundled = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}
    if name in bundled:
        bunch = bundled[name]()
        return bunch.data, bunch.target
    X, y = numbers(rng)
    if name == "rounded":
        return np.round(X), y
    return (X if name == "numbers" else np.column_stack([X, awkward_columns(name, rng)])), y


@pytest.mark.slow
def test_auto_is_nearly_as_good_as_the_best_type():
    """Mean ARI over draws of rows and pairs, a pair for every fourth row."""
    worse = {}
    for name in (*AWKWARD, "iris", "wine", "breast cancer", "numbers", "rounded"):
        score = dict.fromkeys(("auto", *TYPES), 0.0)
        for seed in range(5):
            rng = np.random.default_rng(seed)
            X, y = drawn_set(name, rng)
            known = labelled_pairs(y, y.size // 4, rng)
            for kind in score:
                model = fit(X, known, np.unique(y).size, covariance_type=kind, random_state=seed)
                score[kind] += adjusted_rand_score(y, model.labels_) / 5
        print(name, {kind: round(value, 3) for kind, value in score.items()})
        worse[name] = round(max(score.values()) - score["auto"], 3)
    assert max(worse.values()) <= 0.02, worse
