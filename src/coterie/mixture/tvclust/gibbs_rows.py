"""The rows of a fit as each family's Gibbs kernel wants them."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from coterie._typing import FloatArray, IntArray
from coterie.mixture.tvclust import _gibbs_column_kernels as columns
from coterie.mixture.tvclust import _gibbs_count_kernels as counts
from coterie.mixture.tvclust import _gibbs_kernels as full
from coterie.mixture.tvclust._seating_kernels import Seating
from coterie.mixture.tvclust.families import (
    AxisGaussian,
    Bernoulli,
    Gaussian,
    Multinomial,
    Poisson,
    TiedGaussian,
)
from coterie.mixture.tvclust.variational import TwoViews, label_statistics

__all__ = ["GibbsRows", "Nodes", "gibbs_rows"]


class Nodes(NamedTuple):
    """All rows as nodes: those of the core first, then every free row; and the graph over them."""

    ptr: IntArray
    members: IntArray
    of_row: IntArray
    indptr: IntArray
    indices: IntArray

    @classmethod
    def of(cls, data: TwoViews) -> Nodes:
        """From the core of the pairs."""
        core = data.evidence.core
        of_row = core.node_of_row.copy()
        free = np.flatnonzero(of_row < 0)
        of_row[free] = core.n_nodes + np.arange(free.size)
        sizes = np.bincount(of_row)
        ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        members = np.argsort(of_row, kind="stable")
        tail = np.full(free.size, core.indptr[-1], dtype=np.int64)
        return cls(ptr, members, of_row, np.concatenate([core.indptr, tail]), core.indices)

    def sums(self, X: FloatArray) -> FloatArray:
        """Sums over the rows of each node, (nodes, d), of X (n, d) dense or sparse."""
        n = len(self.of_row)
        into = sp.csr_array((np.ones(n), self.members, self.ptr), shape=(len(self.ptr) - 1, n))
        return into @ X


class GibbsRows(Protocol):
    """The rows of a fit, ready for sweeps."""

    def sweep(self, seating: Seating, labels: IntArray, rng: np.random.Generator) -> None:
        """Draw the label of every node, in place."""


def gibbs_rows(data: TwoViews, nodes: Nodes) -> GibbsRows:
    """The rows for the family of the data."""
    family = data.family
    if isinstance(family, Gaussian):
        return _gaussian_rows(data, nodes, family)
    if isinstance(family, Multinomial):
        return _count_rows(data, nodes, family)
    if isinstance(family, TiedGaussian):
        return TiedRows(data, nodes, family)
    if isinstance(family, AxisGaussian | Bernoulli | Poisson):
        return _column_rows(data, nodes, family)
    raise TypeError(f"no Gibbs sampler for {type(family).__name__}")


def _dense(data: TwoViews) -> FloatArray:
    X = data.rows.take(np.arange(data.rows.n))
    dense = X.toarray() if sp.issparse(X) else X
    return np.ascontiguousarray(dense, dtype=np.float64)


class GaussianRows(NamedTuple):
    """Full covariances."""

    nodes: full.GaussianNodes
    prior: full.GaussianPrior

    def sweep(self, seating: Seating, labels: IntArray, rng: np.random.Generator) -> None:
        """Draw the label of every node, in place."""
        full.sweep_gaussian(self.nodes, self.prior, seating, labels)


def _gaussian_rows(data: TwoViews, nodes: Nodes, family: Gaussian) -> GaussianRows:
    X = _dense(data)
    count = np.arange(len(X) + 1)
    kappa, nu = family.kappa0 + count, family.nu0 + count
    constants = (  # of the Student t density, which depend on the number of rows alone
        gammaln(0.5 * (nu + 1))
        - gammaln(0.5 * (nu + 1 - family.d))
        + 0.5 * family.d * (np.log(kappa / (kappa + 1)) - np.log(np.pi))
    )
    prior = full.GaussianPrior(
        float(family.kappa0),
        float(family.nu0),
        np.diag(np.sqrt(family.prior_scale)),
        float(np.log(family.prior_scale).sum()),
        constants,
    )
    return GaussianRows(full.GaussianNodes(X, nodes.ptr, nodes.members), prior)


class CountRows(NamedTuple):
    """Multinomial counts."""

    nodes: counts.CountNodes
    concentration: float
    n_columns: int

    def sweep(self, seating: Seating, labels: IntArray, rng: np.random.Generator) -> None:
        """Draw the label of every node, in place."""
        counts.sweep_counts(self.nodes, self.concentration, self.n_columns, seating, labels)


def _count_rows(data: TwoViews, nodes: Nodes, family: Multinomial) -> CountRows:
    """The counts of a node are the sums over its rows."""
    sums = sp.csr_array(nodes.sums(sp.csr_array(data.rows.take(np.arange(data.rows.n)))))
    sums.sum_duplicates()
    words = counts.CountNodes(
        sums.data.astype(np.float64),
        sums.indices.astype(np.int64),
        sums.indptr.astype(np.int64),
        sums.sum(axis=1).astype(np.float64),
        np.diff(nodes.ptr),
    )
    return CountRows(words, float(family.concentration), family.d)


class ColumnRows(NamedTuple):
    """Independent columns."""

    nodes: columns.ColumnNodes
    prior: columns.ColumnPrior

    def sweep(self, seating: Seating, labels: IntArray, rng: np.random.Generator) -> None:
        """Draw the label of every node, in place."""
        columns.sweep_columns(self.nodes, self.prior, seating, labels)


def _column_rows(
    data: TwoViews, nodes: Nodes, family: AxisGaussian | Bernoulli | Poisson
) -> ColumnRows:
    X, masses = _dense(data), np.diff(nodes.ptr)
    if isinstance(family, AxisGaussian):
        y = X / family.unit
        kind = columns.SPHERICAL if family.shared else columns.DIAGONAL
        sums = nodes.sums(np.hstack([y, np.square(y)]))
        prior = _prior(kind, family.d, family.kappa0, family.nu0, family.psi0)
        return ColumnRows(columns.ColumnNodes(np.ascontiguousarray(sums), masses), prior)
    known = columns.ColumnNodes(np.ascontiguousarray(nodes.sums(X)), masses)
    if isinstance(family, Bernoulli):
        return ColumnRows(known, _prior(columns.BERNOULLI, family.d, family.concentration))
    prior = _prior(columns.POISSON, family.d, family.concentration)
    return ColumnRows(known, prior._replace(rates=np.ascontiguousarray(family.prior_rate)))


def _prior(
    kind: int, d: int, weight: float, nu: float = 0.0, psi: float = 0.0
) -> columns.ColumnPrior:
    return columns.ColumnPrior(kind, d, float(weight), float(nu), float(psi), np.zeros(d))


class TiedRows:
    """One covariance for all clusters: it is drawn before each sweep, and rows whitened by it."""

    def __init__(self, data: TwoViews, nodes: Nodes, family: TiedGaussian) -> None:
        self.data, self.nodes, self.family = data, nodes, family
        self.X = _dense(data)

    def sweep(self, seating: Seating, labels: IntArray, rng: np.random.Generator) -> None:
        """Draw the label of every node, in place."""
        of_rows = np.unique(labels, return_inverse=True)[1][self.nodes.of_row]
        statistics = label_statistics(self.data, of_rows, int(of_rows.max()) + 1)
        white = self.family.draw_whitening(statistics, rng)
        sums = np.ascontiguousarray(self.nodes.sums(self.X @ white))
        known = columns.ColumnNodes(sums, np.diff(self.nodes.ptr))
        prior = _prior(columns.KNOWN, self.family.d, self.family.kappa0)
        columns.sweep_columns(known, prior, seating, labels)
