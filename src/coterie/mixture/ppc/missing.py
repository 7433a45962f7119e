"""Rows with gaps (NaN): what is not known of a Gaussian row is integrated out, exactly.

With o the known columns of a row and m its gaps, the row has the density N(x_o | μ_o, Σ_oo), and
given it the gaps are Gaussian around μ_m + Σ_mo Σ_oo⁻¹ (x_o − μ_o) with the covariance
C = Σ_mm − Σ_mo Σ_oo⁻¹ Σ_om. The M-step takes the row with its gaps filled in by that mean, and C
besides (Ghahramani and Jordan 1994): its sums are then expected ones, and EM is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from coterie._typing import BoolArray, FloatArray, IntArray
from coterie.mixture.ppc.model import Mixture, Moments

__all__ = ["add_incomplete", "incomplete_rows", "marginal_log_densities"]


def incomplete_rows(chunk: FloatArray) -> IntArray:
    """Positions of the rows (b, d) that have gaps."""
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.isfinite(chunk.sum())  # one pass and no copy; only where it fails, look
    if whole:
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(np.isnan(chunk).any(axis=1))


def marginal_log_densities(chunk: FloatArray, mixture: Mixture) -> FloatArray:
    """log N(x_o | μ_o, Σ_oo) of each row (b, d) and component, (b, G)."""
    out = np.empty((chunk.shape[0], mixture.means.shape[0]))
    for inside, known in _patterns(chunk):
        rows = chunk[np.ix_(inside, known)]
        constant = 0.5 * np.count_nonzero(known) * np.log(2 * np.pi)
        for g, mean in enumerate(mixture.means):
            root = _root(mixture, g, known)
            white = solve_triangular(root, (rows - mean[known]).T, lower=True)
            out[inside, g] = -0.5 * np.einsum("di,di->i", white, white)
            out[inside, g] -= np.log(np.diagonal(root)).sum() + constant
    return out


def add_incomplete(moments: Moments, chunk: FloatArray, resp: FloatArray, mixture: Mixture) -> None:
    """Add rows (b, d) with gaps and responsibilities `resp` (b, G) to sums of our own."""
    covariance = mixture.shape.covariance
    for inside, known in _patterns(chunk):
        rows = chunk[np.ix_(inside, known)]
        for g, mean in enumerate(mixture.means):
            weight = np.ascontiguousarray(resp[inside, g])
            total = float(weight.sum())
            if total == 0.0:
                continue
            gap = _gap(mixture, g, known)
            diff = np.empty((inside.size, known.size))
            diff[:, known] = rows - mean[known]
            diff[:, ~known] = diff[:, known] @ gap.regression
            moments.counts[g] += total
            moments.sums[g] += weight @ diff
            covariance.add_squares(weight, diff, g, moments.squares)
            covariance.add_matrix(total, gap.left, g, moments.squares)


class _Gap(NamedTuple):
    """Of the gaps given the rest: Σ_oo⁻¹ Σ_om (o, m), and C in a matrix (d, d) of zeros."""

    regression: FloatArray
    left: FloatArray


def _gap(mixture: Mixture, g: int, known: BoolArray) -> _Gap:
    matrix = mixture.shape.covariance.matrix(mixture.covariances, g, known.size)
    root = _root(mixture, g, known)
    half = solve_triangular(root, matrix[np.ix_(known, ~known)], lower=True)
    left = np.zeros_like(matrix)
    left[np.ix_(~known, ~known)] = matrix[np.ix_(~known, ~known)] - half.T @ half
    return _Gap(np.asarray(solve_triangular(root.T, half)), left)


def _root(mixture: Mixture, g: int, known: BoolArray) -> FloatArray:
    """Lower triangular L (o, o) with L Lᵀ = Σ_oo."""
    matrix = mixture.shape.covariance.matrix(mixture.covariances, g, known.size)
    return np.asarray(cholesky(matrix[np.ix_(known, known)], lower=True))


def _patterns(chunk: FloatArray) -> Iterator[tuple[IntArray, BoolArray]]:
    """Rows with gaps in the same columns, and which columns (d,) they know."""
    known = ~np.isnan(chunk)
    distinct, pattern = np.unique(known, axis=0, return_inverse=True)
    pattern = pattern.ravel()
    order = np.argsort(pattern, kind="stable")
    edges = np.searchsorted(pattern[order], np.arange(distinct.shape[0] + 1))
    for number, columns in enumerate(distinct):
        yield order[edges[number] : edges[number + 1]], columns
