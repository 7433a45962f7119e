"""Learning metrics: gradients by finite differences, steps that never raise the loss."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from coterie import Constraints, HMRFKMeans
from coterie.cluster.distances import own_distances
from coterie.cluster.kmeans.problem import KMeansProblem
from coterie.cluster.kmeans.values import KMeansSettings
from coterie.data import Rows
from coterie.distortions import CenterTerms, get_distortion
from coterie.distortions.base import ByColumn, LinearBound
from coterie.distortions.learning import LinearProblem, descend, rayleigh

FORMS = [
    ("sqeuclidean", "diagonal", False),
    ("sqeuclidean", "diagonal", True),
    ("sqeuclidean", "full", False),
    ("sqeuclidean", "full", True),
    ("cosine", "diagonal", False),
    ("kl", "diagonal", False),
    ("itakura-saito", "diagonal", False),
]


def make_task(name, form, per_cluster, prior, phi_max="tight", seed=0, sparse=False):
    """A metric problem at a random state of a random clustering problem."""
    rng = np.random.default_rng(seed)
    n, d, k = 40, 4, 3
    X = rng.random((n, d)) + 0.05 if name != "sqeuclidean" else rng.normal(size=(n, d))
    pairs = rng.integers(n, size=(30, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    constraints = Constraints(n, must_link=pairs[:15], cannot_link=pairs[15:])
    settings = KMeansSettings(
        k, form=form, per_cluster=per_cluster, prior_width=prior, phi_max=phi_max
    )
    rows = sp.csr_matrix(X) if sparse else X
    weights = rng.random(n) + 0.5
    problem = KMeansProblem(rows, constraints, weights, get_distortion(name), settings)
    A = problem.initial_metric()
    if A.ndim <= 2:
        A = A * (rng.random(A.shape) + 0.5)
        A = A / A.mean()
    else:
        roots = rng.normal(size=A.shape)
        A = A + 0.1 * roots @ roots.transpose(0, 2, 1)
    geometry = problem.geometry(problem.measure(A), 0.7)
    centers = problem.as_centers(np.array([0, 1, 2]), geometry.measure)
    assignment = problem.assign(centers.astype(X.dtype), geometry, None, seed)
    centers = problem.centers_of(assignment, centers, geometry.measure)
    return problem, assignment, centers, geometry, A


def metric_problem(problem, assignment, centers, geometry):
    """The loss as a function of the metric."""
    return problem.distortion.metric_problem(problem.metric_task(assignment, centers, geometry))


# The paper prints a bound for all but Itakura-Saito. A number may be more than the distance of any
# cannot-linked pair, or less, where it grows to the farthest.
BOUNDED = [(*form, "tight") for form in FORMS] + [(*form, "paper") for form in FORMS[:-1]]
BOUNDED += [(*form, number) for form in FORMS for number in (0.01, 50.0)]


@pytest.mark.parametrize("prior", [None, 0.8, "auto"])
@pytest.mark.parametrize(("name", "form", "per_cluster", "phi_max"), BOUNDED)
def test_loss_is_the_objective_and_its_gradient_is_right(name, form, per_cluster, phi_max, prior):
    problem, assignment, centers, geometry, A = make_task(name, form, per_cluster, prior, phi_max)
    task = metric_problem(problem, assignment, centers, geometry)
    moved = A * 1.01

    def objective(metric):
        now = problem.geometry(problem.measure(metric), 0.7)
        return whole_objective(problem, assignment.labels, centers, now)

    # Differences of the loss are differences of the whole objective.
    change = objective(moved) - objective(A)
    assert task.loss(moved) - task.loss(A) == pytest.approx(change, rel=1e-6, abs=1e-8)

    gradient = task.gradient(A)
    rng = np.random.default_rng(1)
    for _ in range(5):
        step = rng.normal(size=A.shape)
        step = step if A.ndim <= 2 else step + step.transpose(0, 2, 1)
        slope = (task.loss(A + 1e-6 * step) - task.loss(A - 1e-6 * step)) / 2e-6
        assert (gradient * step).sum() == pytest.approx(slope, rel=1e-4, abs=1e-5)


def whole_objective(problem, labels, centers, geometry):
    """J written out: distortions, normaliser, broken pairs, prior."""
    weights = problem.weights
    A, _, log_det = geometry.measure
    log_det = np.broadcast_to(log_det, (problem.settings.n_clusters,))
    gaps = own_distances(problem.rows, labels, centers, problem.distortion, A)
    total = weights @ (gaps - log_det[labels]) + problem.prior_cost(A)
    c = problem.constraints
    for p, (i, j) in enumerate(c.pairs):
        cost = np.broadcast_to(geometry.pairs.cost[p], (problem.settings.n_clusters,))
        if (labels[i] == labels[j]) != (c.kind[p] > 0):
            total += (cost[labels[i]] + cost[labels[j]]) / 2
    return total


@pytest.mark.parametrize("prior", [None, 0.8])
@pytest.mark.parametrize(("name", "form", "per_cluster"), FORMS)
def test_step_never_raises_the_loss(name, form, per_cluster, prior):
    fell = 0
    for seed in range(10):
        task_parts = make_task(name, form, per_cluster, prior, seed=seed)
        task = metric_problem(*task_parts[:4])
        A = task_parts[4]
        better, loss = descend(task, A)
        assert loss <= task.loss(A)
        assert loss == pytest.approx(task.loss(better))
        fell += loss < task.loss(A)
        if A.ndim <= 2:
            assert (better > 0).all()
        else:
            assert (np.linalg.eigvalsh(better) > 0).all()
    assert fell >= 8


@pytest.mark.parametrize("prior", [None, 0.8])
@pytest.mark.parametrize(("name", "form", "per_cluster"), FORMS)
@pytest.mark.parametrize("eta", [1e-4, 100.0])
def test_printed_step_is_along_the_gradient_and_never_raises_the_loss(
    name, form, per_cluster, prior, eta
):
    problem, assignment, centers, geometry, A = make_task(name, form, per_cluster, prior)
    task = metric_problem(problem, assignment, centers, geometry)
    better, loss = descend(task, A, eta)
    assert loss < task.loss(A)
    assert loss == pytest.approx(task.loss(better))
    slope = task.gradient(A)
    if task.scale_free:
        assert better.mean() == pytest.approx(A.mean())
        slope = slope - slope.mean()
    share = (A - better) / (eta * slope)
    np.testing.assert_allclose(share, share.flat[0], rtol=1e-5)
    assert 0 < share.flat[0] <= 1 + 1e-9
    assert np.log2(share.flat[0]) == pytest.approx(round(np.log2(share.flat[0])), abs=1e-5)


def test_closed_form_is_stationary_where_nothing_is_clipped():
    problem, assignment, centers, geometry, _ = make_task("sqeuclidean", "diagonal", False, 0.8)
    task = metric_problem(problem, assignment, centers, geometry._replace(w=0.0))
    best = task.propose(geometry.measure.A)
    np.testing.assert_allclose(task.gradient(best), 0, atol=1e-8)


@pytest.mark.parametrize("name", ["cosine", "kl", "sqeuclidean"])
@pytest.mark.parametrize("phi_max", ["tight", 0.01])
def test_sparse_rows_learn_the_same(name, phi_max):
    dense = make_task(name, "diagonal", False, 0.8, phi_max)
    thin = make_task(name, "diagonal", False, 0.8, phi_max, sparse=True)
    one = metric_problem(*dense[:4])
    two = metric_problem(*thin[:4])
    A = dense[4]
    np.testing.assert_allclose(one.gradient(A), two.gradient(A), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(descend(one, A)[0], descend(two, A)[0], rtol=1e-8)


def test_rayleigh_is_the_density():
    a, s = np.array([0.3, 1.0, 2.5]), 0.7
    density = a / s**2 * np.exp(-(a**2) / (2 * s**2))
    constant = -2 * len(a) * np.log(s)
    assert rayleigh(a, s)[0] == pytest.approx(-np.log(density).sum() + constant)
    assert rayleigh(a, None)[0] == 0
    widths = np.array([0.7, 2.0, 0.1])
    apart = sum(rayleigh(a[m : m + 1], widths[m])[0] for m in range(3))
    assert rayleigh(a, widths)[0] == pytest.approx(apart)


class Retold(ByColumn):
    """A distortion that no part of the package knows of: sum_m a_m (x_m - mu_m)^2, told anew."""

    name = "told anew"
    forms = ("diagonal",)

    def row_term(self, X, A=None):
        return (X * X) @ (np.ones(X.shape[1]) if A is None else A)

    def center_terms(self, centers, A=None):
        a = np.ones(centers.shape[1]) if A is None else A
        return CenterTerms(-2 * centers * a, (centers * centers) @ a)

    def centroid(self, sums, counts, A=None):
        return sums / counts[:, None]

    def between_columns(self, xi, xj):
        return (xi - xj) ** 2

    def from_columns(self, columns, A, scales):
        return columns @ A

    def between(self, X, i, j, A=None):
        rows = Rows.of(X)
        gaps = self.between_columns(rows.take(i), rows.take(j))
        return gaps @ (np.ones(rows.d) if A is None else A)

    def bound(self, X):
        rows = Rows.of(X).take(np.arange(Rows.of(X).n))
        return LinearBound(np.ptp(rows, axis=0) ** 2)

    def row_evidence(self, X):
        return X * X

    def metric_problem(self, task):
        within = task.evidence - task.counts[:, None] * task.centers**2
        signed = task.pairs.must - task.pairs.cannot
        scatter = within.sum(axis=0, keepdims=True) + signed.T @ task.pairs.kept
        return LinearProblem.of(task, scatter, task.evidence.sum(axis=0), normalized=False)


def test_a_distortion_that_learns_is_one_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[:30, 0] += 3
    pairs = rng.integers(60, size=(40, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = (pairs[:, 0] < 30) == (pairs[:, 1] < 30)
    known = Constraints(60, must_link=pairs[same], cannot_link=pairs[~same])
    settings = {"n_clusters": 2, "prior_width": 1.0, "random_state": 0}
    model = HMRFKMeans(distortion=Retold(), **settings).fit(X, constraints=known)
    assert (np.diff(model.objective_history_) <= 1e-9 * abs(model.objective_)).all()
    assert not np.allclose(model.distortion_params_, 1)  # it was learned
    np.testing.assert_array_equal(model.predict(X), model.transform(X).argmin(axis=1))
