"""`evaluate` over all rows, unconstrained rows and a fold; `constraint_satisfaction`."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from coterie.constraints import Constraints
from coterie.exceptions import InvalidData, InvalidParameter
from coterie.metrics import (
    constraint_satisfaction,
    evaluate,
    evaluation_rows,
    matched_accuracy,
    pairwise_scores,
)

rng = np.random.default_rng(0)
TRUE = rng.integers(0, 3, 60)
PRED = np.where(rng.uniform(size=60) < 0.7, TRUE, rng.integers(0, 4, 60))
PAIRS = Constraints(60, must_link=[(0, 1), (1, 2)], cannot_link=[(3, 59)])


def by_hand(true, pred):
    pairwise = pairwise_scores(true, pred)
    return {
        "precision": pairwise.precision,
        "recall": pairwise.recall,
        "f": pairwise.f,
        "accuracy": matched_accuracy(true, pred),
        "nmi": normalized_mutual_info_score(true, pred, average_method="arithmetic"),
        "ari": adjusted_rand_score(true, pred),
        "n_rows": len(true),
    }


FOLD = np.array([50, 2, 7, 31, 30])
MASK = np.isin(np.arange(60), FOLD)
FREE = np.setdiff1d(np.arange(60), [0, 1, 2, 3, 59])


@pytest.mark.parametrize(
    ("rows", "expected"),
    [("all", np.arange(60)), ("unconstrained", FREE), (FOLD, np.sort(FOLD)), (MASK, np.sort(FOLD))],
    ids=["all", "unconstrained", "fold", "mask"],
)
def test_scores_are_those_of_the_chosen_rows(rows, expected):
    np.testing.assert_array_equal(evaluation_rows(60, rows, PAIRS), expected)
    got = evaluate(TRUE, PRED, constraints=PAIRS, rows=rows)
    assert got == pytest.approx(by_hand(TRUE[expected], PRED[expected]))


def test_unconstrained_differs_from_all_on_this_example():
    every = evaluate(TRUE, PRED)
    free = evaluate(TRUE, PRED, constraints=PAIRS, rows="unconstrained")
    assert every["ari"] != free["ari"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("some", "'unconstrained'"),
        ("unconstrained", "pass constraints="),
        ([60], "row 60"),
        ([-1], "row -1"),
        ([0.5], "row numbers"),
        (np.ones(59, dtype=bool), "59 entries"),
        ([[0, 1]], "one dimension"),
    ],
)
def test_rows_that_cannot_be_used_are_refused(rows, message):
    with pytest.raises(InvalidParameter, match=message):
        evaluate(TRUE, PRED, rows=rows)


def test_constraints_about_other_rows_are_refused():
    with pytest.raises(InvalidParameter, match="subset"):
        evaluate(TRUE, PRED, constraints=Constraints(59))
    with pytest.raises(InvalidData, match="subset"):
        constraint_satisfaction(PRED, Constraints(59))


def test_no_row_left_is_refused():
    everywhere = Constraints(3, must_link=[(0, 1), (1, 2)])
    with pytest.raises(InvalidData, match="no rows"):
        evaluate([0, 1, 1], [0, 1, 0], constraints=everywhere, rows="unconstrained")


def test_satisfaction_by_hand():
    pairs = Constraints(
        6,
        must_link=[(0, 1), (0, 2), (4, 5)],
        cannot_link=[(0, 3), (4, 5)],
        must_weight=[1.0, 2.5, 4.0],
        cannot_weight=[np.inf, 3.0],
    )
    got = constraint_satisfaction([0, 0, 1, 0, 2, 2], pairs)
    assert got.must_kept == pytest.approx(2 / 3)  # (0, 2) broken
    assert got.cannot_kept == 0.0  # both broken, one of them hard
    assert got.kept == pytest.approx(2 / 5)
    assert (got.n_broken, got.n_hard_broken) == (3, 1)
    assert got.cost == pytest.approx(2.5 + 3.0)


def test_satisfaction_of_certain_pairs_costs_their_strength():
    pairs = Constraints(2, must_link=[(0, 1)], must_certainty=[0.8])
    expected = np.log(0.8 / 0.2) / np.log(0.95 / 0.05)
    assert constraint_satisfaction([0, 1], pairs).cost == pytest.approx(expected)
    assert constraint_satisfaction([3, 3], pairs).cost == 0.0


def test_no_pairs_are_all_kept():
    got = constraint_satisfaction([0, 1, 2], Constraints(3))
    assert got == (1.0, 1.0, 1.0, 0, 0, 0.0)


def test_pairs_can_be_left_out_of_f():
    true, pred = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 1, 1])
    known = Constraints(6, must_link=[(0, 1), (3, 4)])
    plain = evaluate(true, pred, constraints=known)
    fair = evaluate(true, pred, constraints=known, pairs="unconstrained")
    assert (plain["recall"], fair["recall"]) == pytest.approx((4 / 6, 2 / 4))
    assert {k for k in plain if plain[k] != fair[k]} == {"precision", "recall", "f"}
    part = evaluate(true, pred, constraints=known, rows=[0, 1, 3, 5], pairs="unconstrained")
    assert (part["recall"], part["n_rows"]) == (1.0, 4)
    with pytest.raises(InvalidParameter, match="needs the constraints"):
        evaluate(true, pred, pairs="unconstrained")
