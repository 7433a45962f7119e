"""How much was found, by the model's own probabilities: expected precision and recall."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coterie.records.problem import PENALTY, Solution, logistic

__all__ = ["expected_precision", "expected_recall"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]


def expected_precision(solution: Solution) -> float:
    """Expected share of the joined pairs that are the same; 1 without any."""
    chance, joined = _chances(solution)
    return float(chance[joined].mean()) if joined.any() else 1.0


def expected_recall(solution: Solution, exclusive: Int | None = None) -> float:
    """Expected share of the pairs that are the same that are joined; 1 without any.

    Where records of one of the `exclusive` groups (n,) are never the same (−1: no group), a pair of
    clusters that both hold one is not missed: its records have found what they are the same as.

    Two clusters that are apart are the same or not as a whole, by all pairs between them: one of
    these may seem the same, and the others say that it is not.

    The doubt about a pair that is apart has two parts. Which class it is of is its own affair:
    such doubts add up to a number of pairs that are missed. What a class is that counts as
    "different" is one question for all of its pairs: most likely none of them is the same, and
    seldom all are. So recall is averaged over what the classes may be; Σp of thousands of pairs
    that are surely different would pass for dozens that were missed. Answers "different" about
    pairs of a class answer that question. (That answers "same" turn a class is the belief's to
    say: they are about the most alike of its pairs.)
    """
    chance, joined = _chances(solution)
    found = float(chance[joined].sum())
    belief = solution.belief
    with np.errstate(divide="ignore"):
        odds = np.log(belief.classes.same) - np.log1p(-belief.classes.same)
    odds = belief.scale * odds + belief.of_class
    of_class = logistic(odds)  # (C,) P(a class is "same"), as the log-odds of pairs have it
    asked = logistic(odds + np.minimum(belief.told_of_class, 0.0))  # and as answers about it do
    apart = np.flatnonzero(~joined)
    chance = _chance_between(solution, apart)
    if exclusive is not None and (exclusive >= 0).any():
        kept = ~_both_hold(solution.labels, exclusive, solution.pairs[apart])
        apart, chance = apart[kept], chance[kept]
    share = belief.classes.shares(solution.levels[apart]) * of_class
    part = chance[:, None] * share / np.maximum(share.sum(axis=1, keepdims=True), 1e-300)
    missed = part.sum(axis=0)  # (C,) Σp by class
    settled = of_class >= 0.5
    alone = float(missed[settled].sum())
    if found + missed.sum() <= 0:
        return 1.0
    recall = 0.0
    doubtful = np.flatnonzero(~settled)
    for holds in product((False, True), repeat=doubtful.size):
        same = np.array(holds, dtype=bool)
        weight = np.where(same, asked[doubtful], 1.0 - asked[doubtful]).prod()
        # If a class is "same", all that its pairs may be; on average over this it is Σp again.
        many = (missed[doubtful] / np.maximum(of_class[doubtful], 1e-300))[same].sum()
        total = found + alone + many
        recall += weight * (found / total if total > 0 else 1.0)
    return float(recall)


def _chance_between(solution: Solution, apart: Int) -> Float:
    """P(same) of pairs of two clusters, at these places, by all pairs of records between the two.

    The log-odds of pairs of the same records are not independent: m of them count as √m.
    """
    labels, odds = solution.labels, np.clip(solution.log_odds[apart], -700.0, 700.0)
    a, b = labels[solution.pairs[apart]].T
    n_labels = int(labels.max(initial=-1)) + 1
    sizes = np.bincount(labels, minlength=n_labels)
    keys = np.minimum(a, b) * n_labels + np.maximum(a, b)
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    every = (sizes[a] * sizes[b])[first]
    unlisted = every - np.bincount(back, minlength=first.size)
    total = np.bincount(back, odds, minlength=first.size) - PENALTY * unlisted
    return logistic(total / np.sqrt(every))[back]


def _both_hold(labels: Int, exclusive: Int, pairs: Int) -> NDArray[np.bool_]:
    """Whether the clusters of the two records of a pair (m, 2) hold records of one group, (m,)."""
    held = np.flatnonzero(exclusive >= 0)
    holds = sparse.csr_array(
        (np.ones(held.size, dtype=np.int32), (labels[held], exclusive[held])),
        shape=(int(labels.max()) + 1, int(exclusive.max()) + 1),
    )
    a, b = labels[pairs].T
    return np.asarray(holds[a].multiply(holds[b]).sum(axis=1)).ravel() > 0


def _chances(solution: Solution) -> tuple[Float, NDArray[np.bool_]]:
    i, j = solution.pairs.T
    return logistic(solution.log_odds), np.asarray(solution.labels[i] == solution.labels[j])
