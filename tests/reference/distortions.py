"""Distortions written as the papers print them, one pair of vectors at a time."""

from __future__ import annotations

import numpy as np


def sqeuclidean(x, y, A=None):
    gap = x - y
    A = np.ones(len(x)) if A is None else np.asarray(A)
    return float(gap @ (np.diag(A) if A.ndim == 1 else A) @ gap)


def cosine(x, y, A=None):
    A = np.ones(len(x)) if A is None else A
    return 1 - (x * A) @ y / np.sqrt(((x * A) @ x) * ((y * A) @ y))


def correlation(x, y, A=None):
    return cosine(x - x.mean(), y - y.mean())


def i_divergence(x, y, A=None):
    A = np.ones(len(x)) if A is None else A
    total = 0.0
    for a, p, q in zip(A, x, y, strict=True):
        total += a * ((p * np.log(p / q) if p > 0 else 0.0) - p + q)
    return total


def itakura_saito(x, y, A=None):
    A = np.ones(len(x)) if A is None else A
    return float(A @ (x / y - np.log(x / y) - 1))


def to_the_mean(divergence):
    """(3.20): both rows' divergences to their mean."""

    def between(x, y, A=None):
        middle = (x + y) / 2
        return divergence(x, middle, A) + divergence(y, middle, A)

    return between
