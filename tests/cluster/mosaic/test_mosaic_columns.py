"""Columns that matter: the mixture that hears pairs, and the spaces that hide columns or do not."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from mosaic_problems import TUNING, coordinates_of, posed, settings
from scipy.stats import norm
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from coterie import Mosaic
from coterie.cluster.mosaic.beliefs import lean_towards
from coterie.cluster.mosaic.columns import LEAST_SPREAD, Columns, fit_columns, hear_columns
from coterie.cluster.mosaic.columns_search import plain_columns
from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.geometry import by_directions
from coterie.cluster.mosaic.judging import (
    log_chances,
    shares_of,
    telling_sharpness,
    trial_of,
)
from coterie.cluster.mosaic.passes import shares
from coterie.cluster.mosaic.space import fit_space
from coterie.constraints import sample_pairs


def believed(rng, n=40, k=3):
    beliefs = rng.random((n, k)) ** 3
    return beliefs / beliefs.sum(axis=1, keepdims=True)


def wide(rng, n=600, d=40):
    """Three clusters; each is steady in four columns of its own. Others show what nobody asked."""
    y, other = rng.integers(3, size=(2, n))
    X = rng.normal(size=(n, d))
    for k in range(3):
        X[np.ix_(y == k, np.arange(4 * k, 4 * k + 4))] *= 0.2
        X[np.ix_(other == k, np.arange(20 + 4 * k, 24 + 4 * k))] *= 0.1
    return X, y


def log_posterior(rows, weights, beliefs, means, variances):
    """What `fit_columns` maximises, term by term."""
    centre = np.average(rows, axis=0, weights=weights)
    spread = np.average((rows - centre) ** 2, axis=0, weights=weights)
    total = 0.0
    for k, (mean, variance) in enumerate(zip(means, variances, strict=True)):
        density = norm(mean, np.sqrt(variance)).logpdf
        total += (weights * beliefs[:, k]) @ density(rows).sum(axis=1)
        total += (density(centre) - spread / (2.0 * variance)).sum()
    return total


class TestColumns:
    def test_they_are_the_most_probable_ones(self):
        rng = np.random.default_rng(0)
        rows, weights, beliefs = rng.normal(size=(40, 4)), rng.random(40), believed(rng)
        means, variances, log_share, _ = fit_columns(rows, weights, beliefs)

        def score(change):
            bent = variances * np.exp(change[1])
            return log_posterior(rows, weights, beliefs, means + change[0], bent)

        best = score(np.zeros((2, 3, 4)))
        for place in np.ndindex(2, 3, 4):
            step = np.zeros((2, 3, 4))
            step[place] = 1e-4
            slope = (score(step) - score(-step)) / 2e-4
            assert abs(slope) < 1e-5
            assert max(score(100 * step), score(-100 * step)) < best
        np.testing.assert_allclose(np.exp(log_share).sum(), 1.0)

    def test_a_cluster_is_never_flat_and_a_constant_column_says_nothing(self):
        rng = np.random.default_rng(1)
        rows = np.column_stack([rng.normal(size=2000), np.full(2000, 7.0)])
        rows[:1000, 0] = 0.5
        beliefs = np.eye(2)[np.repeat([0, 1], 1000)]
        columns = fit_columns(rows, np.ones(2000), beliefs)
        assert columns.variances[0, 0] == pytest.approx(LEAST_SPREAD * rows[:, 0].var())
        gap = np.subtract(*columns.log_densities(rows).T)
        without = columns._replace(means=columns.means[:, :1], variances=columns.variances[:, :1])
        np.testing.assert_allclose(gap, np.subtract(*without.log_densities(rows[:, :1]).T))

    def test_densities_are_those_of_independent_columns(self):
        rng = np.random.default_rng(2)
        rows, means, variances = (
            rng.normal(size=(9, 5)),
            rng.normal(size=(3, 5)),
            rng.random((3, 5)),
        )
        columns = Columns(means, variances, np.log([0.2, 0.3, 0.5]), 0.7)
        wanted = columns.log_share + np.column_stack(
            [
                norm(m, np.sqrt(v)).logpdf(rows).sum(axis=1)
                for m, v in zip(means, variances, strict=True)
            ]
        )
        found = columns.log_densities(rows)
        np.testing.assert_allclose(found - found[:, :1], wanted - wanted[:, :1], atol=1e-9)
        powers = np.exp(0.7 * (wanted - wanted.max(axis=1, keepdims=True)))
        chances = powers / powers.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(columns.chances(rows), chances, atol=1e-9)


class TestHearing:
    def test_pairs_show_which_columns_matter(self):
        rng = np.random.default_rng(0)
        X, y = wide(rng)
        known = sample_pairs(y, 300, random_state=0)
        evidence = Evidence(known, TUNING)
        trial, start = trial_of(evidence, rng), lean_towards(rng.integers(3, size=600), 3, 0.7)
        found = [
            hear_columns(X, np.ones(600), evidence, trial, 0.01, start, rounds, settings())
            for rounds in (1, 5, 25)
        ]
        assert found[0].score < found[1].score <= found[2].score  # the best of all rounds
        assert adjusted_rand_score(y, found[2].beliefs.argmax(axis=1)) > 0.9
        told = telling_sharpness(trial, found[2].columns.log_densities(X), first=1.0, most=1.0)
        assert found[2].columns.sharpness == told.sharpness
        assert found[2].score == told.score

    def test_the_telling_sharpness_is_the_best_of_all_steps(self):
        rng = np.random.default_rng(3)
        y = rng.integers(3, size=80)
        trial = trial_of(Evidence(sample_pairs(y, 60, noise=0.1, random_state=0), TUNING), rng)
        values = np.eye(3)[y] + rng.normal(size=(80, 3))

        def score(sharpness):
            chance = shares(values, sharpness)
            together = (chance[trial.pairs[:, 0]] * chance[trial.pairs[:, 1]]).sum(axis=1)
            return log_chances(trial, together).sum()

        told = telling_sharpness(trial, values, first=1.0, most=1024.0)
        best = max((2.0**power for power in range(-9, 11)), key=score)
        assert told.sharpness == best
        assert told.score == pytest.approx(score(best))
        assert telling_sharpness(trial, values, first=0.125, most=0.25).sharpness <= 0.25

    def test_where_rows_may_be_unsure_or_pairs_wrong_pairs_are_doubted(self):
        # Clusters that are right, one pair in five that is not. That rows are hardly sure of their
        # clusters foretells these pairs as well, by chance even better; the pairs would be right.
        rng = np.random.default_rng(7)
        y = rng.integers(3, size=400)
        values = np.eye(3)[y] * rng.uniform(0.2, 1.0, size=(400, 1))
        known = sample_pairs(y, 400, noise=0.2, random_state=7)
        trial = trial_of(Evidence(known, TUNING), rng)
        best = telling_sharpness(trial, values, first=2.5, most=1024.0)
        doubting = telling_sharpness(trial, values, first=2.5, most=1024.0, doubt=True)
        assert doubting.sharpness >= 4 * best.sharpness
        assert best.score - 1.0 < doubting.score < best.score
        wrong = np.mean(trial.must != (y[trial.pairs[:, 0]] == y[trial.pairs[:, 1]]))
        assert shares_of(trial, best.together).most_noise < wrong - 0.02
        assert shares_of(trial, doubting.together).most_noise == pytest.approx(wrong, abs=0.02)

    def test_clearly_unsure_rows_are_not_made_sure_by_doubt(self):
        rng = np.random.default_rng(2)
        y = rng.integers(3, size=900)
        values = np.eye(3)[y] + 0.7 * rng.normal(size=(900, 3))  # one row in four is elsewhere
        trial = trial_of(Evidence(sample_pairs(y, 3_000, random_state=0), TUNING), rng)
        best = telling_sharpness(trial, values, first=2.5, most=1024.0)
        doubting = telling_sharpness(trial, values, first=2.5, most=1024.0, doubt=True)
        assert doubting.sharpness == best.sharpness
        assert shares_of(trial, doubting.together).most_noise < 0.1


@pytest.fixture(scope="module")
def taught():
    X, y = wide(np.random.default_rng(0))
    known = sample_pairs(y, 200, random_state=0)
    return X, y, known, Mosaic(3, random_state=0).fit(X, constraints=known)


class TestChosen:
    def test_where_distances_show_nothing(self, taught):
        X, y, _, model = taught
        assert adjusted_rand_score(y, KMeans(3, n_init=5, random_state=0).fit_predict(X)) < 0.1
        assert model.columns_ is not None
        assert model.columns_.means.shape == (3, 40)
        assert adjusted_rand_score(y, model.labels_) > 0.9

    def test_new_rows_are_placed_as_the_old_ones(self, taught):
        X, y, known, model = taught
        free = np.setdiff1d(np.arange(600), known.pairs)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(X[free]), model.labels_[free])
        chances = model.predict_proba(X[free])
        np.testing.assert_allclose(chances.sum(axis=1), 1.0)
        np.testing.assert_array_equal(chances.argmax(axis=1), model.labels_[free])
        assert model.score(X, constraints=sample_pairs(y, 200, random_state=5)) > -0.35

    def test_units_of_columns_do_not_matter(self, taught):
        X, _, known, model = taught
        scale = 2.0 ** np.random.default_rng(0).integers(-1, 2, size=40)
        other = Mosaic(3, random_state=0).fit(X * scale + 5.0, constraints=known)
        assert other.columns_ is not None
        assert adjusted_rand_score(model.labels_, other.labels_) > 0.95

    def test_not_where_distances_show_all(self):
        rng = np.random.default_rng(0)
        y = rng.integers(3, size=200)
        X = rng.normal(size=(200, 5)) + 8.0 * np.eye(3, 5)[y]
        model = Mosaic(3, random_state=0).fit(X, constraints=sample_pairs(y, 60, random_state=0))
        assert model.columns_ is None
        assert adjusted_rand_score(y, model.labels_) > 0.95

    def test_columns_as_they_are_beside_principal_components(self):
        X = np.random.default_rng(0).normal(size=(30, 8))
        space, _ = coordinates_of(X, most=3)
        plain = plain_columns(X, space)
        _, wanted = coordinates_of(X, most=8)
        got = plain.coordinates(X)
        assert got.shape == (30, 8)
        np.testing.assert_allclose(got / got[0, 0], wanted / wanted[0, 0], rtol=1e-3)
        assert plain_columns(sp.csr_array(X), space) is space


class TestDirections:
    @pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
    @pytest.mark.parametrize("distortion", ["sqeuclidean", "cosine"])
    def test_few_rows_in_many_columns_have_the_same_components(self, make, distortion):
        rng = np.random.default_rng(0)
        X, weights = rng.random((20, 30)), rng.random(20) + 0.5
        few = fit_space(make(X), distortion, weights, 6, TUNING.most_numbers, 0)[1]
        again = np.repeat(X, 2, axis=0)  # more rows than columns: by the covariance
        many = fit_space(make(again), distortion, np.repeat(weights, 2), 6, TUNING.most_numbers, 0)
        np.testing.assert_allclose(few, many[1][::2], atol=1e-5)

    def test_rows_that_are_the_same_have_no_components(self):
        X = np.tile(np.arange(60.0), (4, 1))
        _, coordinates = fit_space(X, "sqeuclidean", np.ones(4), 5, TUNING.most_numbers, 0)
        assert not coordinates.any()

    def test_noise_in_many_columns_does_not_hide_directions(self):
        rng = np.random.default_rng(0)
        y = rng.integers(3, size=150)
        X = rng.gamma(0.3, size=(150, 400)) + 6.0 * np.repeat(np.eye(3), 4, axis=1)[y] @ np.eye(
            12, 400
        )
        X *= rng.random((150, 1)) + 0.2
        space, coordinates = coordinates_of(X, "cosine")
        problem, _ = posed(X, sample_pairs(y, 5, random_state=0))
        found = by_directions(coordinates, space, problem, 3, 0)
        assert adjusted_rand_score(y, found.labels) > 0.9
        # In the space of all columns the cosine is what directions are compared by.
        X = X[:, :20]
        space, coordinates = coordinates_of(X, "cosine")
        problem, _ = posed(X, sample_pairs(y, 5, random_state=0))
        assert adjusted_rand_score(y, by_directions(coordinates, space, problem, 3, 0).labels) > 0.9
