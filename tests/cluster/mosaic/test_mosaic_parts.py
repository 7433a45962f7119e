"""Mosaic's parts against their naive twins."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from mosaic_fields import small_field
from sklearn.decomposition import PCA

from coterie.cluster.mosaic import field as _mosaic_field
from coterie.cluster.mosaic.blobs import centres, polished_centres
from coterie.cluster.mosaic.field import (
    Ridge,
    field_values,
    kernel,
    nearest,
    place_prototypes,
)
from coterie.cluster.mosaic.finish import data_costs
from coterie.cluster.mosaic.space import fit_space, whitening
from reference import mosaic as naive


@pytest.fixture
def rng():
    return np.random.default_rng(0)


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
