"""Pairs as judges: what clusterings foretell of them, and that too few or wrong ones do no harm."""

from __future__ import annotations

import numpy as np
import pytest
from mosaic_problems import TUNING, posed
from scipy.stats import t
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from coterie import Constraints, Mosaic
from coterie.cluster.mosaic import search
from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.geometry import Geometry, best_geometry, geometries
from coterie.cluster.mosaic.judging import Trial, clear_lead, log_chances, shares_of, trial_of
from coterie.constraints import sample_pairs


def random_trial(rng, n=30, m=60):
    i = rng.integers(n, size=m)
    pairs = np.column_stack([i, (i + rng.integers(1, n, size=m)) % n])
    return Trial(pairs, rng.random(m) < 0.4, np.ones(m, bool), rng.random(m))


class TestShares:
    def test_of_labels_they_are_counts_and_half_a_pair(self):
        rng = np.random.default_rng(0)
        trial, labels = random_trial(rng), rng.integers(2, size=30)
        sums = {(a, b): 0.5 for a in (0, 1) for b in (0, 1)}
        for (i, j), must, weight in zip(trial.pairs, trial.must, trial.weight, strict=True):
            sums[int(labels[i] == labels[j]), int(must)] += weight
        wanted = [sums[side, 1] / (sums[side, 0] + sums[side, 1]) for side in (1, 0)]
        found = shares_of(trial, trial.together(labels))
        if wanted[0] > wanted[1]:
            assert found == pytest.approx(wanted)
        else:
            assert found.together == found.apart

    def test_of_chances_no_other_shares_make_the_pairs_more_probable(self):
        rng = np.random.default_rng(1)
        trial = random_trial(rng, m=400)
        together = rng.random(400)
        trial = trial._replace(must=rng.random(400) < 0.15 + 0.6 * together)

        def score(p, q):  # with half a pair of either kind on both sides
            chance = p * together + q * (1 - together)
            right = np.where(trial.must, chance, 1 - chance)
            return trial.weight @ np.log(right) + 0.5 * np.log([p, q, 1 - p, 1 - q]).sum()

        p, q = shares_of(trial, together)
        best = max(
            score(a, b) for a in np.linspace(0.01, 0.99, 99) for b in np.linspace(0.01, 0.99, 99)
        )
        assert score(p, q) > best - 0.05

    def test_no_more_pairs_are_wrong_than_clusters_fail_to_foretell(self):
        y = np.repeat([0, 1], 200)
        known = sample_pairs(y, 2000, noise=0.2, random_state=0)
        trial = trial_of(Evidence(known, TUNING), np.random.default_rng(0))
        assert shares_of(trial, trial.together(y)).most_noise == pytest.approx(0.2, abs=0.03)
        halves = np.arange(400) % 2  # clusters that have nothing to do with it
        assert shares_of(trial, trial.together(halves)).most_noise > 0.4

    def test_pairs_of_one_kind_are_compared_with_random_ones(self):
        y = np.repeat([0, 1], 100)
        for kind in ("must_link", "cannot_link"):
            known = sample_pairs(y, 200, random_state=0).only(kind)
            trial = trial_of(Evidence(known, TUNING), np.random.default_rng(0))
            right, wrong = (
                log_chances(trial, trial.together(labels)).sum()
                for labels in (y, np.arange(200) % 2)
            )
            assert right > wrong + 5


