"""New records beside those of a fitted model: which cluster each joins, if any."""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.constraints import Constraints
from coterie.exceptions import InfeasibleConstraints
from coterie.records.candidates import find_candidates, places, unique_pairs
from coterie.records.comparison import Comparison
from coterie.records.fields import Field
from coterie.records.learning import Belief
from coterie.records.partition import Graph, components, partition
from coterie.records.problem import PENALTY
from coterie.records.rivals import Rivals

__all__ = ["Known", "joined_clusters", "nearest_clusters"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_MOST_MATES = 50  # records of a cluster that a new one is compared with
_NEVER = -1e7


class Known(NamedTuple):
    """Records whose clusters are found, and what was learned from them.

    Attributes
    ----------
    fields : list of Field
    labels : (n,) int64
    exclusive : (n,) int64
    belief : Belief
    rivals : Rivals
    threshold : float
    """

    fields: list[Field]
    labels: Int
    exclusive: Int
    belief: Belief
    rivals: Rivals
    threshold: float


def nearest_clusters(known: Known, new: list[Field], groups: Int) -> Int:
    """The cluster of each new record by itself, (m,); −1 for one that is like none."""
    n, n_clusters = known.labels.size, int(known.labels.max()) + 1
    pairs, weight, _, _ = _compared(known, new, groups, among_new=False)
    found = np.full(groups.size, -1, dtype=np.int64)
    if not len(pairs):
        return found
    # Sum of the log-odds with each cluster; members that are no candidates count against it.
    keys, back = np.unique(
        (pairs[:, 1] - n) * n_clusters + known.labels[pairs[:, 0]], return_inverse=True
    )
    row, cluster = np.divmod(keys, n_clusters)
    unlisted = np.bincount(known.labels)[cluster] - np.bincount(back)
    total = np.asarray(np.bincount(back, weight) - PENALTY * unlisted)
    order = np.lexsort((-cluster, total))  # the best comes last, and stays
    order = order[total[order] > 0]
    found[row[order]] = cluster[order]
    return found


def joined_clusters(
    known: Known, new: list[Field], groups: Int, answers: Constraints
) -> tuple[Int, Rivals]:
    """Clusters of the new records (m,), compared with each other too; those found get new numbers.

    Clusters that were there stay as they are. `answers` are about the n + m records, known ones
    first; hard ones are kept. And the rivals of all records, (n + m,).
    """
    n, m = known.labels.size, groups.size
    about_new = (answers.pairs[:, 1] >= n) & (answers.weight > 0)
    pairs, weight, exclusive, rivals = _compared(
        known, new, groups, among_new=True, extra=answers.pairs[about_new]
    )
    rate = min(max(known.belief.error_rate, 1e-6), 0.49)
    strength = np.where(answers.is_hard, 0.0, answers.strength(1.0 - rate)) * answers.kind
    np.add.at(weight, places(answers.pairs[about_new], pairs, n + m), strength[about_new])
    is_known = np.where(np.arange(n + m) < n, 0, -1)  # two known clusters are never joined
    _, first, back = np.unique(known.labels, return_index=True, return_inverse=True)
    hard = answers.is_hard & about_new
    together = np.concatenate(
        [np.column_stack([first[back], np.arange(n)]), answers.pairs[hard & (answers.kind > 0)]]
    )
    apart = answers.pairs[hard & (answers.kind < 0)]
    groups_of = np.column_stack([exclusive, is_known])
    _refuse_clashes(known.labels, exclusive, together, apart)
    labels = partition(Graph(n + m, pairs, weight, PENALTY, together, apart, groups_of))
    number = dict(zip(labels[:n].tolist(), known.labels.tolist(), strict=True))
    free = count(int(known.labels.max()) + 1)
    for label in labels[n:].tolist():
        if label not in number:
            number[label] = next(free)
    added = np.array([number[label] for label in labels[n:].tolist()], dtype=np.int64)
    return added, rivals


def _refuse_clashes(labels: Int, exclusive: Int, together: Int, apart: Int) -> None:
    """Refuse hard answers that known clusters, groups or other hard answers cannot bear."""
    n = labels.size
    _, part = components(exclusive.size, together)
    clusters = np.unique(np.column_stack([part[:n], labels]), axis=0)
    twice = clusters[1:][clusters[1:, 0] == clusters[:-1, 0]]
    if twice.size:
        row = n + int(np.flatnonzero(part[n:] == twice[0, 0])[0])
        ours = clusters[clusters[:, 0] == twice[0, 0], 1][:2]
        raise InfeasibleConstraints(
            f"hard answers join clusters {ours[0]} and {ours[1]} by the new record {row}, and "
            "extend keeps clusters as they are; make an answer soft, or call fit on all records."
        )
    inside = np.flatnonzero(part[apart[:, 0]] == part[apart[:, 1]])
    if inside.size:
        i, j = apart[inside[0]]
        raise InfeasibleConstraints(
            f"a hard answer tells records {i} and {j} apart, and others join them; remove or "
            "soften one of them, or call fit on all records."
        )
    held = np.flatnonzero(exclusive >= 0)
    keys = part[held] * (exclusive.max(initial=0) + 1) + exclusive[held]
    order = np.argsort(keys, kind="stable")
    clash = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if clash.size:
        i, j = held[order[clash[0]]], held[order[clash[0] + 1]]
        raise InfeasibleConstraints(
            f"hard answers join records {i} and {j}, which are of one exclusive group; remove or "
            "soften one of them, or change the group."
        )


def _compared(
    known: Known, new: list[Field], groups: Int, *, among_new: bool, extra: Int | None = None
) -> tuple[Int, Float, Int, Rivals]:
    """Candidate pairs of new records, what it is worth to join them, exclusive groups, rivals.

    The `extra` pairs (·, 2) are always among them.
    """
    n = known.labels.size
    fields = [old.joined(field) for old, field in zip(known.fields, new, strict=True)]
    exclusive = np.concatenate([known.exclusive, groups])
    pairs = find_candidates(fields, n_known=n, exclusive=exclusive)
    if among_new:
        own = find_candidates(new, exclusive=groups) + n
        pairs = unique_pairs(np.concatenate([pairs, own]), n + groups.size)
    # A record that is like one of a cluster is compared with all of it.
    if extra is not None:
        pairs = unique_pairs(np.concatenate([pairs, extra]), n + groups.size)
    mates = _cluster_mates(pairs[pairs[:, 0] < n], known.labels)
    pairs = unique_pairs(np.concatenate([pairs, mates]), n + groups.size)
    apart = (exclusive[pairs[:, 0]] >= 0) & (exclusive[pairs[:, 0]] == exclusive[pairs[:, 1]])
    levels = Comparison(fields, n).levels(pairs)
    rivals = known.rivals.beside(groups.size, pairs, known.belief.classes.log_odds(levels))
    log_odds = known.belief.log_odds(levels, pairs, rivals)
    log_odds -= np.log(known.threshold / (1 - known.threshold))
    return pairs, np.where(apart, _NEVER, log_odds), exclusive, rivals


def _cluster_mates(pairs: Int, labels: Int) -> Int:
    """The new record of each pair (known, new) with every known one of the same cluster."""
    if not len(pairs):
        return pairs
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    asked = np.unique(np.column_stack([labels[pairs[:, 0]], pairs[:, 1]]), axis=0)
    many = np.minimum(sizes[asked[:, 0]], _MOST_MATES)
    new = np.repeat(asked[:, 1], many)
    offset = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    return np.column_stack([order[np.repeat(starts[asked[:, 0]], many) + offset], new])
