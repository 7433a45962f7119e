"""Scores of one partition against another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils import column_or_1d

from coterie.constraints import Constraints
from coterie.exceptions import InvalidData, InvalidParameter
from coterie.parameters import check_arguments


class PairwiseScores(NamedTuple):
    """Precision, recall and F over unordered pairs of rows."""

    precision: float
    recall: float
    f: float


def check_partitions(labels_true: ArrayLike, labels_pred: ArrayLike) -> tuple[NDArray, NDArray]:
    """Both labelings as 1-D arrays of the same, non-zero length."""
    true, pred = column_or_1d(labels_true), column_or_1d(labels_pred)
    if true.size != pred.size:
        sizes = [true.size, pred.size]
        raise InvalidData(
            f"labels_true and labels_pred have inconsistent numbers of samples: {sizes}."
        )
    if true.size == 0:
        raise InvalidData("There are no rows to score; pass labels of at least one row.")
    return true, pred


def _n_pairs(counts: NDArray) -> int:
    """Σ_c counts_c (counts_c − 1) / 2: pairs of rows inside groups of these sizes."""
    counts = counts.astype(np.int64)
    return int((counts * (counts - 1) // 2).sum())


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 1.0


def pairwise_scores(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, constraints: Constraints | None = None
) -> PairwiseScores:
    """Pairwise precision, recall and F-measure (Basu et al. 2004, §5.2).

    With T the pairs of rows of one class, P the pairs of rows in one cluster,

        precision = |P ∩ T| / |P|,   recall = |P ∩ T| / |T|,   F = 2 |P ∩ T| / (|P| + |T|).

    A ratio of nothing to nothing is 1: all-singletons against all-singletons is a perfect match.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        Two labelings of the same rows.
    constraints : Constraints, optional
        Pairs that do not count, because the clustering was told about them: as the paper says,
        over "every pair of points that do not have explicit constraints between them". Give
        `constraints.entailed()` to leave out what follows from them too.

    Returns
    -------
    PairwiseScores
        `precision`, `recall` and `f`, each in [0, 1].
    """
    check_arguments(pairwise_scores, locals())
    true, pred = check_partitions(labels_true, labels_pred)
    table = contingency_matrix(true, pred, sparse=True)
    both = _n_pairs(table.data)
    in_class = _n_pairs(np.asarray(table.sum(axis=1)).ravel())
    in_cluster = _n_pairs(np.asarray(table.sum(axis=0)).ravel())
    if constraints is not None:
        check_about(true.size, constraints)
        i, j = np.unique(constraints.pairs, axis=0).T
        one_class, one_cluster = true[i] == true[j], pred[i] == pred[j]
        both -= int((one_class & one_cluster).sum())
        in_class -= int(one_class.sum())
        in_cluster -= int(one_cluster.sum())
    return PairwiseScores(
        _ratio(both, in_cluster), _ratio(both, in_class), _ratio(2 * both, in_cluster + in_class)
    )


def check_about(n_samples: int, constraints: Constraints) -> None:
    """Refuse constraints about another number of rows."""
    if constraints.n_samples != n_samples:
        raise InvalidParameter(
            f"The constraints are about {constraints.n_samples} rows, the labels about "
            f"{n_samples}; use constraints.subset(rows) for a part of the rows."
        )


def pairwise_f(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, constraints: Constraints | None = None
) -> float:
    """Pairwise F-measure alone: a score function for `sklearn.metrics.make_scorer`."""
    return pairwise_scores(labels_true, labels_pred, constraints=constraints).f


def match_labels(labels_true: ArrayLike, labels_pred: ArrayLike) -> dict[object, object]:
    """The one-to-one matching of clusters with classes that agrees on most rows.

    Hungarian method on the contingency table. Where there are more clusters than classes, the
    clusters left over are absent from the answer.

    Returns
    -------
    dict
        Predicted label → true label.
    """
    check_arguments(match_labels, locals())
    true, pred = check_partitions(labels_true, labels_pred)
    classes, clusters, table = _dense_table(true, pred)
    row, column = linear_sum_assignment(table, maximize=True)
    return dict(zip(clusters[column].tolist(), classes[row].tolist(), strict=True))


def matched_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of rows that agree under the best one-to-one matching of clusters with classes.

    Rows of clusters that no class is matched with count as wrong.
    """
    check_arguments(matched_accuracy, locals())
    true, pred = check_partitions(labels_true, labels_pred)
    _, _, table = _dense_table(true, pred)
    row, column = linear_sum_assignment(table, maximize=True)
    return float(table[row, column].sum() / true.size)


def _dense_table(true: NDArray, pred: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Classes, clusters and their (classes, clusters) contingency table."""
    return np.unique(true), np.unique(pred), contingency_matrix(true, pred)
