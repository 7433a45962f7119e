"""PPC against enumeration: posteriors, log Ω and its gradient, and what is fitted."""

from __future__ import annotations

import numpy as np
import pytest
from ppc_problems import small_problem

from coterie.data import Rows
from coterie.mixture.ppc.all_rows import posterior_of_all
from coterie.mixture.ppc.core import CoreGraph, PpcSettings
from coterie.mixture.ppc.em import expect
from coterie.mixture.ppc.model import MixtureShape, make_mixture
from coterie.mixture.ppc.posteriors import pair_posteriors
from coterie.mixture.ppc.prior import ByGradient, ByGrid, Prior
from reference.ppc import cluster_log_likelihood, naive_ppc


def naive_of(problem, per_cluster, sampling):
    c = problem.constraints
    pi = problem.weights.reshape(problem.n_clusters, -1).sum(axis=1)
    log_likelihood = cluster_log_likelihood(
        problem.X, problem.weights, problem.means, problem.covariances, per_cluster
    )
    return pi, naive_ppc(
        log_likelihood, pi, c.pairs.tolist(), c.kind, c.strength(), sampling=sampling
    )


def core_of(problem, inference="exact", sampling="point"):
    settings = PpcSettings(inference, sampling, 0.95)
    return CoreGraph(problem.constraints, problem.n_clusters, settings, seed=0)


def mixture_of(problem, per_cluster=1):
    shape = MixtureShape(problem.n_clusters, per_cluster, "full", 0.0)
    return make_mixture(problem.weights, problem.means, problem.covariances, shape)


@pytest.mark.parametrize("sampling", ["point", "chunklet"])
@pytest.mark.parametrize("per_cluster", [1, 2])
@pytest.mark.parametrize("block", range(4))
def test_exact_mode_equals_enumeration(sampling, per_cluster, block):
    for seed in range(25 * block, 25 * block + 25):
        problem = small_problem(seed, per_cluster)
        pi, (log_joint, log_omega, expected, posterior, together) = naive_of(
            problem, per_cluster, sampling
        )
        core = core_of(problem, sampling=sampling)
        prior = Prior(core.graph, core.exponent, core.wide)
        value, counts = prior.log_omega(np.log(pi))
        # Rows outside the graph add Σ_k π_k = 1 to Ω and π to the expected counts; soft
        # cannot-links inside a hard group are broken whatever the labels and cancel in P(X).
        broken = core.core.constant(core.strength)
        free = problem.X.shape[0] - core.core.rows.size
        assert value - broken == pytest.approx(log_omega, abs=1e-10), seed
        np.testing.assert_allclose(counts + free * pi, expected, atol=1e-10)

        mixture = mixture_of(problem, per_cluster)
        rows = Rows(problem.X)
        found = expect(rows, core, mixture)
        assert found.log_likelihood - broken == pytest.approx(log_joint, abs=1e-9), seed
        of_all = posterior_of_all(rows, core, mixture, problem.constraints)
        np.testing.assert_allclose(of_all.resp, posterior, atol=1e-10)
        np.testing.assert_allclose(of_all.totals, posterior.sum(axis=0), atol=1e-10)
        same = pair_posteriors(problem.constraints, core.core, of_all.together, of_all.core)
        np.testing.assert_allclose(same, together, atol=1e-10)
        # The M-step's sums are those of the posterior.
        if per_cluster == 1:
            np.testing.assert_allclose(found.moments.counts, posterior.sum(axis=0), atol=1e-10)
            wanted = posterior.T @ problem.X - posterior.sum(axis=0)[:, None] * problem.means
            np.testing.assert_allclose(found.moments.sums, wanted, atol=1e-9)


def test_sums_of_several_components_per_cluster():
    """Each component's sums are the cluster's posterior times its share in the cluster."""
    for seed in range(12):
        problem = small_problem(seed, per_cluster=2)
        _, (_, _, _, posterior, _) = naive_of(problem, 2, "point")
        density = np.exp(
            np.column_stack(
                [
                    cluster_log_likelihood(problem.X, np.ones(1), [m], [c], 1)[:, 0]
                    for m, c in zip(problem.means, problem.covariances, strict=True)
                ]
            )
        )
        share = (density * problem.weights).reshape(len(problem.X), -1, 2)
        share /= share.sum(axis=2, keepdims=True)
        resp = (posterior[:, :, None] * share).reshape(len(problem.X), -1)
        found = expect(Rows(problem.X), core_of(problem), mixture_of(problem, 2))
        np.testing.assert_allclose(found.moments.counts, resp.sum(axis=0), atol=1e-10)
        for g in range(resp.shape[1]):
            diff = problem.X - problem.means[g]
            wanted = (resp[:, g, None] * diff).T @ diff
            np.testing.assert_allclose(found.moments.squares[g], wanted, atol=1e-9)


@pytest.mark.parametrize("rough", [False, True])
def test_gradient_of_log_omega_by_finite_differences(rough):
    for seed in range(40):
        problem = small_problem(seed)
        core = core_of(problem)
        prior = Prior(core.graph, core.exponent, np.full(core.wide.shape, rough))
        theta = np.log(problem.weights)
        _, gradient = prior.log_omega(theta)
        for k in range(problem.n_clusters):
            step = np.zeros_like(theta)
            step[k] = 1e-5
            change = prior.log_omega(theta + step)[0] - prior.log_omega(theta - step)[0]
            assert change / 2e-5 == pytest.approx(gradient[k], abs=1e-7), seed


