"""What answers make of the start: news where it is in doubt, slips where it is clear-cut."""

from __future__ import annotations

import numpy as np
import pytest

from coterie import Constraints, Dossier
from coterie.records import pose_records, solve
from coterie.records.classes import PairClasses, fit_classes
from coterie.records.comparison import N_LEVELS
from coterie.records.estimates import expected_precision, expected_recall
from coterie.records.learning import Answers, anchors_of, learn
from coterie.records.problem import Solution, best_threshold
from coterie.records.rivals import Rivals, find_rivals

LOW, HIGH = 2, N_LEVELS - 1


def clear_cut(doubt):
    """Two classes in three fields: all alike is "same", all different is not."""
    log_level = np.full((2, 3, N_LEVELS), np.log(1e-3))
    log_level[0, :, HIGH] = log_level[1, :, LOW] = np.log(0.98)
    log_level[:, :, :LOW] = 0.0
    return PairClasses(np.log([0.1, 0.9]), log_level, np.array([0.99, 0.001]), 1.0, doubt)


def told(yes_of_alike, no_of_alike, yes_of_others=0, no_of_others=0):
    alike, others = yes_of_alike + no_of_alike, yes_of_others + no_of_others
    levels = np.repeat([[HIGH] * 3, [LOW] * 3], [alike, others], axis=0).astype(np.int8)
    counts = [yes_of_alike, no_of_alike, yes_of_others, no_of_others]
    same = np.repeat([True, False, True, False], counts)
    nothing = np.zeros(same.size)  # neither before other pairs nor behind
    pairs = np.zeros((same.size, 2), dtype=np.int64)
    return Answers(pairs, levels, nothing, same, np.full(same.size, np.nan), np.ones(same.size))


def by(belief, levels, rivals=None):
    """Log-odds of pairs (0, 1), by default of records that have as good a pair elsewhere."""
    levels = np.asarray(levels, dtype=np.int8)
    if rivals is None:
        odds = belief.classes.log_odds(levels)
        found = [belief.log_odds(levels[[m]], PAIR, tied(odds[m]))[0] for m in range(len(levels))]
        return np.array(found)
    return belief.log_odds(levels, np.repeat(PAIR, len(levels), axis=0), rivals)


PAIR = np.array([[0, 1]])


def tied(odds):
    return Rivals(np.array([2, 2, 0]), np.full(3, odds), np.full(3, -np.inf))


def chance_of_alike(doubt, answers):
    odds = by(learn(clear_cut(doubt), answers), [[HIGH] * 3])[0]
    return 1 / (1 + np.exp(-odds))


def test_a_few_answers_against_a_clear_start_are_taken_for_wrong():
    mixed = told(2, 2, 3, 18)  # five of 25 wrong
    assert chance_of_alike(0.0, mixed) > 0.9
    assert chance_of_alike(0.0, mixed) > chance_of_alike(2.0, mixed)
    assert learn(clear_cut(0.0), mixed).error_rate > 0.08


def test_answers_that_agree_with_each_other_overturn_the_clearest_start():
    assert chance_of_alike(0.0, told(0, 8, 0, 17)) < 0.3


def test_where_much_is_in_doubt_few_answers_do():
    assert chance_of_alike(2.0, told(0, 4, 0, 8)) < chance_of_alike(0.0, told(0, 4, 0, 8))


def test_true_answers_leave_a_right_start_alone():
    levels = np.array([[HIGH] * 3, [LOW] * 3, [HIGH, HIGH, LOW]], dtype=np.int8)
    start = clear_cut(0.0)
    found = by(learn(start, told(5, 0, 0, 20)), levels)
    np.testing.assert_allclose(found, start.log_odds(levels), atol=0.6)


# -- what is known before ------------------------------------------------------------------------
def anchors(start):
    levels = np.repeat([[HIGH] * 3, [LOW] * 3], [60, 300], axis=0).astype(np.int8)
    return anchors_of(start, np.zeros((360, 2), dtype=np.int64), levels)


