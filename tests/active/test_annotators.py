"""Error rates of annotators, by kind, and what their answers come to count."""

from __future__ import annotations

import numpy as np
import pytest

from coterie import ActiveSession, PCKMeans
from coterie.active import Answer, RandomPairs
from coterie.active.annotators.rates import estimate_annotators, weighed_pairs
from coterie.metrics import adjusted_rand_score

CROWD = {"expert": (0.02, 0.02), "cheap": (0.3, 0.05), "careless": (0.3, 0.3)}


def crowd_answers(y, n_pairs, seed, share=0.6):
    """Answers of a mixed crowd about random pairs; each answers a share of them."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n_pairs):
        i, j = rng.choice(y.size, 2, replace=False).tolist()
        same = bool(y[i] == y[j])
        for who, (wrong_same, wrong_different) in CROWD.items():
            if rng.random() < share:
                slip = rng.random() < (wrong_different if same else wrong_same)
                word = "same" if same != slip else "different"
                found.append(Answer(len(found) + 1, (i, j), word, annotator=who))
    return found


def row_of(table, name):
    frame = table.to_frame().set_index("annotator")
    return frame.loc[name]


def test_rates_of_each_kind_are_found_by_overlaps_alone():
    y = np.arange(400) % 2
    table = estimate_annotators(crowd_answers(y, 1500, 0))
    assert table.annotator.tolist() == sorted(CROWD)
    for who, (wrong_same, wrong_different) in CROWD.items():
        row = row_of(table, who)
        assert row.wrong_same == pytest.approx(wrong_same, abs=0.05)
        assert row.wrong_different == pytest.approx(wrong_different, abs=0.05)
        assert row.wrong_same_low - 0.02 < wrong_same < row.wrong_same_high + 0.02
        assert row.wrong_same_low < row.wrong_same < row.wrong_same_high
    assert row_of(table, "expert").agreement > 0.95 > row_of(table, "careless").agreement


def test_a_true_clustering_finds_rates_without_any_overlap():
    y = np.arange(300) % 3
    answers = crowd_answers(y, 1200, 1, share=0.34)
    seen = set()
    alone = [a for a in answers if a.pair not in seen and not seen.add(a.pair)]
    table = estimate_annotators(alone, y)
    assert table.annotator.tolist()[-1] == "(clustering)"
    for who, rates in CROWD.items():
        row = row_of(table, who)
        assert (row.wrong_same, row.wrong_different) == pytest.approx(rates, abs=0.1)
    assert row_of(table, "(clustering)").agreement > 0.9


def test_a_pair_adds_up_to_what_bayes_says():
    answers = crowd_answers(np.arange(200) % 2, 500, 2)
    table = estimate_annotators(answers)
    rate = table.to_frame().set_index("annotator")
    for pair, sign, certainty in weighed_pairs(answers, table)[:50]:
        same, different = 1.0, 1.0
        for a in (a for a in answers if a.pair == pair):
            r = rate.loc[a.annotator]
            said_same = a.answer == "same"
            same *= 1 - r.wrong_different if said_same else r.wrong_different
            different *= r.wrong_same if said_same else 1 - r.wrong_same
        chance = same / (same + different)
        assert sign == (1 if chance > 0.5 else -1)
        assert certainty == pytest.approx(max(chance, 1 - chance))


def test_a_certainty_that_was_given_is_kept_and_few_answers_make_nobody_perfect():
    answers = [
        Answer(1, (0, 1), "same", 0.8, "ann"),
        Answer(2, (2, 3), "different", 1.0, "ann"),
        Answer(3, (4, 5), "unknown", None, "ann"),
    ]
    table = estimate_annotators(answers)
    assert weighed_pairs(answers, table) == [
        ((0, 1), 1, pytest.approx(0.8)), ((2, 3), -1, 1.0)
    ]  # fmt: skip
    assert 0.05 < table.wrong_same[0] < 0.15
    assert estimate_annotators([]).annotator.size == 0


def test_two_equal_and_opposite_answers_say_nothing():
    answers = [Answer(1, (0, 1), "same", 0.9, "a"), Answer(2, (0, 1), "different", 0.9, "b")]
    assert weighed_pairs(answers, estimate_annotators(answers)) == []


@pytest.mark.parametrize("seed", range(3))
def test_a_session_that_weighs_its_annotators_clusters_better(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(3), 50)
    X = rng.normal(size=(150, 4)) + 1.6 * rng.normal(size=(3, 4))[y]
    scores = {}
    for weigh in (False, True):
        session = ActiveSession(
            X, strategy=RandomPairs(), estimator=PCKMeans(3, random_state=0), random_state=0,
            weigh_annotators=weigh,
        )  # fmt: skip
        for answer in crowd_answers(y, 300, seed, share=0.5):
            session.tell(answer.rows, answer.answer, annotator=answer.annotator, despite_clash=True)
        scores[weigh] = adjusted_rand_score(y, session.labels())
    assert scores[True] > scores[False]
    assert scores[True] > 0.9
    table = session.annotators
    assert row_of(table, "expert").wrong_same < 0.1 < row_of(table, "careless").wrong_same


def test_annotators_are_there_without_being_weighed():
    X = np.random.default_rng(0).normal(size=(20, 2))
    session = ActiveSession(X, random_state=0)
    session.tell((0, 1), "same", annotator="ann").tell((0, 2), "different", annotator="bob")
    assert session.annotators.annotator.tolist() == ["ann", "bob", "(clustering)"]
    assert session.annotators.n_same.tolist()[:2] == [1, 0]
    assert session.constraints.certainty.tolist() == pytest.approx([np.nan] * 2, nan_ok=True)