def test_nonoverlapping_is_exact_for_pairs_that_share_no_row():
    """Also the paper's closed form, with its exponents put right."""
    for seed in range(3, 43, 4):  # shape "disjoint"
        problem = small_problem(seed)
        core = core_of(problem)
        exact, rough = (
            Prior(core.graph, core.exponent, np.full(core.wide.shape, kind))
            for kind in (False, True)
        )
        pi = problem.weights
        for a, b in zip(exact.log_omega(np.log(pi)), rough.log_omega(np.log(pi)), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-11)
        c = problem.constraints
        square, w = (pi**2).sum(), c.strength()
        broken = np.where(
            c.kind > 0, square + np.exp(-w) * (1 - square), 1 - square + np.exp(-w) * square
        )
        assert rough.log_omega(np.log(pi))[0] == pytest.approx(np.log(broken).sum(), abs=1e-11)


def test_weights_maximise_the_objective():
    """Nothing on a fine grid of the simplex is better than what the gradient finds."""
    rng = np.random.default_rng(0)
    for seed in range(24):
        problem = small_problem(seed)
        if problem.n_clusters != 2:
            continue
        core = core_of(problem)
        prior = Prior(core.graph, core.exponent, core.wide)
        counts = rng.dirichlet(np.ones(2)) * core.exponent.sum() + rng.uniform(0, 3, 2)
        found = ByGradient(prior)(counts, np.array([0.5, 0.5]))
        value = counts @ np.log(found.pi) - found.log_omega
        assert found.log_omega == pytest.approx(prior.log_omega(np.log(found.pi))[0], abs=1e-8)
        grid = np.linspace(0.001, 0.999, 999)
        others = [
            counts @ np.log([p, 1 - p]) - prior.log_omega(np.log([p, 1 - p]))[0] for p in grid
        ]
        assert value >= max(others) - 1e-9, seed


@pytest.mark.parametrize("k", [2, 3])
def test_grid_finds_the_best_point_of_the_grid(k):
    problem = next(
        p
        for p in (small_problem(s) for s in range(50))
        if p.n_clusters == k and p.constraints.n_pairs
    )
    core = core_of(problem)
    prior = Prior(core.graph, core.exponent, core.wide)
    counts = np.array([5.0, 2.0, 3.0])[:k]
    found = ByGrid(prior, resolution=0.05)(counts, np.full(k, 1 / k))
    best = -np.inf
    for steps in np.ndindex(*(19,) * k):  # every order, not only ascending
        point = (np.array(steps) + 1) / 20
        if abs(point.sum() - 1) < 1e-9:
            best = max(best, counts @ np.log(point) - prior.log_omega(np.log(point))[0])
    assert counts @ np.log(found.pi) - found.log_omega == pytest.approx(best, abs=1e-10)


def test_like_components_are_counted_not_repeated():
    """Hundreds of pairs alone are two shapes, with the same log Ω."""
    from coterie.constraints import Constraints

    rows = np.arange(2000).reshape(-1, 2)
    c = Constraints(2000, rows[:700], rows[700:])
    core = CoreGraph(c, 3, PpcSettings("exact", "point", 0.95), 0)
    prior = Prior(core.graph, core.exponent, core.wide)
    assert prior.n_steps < 60
    pi = np.array([0.5, 0.3, 0.2])
    square = (pi**2).sum()
    ratio = 0.05 / 0.95
    wanted = 700 * np.log(square + ratio * (1 - square)) + 300 * np.log(1 - square + ratio * square)
    assert prior.log_omega(np.log(pi))[0] == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("inference", ["exact", "mean_field"])
def test_steps_change_nothing_they_are_given(inference):
    """The same mixture and marginals give the same bits again, whatever was done in between."""
    problem = small_problem(8)
    core, mixture, rows = core_of(problem, inference), mixture_of(problem), Rows(problem.X)
    first = expect(rows, core, mixture)
    given = first.memory._replace(marginals=first.memory.marginals.copy())
    second = expect(rows, core, mixture, first.memory)
    posterior_of_all(rows, core, mixture, problem.constraints, second.memory)
    np.testing.assert_array_equal(first.memory.marginals, given.marginals)
    again = expect(rows, core, mixture, given)
    np.testing.assert_array_equal(again.memory.marginals, second.memory.marginals)
    assert again.log_likelihood == second.log_likelihood
    assert expect(rows, core, mixture).log_likelihood == first.log_likelihood


def test_what_is_quick_has_few_narrow_cycles():
    """Held-out answers are looked at by exact inference there, and by mean field elsewhere."""
    from coterie.constraints import Constraints, grid_neighbors

    settings = PpcSettings("auto", "point", 0.95)
    chain = np.column_stack([np.arange(99), np.arange(1, 100)])
    triangles = np.arange(99).reshape(-1, 3)
    triangles = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]])
    many = np.concatenate([triangles + 99 * k for k in range(4)])
    for constraints, quick in (
        (Constraints(100), True),
        (Constraints(100, cannot_link=chain), True),
        (Constraints(99, cannot_link=triangles), True),
        (Constraints(396, cannot_link=many), False),  # 396 nodes in cycles
        (grid_neighbors((5, 5), q=0.1), False),  # wider
        (grid_neighbors((30, 30), q=0.1), False),  # not exact
    ):
        assert CoreGraph(constraints, 3, settings, 0).is_quick == quick
