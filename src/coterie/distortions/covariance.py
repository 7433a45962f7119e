"""Variances and covariances of rows read in blocks; sparse rows are not filled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from coterie._typing import Array
from coterie.data import Block, Rows, fold, map_blocks

__all__ = ["covariance_of", "inverse_of", "variances_of"]

_LEAST_VARIANCE = 1e-10  # of the mean variance: what a direction without any is taken to have
_ONES = np.empty(0)  # stands for weights that are all 1


class _Weights(NamedTuple):
    weights: Array


class _Sums(NamedTuple):
    weight: float
    sums: Array


class _About(NamedTuple):
    mean: Array
    diagonal: bool


def variances_of(rows: Rows, weights: Array = _ONES) -> Array:
    """The variance of each column, (d,), about the mean of the rows as weighted, (n,)."""
    return _second_moments(rows, weights, diagonal=True)


def covariance_of(rows: Rows, weights: Array = _ONES) -> Array:
    """The covariance of the columns, (d, d), about the mean of the rows as weighted, (n,)."""
    return _second_moments(rows, weights, diagonal=False)


def _second_moments(rows: Rows, weights: Array, *, diagonal: bool) -> Array:
    state = _Weights(weights)
    count, sums = fold(map_blocks(rows, _sum_block, None, state=state))
    mean = sums / count
    about = _About(mean, diagonal)
    moments = fold(map_blocks(rows, _scatter_block, about, state=state)) / count
    if rows.is_sparse:  # summed about the origin
        moments -= mean**2 if diagonal else np.outer(mean, mean)
    return moments


def inverse_of(covariance: Array) -> Array:
    """The inverse of a covariance (d, d), or of variances (d,), that may be singular.

    Directions in which rows do not vary are given a little variance.
    """
    variances = covariance if covariance.ndim == 1 else np.diag(covariance)
    least = _LEAST_VARIANCE * (variances.mean() or 1.0)  # rows all alike say nothing of scale
    if covariance.ndim == 1:
        return 1 / np.maximum(covariance, least)
    values, vectors = np.linalg.eigh(covariance)
    inverse = (vectors / np.maximum(values, least)) @ vectors.T
    return (inverse + inverse.T) / 2


def _weights(block: Block) -> Array:
    weights = block.state.weights
    return weights if weights.size else np.ones(block.stop - block.start)


def _sum_block(block: Block, _: None) -> _Sums:
    weights, sums = _weights(block), np.zeros(block.rows.shape[1])
    for lo, hi, piece in block.chunks():
        sums += piece.T @ weights[lo:hi]
    return _Sums(float(weights.sum()), sums)


def _scatter_block(block: Block, about: _About) -> Array:
    """sum_i w (x_i - mean)(x_i - mean)' of dense rows, sum_i w x_i x_i' of sparse ones, or its
    diagonal.
    """
    weights = _weights(block)
    if sp.issparse(block.rows):
        rows = block.rows.astype(np.float64)
        if about.diagonal:
            return np.asarray(rows.power(2).T @ weights)
        return (rows.T @ sp.diags_array(weights) @ rows).toarray()
    d = about.mean.size
    total = np.zeros(d) if about.diagonal else np.zeros((d, d))
    for lo, hi, piece in block.chunks():
        gaps = piece.astype(np.float64) - about.mean
        weighted = gaps * weights[lo:hi, None]
        total += (weighted * gaps).sum(axis=0) if about.diagonal else weighted.T @ gaps
    return total
