"""Several annotators at once: nobody gets what another is at work on, and time runs out."""

from __future__ import annotations

import numpy as np
import pytest
from problems_active import blobs

from coterie import PCKMeans
from coterie.active import ActiveSession, Explore, InformationGain, Leases, RandomPairs
from coterie.active.query import ordered
from coterie.exceptions import InvalidParameter


class Clock:
    """Time that goes on when it is told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def leases_on(strategy=None, *, clock=None, k=3, **options):
    X, y = blobs(k=k)
    names = ("seconds", "overlap")
    own = {name: options.pop(name) for name in names if name in options}
    session = ActiveSession(X, strategy=strategy or InformationGain(), random_state=0, **options)
    return Leases(session, clock=clock or Clock(), **own), y


def truth(y, rows):
    i, j = rows
    return "same" if y[i] == y[j] else "different"


@pytest.mark.parametrize("strategy", [InformationGain(), Explore(), RandomPairs()])
def test_what_is_held_at_once_is_about_different_pairs(strategy):
    leases, y = leases_on(strategy, k=4)
    rng = np.random.default_rng(0)
    for turn in range(60):  # four people who answer in any order
        held = leases.held
        assert len({ordered(*lease.question.rows) for lease in held}) == len(held)
        assert len({lease.question.rows[0] for lease in held}) == len(held)
        if len(held) < 4:
            if leases.take(f"person {turn % 4}") is None:
                break
        else:
            lease = held[rng.integers(4)]
            leases.tell(lease.number, truth(y, lease.question.rows), despite_clash=True)
    assert leases.session.n_asked > 10


def test_a_lone_annotator_is_asked_what_the_session_asks():
    leases, y = leases_on()
    X, _ = blobs(k=3)
    plain = ActiveSession(X, random_state=0)
    for _ in range(15):
        lease, question = leases.take("ann"), plain.ask()
        assert lease.question == question
        leases.tell(lease.number, truth(y, question.rows))
        plain.tell(question, truth(y, question.rows), annotator="ann")
    assert [a.rows for a in plain.history] == [a.rows for a in leases.session.history]
    assert {a.annotator for a in leases.session.history} == {"ann"}


def test_a_lease_lapses_and_the_question_goes_to_the_next():
    clock = Clock()
    leases, y = leases_on(clock=clock, seconds=60)
    first = leases.take("ann")
    clock.now = 59.9
    assert leases.take("bob").question != first.question
    assert [lease.annotator for lease in leases.held] == ["ann", "bob"]
    clock.now = 60.0
    assert leases.held_by("ann") == []
    assert leases.take("cyd").question == first.question
    # Ann comes back from lunch: her answer counts, once.
    leases.tell(first.number, truth(y, first.question.rows))
    assert leases.session.history[-1].annotator == "ann"
    with pytest.raises(InvalidParameter, match="not open"):
        leases.tell(first.number, "same")


def test_what_is_given_back_is_asked_again():
    leases, _ = leases_on()
    first = leases.take("ann")
    leases.give_back(first.number)
    assert leases.held == []
    assert leases.take("bob").question == first.question


def test_a_refused_answer_keeps_its_lease():
    leases, _ = leases_on()
    lease = leases.take("ann")
    with pytest.raises(InvalidParameter):
        leases.tell(lease.number, "perhaps")
    assert leases.held == [lease]
    assert leases.session.n_asked == 0


def test_the_budget_counts_what_is_held():
    leases, y = leases_on(budget=5)
    held = [leases.take(f"p{t}") for t in range(5)]
    assert all(held)
    assert leases.take("late") is None
    leases.give_back(held.pop().number)
    assert leases.take("late") is not None
    for lease in leases.held:
        leases.tell(lease.number, truth(y, lease.question.rows), despite_clash=True)
    assert leases.session.n_asked == 5
    assert leases.take("ann") is None


def test_sets_that_are_held_share_no_question():
    leases, _ = leases_on(k=4)
    sets = [leases.take(f"p{t}", kind="set", size=5) for t in range(3)]
    rows = [set(lease.question.rows) for lease in sets]
    assert all(len(a & b) < 4 for t, a in enumerate(rows) for b in rows[:t])
    pair = leases.take("q")
    assert not any(set(pair.question.rows) <= held for held in rows)


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_the_overlap_share_is_kept_for_everybody(share):
    leases, y = leases_on(
        RandomPairs(), estimator=PCKMeans(3), overlap=share, weigh_annotators=True, k=20
    )
    people = ["ann", "bob", "cyd"]
    for turn in range(180):
        lease = leases.take(people[turn % 3])
        leases.tell(lease.number, truth(y, lease.question.rows), despite_clash=True)
    said = {}
    for answer in leases.session.history:
        who = said.setdefault(answer.pair, [])
        assert answer.annotator not in who  # nobody is asked the same twice
        who.append(answer.annotator)
    for person in people:
        own = [who for who in said.values() if person in who]
        assert np.mean([len(who) > 1 for who in own]) == pytest.approx(share, abs=0.05)


def test_overlap_needs_a_session_that_adds_answers_up():
    with pytest.raises(InvalidParameter, match="weigh_annotators=True"):
        leases_on(overlap=0.2)
    for wrong in ({"overlap": 1.5}, {"seconds": 0}):
        with pytest.raises(InvalidParameter, match=next(iter(wrong))):
            leases_on(**wrong)
