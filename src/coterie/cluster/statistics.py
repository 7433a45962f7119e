"""Additive sufficient statistics of the M-step: what rows sum up for each cluster."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit

from coterie._typing import Array
from coterie.distortions import Distortion

__all__ = ["NONE", "Counter", "Shape", "Statistics", "add", "sum_rows"]

NONE = np.empty(0)  # stands for "all ones" in the kernels


class Shape(NamedTuple):
    """What is summed: `n_clusters` sums of `n_columns`, and evidence for a metric of this form."""

    n_clusters: int
    n_columns: int
    form: str | None = None  # "diagonal", "full", or None where no metric is learned
    per_cluster: bool = False


class Statistics(NamedTuple):
    """Sums over the rows of each cluster.

    Attributes
    ----------
    counts : ndarray of shape (K,)
        Summed row weights.
    sums : ndarray of shape (K, d)
        Summed w s x, with s the row's scale in the distortion.
    evidence : ndarray of shape (K, d), (1, d, d) or (K, d, d), or None
        What learning a metric needs: sums of w phi(x) by column, or of w x x'.
    """

    counts: Array
    sums: Array
    evidence: Array | None = None


def add(one: Statistics, two: Statistics) -> Statistics:
    """The sums over the rows of both."""
    evidence = None
    if one.evidence is not None and two.evidence is not None:
        evidence = one.evidence + two.evidence
    return Statistics(one.counts + two.counts, one.sums + two.sums, evidence)


def sum_rows(
    pieces: Any, labels: Array, weights: Array, scale: Array, distortion: Distortion, shape: Shape
) -> Statistics:
    """Statistics of rows, which come as pieces (lo, hi, rows lo..hi).

    Parameters
    ----------
    labels : (b,) int32
        Cluster of each row; rows with a negative label are passed over.
    weights, scale : (b,) or (0,)
        (0,) stands for ones; a negative weight takes a row out.
    """
    counter = Counter(shape, distortion)
    for lo, hi, rows in pieces:
        counter.add(rows, labels[lo:hi], weights[lo:hi], scale[lo:hi])
    return counter.statistics


class Counter:
    """Sums that grow by one piece of rows after the other.

    They begin with nothing, or go on from `statistics`, which are then changed.
    """

    def __init__(
        self, shape: Shape, distortion: Distortion, statistics: Statistics | None = None
    ) -> None:
        self.distortion = distortion
        if statistics is not None:
            self.statistics = statistics
            return
        k, d = shape.n_clusters, shape.n_columns
        evidence: Array | None = None
        if shape.form == "diagonal":
            evidence = np.zeros((k, d))
        elif shape.form == "full":
            evidence = np.zeros((k if shape.per_cluster else 1, d, d))
        self.statistics = Statistics(np.zeros(k), np.zeros((k, d)), evidence)

    def add(self, rows: Any, labels: Array, weights: Array, scale: Array) -> None:
        """Add a piece of rows."""
        counts, sums, evidence = self.statistics
        _add_by_label(rows, labels, weights, scale, sums, counts)
        if evidence is None:
            return
        if evidence.ndim == 3:
            _add_outer(rows, labels, weights, evidence)
            return
        values = self.distortion.row_evidence(rows)
        if values is not None:
            _add_by_label(values, labels, weights, NONE, evidence, np.zeros_like(counts))


def _add_by_label(
    rows: Any, labels: Array, weights: Array, scale: Array, sums: Array, counts: Array
) -> None:
    """Add w s x of dense or CSR rows to `sums` (K, d) and w to `counts` (K,), in place."""
    if sp.issparse(rows):
        add_sparse(rows.data, rows.indices, rows.indptr, labels, weights, scale, sums, counts)
    else:
        add_dense(rows, labels, weights, scale, sums, counts)


def _add_outer(rows: Any, labels: Array, weights: Array, outer: Array) -> None:
    """Add w x x' to `outer` (K, d, d), or (1, d, d) for all clusters together, in place."""
    dense = (rows.toarray() if sp.issparse(rows) else rows).astype(np.float64)
    if len(outer) == 1:
        groups = [labels >= 0]
    else:
        groups = [labels == k for k in range(len(outer))]
    for total, inside in zip(outer, groups, strict=True):
        part = dense[inside]
        left = part if weights.size == 0 else part * weights[inside, None]
        total += left.T @ part


# -- compiled: arrays in, sums filled --------------------------------------------------------------
@njit(cache=True, nogil=True)
def add_dense(rows: Any, labels: Any, weights: Any, scale: Any, sums: Any, counts: Any) -> None:
    """Add weighted rows to the sums of their clusters, passing over negative labels."""
    # IN: rows (b, d); labels (b,) int32; weights, scale (b,) or (0,) for ones
    # OUT: sums (K, d) float64 += w s x; counts (K,) float64 += w
    b, d = rows.shape
    for i in range(b):
        k = labels[i]
        if k < 0:
            continue
        w = 1.0 if weights.size == 0 else weights[i]
        counts[k] += w
        if scale.size:
            w *= scale[i]
        for m in range(d):
            sums[k, m] += w * rows[i, m]


@njit(cache=True, nogil=True)
def add_sparse(
    data: Any, indices: Any, indptr: Any, labels: Any, weights: Any, scale: Any, sums: Any,
    counts: Any,
) -> None:  # fmt: skip
    """`add_dense` for CSR rows."""
    # IN: CSR arrays; labels (b,) int32; weights, scale (b,) or (0,) for ones
    # OUT: sums (K, d) float64; counts (K,) float64
    for i in range(labels.shape[0]):
        k = labels[i]
        if k < 0:
            continue
        w = 1.0 if weights.size == 0 else weights[i]
        counts[k] += w
        if scale.size:
            w *= scale[i]
        for p in range(indptr[i], indptr[i + 1]):
            sums[k, indices[p]] += w * data[p]