def test_anchors_are_the_clearest_pairs_of_both_kinds_and_count_as_few_answers():
    known = anchors(clear_cut(2.0))
    assert (known.levels[known.same] == HIGH).all()
    assert (known.levels[~known.same] == LOW).all()
    assert not known.lead.any()
    assert known.weight[known.same].sum() == pytest.approx(16.0)
    assert known.weight[~known.same].sum() == pytest.approx(16.0)
    levels = np.array([[HIGH] * 3, [LOW] * 3], dtype=np.int8)
    few = anchors_of(clear_cut(2.0), PAIR.repeat(2, axis=0), levels)
    assert few.weight.max() <= 1.0  # never more answers than pairs


def test_two_answers_against_the_best_class_do_not_turn_it_but_many_do():
    start = clear_cut(2.0)
    few, many = told(0, 2, 0, 23), told(0, 20, 0, 5)
    alike = np.full((1, 3), HIGH, dtype=np.int8)
    without = by(learn(start, few), alike)[0]
    assert without < 0  # which would part every pair that is the same
    assert by(learn(start, few, anchors=anchors(start)), alike)[0] > 0
    assert by(learn(start, many, anchors=anchors(start)), alike)[0] < 0


# -- rivals --------------------------------------------------------------------------------------
def test_answers_about_pairs_that_are_outdone_leave_the_others_alone():
    """Eight records that are like two others, and the same as the more alike of them."""
    lead = np.repeat([-1.0, 0.5], [8, 4])
    alike = told(4, 8)._replace(same=lead > 0, lead=lead)
    belief = learn(clear_cut(2.0), alike)
    blind = learn(clear_cut(2.0), alike._replace(lead=np.zeros(12)))
    alone = Rivals(np.array([1, 0]), np.full(2, 4.6), np.full(2, -np.inf))
    outdone = Rivals(np.array([2, 2, 0]), np.full(3, 99.0), np.full(3, -np.inf))
    level = [[HIGH] * 3]
    assert belief.of_lead > 0.5
    assert by(belief, level, outdone)[0] < 0 < by(belief, level, alone)[0]
    assert by(belief, level, alone)[0] > by(blind, level)[0] + 1


@pytest.mark.parametrize("seed", range(5))
def test_a_lead_is_over_the_best_other_pair_of_either_record(seed):
    rng = np.random.default_rng(seed)
    n = 9
    every = np.column_stack(np.triu_indices(n, 1))
    kept = rng.random(len(every)) < 0.4
    pairs, odds = every[kept], rng.normal(size=int(kept.sum())).round(1)  # some are equal
    rivals = find_rivals(n, pairs, odds)
    asked = rng.normal(size=len(every))
    for (i, j), mine, lead in zip(every, asked, rivals.lead(every, asked), strict=True):
        others = [
            o
            for (a, b), o in zip(pairs.tolist(), odds, strict=True)
            if {a, b} & {i, j} and {a, b} != {i, j}
        ]
        assert lead == np.clip((mine - max(others, default=-np.inf)) / 2, -1, 1)
    # Pairs that come later count as if they had been there.
    first = pairs[:, 1] < n - 2
    later = find_rivals(n - 2, pairs[first], odds[first]).beside(2, pairs[~first], odds[~first])
    np.testing.assert_array_equal(later.best, rivals.best)
    np.testing.assert_array_equal(later.second, rivals.second)


# -- threshold -----------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(5))
def test_the_best_threshold_has_the_best_expected_f1(seed):
    chance = np.random.default_rng(seed).beta(0.6, 0.8, 400)

    def expected_f1(threshold):
        joined = chance >= threshold
        return 2 * chance[joined].sum() / (joined.sum() + chance.sum())

    found = best_threshold(chance, 10**9)
    assert 0.25 < found < 0.5
    assert expected_f1(found) >= max(map(expected_f1, np.linspace(0.01, 0.99, 99))) - 1e-6


def test_the_threshold_stays_at_a_half_where_all_is_clear_or_nothing_was_told():
    clear = np.repeat([0.9999, 0.0001], [50, 500])
    assert best_threshold(clear, 100) == pytest.approx(0.5, abs=0.001)
    assert best_threshold(np.full(50, 0.3), 0) == 0.5
    assert best_threshold(np.full(50, 0.01), 10**9) == pytest.approx(0.25)
    assert best_threshold(np.empty(0), 5) <= 0.5


