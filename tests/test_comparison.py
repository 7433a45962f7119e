"""`coterie.compare`: the numbers are those of single fits; a failure or a stop loses nothing."""

from __future__ import annotations

import doctest
import importlib
import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans

from coterie import ConstrainedCompleteLink, Constraints, GPKMeans, PCKMeans, compare
from coterie.exceptions import InvalidData, InvalidParameter
from coterie.metrics import adjusted_rand_score, constraint_satisfaction, evaluate


@pytest.fixture
def data():
    """Three classes that overlap, and 25 pairs some of which are wrong."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, size=60)
    X = 2 * y[:, None] + rng.normal(size=(60, 2))
    ends = rng.choice(60, size=(25, 2), replace=False)
    must = (y[ends[:, 0]] == y[ends[:, 1]]) ^ (rng.random(25) < 0.2)
    return X, y, Constraints(60, ends[must], ends[~must])


class Loud(BaseEstimator):
    """Warns in two ways, twice each, and then fits, or fails."""

    def __init__(self, fails=False, random_state=None):
        self.fails = fails
        self.random_state = random_state

    def fit(self, X):
        for _ in range(2):
            warnings.warn("odd rows", UserWarning, stacklevel=1)
            warnings.warn("old name", DeprecationWarning, stacklevel=1)
        if self.fails:
            raise ZeroDivisionError("oh no")
        self.labels_ = np.zeros(len(X), dtype=int)
        return self


def test_the_numbers_are_those_of_single_fits(data):
    X, y, known = data
    found = compare({"a": PCKMeans(30)}, X, constraints=known, runs=3, seed=5, truth=y)
    (row,) = found.rows
    labels = [
        PCKMeans(30, random_state=seed).fit(X, constraints=known).labels_ for seed in (5, 6, 7)
    ]
    alike = [adjusted_rand_score(a, b) for a, b in itertools.combinations(labels, 2)]
    assert row.stability == pytest.approx(np.mean(alike))
    assert row.stability < 1, "else the seeds make no difference in this test"
    broken = [constraint_satisfaction(each, known).n_broken for each in labels]
    assert row.n_broken == pytest.approx(np.mean(broken))
    assert row.n_clusters == pytest.approx(np.mean([len(set(each)) for each in labels]))
    for name in ("ari", "nmi", "f"):
        expected = np.mean([evaluate(y, each)[name] for each in labels])
        assert row.scores[name] == pytest.approx(expected)
    assert row.seconds > 0
    assert (row.runs, row.pairs_used, row.error, row.warnings) == (3, True, None, ())
    assert (found.n_rows, found.n_pairs, found.stopped_early) == (60, 25, False)


def test_pairs_are_told_to_those_that_take_them_and_may_have_them(data):
    X, _, known = data
    found = compare(
        {"told": PCKMeans(3), "not told": PCKMeans(3), "cannot be": KMeans(3, n_init=1)},
        X,
        constraints=known,
        without_pairs=["not told"],
        runs=1,
    )
    assert [row.pairs_used for row in found.rows] == [True, False, False]
    told, untold, _ = found.rows
    labels = PCKMeans(3, random_state=0).fit(X).labels_
    assert untold.n_broken == constraint_satisfaction(labels, known).n_broken
    assert told.n_broken < untold.n_broken


def test_estimators_stay_as_they_were(data):
    X, _, known = data
    mine = PCKMeans(3, random_state=77)
    compare({"mine": mine}, X, constraints=known, runs=2)
    assert mine.random_state == 77
    assert not hasattr(mine, "labels_")


def test_the_seed_reaches_an_estimator_within_and_without_chance_one_run_is_enough(data):
    X, _, known = data
    seen = []

    class Inner(PCKMeans):
        def fit(self, X, y=None, *, constraints=None, **more):
            seen.append(self.random_state)
            return super().fit(X, y, constraints=constraints, **more)

    link = ConstrainedCompleteLink(3)
    wrapped = GPKMeans(estimator=Inner(3))
    found = compare({"link": link, "gp": wrapped}, X, constraints=known, runs=2, seed=4)
    assert [row.error for row in found.rows] == [None, None]
    assert [row.runs for row in found.rows] == [1, 2]
    assert found.rows[0].stability is None
    assert set(seen) == {4, 5}


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA, pd.NaT])
def test_rows_without_a_class_are_not_scored(data, gap):
    X, y, known = data
    classes = np.array([f"class {c}" for c in y], dtype=object)
    classes[:20] = gap
    labels = PCKMeans(3, random_state=0).fit(X, constraints=known).labels_
    (row,) = compare({"a": PCKMeans(3)}, X, constraints=known, runs=1, truth=classes).rows
    assert row.scores["ari"] == pytest.approx(adjusted_rand_score(y[20:], labels[20:]))


def test_held_out_rows_are_those_in_no_pair(data):
    X, y, known = data
    labels = PCKMeans(3, random_state=0).fit(X, constraints=known).labels_
    free = np.setdiff1d(np.arange(60), known.pairs)
    (row,) = compare({"a": PCKMeans(3)}, X, constraints=known, runs=1, truth=y, held_out=True).rows
    assert row.scores["nmi"] == pytest.approx(evaluate(y[free], labels[free])["nmi"])


def test_a_failure_is_a_row_and_the_others_go_on(data):
    X, y, known = data

    def unmade():
        raise InvalidParameter("no such thing")

    found = compare(
        {"unmade": unmade, "fails": Loud(fails=True), "made": lambda: PCKMeans(3)},
        X,
        constraints=known,
        runs=1,
        truth=y,
    )
    unmade_row, fails, made = found.rows
    assert isinstance(unmade_row.error, InvalidParameter)
    assert isinstance(fails.error, ZeroDivisionError)
    assert (fails.runs, fails.n_broken, fails.numbers()) == (0, None, {})
    assert made.runs == 1
    lines = str(found).splitlines()
    assert lines[0].split() == (
        ["method", "clusters", "time", "broken", "pairs", "stability", "ARI", "NMI", "F"]
    )
    assert lines[2] == "fails   failed: ZeroDivisionError: oh no"
    assert "fails   failed: in other words" in found.as_text({"fails": "in\nother words"})


def test_warnings_belong_to_the_estimator_that_warned(data):
    X, _, _ = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compare({"loud": Loud(), "quiet": PCKMeans(3), "fails": Loud(fails=True)}, X)
    told = [[(type(w), str(w)) for w in row.warnings] for row in found.rows]
    both = [(UserWarning, "odd rows"), (DeprecationWarning, "old name")]
    assert told == [both, [], both]


def test_records_make_a_frame(data):
    X, y, _ = data
    found = compare({"a": PCKMeans(3), "b": Loud(fails=True)}, X, runs=2, truth=y)
    frame = pd.DataFrame(found.records()).set_index("name")
    assert frame.loc["a", "ari"] == found.rows[0].scores["ari"]
    assert frame.loc["b", "error"] == "oh no"
    assert np.isnan(frame.loc["b", "n_broken"])


def test_a_stop_between_runs_keeps_what_is_done(data):
    X, _, known = data
    begun = []
    found = compare(
        {"a": PCKMeans(3), "b": PCKMeans(3)},
        X,
        constraints=known,
        runs=3,
        on_run=lambda *run: begun.append(run),
        stop=lambda: len(begun) == 3,
    )
    assert begun == [("a", 1, 3), ("a", 2, 3), ("a", 3, 3)]
    assert [row.runs for row in found.rows] == [2, 0]
    assert found.stopped_early
    assert "b       failed: stopped before its first run was done" in str(found)
    assert "Stopped early" in str(found)


def test_a_stop_ends_a_fit_after_its_iteration_and_stands(data):
    X, _, known = data
    asked = []

    def stop():  # True once, in the first fit, and never again
        asked.append(1)
        return len(asked) == 2

    seen = []

    class Watched(PCKMeans):
        def fit(self, X, y=None, *, constraints=None, **more):
            super().fit(X, y, constraints=constraints, **more)
            seen.append(self.n_iter_)
            return self

    found = compare({"a": Watched(3)}, X, constraints=known, runs=4, stop=stop)
    assert seen == [1]
    assert PCKMeans(3, random_state=0).fit(X, constraints=known).n_iter_ > 1
    assert (found.rows[0].runs, found.stopped_early) == (0, True)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"runs": 0}, InvalidParameter, "runs=0"),
        ({"seed": -1}, InvalidParameter, "seed=-1"),
        ({"held_out": True}, InvalidParameter, "give `truth` too"),
        ({"truth": [1, 2]}, InvalidParameter, r"shape \(2,\).*60 rows"),
        ({"truth": [None] * 60}, InvalidData, "no row is left to score"),
        ({"without_pairs": ["b"]}, InvalidParameter, "names 'b'"),
        ({"estimators": {"a": 3}}, InvalidParameter, "'a' is a int"),
        ({"constraints": Constraints(7)}, ValueError, "7"),
    ],
)
def test_bad_input_ends_it_before_any_fit(data, options, error, message):
    begun = []
    given = {"estimators": {"a": PCKMeans(3)}, "on_run": lambda *run: begun.append(run), **options}
    with pytest.raises(error, match=message):
        compare(given.pop("estimators"), data[0], **given)
    assert begun == []


@pytest.mark.parametrize("name", ["contest", "outcome"])
def test_examples_of_the_docstrings_run(name):
    found = doctest.testmod(importlib.import_module(f"coterie.comparison.{name}"))
    assert found.attempted
    assert not found.failed