class TestClearLead:
    def naive(self, pairs, lead):
        """Sum of products over pairs that share a row, the same pair once."""
        gaps = lead - lead.mean()
        return sum(
            gaps[a] * gaps[b]
            for a in range(len(pairs))
            for b in range(len(pairs))
            if set(pairs[a]) & set(pairs[b])
        )

    def test_pairs_with_a_row_in_common_vary_together(self):
        rng = np.random.default_rng(0)
        i, j = np.triu_indices(8, 1)
        skill = rng.normal(size=8)
        lead = 0.2 + 0.5 * skill[i] + 0.5 * skill[j] + 0.1 * rng.normal(size=i.size)
        trial = Trial(np.column_stack([i, j]), i == j, i == j, np.ones(i.size))
        error = np.sqrt(self.naive(trial.pairs.tolist(), lead))
        assert error > 1.3 * np.sqrt(lead.size) * lead.std()  # they are fewer than they seem
        self.check(trial, lead, error)

    def test_pairs_that_share_no_row_are_independent(self):
        lead = np.random.default_rng(0).normal(0.3, 1.0, 20)
        trial = Trial(np.arange(40).reshape(20, 2), lead > 0, lead > 0, np.ones(20))
        self.check(trial, lead, np.sqrt(20) * lead.std())

    def check(self, trial, lead, error):
        """The lead is clear up to the confidence that Student's table has for it."""
        gaps = lead - lead.mean()
        freedom = (gaps**2).sum() ** 2 / (gaps**4).sum() - 1
        just = t.cdf(lead.sum() / error, freedom)
        assert 0.5 < just < 0.999
        assert clear_lead(trial.pairs, lead, just - 0.001)
        assert not clear_lead(trial.pairs, lead, just + 0.001)

    def test_one_pair_that_differs_is_no_evidence(self):
        lead = np.zeros(50)
        lead[7] = 5.0
        trial = Trial(np.arange(100).reshape(50, 2), lead > 0, lead > 0, np.ones(50))
        assert not clear_lead(trial.pairs, lead, 0.6)
        assert not clear_lead(trial.pairs, np.zeros(50), 0.6)

    def test_a_little_all_in_one_way_is_no_evidence(self):
        # Of 300 pairs that are foretold alike a third is foretold a hair better by one: Student's
        # test alone is sure, though the odds are 7 to 5.
        lead = np.zeros(300)
        lead[:100] = np.linspace(0.003, 0.004, 100)
        pairs = np.arange(600).reshape(300, 2)
        assert lead.sum() < np.log(1.45)
        assert not clear_lead(pairs, lead, 0.9)
        assert clear_lead(pairs, 10 * lead, 0.9)

    def test_rounding_is_no_evidence(self):
        must = np.arange(14) >= 7
        trial = Trial(np.arange(28).reshape(14, 2), must, must, np.full(14, 0.9))
        nothing, useless = np.zeros((2, 14))  # one puts no pair together, ...
        useless[0] = 1.0  # ... the other a single one, which is a cannot-link
        lead = log_chances(trial, useless) - log_chances(trial, nothing)
        assert 0.0 < lead.sum() < 1e-15
        assert not clear_lead(trial.pairs, lead, 0.6)

    def test_shapes_and_columns_share_the_doubt(self, monkeypatch):
        """At 90 % each, pairs that say nothing would teach one of the two in a fit of five."""
        asked = []

        def ask(trial, lead, confidence):
            asked.append(confidence)
            return False

        monkeypatch.setattr(search, "clear_lead", ask)
        X, y = make_blobs(120, n_features=4, centers=3, random_state=0)
        Mosaic(3, random_state=0).fit(X, constraints=sample_pairs(y, 40, random_state=0))
        assert asked
        assert asked == pytest.approx([1.0 - (1.0 - TUNING.clear) / 2] * len(asked))


class TestGeometries:
    def test_a_few_pairs_choose_the_right_one(self):
        long = make_blobs(400, centers=[[0, 0], [0, 3]], cluster_std=0.6, random_state=0)
        long = (long[0] * [3.0, 1.0], long[1])

        sets = {
            "means": make_blobs(400, centers=[[0, 0], [6, 0]], random_state=0),
            "neighbours": make_moons(600, noise=0.05, random_state=0),
            "ellipses": long,
        }
        for name, (X, y) in sets.items():
            known = sample_pairs(y, 20, noise=0.1, random_state=1)
            problem, coordinates = posed(X, known)
            labels = KMeans(2, n_init=5, random_state=0).fit_predict(X)
            found = [Geometry("means", labels), *geometries(X, coordinates, problem, 2, 0)]
            trial = trial_of(problem.evidence, np.random.default_rng(0))
            best = best_geometry(found, trial, TUNING.clear)
            assert adjusted_rand_score(y, best.labels) > 0.9, (name, best.name)

    def test_too_many_clusters_have_none(self):
        X = np.random.default_rng(0).normal(size=(30, 2))
        problem, coordinates = posed(X, Constraints(30, must_link=[(0, 1)]))
        assert geometries(X, coordinates, problem, 20, 0) == []

    def test_rows_that_count_nothing_do_not_matter(self):
        X, y = make_moons(300, noise=0.05, random_state=0)
        far = np.vstack([X, [[1e3, 1e3]]])
        known = sample_pairs(y, 40, random_state=0)
        known = Constraints(301, known.must_link, known.cannot_link)
        weights = np.append(np.ones(300), 0.0)
        model = Mosaic(2, random_state=0).fit(far, constraints=known, sample_weight=weights)
        assert adjusted_rand_score(y, model.labels_[:300]) > 0.97


