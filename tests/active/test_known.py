"""A session that starts from pairs that are known already, and strategies by name."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.active import (
    STRATEGIES,
    ActiveSession,
    AnswerStore,
    Consolidate,
    Explore,
    ExploreConsolidate,
    InformationGain,
    LabelOracle,
    RandomPairs,
    Strategy,
    answer_all,
    make_strategy,
    register_strategy,
)
from coterie.cluster import PCKMeans
from coterie.constraints import Constraints, sample_pairs
from coterie.exceptions import InvalidConstraints, InvalidParameter

Y = np.repeat([0, 1, 2], 12)
X = np.random.default_rng(0).normal(size=(36, 2)) + 6 * np.eye(3, 2)[Y]
KNOWN = Constraints(36, [(0, 1), (1, 2)], [(0, 12), (12, 24), (0, 24)])


def session(known=KNOWN, **options):
    return ActiveSession(X, constraints=known, **{"random_state": 0, **options})


def test_known_pairs_are_told_answers_but_cost_nothing():
    s = session(budget=2)
    assert [a.phase for a in s.history] == ["known"] * 5
    assert s.constraints == KNOWN
    assert (s.n_asked, s.done) == (0, None)
    s.tell(s.ask(), "unknown").tell(s.ask(), "unknown")
    assert s.done == "the budget of 2 questions is spent"


@pytest.mark.parametrize("strategy", [InformationGain(0), ExploreConsolidate(3), RandomPairs()])
def test_what_is_known_or_follows_from_it_is_not_asked(strategy):
    s = session(strategy=strategy, estimator=PCKMeans(3, random_state=0))
    implied = KNOWN.closure(hard_only=False)
    for _ in range(15):
        query = s.ask()
        assert implied.relation(*query.rows).kind == "unknown"
        s.tell(query, "same" if Y[query.rows[0]] == Y[query.rows[1]] else "different")


def test_known_pairs_save_questions():
    known = sample_pairs(Y, 60, random_state=1)
    spent = {}
    for name, pairs in (("without", None), ("with", known)):
        s = ActiveSession(X, constraints=pairs, strategy=InformationGain(0), random_state=0)
        spent[name] = answer_all(s, LabelOracle(Y)).n_asked
        assert s.n_found == 3
    assert spent["with"] < spent["without"] / 2


def test_strengths_become_certainties_and_come_back():
    known = Constraints(
        36,
        [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)],
        must_weight=[1.0, np.inf, 2.0, 0.0, 1000.0],
        must_certainty=[0.8, np.nan, np.nan, np.nan, np.nan],
    )
    s = session(known)
    sure = {a.rows[1]: a.certainty for a in s.history}
    assert sure[1] == pytest.approx(0.8)
    assert sure[2] == 1.0
    assert sure[3] == pytest.approx(0.95**2 / (0.95**2 + 0.05**2))  # two answers of .95 that agree
    assert 4 not in sure  # weight 0 says nothing
    assert 0.999 < sure[5] < 1.0  # strong, and still soft
    back = s.constraints
    assert back.is_hard.tolist() == [False, True, False, False]
    assert back.strength()[:3] == pytest.approx(known.strength()[:3])


def test_a_log_remembers_what_was_known_and_takes_it_once(tmp_path):
    log = tmp_path / "a.db"
    with AnswerStore(log) as store:
        s = session(store=store, strategy=Explore())
        s.tell(s.ask(), "different")
        asked = s.ask()
    with AnswerStore(log) as store:  # without giving them again
        assert session(None, store=store, strategy=Explore()).ask() == asked
    more = KNOWN + Constraints(36, [(30, 31)])
    with AnswerStore(log) as store:
        s = session(more, store=store, strategy=Explore())
        assert [a.pair for a in s.history if a.phase == "known"][-1] == (30, 31)
        assert len(s.history) == 7
        assert [a.number for a in s.history] == list(range(1, 8))
        s.retract(1)
    with AnswerStore(log) as store:  # what was taken back stays so
        assert len(session(more, store=store, strategy=Explore()).history) == 6


def test_undo_stops_before_what_was_known():
    s = session(strategy=RandomPairs())
    s.tell(s.ask(), "unknown").undo()
    with pytest.raises(InvalidParameter, match="known at the start"):
        s.undo()
    assert len(s.retract(2).history) == 4


def test_contradictions_among_them_are_kept_but_not_on_one_pair():
    triangle = Constraints(36, [(0, 1), (1, 2)], [(0, 2)])
    assert session(triangle, strategy=RandomPairs()).constraints == triangle
    both = Constraints(36, [(3, 4)], [(3, 4)])
    with pytest.raises(InvalidConstraints, match="rows 3 and 4 are both"):
        session(both)
    with pytest.raises(InvalidConstraints, match="speak of 5 rows but X has 36"):
        ActiveSession(X, constraints=Constraints(5))


# -- strategies by name ------------------------------------------------------------------------
@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_is_made_by_its_name(name):
    strategy = ActiveSession(X, strategy=name, estimator=PCKMeans(3), random_state=0).strategy
    assert type(strategy) is STRATEGIES[name]
    assert getattr(strategy, "n_clusters", 3) == 3


def test_names_that_cannot_be_used_are_refused():
    with pytest.raises(InvalidParameter, match="Did you mean 'explore'"):
        ActiveSession(X, strategy="explorer")
    with pytest.raises(InvalidParameter, match="needs the number of clusters"):
        make_strategy("consolidate")
    with pytest.raises(InvalidParameter, match="no parameter 'colour'"):
        make_strategy("explore", colour="red")
    assert make_strategy("consolidate", n_clusters=4) == Consolidate(4)
    assert make_strategy("information", n_clusters=4, error_rate=0.1) == InformationGain(0.1)


@pytest.mark.parametrize("name", STRATEGIES)
def test_strategies_can_do_what_they_say(name):
    made = STRATEGIES[name]
    if "n_clusters" not in make_strategy(name, n_clusters=3).__dict__ or made.counts:
        s = ActiveSession(X, strategy=make_strategy(name), random_state=0)
        assert (s.n_found is not None) == made.counts
    s = ActiveSession(X, strategy=make_strategy(name, n_clusters=3), random_state=0)
    if made.clusters:
        assert s.labels().shape == (36,)
    else:
        with pytest.raises(InvalidParameter, match="does not cluster"):
            s.labels()


def test_a_registered_strategy_is_taken_by_name_and_a_second_of_the_name_is_not():
    class Toy(Strategy):
        def prepare(self, context):
            return RandomPairs().prepare(context)

    register_strategy("toy", Toy)
    try:
        assert ActiveSession(X, strategy="toy").ask().phase == "random"
        with pytest.raises(InvalidParameter, match="registered already"):
            register_strategy("toy", Toy)
    finally:
        del STRATEGIES["toy"]
    with pytest.raises(InvalidParameter, match="not a class derived from Strategy"):
        register_strategy("other", RandomPairs())
