"""Clusters over time: numbers that stay from one clustering to the next, and what changed.

Clusters of two clusterings are matched by the rows that they share; rows are known by their place,
or by ids where rows were added, removed or reordered in between.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csgraph

from coterie.exceptions import InvalidData
from coterie.parameters import check_arguments

__all__ = ["Difference", "diff", "renumber", "shared_rows"]

_LISTED = 0.1  # share of a cluster's rows below which a move is no split or merge


def renumber(
    labels: ArrayLike,
    like: ArrayLike,
    *,
    ids: Any = None,
    like_ids: Any = None,
    compact: bool = False,
) -> NDArray[np.int64]:
    """The same clusters under the numbers of an earlier clustering that they share most rows with.

    One to one, so that as many rows as possible keep their number. Clusters beyond the earlier
    ones get numbers that were not used. Negative labels (outliers) stay.

    Parameters
    ----------
    labels : array-like of int, shape (n,)
    like : array-like of int, shape (m,)
        The earlier clustering; of the same rows, unless ids are given.
    ids, like_ids : sequences, optional
        The id of every row of each.
    compact : bool, default=False
        Use the numbers 0..K−1 only, although an earlier cluster with a larger number is there.

    Returns
    -------
    (n,) int64

    Examples
    --------
    >>> from coterie import renumber
    >>> renumber([1, 1, 0, 0, 2], like=[0, 0, 1, 1, 1]).tolist()
    [0, 0, 1, 1, 2]
    """
    check_arguments(renumber, locals())
    now, then = _labels(labels), _labels(like)
    a, b = shared_rows(now.size, then.size, ids, like_ids)
    inside = now >= 0
    clusters, code = np.unique(now[inside], return_inverse=True)
    numbers = _numbers(clusters, now[a], then[b], np.unique(then[then >= 0]), compact)
    now[inside] = numbers[code]
    return now


def _numbers(
    clusters: NDArray[np.int64],
    now: NDArray[np.int64],
    then: NDArray[np.int64],
    used: NDArray[np.int64],
    compact: bool,
) -> NDArray[np.int64]:
    """New number (K,) of each of the `clusters`, from the labels (s,) of the shared rows.

    `used` are the earlier clusters, also those without a shared row.
    """
    inside = (now >= 0) & (then >= 0)
    if compact:
        inside &= then <= clusters.max(initial=-1)
    numbers = _matched(clusters, now[inside], then[inside])
    left = np.flatnonzero(numbers < 0)
    taken = numbers[numbers >= 0] if compact else used
    numbers[left] = np.setdiff1d(np.arange(taken.size + left.size), taken)[: left.size]
    return numbers


def _matched(
    clusters: NDArray[np.int64], now: NDArray[np.int64], then: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The earlier cluster of each (K,), one to one, by the most shared rows; −1 for none.

    Clusters that no chain of shared rows connects are matched apart: of many small clusters no
    table of all by all is made.
    """
    both, counts = np.unique(np.column_stack([now, then]), axis=0, return_counts=True)
    a = np.searchsorted(clusters, both[:, 0])
    earlier, b = np.unique(both[:, 1], return_inverse=True)
    nodes = clusters.size + earlier.size
    graph = sparse.coo_array((counts, (a, clusters.size + b)), shape=(nodes, nodes))
    part = csgraph.connected_components(graph, directed=False)[1][a]
    order = np.argsort(part, kind="stable")
    numbers = np.full(clusters.size, -1, dtype=np.int64)
    for at in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
        rows, row = np.unique(a[at], return_inverse=True)
        columns, column = np.unique(b[at], return_inverse=True)
        shared = np.zeros((rows.size, columns.size), dtype=np.int64)
        shared[row, column] = counts[at]
        kept = (clusters[rows, np.newaxis] == earlier[columns]) & (shared > 0)
        # Among equals its own number.
        row, column = linear_sum_assignment(-(shared * (min(shared.shape) + 1) + kept))
        met = shared[row, column] > 0  # a pair without a common row is no match
        numbers[rows[row[met]]] = earlier[columns[column[met]]]
    return numbers


