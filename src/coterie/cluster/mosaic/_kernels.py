"""Compiled loops of Mosaic."""

# mypy: allow-untyped-defs
from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def below_top(scale, values, out):
    """scale * (values - the largest of the row): the logarithm of a softmax but for a constant."""
    # IN: values (n, K). OUT: out (n, K)
    for i in range(values.shape[0]):
        top = values[i, 0]
        for k in range(1, values.shape[1]):
            top = max(top, values[i, k])
        for k in range(values.shape[1]):
            out[i, k] = scale * (values[i, k] - top)


@njit(cache=True, nogil=True)
def to_shares(values):
    """Divide each row by its sum."""
    # OUT: values (n, K)
    for i in range(values.shape[0]):
        total = 0.0
        for k in range(values.shape[1]):
            total += values[i, k]
        for k in range(values.shape[1]):
            values[i, k] /= total


@njit(cache=True, nogil=True)
def slope_and_curvature(chance, values, targets, weights):
    """Derivatives in b of sum_i w_i sum_k t_ik log softmax(b v_i)_k."""
    # IN: chance (n, K), softmax(b v_i) but for a factor per row; values, targets (n, K);
    #     weights (n,)
    slope = 0.0
    curvature = 0.0
    for i in range(values.shape[0]):
        total = 0.0
        mean = 0.0
        square = 0.0
        seen = 0.0
        for k in range(values.shape[1]):
            part = chance[i, k] * values[i, k]
            total += chance[i, k]
            mean += part
            square += part * values[i, k]
            seen += targets[i, k] * values[i, k]
        mean /= total
        slope += weights[i] * (seen - mean)
        curvature += weights[i] * (square / total - mean * mean)
    return slope, curvature
