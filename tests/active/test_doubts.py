"""Answers that are probably wrong."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.active import ActiveSession, Answer, broken_answers, suspect_answers
from coterie.active.annotators.rates import estimate_annotators
from coterie.exceptions import InvalidParameter

LABELS = np.repeat([0, 1], 10)


def answers(said):
    return [Answer(t + 1, pair, word, None, who) for t, (pair, word, who) in enumerate(said)]


def test_the_wrong_answer_among_right_ones_is_suspect():
    said = [((0, j), "same", "Ann") for j in range(1, 8)]
    said += [((0, j), "different", "Ann") for j in range(10, 17)]
    said += [((3, 12), "same", "Ann")]
    told = answers(said)
    (worst, *_) = suspect_answers(told, LABELS, at_least=0.0)
    assert worst.answer.rows == (3, 12)
    assert broken_answers(told, LABELS) == [told[-1]]


def test_the_probability_is_that_of_the_votes():
    told = answers([((0, 1), "same", "Ann"), ((0, 1), "different", "Bob"), ((0, 2), "same", "Ann")])
    table = estimate_annotators(told, LABELS)
    odds = table.log_odds("Ann", 1) + table.log_odds("Bob", -1) + table.log_odds("(clustering)", 1)
    found = {s.answer.number: s.p_wrong for s in suspect_answers(told, LABELS, at_least=0.0)}
    assert found[1] == pytest.approx(1 / (1 + np.exp(odds)))
    assert found[1] + found[2] == pytest.approx(1.0)
    assert suspect_answers(told, LABELS, at_least=1.0) == []
    assert suspect_answers([], None) == []


def test_the_last_answer_about_a_pair_is_kept_or_broken():
    told = answers([((0, 1), "different", "Ann"), ((1, 0), "same", "Ann"), ((2, 15), "same", "")])
    assert [a.number for a in broken_answers(told, LABELS)] == [3]


def test_rows_are_kept_out_of_a_cluster():
    X = np.r_[np.zeros(6), np.full(6, 9.0)][:, None] + np.arange(12)[:, None] * 0.01
    session = ActiveSession(X, random_state=0)
    session.tell((0, 7), "different")
    labels = session.labels()
    session.keep_out([0, 1], int(labels[3]), annotator="Ann")
    told = [a for a in session.history if a.phase == "keep out"]
    assert {a.rows[0] for a in told} == {0, 1}
    assert {a.answer for a in told} == {"different"}
    assert all(labels[a.rows[1]] == labels[3] and a.rows[1] not in (0, 1) for a in told)
    session.undo(annotator="Ann")
    assert len(session.history) == 1
    labels = session.labels()
    with pytest.raises(InvalidParameter, match="all rows of the cluster"):
        session.keep_out(np.flatnonzero(labels == labels[3]).tolist(), int(labels[3]))