class Difference(NamedTuple):
    """What changed from one clustering to another.

    Attributes
    ----------
    rows : dict of columns
        One entry for each row that changed: id, before, after, what. "moved": to a cluster that is
        not the successor of its own; "new" and "gone": only in one of the two. −2 stands for no
        cluster.
    clusters : dict of columns
        One entry for each two clusters that share a tenth of either's rows, and for those without
        any: before, after, n_rows, share_before, share_after, what ("kept", "split", "merged",
        "mixed", "new", "gone").
    n_same : int
        Rows in both whose cluster is the successor of what it was.
    """

    rows: dict[str, Any]
    clusters: dict[str, Any]
    n_same: int

    def to_frame(self, what: str = "clusters", backend: str = "pandas") -> Any:
        """`clusters` or `rows` as a pandas, polars or pyarrow frame."""
        from coterie.constraints.frames import make_frame
        from coterie.validation import check_choice

        return make_frame(getattr(self, check_choice("what", what, ("clusters", "rows"))), backend)

    def __str__(self) -> str:
        words = {"moved": 0, "new": 0, "gone": 0}
        for word in self.rows["what"].tolist():
            words[word] += 1
        lines = [f"{self.n_same} rows stayed, " + ", ".join(f"{n} {w}" for w, n in words.items())]
        table = self.clusters
        for at in range(len(table["what"])):
            before, after, n, word = (
                table[name][at] for name in ("before", "after", "n_rows", "what")
            )
            if word != "kept":
                lines.append(f"{word}: cluster {before} → {after} ({n} rows)")
        return "\n".join(lines).replace("cluster -2 → ", "cluster ").replace(" → -2", "")


def diff(old: Any, new: Any, *, ids: Any = None, old_ids: Any = None) -> Difference:
    """Which rows moved, and which clusters split, merged, came or went.

    Numbers do not matter: clusters are matched by the rows that they share, as in `renumber`.

    Parameters
    ----------
    old, new : array-like of int, or fitted models
        Two clusterings of the same rows, unless ids are given.
    ids, old_ids : sequences, optional
        The id of every row of `new` and of `old`.

    Examples
    --------
    >>> from coterie import diff
    >>> print(diff([0, 0, 0, 1, 1, 1], [5, 5, 5, 3, 3, 5]))
    5 rows stayed, 1 moved, 0 new, 0 gone
    merged: cluster 0 → 5 (3 rows)
    split: cluster 1 → 3 (2 rows)
    mixed: cluster 1 → 5 (1 rows)
    """
    check_arguments(diff, locals())
    before = _labels(getattr(old, "labels_", old))
    after = _labels(getattr(new, "labels_", new))
    a, b = shared_rows(after.size, before.size, ids, old_ids)
    matched = renumber(after, before, ids=ids, like_ids=old_ids)
    stayed = matched[a] == before[b]
    return Difference(
        _row_changes(before, after, a, b, stayed, ids, old_ids),
        _cluster_changes(before, after, before[b], after[a]),
        int(stayed.sum()),
    )


def _row_changes(
    before: NDArray[np.int64],
    after: NDArray[np.int64],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    stayed: NDArray[np.bool_],
    ids: Any,
    old_ids: Any,
) -> dict[str, Any]:
    names = np.arange(after.size) if ids is None else np.asarray(list(ids))
    old_names = np.arange(before.size) if ids is None else np.asarray(list(old_ids))
    fresh = np.setdiff1d(np.arange(after.size), a)
    lost = np.setdiff1d(np.arange(before.size), b)
    moved, at = a[~stayed], b[~stayed]
    none = np.int64(-2)
    return {
        "id": np.concatenate([names[moved], names[fresh], old_names[lost]]),
        "before": np.concatenate([before[at], np.full(fresh.size, none), before[lost]]),
        "after": np.concatenate([after[moved], after[fresh], np.full(lost.size, none)]),
        "what": np.repeat(np.array(["moved", "new", "gone"]), [moved.size, fresh.size, lost.size]),
    }


