"""Questions for several people at once."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.active import ActiveSession, Turns
from coterie.exceptions import InvalidParameter

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 2)) + 6 * np.eye(4, 2)[np.repeat(range(4), 20)]


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def made(**options):
    session = ActiveSession(X, random_state=0)
    clock = Clock()
    return session, Turns(session, clock=clock, **options), clock


def pairs(turns):
    return {tuple(sorted(turn.question.rows)) for turn in turns}


def test_everybody_has_a_question_of_their_own():
    session, turns, _ = made()
    held = [turns.take(name) for name in "abcde"]
    assert len(pairs(held)) == 5
    assert [turns.take(name).id for name in "abcde"] == [turn.id for turn in held]
    assert turns.people == set("abcde")
    session.tell(held[1].question, "same", annotator="b")
    following = turns.take("b")
    assert following.id != held[1].id
    assert pairs([following]).isdisjoint(pairs(held))


def test_a_question_comes_back_when_its_time_is_over():
    _, turns, clock = made(seconds=10)
    first = turns.take("a")
    clock.now = 9
    assert turns.get(first.id) is not None
    assert turns.take("a").lease.until == 19  # asking again renews it
    clock.now = 19
    assert turns.get(first.id) is None
    second = turns.take("b")
    assert second.question == first.question
    assert second.id != first.id


def test_what_is_given_back_goes_to_somebody_else():
    _, turns, _ = made()
    first = turns.take("a")
    turns.give_back(first.id)
    turns.give_back("unknown")
    assert turns.take("b").question == first.question


def test_sets_are_about_other_rows():
    _, turns, _ = made()
    one, two = turns.take("a", "set", 5), turns.take("b", "set", 5)
    assert one.kind == "set"
    common = set(one.question.rows) & set(two.question.rows)
    assert len(common) <= 1  # what they are compared with: nothing else is known at the start
    assert turns.take("a", "pair").kind == "pair"  # another kind: another question
    assert turns.get(one.id) is None


def test_fewer_questions_than_people_are_shared():
    session = ActiveSession(X[:2], strategy="random", random_state=0)
    turns = Turns(session)
    a, b = turns.take("a"), turns.take("b")
    assert sorted(a.question.rows) == sorted(b.question.rows) == [0, 1]
    session.tell(a.question, "same", annotator="a")
    assert turns.take("b") is None  # answered by somebody else meanwhile, and nothing is left


def test_bad_wishes_are_refused():
    session, turns, _ = made()
    with pytest.raises(InvalidParameter):
        turns.take("a", "triple")
    with pytest.raises(InvalidParameter):
        turns.take("a", "set", 1)
    with pytest.raises(InvalidParameter, match="overlap"):
        Turns(session, overlap=0.5)


def test_a_set_of_another_size_takes_the_place_of_the_one_that_is_out():
    _, turns, _ = made()
    six = turns.take("a", "set", 6)
    assert turns.take("a", "set", 6).id == six.id
    four = turns.take("a", "set", 4)
    assert four.id != six.id
    assert len(four.question.rows) == 4
    assert turns.get(six.id) is None
    pair = turns.take("a", "pair", 4)
    assert turns.take("a", "pair", 6).id == pair.id  # the size says nothing of a pair
