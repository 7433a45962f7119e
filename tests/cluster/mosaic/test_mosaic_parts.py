"""Mosaic's parts against their naive twins."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from mosaic_problems import TUNING, coordinates_of, posed, small_field, small_ridge
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from coterie.cluster.mosaic.blobs import k_means, k_means_of_rows
from coterie.cluster.mosaic.field import FieldRidge, build_field, field_values, place_prototypes
from coterie.cluster.mosaic.finish import data_costs
from coterie.cluster.mosaic.passes import field_map, kernel
from coterie.cluster.mosaic.space import Placing, place_rows, relevant_change
from coterie.constraints import Constraints
from reference import mosaic as naive


@pytest.fixture
def rng():
    return np.random.default_rng(0)


class TestSpace:
    def test_few_columns_are_kept_and_the_mean_squared_distance_is_one(self, rng):
        X = rng.normal(size=(300, 4)) * [1, 2, 3, 4] + 1e6
        _, rows = coordinates_of(X, "sqeuclidean", 10)
        gaps = rows[:, None] - rows[None]
        assert (gaps**2).sum(axis=2).mean() == pytest.approx(1.0, rel=1e-4)
        ratio = np.ptp(X, axis=0) / np.ptp(rows, axis=0)
        assert ratio == pytest.approx(ratio[0], rel=1e-3)  # one scale for all columns

    def test_many_columns_become_their_leading_principal_components(self, rng):
        X = rng.normal(size=(200, 12)) @ rng.normal(size=(12, 12))
        space, rows = coordinates_of(X, "sqeuclidean", 3)
        wanted = PCA(3).fit_transform(X)
        scale = np.linalg.norm(space.basis[:, 0])
        assert np.abs(rows) == pytest.approx(np.abs(wanted * scale), rel=1e-3, abs=1e-4)

    @pytest.mark.parametrize("distortion", ["sqeuclidean", "cosine"])
    @pytest.mark.parametrize("most", [3, 50])
    def test_sparse_rows_have_the_coordinates_of_dense_rows(self, rng, distortion, most):
        X = rng.uniform(size=(80, 9)) * (rng.uniform(size=(80, 9)) < 0.6)
        X[:, 0] += 0.1
        _, dense = coordinates_of(X, distortion, most)
        _, sparse = coordinates_of(sp.csr_matrix(X), distortion, most)
        assert sparse == pytest.approx(dense, abs=1e-5)

    def test_cosine_ignores_length(self, rng):
        X = rng.uniform(0.1, 1, size=(50, 5))
        space, rows = coordinates_of(X, "cosine", 10)
        assert space.coordinates(X * rng.uniform(0.5, 9, size=(50, 1))) == pytest.approx(
            rows, abs=1e-5
        )

    def test_weights_are_repetitions(self, rng):
        X = rng.normal(size=(60, 8))
        weights = rng.integers(0, 4, 60)
        space, _ = coordinates_of(X, most=3, weights=weights.astype(float))
        repeated, _ = coordinates_of(np.repeat(X, weights, axis=0), "sqeuclidean", 3)
        assert space.mean == pytest.approx(repeated.mean)
        assert space.basis == pytest.approx(repeated.basis, rel=1e-6)

    def test_very_wide_sparse_rows_are_projected(self, rng):
        X = sp.random(300, 6000, density=0.01, format="csr", random_state=0)
        space, rows = coordinates_of(X, "sqeuclidean", 5)
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
        change = relevant_change(rows, pairs, np.ones(len(pairs)))
        moved = rows @ change
        gaps = moved[pairs[:, 0]] - moved[pairs[:, 1]]
        within = np.linalg.eigvalsh(gaps.T @ gaps)
        assert within[-1] / within[0] < 1.6  # 400 before
        assert 2 * moved.var(axis=0).sum() == pytest.approx(1.0, rel=0.02)

    def test_weights_and_copies_do_not_make_a_sample(self, rng):
        rows = rng.normal(size=(100, 4)).astype(np.float32)
        pairs = np.array([[0, 1], [2, 3], [4, 5]])
        assert relevant_change(rows, pairs, np.full(3, 1000.0)) is None
        assert relevant_change(rows, np.repeat(pairs, 5, axis=0), np.ones(15)) is None
        assert relevant_change(rows, np.empty((0, 2), dtype=int), np.empty(0)) is None
        pairs = np.arange(20).reshape(10, 2)
        once = relevant_change(rows, pairs, np.ones(10))
        assert relevant_change(
            rows, np.repeat(pairs, 2, axis=0), np.full(20, 0.5)
        ) == pytest.approx(once)

    def test_a_changed_space_gives_changed_coordinates(self, rng):
        X, change = rng.normal(size=(60, 9)), rng.normal(size=(3, 3))
        for columns, most in ((9, 3), (3, 3)):
            for rows in (X[:, :columns], sp.csr_matrix(X[:, :columns])):
                space, coordinates = coordinates_of(rows, "sqeuclidean", most)
                moved = space.changed(change).coordinates(rows)
                assert moved == pytest.approx(coordinates @ change, abs=1e-5)


class TestField:
    def test_kernel_is_the_formula(self, rng):
        a, b = rng.normal(size=(5, 3)).astype("f4"), rng.normal(size=(4, 3)).astype("f4")
        wanted = [[naive.cauchy(x, z) for z in b] for x in a]
        assert kernel(a, b, 2.0) == pytest.approx(np.array(wanted), rel=1e-5)

    def test_features_reproduce_the_kernel_where_every_row_is_a_prototype(self, rng):
        rows, field = small_field(rng)
        assert field.features @ field.features.T == pytest.approx(kernel(rows, rows, 2.0), abs=1e-3)
        assert (field.landmarks.prototypes[field.near] == rows).all()

    def test_prototypes_are_distinct_rows_or_lower_the_distortion(self, rng):
        rows = np.repeat(rng.normal(size=(6, 2)).astype("f4"), 5, axis=0)
        assert len(place_prototypes(rows, 10, TUNING, rng)) == 6
        rows = rng.normal(size=(2000, 2)).astype("f4")
        placed = place_prototypes(rows, 20, TUNING, np.random.default_rng(1))
        random = rows[rng.permutation(2000)[:20]]

        def distortion(prototypes):
            return ((rows[:, None] - prototypes[None]) ** 2).sum(axis=2).min(axis=1).sum()

        assert distortion(placed) < 0.8 * distortion(random)

    def test_new_rows_get_the_values_of_the_fit(self, rng):
        rows, field = small_field(rng, n=9000, count=30)
        ridge = FieldRidge(field, np.ones(9000), 0.1, TUNING, rng)
        weights = ridge.solve(np.eye(3)[rng.integers(3, size=9000)])
        found = field_values(rows, field.landmarks, weights)
        assert found == pytest.approx(field.values(weights), abs=1e-4)

    def test_rows_are_placed_where_the_field_is_highest_bit_by_bit(self, rng):
        X = rng.normal(size=(9000, 60))
        space, rows = coordinates_of(X)
        prototypes = place_prototypes(rows, 30, TUNING, rng)
        field = build_field(rows, prototypes, TUNING.steepness)
        weights = rng.normal(size=(field.features.shape[1], 3))
        placing = Placing(space, field_map(field.landmarks, weights))
        wanted = field_values(rows, field.landmarks, weights).argmax(axis=1)
        assert (place_rows(X, placing) == wanted).all()
        some = rng.permutation(9000)[:50]
        assert (place_rows(X[some], placing) == wanted[some]).mean() > 0.99


class TestRidge:
    def test_solution_is_that_of_least_squares(self, rng):
        weights, targets = rng.uniform(0.1, 2, 40), rng.normal(size=(40, 3))
        ridge = small_ridge(rng, weights=weights, penalty=0.3)
        z = ridge.field.features.astype(float)
        wanted = naive.ridge(z, targets, weights, 0.3)
        assert z @ ridge.solve(targets) == pytest.approx(z @ wanted, abs=1e-4)

    def test_leaving_a_row_out_is_refitting_without_it(self, rng):
        weights, targets = rng.uniform(0.1, 1, 40), rng.normal(size=(40, 2))
        ridge = small_ridge(rng, weights=weights, penalty=0.5)
        wanted = naive.leave_one_out(ridge.field.features.astype(float), targets, weights, 0.5)
        assert ridge.values_without_own(targets) == pytest.approx(wanted, abs=2e-3)

    def test_sketched_leverage_is_near_the_exact(self):
        exact = small_ridge(np.random.default_rng(0), n=300).leverage
        sketching = TUNING._replace(most_numbers=0)
        sketched = small_ridge(np.random.default_rng(0), n=300, tuning=sketching).leverage
        assert not np.array_equal(exact, sketched)
        error = np.abs(sketched / exact - 1)
        assert np.median(error) < 0.15
        assert sketched.mean() == pytest.approx(exact.mean(), rel=0.05)


def test_data_costs_are_squared_gaps(rng):
    values, weights = rng.normal(size=(5, 3)), rng.uniform(0, 2, 5)
    wanted = [
        [0.5 * 4.0 * weights[i] * ((np.eye(3)[k] - values[i]) ** 2).sum() for k in range(3)]
        for i in range(5)
    ]
    assert data_costs(values, weights, 4.0) == pytest.approx(np.array(wanted))


class TestBlobs:
    def test_centres_by_way_of_prototypes_are_those_of_k_means(self, rng):
        X = rng.normal(size=(2000, 2)) + 8 * rng.integers(0, 3, size=(2000, 2))
        problem, rows = posed(X, Constraints(2000, must_link=[(0, 1)]))
        direct = k_means(rows, np.ones(2000), 9, 10, 0)
        found = k_means_of_rows(problem, rows, 9, 1)
        gaps = np.linalg.norm(direct[:, None] - found[None], axis=2)
        assert gaps.min(axis=1).max() < 1e-3

    def test_where_ten_starts_end_is_a_better_start(self):
        """Ten starts are few for 40 clusters that touch."""
        X, ratios = load_digits().data[:500], []
        for seed in range(3):
            plain = KMeans(40, n_init=10, random_state=seed).fit(X)
            centres = k_means(X, np.ones(500), 40, 10, seed)
            gaps = ((X[:, None] - centres) ** 2).sum(axis=2).min(axis=1)
            ratios.append(gaps.sum() / plain.inertia_)
        assert max(ratios) < 1.0 + 1e-6
        assert np.mean(ratios) < 0.995

    def test_clusters_too_many_for_prototypes_have_many_starts_too(self, rng):
        y = rng.integers(160, size=3200)
        X = rng.normal(size=(3200, 16)) + 1.5 * rng.normal(size=(160, 16))[y]
        problem, rows = posed(X, Constraints(3200, must_link=[(0, 1)]), n_prototypes=300)
        centres = k_means_of_rows(problem, rows, 160, 0)
        gaps = np.square(rows).sum(1)[:, None] - 2 * rows @ centres.T + np.square(centres).sum(1)
        plain = KMeans(160, n_init=1, random_state=0).fit(rows)
        assert gaps.min(axis=1).sum() < 0.985 * plain.inertia_

    def test_too_few_places_for_the_clusters(self, rng):
        X = np.repeat(rng.normal(size=(2, 2)), 5, axis=0)
        problem, rows = posed(X, Constraints(10, must_link=[(0, 1)]))
        assert k_means_of_rows(problem, rows, 3, 0) is None
