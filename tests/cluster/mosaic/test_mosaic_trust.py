"""How far Mosaic trusts pairs, and the threads its starts run on."""

from __future__ import annotations

import numpy as np
import pytest
from mosaic_problems import TUNING, posed
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_info

from coterie import Constraints, Mosaic
from coterie.cluster.mosaic import trust
from coterie.cluster.mosaic.beliefs import form_beliefs, start_from
from coterie.cluster.mosaic.noise import Noise
from coterie.cluster.mosaic.parallel import side_by_side
from coterie.cluster.mosaic.starts import StartKind, try_start
from coterie.constraints import sample_pairs
from coterie.data import num_threads, use_threads
from coterie.progress import keep_going, watching

BY_POSITION, BY_PAIRS = StartKind(seed=0, reach=np.inf), StartKind(seed=0, reach=10.0)


def moons(n: int, pairs: int, noise: float, seed: int = 0):
    X, y = make_moons(n, noise=0.08, random_state=seed)
    return X, y, sample_pairs(y, pairs, noise=noise, random_state=seed)


def chosen_rate(X, known, kind=BY_PAIRS, tuning=TUNING):
    """The noise rate that is chosen; None where pairs are trusted."""
    problem, coordinates = posed(X, known, tuning)
    state = try_start(problem, kind, 2, 10)
    rehearsal = trust.rehearse(problem, coordinates, kind, 2)
    noise, _ = trust.choose_noise(problem, state, rehearsal)
    return noise.rate if noise.origin == "chosen" else None


def all_pairs(y, rows, noise, seed=0):
    """Every pair of `rows`, some of them of the wrong kind."""
    i, j = (rows[part] for part in np.triu_indices(len(rows), 1))
    wrong = np.random.default_rng(seed).random(i.size) < noise
    same = (y[i] == y[j]) ^ wrong
    pairs = np.c_[i, j]
    return Constraints(len(y), must_link=pairs[same], cannot_link=pairs[~same])


class TestParts:
    @pytest.mark.parametrize(("pairs", "parts"), [(7, 3), (12, 6), (40, 15), (100, 6), (400, 3)])
    def test_of_few_pairs_few_are_held_out_at_a_time(self, pairs, parts):
        """What two thirds of few pairs teach says little of what all of them would."""
        X, _, known = moons(400, pairs, 0.0)
        problem, coordinates = posed(X, known)
        held = trust.rehearse(problem, coordinates, BY_POSITION, 2)
        assert len(held.folds) == parts
        times = np.sum([fold.out for fold in held.folds], axis=0)
        assert (times == 1).all()