class TestDoNoHarm:
    @pytest.mark.parametrize("seed", range(5))
    def test_a_handful_of_pairs_is_listened_to(self, seed):
        """K-Means parts a long cloud in the middle; four pairs say that it is the wrong way."""
        X = np.random.default_rng(seed).normal(size=(40, 2)) * [3, 1]
        known = sample_pairs((X[:, 1] > 0).astype(int), 4, random_state=seed)
        model = Mosaic(2, random_state=0).fit(X, constraints=known)
        assert len(model.violations_) == 0
        free = np.setdiff1d(np.arange(40), known.pairs)
        assert (model.predict(X)[free] == model.labels_[free]).all()

    @pytest.mark.parametrize("wrong", [0.0, 0.1, 0.2])
    def test_few_pairs_some_wrong_leave_clusters_as_they_are(self, wrong):
        """Blobs that overlap, ten of them: K-Means is as good as it gets.

        Another clustering by position is chosen with 90 % confidence, so now and then by chance.
        """
        X, y = make_blobs(300, centers=10, cluster_std=1.5, random_state=0)
        plain = adjusted_rand_score(y, KMeans(10, n_init=10, random_state=0).fit_predict(X))
        found = []
        for pairs in (6, 15, 60):
            for seed in range(2):
                known = sample_pairs(y, pairs, noise=wrong, random_state=seed)
                labels = Mosaic(10, random_state=seed).fit_predict(X, constraints=known)
                found.append(adjusted_rand_score(y, labels))
        assert np.mean(found) > plain - 0.02
        assert min(found) > plain - 0.05

    def test_five_pairs_find_what_position_can_tell(self):
        X, y = make_moons(600, noise=0.1, random_state=0)
        known = sample_pairs(y, 6, random_state=0)
        labels = Mosaic(2, random_state=0).fit_predict(X, constraints=known)
        assert adjusted_rand_score(y, labels) > 0.9

    def test_columns_that_matter_are_found_with_few_pairs(self):
        rng = np.random.default_rng(0)
        y = rng.integers(2, size=500)
        X = (rng.random((500, 60)) < 0.5).astype(float)
        X[:, 10:16] = rng.random((500, 6)) < np.where(y == 1, 0.9, 0.1)[:, None]
        known = sample_pairs(y, 25, random_state=0)
        labels = Mosaic(2, random_state=0).fit_predict(X, constraints=known)
        assert adjusted_rand_score(y, labels) > 0.8


@pytest.mark.parametrize("n_apart", [0, 3, 12])
def test_a_few_true_cannot_links_beside_must_links_are_no_worse_than_none(n_apart):
    """Pairs that cross a batch effect teach what position does not tell."""
    rng = np.random.default_rng(1)
    y, day = rng.integers(3, size=240), rng.integers(2, size=240)
    X = rng.normal(size=(240, 10)) * 0.6
    X[:, 0] += 2.5 * y
    X[:, 1] += 8.0 * day
    ends = [
        (np.flatnonzero((y == k) & (day == 0))[:12], np.flatnonzero((y == k) & (day == 1))[:12])
        for k in range(3)
    ]
    must = [pair for first, second in ends for pair in zip(first, second, strict=True)]
    apart = [(ends[t % 3][0][t], ends[(t + 1) % 3][1][t]) for t in range(n_apart)]
    known = Constraints(240, must_link=must, cannot_link=apart)
    labels = Mosaic(3, random_state=0).fit_predict(X, constraints=known)
    assert adjusted_rand_score(y, labels) > 0.9