def _cluster_changes(
    before: NDArray[np.int64],
    after: NDArray[np.int64],
    then: NDArray[np.int64],
    now: NDArray[np.int64],
) -> dict[str, Any]:
    inside = (then >= 0) & (now >= 0)
    # Only clusters that share rows: of many small ones a table of all by all is too large.
    shared, counts = np.unique(
        np.column_stack([then[inside], now[inside]]), axis=0, return_counts=True
    )
    olds, o = np.unique(shared[:, 0], return_inverse=True)
    news, n = np.unique(shared[:, 1], return_inverse=True)
    of_old = counts / np.bincount(o, counts)[o]
    of_new = counts / np.bincount(n, counts)[n]
    listed = (of_old >= _LISTED) | (of_new >= _LISTED)
    parts, sources = np.bincount(o[listed]), np.bincount(n[listed])
    entries: list[tuple[Any, ...]] = []
    for at in np.flatnonzero(listed):
        i, j = o[at], n[at]
        word = ("mixed" if sources[j] > 1 else "split") if parts[i] > 1 else (
            "merged" if sources[j] > 1 else "kept"
        )  # fmt: skip
        entries.append((olds[i], news[j], counts[at], of_old[at], of_new[at], word))
    for label, size in _without(before, olds):
        entries.append((label, -2, size, 0.0, 0.0, "gone"))
    for label, size in _without(after, news):
        entries.append((-2, label, size, 0.0, 0.0, "new"))
    columns = list(zip(*entries, strict=True)) if entries else [()] * 6
    kinds = (np.int64, np.int64, np.int64, np.float64, np.float64, np.str_)
    names = ("before", "after", "n_rows", "share_before", "share_after", "what")
    return {
        name: np.array(column, dtype=kind)
        for name, column, kind in zip(names, columns, kinds, strict=True)
    }


def _without(labels: NDArray[np.int64], met: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Clusters that are not among those `met`, and how many rows they have."""
    found, sizes = np.unique(labels[labels >= 0], return_counts=True)
    alone = ~np.isin(found, met)
    return list(zip(found[alone].tolist(), sizes[alone].tolist(), strict=True))


def _labels(labels: ArrayLike) -> NDArray[np.int64]:
    """A copy of the labels, (n,); of any size, as nothing is made that goes up to the largest."""
    given = np.asarray(labels)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise InvalidData(
            f"labels have shape {given.shape} and type {given.dtype}; give one whole number a row."
        )
    if int(given.max(initial=0)) > np.iinfo(np.int64).max:
        raise InvalidData(
            f"labels hold {given.max()}, more than 2^63 - 1; number the clusters from 0, for "
            "instance by np.unique(labels, return_inverse=True)."
        )
    return given.astype(np.int64)


def shared_rows(
    n_now: int, n_then: int, ids: Any, like_ids: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of the rows that both have, in each."""
    if (ids is None) != (like_ids is None):
        raise InvalidData("give the ids of both clusterings, or of neither.")
    if ids is None:
        if n_now != n_then:
            raise InvalidData(
                f"there are {n_now} rows now and {n_then} before; give the ids of both."
            )
        return np.arange(n_now), np.arange(n_then)
    place = _places(like_ids, n_then)
    found = [(at, place[name]) for name, at in _places(ids, n_now).items() if name in place]
    both = np.array(found, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _places(ids: Any, n: int) -> dict[Any, int]:
    listed = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    place = {name: at for at, name in enumerate(listed)}
    if len(listed) != n or len(place) < n:
        raise InvalidData(
            f"there are {len(listed)} ids, {len(place)} of them different, for {n} rows; every row "
            "needs its own."
        )
    return place