class TestTrust:
    @pytest.mark.parametrize(("noise", "wanted"), [(0.0, None), (0.1, 0.1), (0.2, 0.2), (0.3, 0.3)])
    def test_the_rate_of_the_ladder_nearest_to_the_truth_is_found(self, noise, wanted):
        X, _, known = moons(400, 800, noise)
        assert chosen_rate(X, known) == wanted

    @pytest.mark.parametrize("noise", [0.0, 0.05, 0.1, 0.2, 0.3])
    def test_many_pairs_a_row_check_one_another(self, noise, monkeypatch):
        X, y = make_moons(600, noise=0.08, random_state=0)
        known = all_pairs(y, np.arange(0, 600, 9), noise)
        monkeypatch.setattr(trust, "_predicting_noise", None)  # not asked
        rate = chosen_rate(X, known)
        if noise:
            broken = (known.kind > 0) != (y[known.pairs[:, 0]] == y[known.pairs[:, 1]])
            assert rate == pytest.approx(broken.mean(), abs=0.01)
        else:
            assert rate is None

    def test_many_pairs_that_too_few_clusters_must_break_are_no_reason_for_distrust(self):
        X, _ = make_moons(600, noise=0.08, random_state=0)
        apart = all_pairs(np.arange(600), np.arange(0, 600, 9), 0.0)
        assert chosen_rate(X, apart) is None

    def test_held_out_pairs_are_judged_by_the_formula(self):
        X, _, known = moons(60, 40, 0.1)
        problem, coordinates = posed(X, known)
        rehearsal = trust.rehearse(problem, coordinates, BY_POSITION, 2)
        found, trial = trust.foretell(rehearsal, 0.2), rehearsal.trial
        assert sum(fold.out for fold in rehearsal.folds).tolist() == [1] * known.n_pairs
        wanted = 0.0
        for fold in rehearsal.folds:
            assert fold.evidence.constraints.n_pairs == known.n_pairs - fold.out.sum()
            others = rehearsal.problem.with_pairs(fold.evidence, Noise(0.2, "chosen"))
            state = form_beliefs(others, start_from(others, fold.start, 2), TUNING.pilot_rounds)
            for pair in np.flatnonzero(fold.out):
                i, j = trial.pairs[pair]
                same = sum(state.rows[i, k] * state.rows[j, k] for k in range(2))
                agree = same if trial.must[pair] else 1 - same
                assert found.together[pair] == pytest.approx(same)
                labels = state.rows[[i, j]].argmax(axis=1)
                assert found.by_label[pair] == (labels[0] == labels[1])
                wanted += np.log(0.8 * agree + 0.2 * (1 - agree))
        assert found.log_chances(trial, 0.2).sum() == pytest.approx(wanted)
        assert found.at_best(trial, (0.2, 0.1)).sum() >= wanted

    def test_a_pair_given_twice_is_held_out_once_and_counts_as_one_of_weight_two(self):
        X, _, known = moons(300, 300, 0.2)
        must = known.kind > 0
        heavy = Constraints(
            300, known.pairs[must], known.pairs[~must], must_weight=2.0, cannot_weight=2.0
        )
        twice, once = (
            Mosaic(2, random_state=0).fit(X, constraints=c) for c in (known + known, heavy)
        )
        np.testing.assert_array_equal(twice.labels_, once.labels_)
        assert twice.noise_ == pytest.approx(once.noise_)

    def test_clusters_that_do_not_follow_positions_are_no_reason_for_distrust(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
        known = sample_pairs(y, 250, random_state=0)
        assert chosen_rate(X, known) is None

    def test_pairs_of_one_kind_or_few_pairs_cannot_tell(self):
        X, _, known = moons(200, 300, 0.2)
        for some in (
            known.only("must_link"),
            known.only("cannot_link"),
            known._take(np.arange(10)),
        ):
            assert chosen_rate(X, some, BY_POSITION) is None

    def test_of_many_rows_and_pairs_a_part_decides_and_finds_the_same(self):
        X, _, known = moons(6000, 3000, 0.2)
        few = TUNING._replace(deciding_pairs=1500)
        problem, coordinates = posed(X, known, few)
        part = trust._deciding_part(problem, coordinates, np.random.default_rng(0))[0].evidence
        assert part.constraints.n_samples < 6000
        assert part.plain.size == part.constraints.n_pairs >= 1500
        assert chosen_rate(X, known, tuning=few) == 0.2

    def test_of_rows_that_were_all_compared_a_few_decide_with_all_their_pairs(self):
        """190 of 1,770 pairs of 60 rows would say of hardly any two rows that they are the same."""
        X, y, _ = moons(600, 10, 0.0)
        known = all_pairs(y, np.arange(0, 600, 10), 0.0)
        problem, coordinates = posed(X, known, TUNING._replace(deciding_pairs=190))
        held = trust.rehearse(problem, coordinates, BY_POSITION, 2).trial
        assert held.must.size == 190
        assert np.unique(held.pairs).size == 20
        one_row = Constraints(600, cannot_link=[(0, j) for j in range(1, 600)])
        problem, coordinates = posed(X, one_row, TUNING._replace(deciding_pairs=190))
        assert trust.rehearse(problem, coordinates, BY_POSITION, 2).trial.plain.sum() == 190

    def test_rows_in_hard_pairs_alone_are_no_reason_to_take_all(self):
        X, y, known = moons(1000, 200, 0.0)
        i = np.arange(999)
        hard = Constraints(1000, must_link=np.c_[i, i + 1][y[:-1] == y[1:]]).as_hard()
        problem, coordinates = posed(X, hard + known)
        part, _ = trust._deciding_part(problem, coordinates, np.random.default_rng(0))
        assert part.evidence.constraints.n_samples == 2 * np.unique(known.pairs).size < 1000

    def test_hard_pairs_are_held_out_only_where_there_are_no_others(self):
        X, _, known = moons(200, 200, 0.0)
        hard = known._take(np.arange(100)).as_hard()
        for pairs, held in ((hard + known._take(np.arange(100, 200)), False), (hard, True)):
            rehearsal = trust.rehearse(*posed(X, pairs), BY_POSITION, 2)
            assert rehearsal.trial.must.size == 100
            assert rehearsal.trial.plain.all() != held
            for fold in rehearsal.folds:
                assert (fold.evidence.constraints.is_hard.sum() < 100) == held

    def test_with_one_answer_in_five_wrong_pairs_still_help(self):
        gains = []
        for seed in range(5):
            X, y = make_blobs(300, centers=3, random_state=seed)
            X = X @ np.array([[0.6, -0.6], [-0.4, 0.8]])  # stretched: K-Means has no chance
            known = sample_pairs(y, 300, noise=0.2, random_state=seed)
            model = Mosaic(3, random_state=seed).fit(X, constraints=known)
            trusting = Mosaic(3, noise=0.01, random_state=seed).fit(X, constraints=known)
            none = Mosaic(3, random_state=seed).fit(X)
            scores = [adjusted_rand_score(y, m.labels_) for m in (model, trusting, none)]
            gains.append((scores[0] - scores[1], scores[0] - scores[2]))
        over_trusting, over_none = np.mean(gains, axis=0)
        assert over_trusting > 0.1
        assert over_none > 0

    def test_the_result_is_the_same_for_any_number_of_threads(self):
        X, _, known = moons(300, 300, 0.2)
        found = []
        for threads in (1, 3):
            with use_threads(threads):
                model = Mosaic(2, random_state=0).fit(X, constraints=known)
            found.append((model.labels_, model.noise_))
        np.testing.assert_array_equal(found[0][0], found[1][0])
        assert found[0][1] == found[1][1]

    def test_what_the_user_says_of_the_noise_is_believed(self):
        X, _, known = moons(300, 300, 0.2)
        assert Mosaic(2, noise=0.03, random_state=0).fit(X, constraints=known).noise_ == 0.03


class TestSideBySide:
    def test_order_and_context_are_kept_and_blas_threads_restored(self):
        before = [pool["num_threads"] for pool in threadpool_info()]
        seen = []
        with use_threads(4), watching(lambda step: seen.append(step.step)):
            found = side_by_side(
                [lambda i=i: (i, num_threads(), keep_going(i + 1, 9, 0.0)) for i in range(9)]
            )
        assert [each[0] for each in found] == list(range(9))
        assert {each[1] for each in found} == {1}
        assert sorted(seen) == list(range(1, 10))
        assert [pool["num_threads"] for pool in threadpool_info()] == before

    def test_errors_come_out(self):
        with use_threads(2), pytest.raises(ZeroDivisionError):
            side_by_side([lambda: 1, lambda: 1 // 0])
