"""Spectral relaxation of (20) as a start: leading eigenvectors, never an n x n matrix.

    max tr Y' (K / m - lambda I + xi1 E+ - xi2 E-) Y,  Y'Y = I                          (21)

with K = XX' of the rows measured from their mean (the divergence does not see a shift). The paper
drops the 1/n_k of Y = Z (Z'Z)^(-1/2): y'Ky of a cluster is n_k |mu_k|^2 and grows with the rows,
while lambda is one row's distance, so that no eigenvalue was ever below it. Here K is divided by
m, the rows of a cluster where all have as many; y'Ey is the mean of a row's pairs as it stands.
Kept are the eigenvectors whose eigenvalue is above 0 here, that is, above lambda for
K / m + xi1 E+ - xi2 E- (section 4.7); where the number of clusters was there before lambda, one
vector less than clusters (Zha et al. 2001).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.cluster import KMeans

from coterie.cluster.rdp.problem import RdpProblem
from coterie.data import Block, fold, map_blocks, one_thread
from coterie.exceptions import InvalidParameter

__all__ = ["pair_matrix", "spectral_labels", "spectral_operator"]

_MOST_VECTORS = 100


def pair_matrix(problem: RdpProblem, xi: float) -> csr_array:
    """xi (E+ - E-) over the user's pairs, (n, n) sparse; a hard pair counts as ten plain ones."""
    c = problem.constraints
    value = xi * np.minimum(problem.pair_cost, 10.0) * c.kind
    i, j = c.pairs.T
    half = csr_array((value, (i, j)), shape=(problem.n, problem.n))
    return csr_array(half + half.T)


def spectral_operator(
    problem: RdpProblem, xi: float, lambda_: float, cluster_size: float
) -> LinearOperator:
    """v -> (K / cluster_size - lambda I + xi1 E+ - xi2 E-) v in O(nd + m)."""
    rows = problem.rows
    ones = _Vectors(np.ones((problem.n, 1)))
    mean = fold(map_blocks(rows, _inner_block, None, state=ones)) / problem.n  # (d, 1)
    pairs = pair_matrix(problem, xi)

    def apply(v: NDArray[Any]) -> NDArray[Any]:
        v = v.reshape(problem.n, -1)
        inner = fold(map_blocks(rows, _inner_block, None, state=_Vectors(v)))
        inner = inner - mean * v.sum(axis=0)  # (X - 1 mean')' v
        outer = np.concatenate(list(map_blocks(rows, _outer_block, inner)))
        return (outer - mean.T @ inner) / cluster_size - lambda_ * v + pairs @ v

    return LinearOperator((problem.n, problem.n), matvec=apply, matmat=apply, dtype=np.float64)


class _Vectors(NamedTuple):
    v: NDArray[Any]


def _inner_block(block: Block, _: None) -> NDArray[Any]:
    """The block's part of X' v, (d, p)."""
    return np.asarray(block.rows.T @ block.state.v, dtype=np.float64)


def _outer_block(block: Block, inner: NDArray[Any]) -> NDArray[Any]:
    """X inner of the block's rows, (b, p)."""
    return np.asarray(block.rows @ inner)


def spectral_labels(
    problem: RdpProblem,
    xi: float,
    lambda_: float,
    expected: int | None,
    rng: np.random.Generator,
    *,
    exactly: bool = False,
) -> NDArray[np.int64]:
    """Labels (n,): K-Means on the rows of the kept eigenvectors, one cluster more than vectors.

    `expected` clusters (None: ten) say how many rows a cluster has, and with `exactly` also how
    many clusters there are to be, whatever lambda.
    """
    if not problem.distortion.euclidean:
        raise InvalidParameter(
            f"init='spectral' relaxes squared Euclidean distances and says nothing of "
            f"{problem.distortion.name!r}; use init='auto'."
        )
    if problem.n < 4:
        return np.zeros(problem.n, dtype=np.int64)
    expected = 10 if expected is None else expected
    asked = min(problem.n - 2, _MOST_VECTORS, 2 * expected)
    price = lambda_**2 if problem.root else lambda_
    operator = spectral_operator(problem, xi, price, problem.n / expected)
    values, vectors = eigsh(operator, k=asked, which="LA", v0=rng.standard_normal(problem.n))
    kept = values > 0
    if exactly:
        kept = np.arange(asked) > asked - expected  # they come in rising order
    if not kept.any():
        return np.zeros(problem.n, dtype=np.int64)
    embedding = vectors[:, kept]
    k = min(int(kept.sum()) + 1, problem.n)
    means = KMeans(k, n_init=3, random_state=int(rng.integers(2**31 - 1)))
    with one_thread():
        return means.fit_predict(embedding).astype(np.int64)
