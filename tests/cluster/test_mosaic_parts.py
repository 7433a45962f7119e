"""Mosaic's parts against their naive twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA

from coterie.cluster import _mosaic_field
from coterie.cluster import _mosaic_kernels as kernels
from coterie.cluster._mosaic_blobs import centres, polished_centres
from coterie.cluster._mosaic_evidence import Evidence
from coterie.cluster._mosaic_field import (
    Ridge,
    build_field,
    field_values,
    kernel,
    nearest,
    place_prototypes,
)
from coterie.cluster._mosaic_finish import data_costs
from coterie.cluster._mosaic_soft import SoftStage, fit_sharpness, softmax
from coterie.cluster._mosaic_space import fit_space, whitening
from coterie.cluster._mosaic_starts import Joins
from coterie.constraints import Constraints
from reference import mosaic as naive


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def small_field(rng, n=40, count=40):
    rows = rng.normal(size=(n, 3)).astype(np.float32) / np.float32(np.sqrt(6.0))
    return rows, build_field(rows, place_prototypes(rows, count, rng))


class TestSpace:
    def test_few_columns_are_kept_and_the_mean_squared_distance_is_one(self, rng):
        X = rng.normal(size=(300, 4)) * [1, 2, 3, 4] + 1e6
        _, rows = fit_space(X, "sqeuclidean", None, 10, 0)
        gaps = rows[:, None] - rows[None]
        assert (gaps**2).sum(axis=2).mean() == pytest.approx(1.0, rel=1e-4)
        ratio = np.ptp(X, axis=0) / np.ptp(rows, axis=0)
        assert ratio == pytest.approx(ratio[0], rel=1e-3)  # one scale for all columns

    def test_many_columns_become_their_leading_principal_components(self, rng):
        X = rng.normal(size=(200, 12)) @ rng.normal(size=(12, 12))
        space, rows = fit_space(X, "sqeuclidean", None, 3, 0)
        wanted = PCA(3).fit_transform(X)
        scale = np.linalg.norm(space.basis[:, 0])
        assert np.abs(rows) == pytest.approx(np.abs(wanted * scale), rel=1e-3, abs=1e-4)

    @pytest.mark.parametrize("distortion", ["sqeuclidean", "cosine"])
    @pytest.mark.parametrize("most", [3, 50])
    def test_sparse_rows_have_the_coordinates_of_dense_rows(self, rng, distortion, most):
        X = rng.uniform(size=(80, 9)) * (rng.uniform(size=(80, 9)) < 0.6)
        X[:, 0] += 0.1
        _, dense = fit_space(X, distortion, None, most, 0)
        _, sparse = fit_space(sp.csr_matrix(X), distortion, None, most, 0)
        assert sparse == pytest.approx(dense, abs=1e-5)

    def test_cosine_ignores_length(self, rng):
        X = rng.uniform(0.1, 1, size=(50, 5))
        space, rows = fit_space(X, "cosine", None, 10, 0)
        assert space.coordinates(X * rng.uniform(0.5, 9, size=(50, 1))) == pytest.approx(
            rows, abs=1e-5
        )

    def test_weights_are_repetitions(self, rng):
        X = rng.normal(size=(60, 8))
        weights = rng.integers(0, 4, 60)
        space, _ = fit_space(X, "sqeuclidean", weights.astype(float), 3, 0)
        repeated, _ = fit_space(np.repeat(X, weights, axis=0), "sqeuclidean", None, 3, 0)
        assert space.mean == pytest.approx(repeated.mean)
        assert space.basis == pytest.approx(repeated.basis, rel=1e-6)

    def test_very_wide_sparse_rows_are_projected(self, rng):
        X = sp.random(300, 6000, density=0.01, format="csr", random_state=0)
        space, rows = fit_space(X, "sqeuclidean", None, 5, 0)
        assert rows.shape == (300, 5)
        assert space.coordinates(X[:7]) == pytest.approx(rows[:7], abs=1e-6)


class TestWhitening:
    def test_must_linked_rows_differ_alike_in_every_direction(self, rng):
        groups = rng.normal(size=(50, 3)) * 5
        near = groups[:, None] + rng.normal(size=(50, 40, 3)) @ np.diag([4.0, 1.0, 0.2])
        rows = near.reshape(-1, 3).astype(np.float32)
        rows -= rows.mean(axis=0)
        order = rng.permuted(np.arange(2000).reshape(50, 40), axis=1)
        pairs = order.reshape(-1, 2)
        change = whitening(rows, pairs, np.ones(len(pairs)))
        moved = rows @ change
        gaps = moved[pairs[:, 0]] - moved[pairs[:, 1]]
        within = np.linalg.eigvalsh(gaps.T @ gaps)
        assert within[-1] / within[0] < 1.6  # 400 before
        assert 2 * moved.var(axis=0).sum() == pytest.approx(1.0, rel=0.02)

    def test_weights_and_copies_do_not_make_a_sample(self, rng):
        rows = rng.normal(size=(100, 4)).astype(np.float32)
        pairs = np.array([[0, 1], [2, 3], [4, 5]])
        assert whitening(rows, pairs, np.full(3, 1000.0)) is None
        assert whitening(rows, np.repeat(pairs, 5, axis=0), np.ones(15)) is None
        assert whitening(rows, np.empty((0, 2), dtype=int), np.empty(0)) is None
        pairs = np.arange(20).reshape(10, 2)
        once = whitening(rows, pairs, np.ones(10))
        assert whitening(rows, np.repeat(pairs, 2, axis=0), np.full(20, 0.5)) == pytest.approx(once)

    def test_a_changed_space_gives_changed_coordinates(self, rng):
        X, change = rng.normal(size=(60, 9)), rng.normal(size=(3, 3))
        for columns, most in ((9, 3), (3, 3)):
            for rows in (X[:, :columns], sp.csr_matrix(X[:, :columns])):
                space, coordinates = fit_space(rows, "sqeuclidean", None, most, 0)
                moved = space.changed(change).coordinates(rows)
                assert moved == pytest.approx(coordinates @ change, abs=1e-5)


class TestField:
    def test_kernel_is_the_formula(self, rng):
        a, b = rng.normal(size=(5, 3)).astype("f4"), rng.normal(size=(4, 3)).astype("f4")
        wanted = [[naive.cauchy(x, z) for z in b] for x in a]
        assert kernel(a, b) == pytest.approx(np.array(wanted), rel=1e-5)

    def test_features_reproduce_the_kernel_where_every_row_is_a_prototype(self, rng):
        rows, field = small_field(rng)
        assert field.features @ field.features.T == pytest.approx(kernel(rows, rows), abs=1e-3)
        assert (field.prototypes[field.near] == rows).all()

    def test_prototypes_are_distinct_rows_or_lower_the_distortion(self, rng):
        rows = np.repeat(rng.normal(size=(6, 2)).astype("f4"), 5, axis=0)
        assert len(place_prototypes(rows, 10, rng)) == 6
        rows = rng.normal(size=(2000, 2)).astype("f4")
        placed = place_prototypes(rows, 20, np.random.default_rng(1))
        random = rows[rng.permutation(2000)[:20]]

        def distortion(prototypes):
            return ((rows - prototypes[nearest(rows, prototypes)]) ** 2).sum()

        assert distortion(placed) < 0.8 * distortion(random)

    def test_new_rows_get_the_values_of_the_fit_bit_by_bit(self, rng):
        rows, field = small_field(rng, n=9000, count=30)
        weights = rng.normal(size=(field.features.shape[1], 3))
        again = field_values(rows, field.prototypes, field.whiten, weights)
        assert (again == field.evaluate(weights)).all()


class TestRidge:
    def test_solution_is_that_of_least_squares(self, rng):
        _, field = small_field(rng)
        weights, targets = rng.uniform(0.1, 2, 40), rng.normal(size=(40, 3))
        ridge = Ridge(field, weights, 0.3, rng)
        z = field.features.astype(float)
        wanted = naive.ridge(z, targets, weights, 0.3)
        assert z @ ridge.solve(targets) == pytest.approx(z @ wanted, abs=1e-4)

    def test_leaving_a_row_out_is_refitting_without_it(self, rng):
        _, field = small_field(rng)
        weights, targets = rng.uniform(0.1, 1, 40), rng.normal(size=(40, 2))
        ridge = Ridge(field, weights, 0.5, rng)
        values = field.evaluate(ridge.solve(targets))
        wanted = naive.leave_one_out(field.features.astype(float), targets, weights, 0.5)
        assert ridge.without_own(values, targets) == pytest.approx(wanted, abs=2e-3)

    def test_sketched_leverage_is_near_the_exact(self, rng, monkeypatch):
        _, field = small_field(rng, n=400, count=300)
        exact = Ridge(field, np.ones(400), 0.1, rng).leverage
        monkeypatch.setattr(_mosaic_field, "_EXACT_WORK", 0)
        sketched = Ridge(field, np.ones(400), 0.1, rng).leverage
        assert not np.array_equal(exact, sketched)
        error = np.abs(sketched / exact - 1)
        assert np.median(error) < 0.15
        assert sketched.mean() == pytest.approx(exact.mean(), rel=0.05)


def random_tree(rng, s):
    """Pairs of a random tree over s rows, each of a random kind and weight."""
    pairs = np.array([(int(rng.integers(0, j)), j) for j in range(1, s)])
    must = rng.random(s - 1) < 0.5
    return Constraints(
        s,
        must_link=pairs[must],
        cannot_link=pairs[~must],
        must_weight=rng.uniform(0.2, 2, int(must.sum())),
        cannot_weight=rng.uniform(0.2, 2, int((~must).sum())),
    )


class TestBeliefs:
    @pytest.mark.parametrize("seed", range(20))
    def test_propagation_is_exact_on_trees(self, seed):
        rng = np.random.default_rng(seed)
        s, k = int(rng.integers(2, 7)), int(rng.integers(2, 4))
        evidence = Evidence(random_tree(rng, s))
        core = evidence.core
        logits = rng.normal(size=(s, k))
        same, differ = evidence.costs(0.1)
        together, apart = evidence.chances(0.1)
        messages, beliefs = np.ones((core.indices.size, k)), np.empty((s, k))
        alone, told = softmax(1.0, logits), np.zeros((s, k))
        kernels.propagate(
            alone, core.indptr, together, apart, evidence.twin, s, 0.0, messages, told, beliefs
        )
        first = np.unique(core.edge_of, return_index=True)[1]
        costs = same[first, 0], differ[first, 0]
        marginals, equal = naive.joint(logits, core.edges.tolist(), *costs)
        assert beliefs == pytest.approx(marginals, abs=1e-9)

        weights = evidence.constraints.weight
        must = evidence.constraints.kind > 0
        kept = (weights * np.where(must, equal, 1 - equal)).sum()
        new = evidence.noise_rate(0.1, messages, beliefs)
        wanted = (weights.sum() - kept + 4 * evidence.first_rate()) / (weights.sum() + 4)
        assert new == pytest.approx(min(wanted, 0.45), abs=1e-9)

        score = evidence.log_likelihood(alone, (together, apart))
        wanted = naive.pair_log_likelihood(logits, core.edges.tolist(), *costs)
        assert score == pytest.approx(wanted, abs=1e-9)

    def test_mean_field_ends_at_its_own_equation(self, rng):
        evidence = Evidence(random_tree(rng, 6))
        core = evidence.core
        logits, beliefs = rng.normal(size=(6, 3)), np.empty((6, 3))
        heard, told = np.zeros((6, 3)), np.zeros((6, 3))
        same, differ = evidence.costs(0.2)
        pull, alone = evidence.pull(0.2), softmax(1.0, logits)
        kernels.mean_field(alone, core.indptr, core.indices, pull, 200, 0.0, heard, told, beliefs)
        for i in range(6):
            total = logits[i].copy()
            for e in range(core.indptr[i], core.indptr[i + 1]):
                total += (differ[e, 0] - same[e, 0]) * beliefs[core.indices[e]]
            wanted = np.exp(total) / np.exp(total).sum()
            assert beliefs[i] == pytest.approx(wanted, abs=1e-9)

    def test_silence_saves_messages_and_changes_little(self, rng):
        """From messages that have settled, unchanged nodes say nothing; then one node changes."""
        groups = rng.integers(0, 3, 300)
        i, j = rng.integers(0, 300, 900), rng.integers(0, 300, 900)
        i, j = i[i != j], j[i != j]
        same = groups[i] == groups[j]
        evidence = Evidence(Constraints(300, np.c_[i, j][same], np.c_[i, j][~same]))
        core = evidence.core
        s = core.n_nodes
        logits = 2.0 * np.eye(3)[groups[core.rows]] + rng.normal(size=(s, 3))
        found, other = {}, (groups[core.rows[0]] + 1) % 3
        for tol in (0.0, 1e-3):
            messages, told = np.ones((core.indices.size, 3), dtype=np.float32), np.zeros((s, 3))
            beliefs, sent = np.empty((s, 3)), []
            for shift in (0.0, 0.0, 30.0):
                logits[0, other] += shift
                sent.append(
                    kernels.propagate(
                        softmax(1.0, logits),
                        core.indptr,
                        *evidence.chances(0.05),
                        evidence.twin,
                        30,
                        tol,
                        messages,
                        told,
                        beliefs,
                    )
                )
            logits[0, other] -= 30.0
            found[tol] = beliefs, sent
        loud, quiet = found[0.0][1], found[1e-3][1]
        assert quiet[0] < 0.5 * loud[0]
        assert quiet[1] == 0 < quiet[2] < 0.5 * core.indices.size
        assert found[1e-3][0] == pytest.approx(found[0.0][0], abs=0.02)

    @pytest.mark.parametrize("engine", ["belief_propagation", "mean_field"])
    def test_pairs_are_said_again_when_their_strength_changes(self, rng, engine):
        evidence = Evidence(random_tree(rng, 6))
        _, field = small_field(rng, n=6, count=6)
        stage = SoftStage(Ridge(field, np.ones(6), 0.1, rng), evidence, np.ones(6), engine, None)
        values = rng.normal(size=(6, 3))
        first = stage.look(stage.start(np.arange(6) % 3, 3), values, 1.0)
        for _ in range(10):
            first = stage.listen(first)
        moved = stage.listen(replace(first, rate=0.3))
        fresh = stage.look(stage.start(np.arange(6) % 3, 3), values, 1.0)
        fresh = stage.listen(replace(fresh, rate=0.3))
        assert np.abs(moved.nodes - first.nodes).max() > 0.01
        assert moved.nodes == pytest.approx(fresh.nodes, abs=0.01)

    def test_sharpness_maximises_the_likelihood(self, rng):
        values = rng.normal(size=(200, 3))
        targets = np.eye(3)[np.argmax(values + 0.7 * rng.gumbel(size=(200, 3)), axis=1)]
        weights = rng.uniform(0, 2, 200)

        def likelihood(beta):
            logits = beta * values
            logits = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
            return float((weights[:, None] * targets * logits).sum())

        best = fit_sharpness(values, targets, weights, 5.0)
        assert 0.3 < best < 5
        assert likelihood(best) > max(likelihood(best * 0.9), likelihood(best * 1.1))

    def test_hard_pairs_in_the_soft_stage_are_strong_not_infinite(self, rng):
        pairs = Constraints(4, cannot_link=[(0, 1), (1, 2), (2, 3)], cannot_weight=np.inf)
        evidence = Evidence(pairs)
        _, field = small_field(rng, n=4, count=4)
        ridge = Ridge(field, np.ones(4), 0.1, rng)
        stage = SoftStage(ridge, evidence, np.ones(4), "auto", None)
        state = stage.run(stage.start(np.array([0, 1, 0, 1]), 2), 5, 0.0)
        assert np.isfinite(state.rows).all()
        labels = state.rows.argmax(axis=1)
        assert (labels[:-1] != labels[1:]).all()


class TestEvidence:
    def test_costs_follow_rate_weight_certainty_and_hardness(self):
        pairs = Constraints(
            6,
            must_link=[(0, 1), (2, 3)],
            cannot_link=[(1, 2), (4, 5)],
            must_weight=[2.0, 1.0],
            must_certainty=[np.nan, 0.8],
            cannot_weight=[1.0, np.inf],
        )
        cost = dict(
            zip(map(tuple, pairs.pairs.tolist()), Evidence(pairs).pair_cost(0.1), strict=True)
        )
        assert cost[0, 1] == pytest.approx(2 * np.log(9))
        assert cost[2, 3] == pytest.approx(np.log(4))
        assert cost[1, 2] == pytest.approx(np.log(9))
        assert cost[4, 5] == np.inf

    def test_first_rate_falls_with_the_rarer_kind(self):
        few = Constraints(100, must_link=[(0, 1)], cannot_link=[(i, i + 1) for i in range(1, 99)])
        even = Constraints(
            100,
            must_link=[(i, i + 1) for i in range(50)],
            cannot_link=[(i, i + 2) for i in range(50)],
        )
        assert Evidence(even).first_rate() == pytest.approx(0.01)
        assert Evidence(few).first_rate() < 0.001

    def test_votes_between_prototypes_are_the_sum_over_pairs(self, rng):
        i, j = rng.integers(0, 30, 60), rng.integers(30, 60, 60)
        pairs = Constraints(60, must_link=np.c_[i, j][:25], cannot_link=np.c_[i, j][25:])
        evidence = Evidence(pairs)
        near = rng.integers(0, 5, 60)
        votes = evidence.votes()
        assert votes.sum() == pytest.approx(0.0, abs=1e-9)
        wanted = np.zeros((5, 5))
        for (a, b), vote in zip(pairs.pairs, votes, strict=True):
            wanted[near[a], near[b]] += vote
            wanted[near[b], near[a]] += vote
        assert evidence.between(near, 5, votes) == pytest.approx(wanted)

    def test_standard_error_of_a_lead_is_that_of_a_sum_over_pairs(self, rng):
        evidence = Evidence(random_tree(rng, 8))
        one, two = rng.dirichlet(np.ones(3), 8), rng.dirichlet(np.ones(3), 8)
        together, apart = evidence.chances(0.1)
        first = np.unique(evidence.core.edge_of, return_index=True)[1]
        gaps = []
        for (i, j), e in zip(evidence.core.edges, first, strict=True):
            here, there = one[i] @ one[j], two[i] @ two[j]
            chance = together[e] * here + apart[e] * (1 - here)
            gaps.append(np.log(chance / (together[e] * there + apart[e] * (1 - there))))
        wanted = np.std(gaps) * np.sqrt(len(gaps))
        found = evidence.lead_error(one, two, (together, apart))
        assert found == pytest.approx(wanted)

    def test_joins_solve_the_generalised_eigenproblem(self, rng):
        _, field = small_field(rng)
        i, j = rng.integers(0, 20, 50), rng.integers(20, 40, 50)
        evidence = Evidence(Constraints(40, np.c_[i, j][:20], np.c_[i, j][20:]))
        ridge = Ridge(field, np.ones(40), 0.1, rng)
        joins = Joins(ridge, evidence, 2.0)
        mu, values = joins.leading(3)
        between = evidence.between(field.near, len(field.prototypes), evidence.votes())
        z = field.at_prototypes.astype(float)
        right = ridge.gram + 2.0 * np.eye(len(ridge.gram))
        matrix = np.linalg.solve(right, z.T @ between @ z)
        wanted = np.sort(np.linalg.eigvals(matrix).real)[::-1][:3]
        assert mu == pytest.approx(wanted, rel=1e-3)
        assert values.shape == (len(field.prototypes), 3)


def test_data_costs_are_squared_gaps(rng):
    values, weights = rng.normal(size=(5, 3)), rng.uniform(0, 2, 5)
    wanted = [
        [0.5 * 4.0 * weights[i] * ((np.eye(3)[k] - values[i]) ** 2).sum() for k in range(3)]
        for i in range(5)
    ]
    assert data_costs(values, weights, 4.0) == pytest.approx(np.array(wanted))


class TestBlobs:
    def test_centres_by_way_of_prototypes_are_those_of_k_means(self, rng):
        rows = rng.normal(size=(2000, 2)) + 8 * rng.integers(0, 3, size=(2000, 2))
        rows = (rows / 10).astype(np.float32)
        prototypes = place_prototypes(rows, 100, rng)
        near = nearest(rows, prototypes)
        direct = centres(rows, np.ones(2000), 9, 0)
        found = polished_centres(rows, np.ones(2000), prototypes, near, 9, 1)
        gaps = np.linalg.norm(direct[:, None] - found[None], axis=2)
        assert gaps.min(axis=1).max() < 1e-3

    def test_too_few_places_for_the_clusters(self, rng):
        rows = np.repeat(rng.normal(size=(2, 2)), 5, axis=0).astype(np.float32)
        prototypes = np.unique(rows, axis=0)
        near = nearest(rows, prototypes)
        assert polished_centres(rows, np.ones(10), prototypes, near, 3, 0) is None
