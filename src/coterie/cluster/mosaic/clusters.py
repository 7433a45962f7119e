"""As many clusters as were asked for, and no number without rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from coterie._typing import Array
from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.finish import MosaicFit
from coterie.words import warn

__all__ = ["fill_clusters", "number_alike", "say_fewer", "without_empty"]

_JUST_ABOVE = 1e-4  # of the field: a row goes where it is highest
_MOST_TRIES = 20  # rows that are tried for each empty cluster


def fill_clusters(found: MosaicFit, evidence: Evidence, weights: Array) -> MosaicFit:
    """Each empty cluster gets back a row that its pairs took away, or the row that fits worst.

    The first is a row where the field of the cluster is highest. If there is none, the row in no
    pair whose highest field is low, x, gets a field of its own, c k(·, x), that is just above the
    others there; so `predict` agrees. Of twenty such rows it is the one whose field takes the
    fewest others: that of a row far from everything else is above the others nearly everywhere.
    If all of them take too much, rows that fit better are tried.
    Nobody takes the last row of a cluster, a row in a hard pair, or more than n / K unlike rows.

    Parameters
    ----------
    found : MosaicFit
    evidence : Evidence
    weights : (n,)
        How often each row counts.
    """
    count = found.field_weights.shape[1]
    for cluster in np.flatnonzero(np.bincount(found.labels, minlength=count) == 0).tolist():
        back = _given_back(found, evidence, cluster)
        found = back if back is not None else _worst_row(found, evidence, weights, cluster)
    return found


def without_empty(found: MosaicFit) -> MosaicFit:
    """The same clusters without those that have no row, in the order of their first rows.

    So the same clusters have the same numbers whatever they were started from.
    """
    held, first = np.unique(found.labels, return_index=True)
    return _numbered(found, held[np.argsort(first)])


def number_alike(found: MosaicFit, before: Array) -> MosaicFit:
    """The same clusters with the numbers that most of their rows had `before` (n,).

    Numbers that nobody had go to the others, in their order.
    """
    count = found.field_weights.shape[1]
    table = np.zeros((count, max(count, int(before.max()) + 1)))
    np.add.at(table, (found.labels, before), 1.0)
    clusters, numbers = linear_sum_assignment(table, maximize=True)
    # With fewer clusters than before, the numbers that are left move up.
    return _numbered(found, clusters[np.argsort(numbers, kind="stable")])


def _numbered(found: MosaicFit, order: Array) -> MosaicFit:
    """The clusters `order` alone, the first of them numbered 0 and so on."""
    number = np.full(found.field_weights.shape[1], -1, dtype=np.int64)
    number[order] = np.arange(order.size)
    return found._replace(labels=number[found.labels], field_weights=found.field_weights[:, order])


def say_fewer(asked: int, labels: Array, n_different: int) -> None:
    """Warn if fewer clusters came back than were asked for, and say why."""
    got = np.unique(labels).size
    if got >= asked:
        return
    if n_different < asked:
        why = f"only {n_different} rows are different"
    else:
        why = "hard must-links hold the other rows together, or no row can be parted from the rest"
    warn(
        f"Mosaic found {got} clusters, not the {asked} of n_clusters: {why}. n_clusters_ is {got}.",
    )


def _given_back(found: MosaicFit, evidence: Evidence, cluster: int) -> MosaicFit | None:
    may = np.flatnonzero((found.by_field == cluster) & _movable(found, evidence))
    if not may.size:
        return None
    degree = np.bincount(evidence.constraints.pairs.reshape(-1), minlength=found.labels.size)
    labels = found.labels.copy()
    labels[may[degree[may].argmin()]] = cluster
    return found._replace(labels=labels)


def _worst_row(found: MosaicFit, evidence: Evidence, weights: Array, cluster: int) -> MosaicFit:
    features = found.field.features
    if not len(features):  # of K-Means: every centre has rows, unless these are the same
        return found
    tops = found.field.values(found.field_weights).max(axis=1)
    free = weights > 0
    free[evidence.core.rows] = False
    may = np.flatnonzero(free & _movable(found, evidence))
    sizes = np.bincount(found.labels)
    best: tuple[Array, Array] | None = None  # a field, and the rows that it takes
    most = found.labels.size // found.field_weights.shape[1]  # more is what fits elsewhere
    by_fit = may[np.argsort(tops[may], kind="stable")]
    spread = by_fit[np.linspace(0, max(may.size - 1, 0), _MOST_TRIES).astype(int)[: may.size]]
    for number, row in enumerate((*by_fit[:_MOST_TRIES], *spread)):
        if best is not None and number >= _MOST_TRIES:
            break  # the others are for where all that fit badly would take too much
        own = features[row].astype(np.float64)
        column = (tops[row] + _JUST_ABOVE) / (own @ own) * own
        taken = found.field.values(column[:, None])[:, 0] > tops
        left = np.bincount(found.labels[~(taken & free)], minlength=sizes.size)
        others = int((features[taken] != features[row]).any(axis=1).sum())  # but for its equals
        if taken[row] and others <= most and (left[sizes > 0] > 0).all():
            best, most = (column, taken), others - 1
    if best is None:
        return found
    column, taken = best
    labels, by_field = found.labels.copy(), found.by_field.copy()
    labels[taken & free], by_field[taken] = cluster, cluster
    fields = found.field_weights.copy()
    fields[:, cluster] = column
    return found._replace(labels=labels, by_field=by_field, field_weights=fields)


def _movable(found: MosaicFit, evidence: Evidence) -> NDArray[np.bool_]:
    """Rows (n,) that are in no hard pair and not the last of their cluster."""
    known = evidence.constraints
    movable = np.bincount(found.labels)[found.labels] > 1
    movable[known.pairs[known.is_hard].reshape(-1)] = False
    return np.asarray(movable)
