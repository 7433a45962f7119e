"""Partition scores against their definitions over all pairs of rows."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from coterie import Constraints
from coterie.exceptions import InvalidData, InvalidParameter
from coterie.metrics import match_labels, matched_accuracy, pairwise_f, pairwise_scores

labelings = st.integers(1, 9).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(-1, 3), min_size=n, max_size=n)] * 2)
)


def naive_pairwise(
    true: list[int], pred: list[int], told: frozenset[tuple[int, int]] = frozenset()
) -> tuple[float, float, float]:
    pairs = [p for p in combinations(range(len(true)), 2) if p not in told]
    same_true = {p for p in pairs if true[p[0]] == true[p[1]]}
    same_pred = {p for p in pairs if pred[p[0]] == pred[p[1]]}
    both = len(same_true & same_pred)
    precision = both / len(same_pred) if same_pred else 1.0
    recall = both / len(same_true) if same_true else 1.0
    total = len(same_pred) + len(same_true)
    return precision, recall, 2 * both / total if total else 1.0


def naive_accuracy(true: list[int], pred: list[int]) -> float:
    classes, clusters = sorted(set(true)), sorted(set(pred))
    size = max(len(classes), len(clusters))
    padded: list[int | None] = [*classes, *[None] * (size - len(classes))]
    rows = list(zip(true, pred, strict=True))
    return max(
        sum(dict(zip(clusters, order, strict=False)).get(p) == t for t, p in rows)
        for order in set(permutations(padded))
    ) / len(true)


@given(labelings)
def test_pairwise_scores_equal_their_definition_over_all_pairs(labels):
    assert pairwise_scores(*labels) == pytest.approx(naive_pairwise(*labels))
    assert pairwise_f(*labels) == pairwise_scores(*labels).f


@given(labelings)
def test_matched_accuracy_is_the_best_over_all_matchings(labels):
    assert matched_accuracy(*labels) == pytest.approx(naive_accuracy(*labels))


@given(labelings)
def test_scores_do_not_see_the_names_of_clusters(labels):
    true, pred = labels
    renamed = [f"cluster {-p}" for p in pred]
    assert pairwise_scores(true, renamed) == pairwise_scores(true, pred)
    assert matched_accuracy(true, renamed) == matched_accuracy(true, pred)


def test_known_values():
    true, pred = [0, 0, 0, 1, 1], [7, 7, 8, 8, 8]
    # together in both: (0,1), (3,4); in a cluster: those and (2,3), (2,4); in a class: 3 + 1
    assert pairwise_scores(true, pred) == pytest.approx((0.5, 0.5, 0.5))
    assert matched_accuracy(true, pred) == pytest.approx(0.8)
    assert match_labels(true, pred) == {7: 0, 8: 1}


def test_match_labels_leaves_out_clusters_without_a_class():
    assert match_labels(["a", "a", "b", "b", "b"], [5, 5, 6, 6, 9]) == {5: "a", 6: "b"}


def test_a_million_rows_take_no_square_of_memory():
    labels = np.random.default_rng(0).integers(0, 1000, 1_000_000)
    assert pairwise_scores(labels, (labels + 7) % 1000) == (1.0, 1.0, 1.0)


def test_large_counts_do_not_overflow():
    n = 1_000_000  # n(n-1)/2 and n² are far beyond 32 bits
    scores = pairwise_scores(np.zeros(n, dtype=np.int8), np.arange(n) % 2)
    assert scores.precision == 1.0
    assert scores.recall == pytest.approx(0.5, abs=1e-6)


def test_empty_and_unequal_input_is_refused():
    with pytest.raises(InvalidData, match="no rows"):
        pairwise_scores([], [])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        matched_accuracy([0, 1], [0])


def test_reexported_scores_are_scikit_learns():
    from coterie import metrics

    assert metrics.adjusted_rand_score is adjusted_rand_score
    assert metrics.normalized_mutual_info_score is normalized_mutual_info_score


@given(labelings, st.integers(0, 2**16))
def test_pairs_that_were_told_do_not_count(labels, seed):
    true, pred = labels
    rng = np.random.default_rng(seed)
    told = [p for p in combinations(range(len(true)), 2) if rng.random() < 0.4]
    # Half of them twice, as a must-link and as a cannot-link: a pair is left out once.
    known = Constraints(len(true), must_link=told, cannot_link=told[::2])
    expected = naive_pairwise(true, pred, frozenset(told))
    assert pairwise_scores(true, pred, constraints=known) == pytest.approx(expected)
    assert pairwise_f(true, pred, constraints=known) == pytest.approx(expected[2])


def test_constraints_of_other_rows_are_refused():
    with pytest.raises(InvalidParameter, match="subset"):
        pairwise_f([0, 1], [0, 1], constraints=Constraints(3))
