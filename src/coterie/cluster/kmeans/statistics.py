"""Additive sufficient statistics of the M-step: what blocks of rows sum up for each cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie.data.sums import add_by_label
from coterie.distortions import Distortion, SeparableBregman

Array = NDArray[Any]
NONE = np.empty(0)  # stands for "all ones" in the kernels


@dataclass
class Statistics:
    """Sums over the rows of each cluster, to be added block by block.

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

    @classmethod
    def zeros(cls, n_clusters: int, d: int, form: str | None, per_cluster: bool) -> Statistics:
        """Empty sums; `form` is "diagonal", "full" or None where no metric is learned."""
        evidence: Array | None = None
        if form == "diagonal":
            evidence = np.zeros((n_clusters, d))
        elif form == "full":
            evidence = np.zeros((n_clusters if per_cluster else 1, d, d))
        return cls(np.zeros(n_clusters), np.zeros((n_clusters, d)), evidence)

    def add(
        self, rows: Any, labels: Array, weights: Array, scale: Array, distortion: Distortion
    ) -> None:
        """Add a chunk of rows by label; a negative weight takes a row out again."""
        add_by_label(rows, labels, weights, scale, self.sums, self.counts)
        if self.evidence is None:
            return
        if self.evidence.ndim == 3:
            self._add_outer(rows, labels, weights)
        elif isinstance(distortion, SeparableBregman):
            values, _ = distortion.row_evidence(rows)
            add_by_label(values, labels, weights, NONE, self.evidence, np.zeros_like(self.counts))

    def _add_outer(self, rows: Any, labels: Array, weights: Array) -> None:
        assert self.evidence is not None
        dense = (rows.toarray() if sp.issparse(rows) else rows).astype(np.float64)
        if len(self.evidence) == 1:
            groups = [np.ones(len(labels), dtype=bool)]
        else:
            groups = [labels == k for k in range(len(self.evidence))]
        for total, inside in zip(self.evidence, groups, strict=True):
            part = dense[inside]
            left = part if weights.size == 0 else part * weights[inside, None]
            total += left.T @ part

    def __add__(self, other: Statistics) -> Statistics:
        self.counts += other.counts
        self.sums += other.sums
        if self.evidence is not None:
            self.evidence += other.evidence
        return self
