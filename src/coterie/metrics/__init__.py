"""How good is a clustering, and how far were the constraints kept?

Every score compares partitions: the numbers used as labels never matter. All of them are computed
from the contingency table, in O(n) time and memory, never from all pairs of rows.
"""

from __future__ import annotations

from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from coterie.metrics._constraints import ConstraintSatisfaction, constraint_satisfaction
from coterie.metrics._evaluate import evaluate, evaluation_rows
from coterie.metrics._partition import (
    PairwiseScores,
    match_labels,
    matched_accuracy,
    pairwise_f,
    pairwise_scores,
)

__all__ = [
    "ConstraintSatisfaction",
    "PairwiseScores",
    "adjusted_rand_score",
    "constraint_satisfaction",
    "evaluate",
    "evaluation_rows",
    "match_labels",
    "matched_accuracy",
    "normalized_mutual_info_score",
    "pairwise_f",
    "pairwise_scores",
]