# -- estimates -----------------------------------------------------------------------------------
def solved(n_joined, n_apart):
    """Pairs of two records: some surely the same and joined, the others surely not."""
    n = n_joined + n_apart
    levels = np.repeat([[HIGH] * 3, [LOW] * 3], [n_joined, n_apart], axis=0).astype(np.int8)
    pairs = np.arange(2 * n).reshape(n, 2)
    labels = np.arange(2 * n)
    labels[pairs[:n_joined, 1]] = pairs[:n_joined, 0]
    belief = learn(clear_cut(0.0), told(0, 0))
    odds = belief.classes.log_odds(levels)
    return Solution(belief, pairs, levels, odds, odds, labels, 0.5)


def test_many_pairs_that_are_surely_different_are_not_taken_for_missed_ones():
    """Σp of 10,000 pairs of a class that is "same" with probability .001 is ten pairs."""
    solution = solved(100, 10_000)
    chance = 1 / (1 + np.exp(-solution.log_odds))
    assert chance[:100].sum() / chance.sum() < 0.92
    # The class is one question: all is found, unless it is "same", and then nearly nothing is.
    joined = chance[:100].sum()
    odd = 0.001 * joined / (joined + chance[100:].sum() / 0.001)
    assert expected_recall(solution) == pytest.approx(0.999 + odd, abs=2e-4)
    assert expected_precision(solution) == pytest.approx(chance[:100].mean())


def test_doubts_about_single_pairs_add_up():
    solution = solved(100, 50)
    apart = solution._replace(labels=np.arange(300))  # nothing joined
    assert expected_recall(apart) == 0.0
    some = solution.labels.copy()
    some[solution.pairs[60:100, 1]] = solution.pairs[60:100, 1]  # 40 of 100 not joined
    assert expected_recall(solution._replace(labels=some)) == pytest.approx(0.6, abs=0.01)
    nobody = solved(0, 0)
    assert expected_recall(nobody) == expected_precision(nobody) == 1.0


def test_answers_about_a_class_settle_what_it_is():
    """What is apart may be "same" as a whole class; answers "different" know better."""
    solution = solved(100, 10_000)
    told_of = learn(clear_cut(0.0), told(0, 0, 0, 3))
    assert told_of.told_of_class[1] < -6 < -1e-3 < told_of.told_of_class[0] <= 0
    before = expected_recall(solution)
    assert before < 0.9991
    settled = solution._replace(belief=solution.belief._replace(told_of_class=np.array([0, -9.0])))
    assert expected_recall(settled) > 0.9999
    # That some of its pairs are the same is not that all are.
    turned = solution._replace(belief=solution.belief._replace(told_of_class=np.array([0, 9.0])))
    assert expected_recall(turned) == before


def test_two_clusters_are_the_same_or_not_by_all_pairs_between_them():
    """A pair that seems the same, between two couples whose other three pairs do not."""
    pairs = np.array([[0, 1], [2, 3], [0, 2], [0, 3], [1, 2], [1, 3]])
    levels = np.repeat([[HIGH] * 3, [LOW] * 3], [3, 3], axis=0).astype(np.int8)
    odds = np.array([9.0, 9.0, 4.0, -9.0, -9.0, -9.0])
    belief = learn(clear_cut(0.0), told(0, 0))
    solution = Solution(belief, pairs, levels, odds, odds, np.array([0, 0, 1, 1]), 0.5)
    assert expected_recall(solution) > 0.99
    alone = solution._replace(pairs=pairs[:3], levels=levels[:3], log_odds=odds[:3])
    missed = 1 / (1 + np.exp((3 * 3.0 - 4.0) / 2))  # three were not worth comparing, 3 nats each
    assert expected_recall(alone) == pytest.approx(2 / (2 + missed), abs=1e-3)
    single = solution._replace(labels=np.array([0, 1, 2, 3]))
    assert expected_recall(single) < 0.01


