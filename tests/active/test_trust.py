"""What strategies are told where answers count by who gave them."""

from __future__ import annotations

import numpy as np
import pytest
from problems_active import blobs

from coterie.active import ActiveSession, Answer, AnswerStore, LabelOracle, Program, run_programs
from coterie.active.annotators.rates import estimate_annotators
from coterie.active.strategies.trust import Trust, summed
from coterie.metrics import adjusted_rand_score


def told(*entries):
    """Answers from (i, j, word, annotator[, certainty])."""
    return [
        Answer(t, (i, j), word, *(sure or (None,)), annotator=who)
        for t, (i, j, word, who, *sure) in enumerate(entries, 1)
    ]


def test_answers_about_a_pair_add_up():
    answers = told(
        (0, 1, "same", "a"),
        (2, 3, "unknown", "a"),
        (1, 0, "same", "b"),
        (4, 5, "same", "a"),
        (5, 4, "different", "b"),
        (2, 3, "different", "b", 0.8),
        (6, 7, "later", "a"),
    )
    alone = estimate_annotators(())  # nobody is known: all are wrong one time in ten
    found = {a.pair: a for a in summed(answers, alone)}
    assert found[0, 1].certainty == pytest.approx(81 / 82)
    assert (found[0, 1].answer, found[0, 1].number) == ("same", 3)
    assert (found[4, 5].answer, found[4, 5].certainty) == ("unknown", None)
    assert (found[2, 3].answer, found[2, 3].certainty) == ("different", pytest.approx(0.8))
    assert found[6, 7].answer == "later"
    assert list(found) == [(0, 1), (2, 3), (4, 5), (6, 7)]


def test_certain_answers_stay_hard_and_no_others_become_so():
    many = told(*[(0, 1, "same", f"p{t}") for t in range(40)], (2, 3, "same", "a", 1.0))
    found = {a.pair: a.certainty for a in summed(many, estimate_annotators(()))}
    assert found[0, 1] < 1 == found[2, 3]


def crowd(session, y, questions, overlap=0.3):
    programs = [
        Program("expert", LabelOracle(y)),
        Program("careless", LabelOracle(y, error_rate=0.4, random_state=7), share=2),
    ]
    return run_programs(session, programs, max_questions=questions, overlap=overlap)


def test_a_careless_annotator_does_less_harm_when_answers_are_weighed():
    scores = {}
    for weigh in (False, True):
        for seed in range(6):
            X, y = blobs(4, 25, spread=1.5, gap=8.0, seed=seed)
            session = ActiveSession(X, random_state=0, weigh_annotators=weigh)
            crowd(session, y, 90, 0.3 if weigh else 0.0)
            scores.setdefault(weigh, []).append(adjusted_rand_score(y, session.labels()))
    assert np.mean(scores[True]) > np.mean(scores[False]) + 0.1


def test_rates_are_a_function_of_the_answers(tmp_path):
    X, y = blobs(3)
    with AnswerStore(tmp_path / "a.db") as store:
        session = ActiveSession(X, store=store, random_state=0, weigh_annotators=True)
        crowd(session, y, 40)
        session.undo(7)
        expected, labels = session.ask(), session.labels()
    with AnswerStore(tmp_path / "a.db") as store:
        again = ActiveSession(X, store=store, weigh_annotators=True)
        assert again.ask() == expected
        assert (again.labels() == labels).all()


def test_rates_are_estimated_now_and_then():
    y = np.arange(100) % 2
    rng = np.random.default_rng(0)
    entries = []
    for _ in range(100):
        i, j = rng.choice(100, 2, replace=False).tolist()
        entries.append((i, j, "same" if y[i] == y[j] else "different", "a"))
    answers = told(*entries)
    asked = []
    trust = Trust(lambda knowledge: asked.append(len(knowledge.answers)) or y)
    tables = [trust.table(answers[:n]) for n in range(101)]
    assert len(asked) == len({id(table) for table in tables}) - 16 == 9  # 16, 20, 25, … 95
    assert tables[15].annotator.size == 0
    assert tables[100].wrong_same[0] < 0.05