# -- strangers -----------------------------------------------------------------------------------
def drawn(rng, count, *fields):
    """Levels (count, F): of each field levels and how often they are drawn."""
    return np.column_stack([rng.choice(list(f), count, p=list(f.values())) for f in fields]).astype(
        np.int8
    )


def test_strangers_who_agree_by_chance_are_not_the_same():
    rng = np.random.default_rng(0)
    strange, shared = {LOW: 0.8, LOW + 1: 0.2}, {N_LEVELS - 3: 1.0}
    background = drawn(
        rng, 20_000, strange, {LOW: 0.975, N_LEVELS - 3: 0.025}, {LOW: 0.987, 13: 0.013}
    )
    candidates = [
        drawn(rng, 1000, {HIGH: 0.7, 9: 0.3}, {N_LEVELS - 3: 0.9, LOW: 0.1}, {13: 0.9, LOW: 0.1}),
        drawn(rng, 5000, {6: 0.5, 7: 0.5}, {LOW: 1.0}, {LOW: 1.0}),  # alike in the first field
        drawn(rng, 400, strange, shared, {13: 1.0}),  # candidates for what they share
    ]
    classes = fit_classes(np.concatenate(candidates), background, 1700)
    odds = classes.log_odds(
        np.array([[HIGH, 12, 13], [9, 12, 13], [LOW, LOW, 13], [LOW, 12, LOW]], dtype=np.int8)
    )
    assert (odds[:2] > 2).all()
    assert (odds[2:] < -2).all()


# -- look-alikes ---------------------------------------------------------------------------------
def with_look_alikes():
    start = clear_cut(0.0)
    same = np.array([1 - 1e-4, 1e-4])
    return start._replace(same=same, identifying=np.arange(3))


def test_pairs_of_one_class_are_the_less_sure_the_more_fields_are_strange():
    start = with_look_alikes()
    levels = np.array([[HIGH] * 3, [HIGH, HIGH, LOW], [HIGH, LOW, LOW]], dtype=np.int8)
    odds = start.log_odds(levels)
    assert odds[0] > odds[1] + 1 > odds[2] + 2
    assert odds[0] == pytest.approx(np.log(1e4), abs=0.1)
    clear = start.clearness(levels, start.shares(levels))
    assert clear[0] > clear[1]
    assert not clear_cut(0.0).clearness(levels, start.shares(levels)).any()


def test_one_strange_field_of_three_is_what_look_alikes_have():
    """Rooms of a hotel: one name less alike, and the odds fall by what strangers show there."""
    start = with_look_alikes()
    levels = np.array([[HIGH, HIGH, LOW]], dtype=np.int8)
    ratio = np.exp(start.log_level[1] - start.log_level[0])
    mean = np.mean([ratio[0, HIGH], ratio[1, HIGH], ratio[2, LOW]])
    clear = -np.log(mean) / 5.0 * start.shares(levels)[0, 0]
    assert start.clearness(levels, start.shares(levels))[0] == pytest.approx(clear)


def test_an_answer_counts_once_for_its_own_pair():
    """What is left of the log-odds without it is what the others alone would have given."""
    start = clear_cut(2.0)
    every = told(6, 1, 0, 10)
    belief = learn(start, every)
    others = learn(start, Answers(*(np.delete(part, 6, axis=0) for part in every)))
    odds = by(belief, [[HIGH] * 3])[0]
    assert belief.heard[6] < 0 < belief.heard[0]
    left = by(others, [[HIGH] * 3])[0]
    assert abs(odds - belief.heard[6] - left) < 0.5 * abs(odds - left)


def test_pairs_that_an_exclusive_group_keeps_apart_are_not_missed():
    names = ["ann lee", "bob ray", "cid orr", "dan fox", "eve kim", "fay nez"]
    both = {"name": names * 2, "town": ["bern"] * 12, "year": ["1990", "1991"] * 6}
    files = np.repeat(["a", "b"], 6)
    model = Dossier(exclusive=files).fit(both)
    assert model.n_clusters_ == 6
    problem = pose_records(both, exclusive=files)
    solution = solve(problem, Constraints(12))
    assert expected_recall(solution, problem.exclusive) >= expected_recall(solution)
