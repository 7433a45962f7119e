"""RCA: relevant component analysis (Shental et al. 2002; Eaton 2005, 2.10)."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from coterie._typing import Array
from coterie.base import check_source
from coterie.constraints import Constraints
from coterie.constraints.graph import connected
from coterie.data import Block, Rows, each_row, fold, gather, map_blocks
from coterie.distortions.whitening import whitening
from coterie.exceptions import InvalidData, InvalidParameter
from coterie.loaded import guarded
from coterie.parameters import check_parameters
from coterie.validation import (
    check_constraints,
    refuse_constraints_as_y,
)

__all__ = ["RCA"]

_PLAIN = 0.95  # certainty of a plain pair, in whose units certainties are read
_EPS = 1e-10  # share of the largest variance below which a direction is taken to have none


class RCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Rescale the rows so that rows known to belong together vary alike in every direction.

    Rows joined by must-links form chunklets. The covariance within chunklets,

    .. math:: C = \frac{1}{\sum_x w_x} \sum_j \sum_{x \in E_j} w_x (x - m_j)(x - m_j)^\top,

    says which directions differ between rows that belong together and so do not matter; the
    metric is its inverse (2.10, which prints C itself). A row weighs as much as the strongest of
    its must-links (Eaton 2005, section 5.4.3), and so in the means m_j; must-links that weigh
    alike give (2.10) as printed. Rows are mapped by W with
    :math:`W^\top W = C^{-1}`, directions that matter most first: Euclidean distances afterwards
    are Mahalanobis distances before. Cannot-links are not used, as in the paper: to leave out a
    chunklet that holds one, as some answer in it must be wrong, costs more than it saves.

    Parameters
    ----------
    n_components : int, optional
        Keep only so many directions, those along which rows of one chunklet vary least in
        proportion to all rows (Fisher's criterion). None keeps every direction in which the rows
        vary at all.
    shrinkage : "auto" or float, default="auto"
        Share of C that is taken from the columns' own variances instead, scaled to what C has in
        all. "auto" is d / (d + f), where there are d directions and chunklets have f degrees of
        freedom (rows less chunklets): the inverse of a covariance known from few rows says more
        about them than about the classes. With no must-links it is 1, and RCA standardises the
        columns. 0 is the published RCA, for which C must have an inverse.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        W.
    metric_ : ndarray of shape (n_features, n_features)
        :math:`W^\top W`.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows, subtracted by `transform`.
    chunklets_ : ndarray of shape (n_samples,)
        Chunklet of each row, -1 for none.
    shrinkage_ : float
        The share that was used.

    Examples
    --------
    The second column is noise, as the must-links show:

    >>> import numpy as np
    >>> from coterie import RCA, Constraints
    >>> X = np.array([[0.0, 0], [0.1, 9], [5, 1], [5.1, 8], [0, 5], [5, 4]])
    >>> known = Constraints(6, must_link=[(0, 1), (2, 3), (0, 4), (3, 5)])
    >>> metric = RCA().fit(X, constraints=known).metric_
    >>> bool(metric[0, 0] > 100 * metric[1, 1])
    True
    """

    _reads_stored_rows = True
    _instead = ""
    # With scikit-learn's metadata routing, constraints go to every estimator that takes them.
    __metadata_request__fit = {"constraints": True}  # noqa: RUF012

    def __init__(self, n_components: int | None = None, *, shrinkage: Any = "auto") -> None:
        self.n_components = n_components
        self.shrinkage = shrinkage

    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Self:
        """Learn the metric.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features), or rows in files
        y : ignored
        constraints : Constraints, optional
            Its must-links make the chunklets; weights and certainties say how much their rows
            count. A hard must-link counts as the strongest soft one, as a plain pair at least.
        """
        refuse_constraints_as_y(self, y)
        check_parameters(self)
        X = check_source(self, X, reset=True)
        known = check_constraints(constraints, X.shape[0])
        self._check_parameters(X.shape[1])
        if X.shape[0] < 2:
            raise InvalidData("n_samples=1: a covariance needs at least 2 rows.")
        chunklets = find_chunklets(known)
        rows = Rows(X)
        mean = fold(map_blocks(rows, _sums, None)) / rows.n
        scatter = _covariances(rows, mean, chunklets, known)
        shrinkage = self._shrinkage(scatter)
        W = _relevant_directions(scatter, shrinkage, self.n_components)
        self.components_ = W.astype(X.dtype)
        self.mean_ = mean.astype(X.dtype)
        self.chunklets_ = chunklets
        self.shrinkage_ = shrinkage
        self._n_features_out = len(W)
        return self

    @guarded
    def transform(self, X: Any) -> Any:
        """Map rows to (n_samples, n_components).

        Rows not in memory become `coterie.data.DerivedRows`, which are mapped as they are read.
        """
        check_is_fitted(self)
        rows = Rows(check_source(self, X, reset=False))
        to = _Map(self.mean_, self.components_)
        dtype = np.result_type(rows.dtype, self.components_.dtype)
        return each_row(rows, _mapped, to, len(self.components_), dtype)

    @property
    def metric_(self) -> Array:
        """The Mahalanobis metric (d, d): W'W."""
        return self.components_.T @ self.components_

    def _check_parameters(self, d: int) -> None:
        if self.n_components is not None and self.n_components > d:
            raise InvalidParameter(f"n_components={self.n_components} but X has {d} column(s).")

    def _shrinkage(self, scatter: Scatter) -> float:
        directions = scatter.whitener().shape[1]
        if self.shrinkage == "auto":
            return directions / max(directions + scatter.freedom, 1.0)
        if self.shrinkage > 0:
            return float(self.shrinkage)
        rank = int((np.linalg.eigvalsh(scatter.within_whitened()) > _EPS).sum())
        if rank < directions:
            raise InvalidData(
                f"rows of one chunklet vary in {rank} of {directions} directions only, so their "
                "covariance has no inverse; give more must-links or set shrinkage above 0."
            )
        return 0.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def find_chunklets(constraints: Constraints) -> NDArray[np.int32]:
    """Chunklet (n,) of each row: components of the must-links, -1 for rows in none."""
    linked = constraints.pairs[(constraints.kind > 0) & (constraints.weight > 0)]
    rows, ends = np.unique(linked, return_inverse=True)
    component, count = connected(ends.reshape(-1, 2), rows.size)
    joined = np.bincount(component, minlength=count) > 1
    chunklets = np.full(constraints.n_samples, -1, dtype=np.int32)
    chunklets[rows] = np.where(joined, np.cumsum(joined) - 1, -1)[component]
    return chunklets


def row_strengths(constraints: Constraints, rows: Array) -> NDArray[np.float64]:
    """What the strongest must-link of the listed rows, which rise, is worth in plain pairs (r,).

    All ends of must-links of any worth must be among them.
    """
    must = constraints.only("must")
    certain, hard = ~np.isnan(must.certainty), must.is_hard
    worth = np.where(hard, 0.0, must.weight)
    told = certain & ~hard
    worth[told] = must.strength(_PLAIN)[told] / np.log(_PLAIN / (1 - _PLAIN))
    worth[hard] = max(1.0, worth.max(initial=0.0))
    strongest = np.zeros(rows.size)
    some = worth > 0
    for end in must.pairs[some].T:
        np.maximum.at(strongest, np.searchsorted(rows, end), worth[some])
    return strongest


class Scatter(NamedTuple):
    """Covariances of all rows and within chunklets, columns scaled to unit variance."""

    total: Array  # (d, d)
    within: Array  # (d, d)
    scale: Array  # (d,) what the columns were divided by
    freedom: float  # rows in chunklets less chunklets, a row in units of the heaviest

    def whitener(self) -> Array:
        """T (d, r): T' total T = I on the r directions in which the rows vary."""
        return whitening(self.total, _EPS).map

    def target(self) -> Array:
        """What C is drawn to (d, d): columns that vary apart, in all as much as C has them vary.

        Not the covariance of all rows: its inverse blows up the directions in which they vary
        least, which say least about the classes.
        """
        share = np.trace(self.within) / max(np.trace(self.total), _EPS)
        return np.diag(self.total.diagonal()) * (share if share > 0 else 1.0)

    def within_whitened(self) -> Array:
        """The covariance within chunklets (r, r) where that of all rows is I."""
        T = self.whitener()
        return T.T @ self.within @ T


class _Map(NamedTuple):
    """Rows are sent to W (x - mean)."""

    mean: Array
    W: Array


class _Unit(NamedTuple):
    """Columns are measured from the mean (d,) in units of scale (d,)."""

    mean: Array
    scale: Array


def _mapped(block: Block, to: _Map) -> Array:
    return np.concatenate([(rows - to.mean) @ to.W.T for _, _, rows in block.chunks()])


def _sums(block: Block, _: None) -> Array:
    return np.asarray(block.rows.sum(axis=0, dtype=np.float64))


def _squares(block: Block, mean: Array) -> Array:
    total = np.zeros(len(mean))
    for _, _, rows in block.chunks():
        gaps = rows - mean  # float64
        total += np.einsum("ij,ij->j", gaps, gaps)
    return total


def _products(block: Block, unit: _Unit) -> Array:
    total = np.zeros((len(unit.mean), len(unit.mean)))
    for _, _, rows in block.chunks():
        Z = (rows - unit.mean) / unit.scale
        total += Z.T @ Z
    return total


def _covariances(rows: Rows, mean: Array, chunklets: Array, known: Constraints) -> Scatter:
    """Both covariances by 1 / (weight of rows); columns are scaled first, to keep their digits."""
    scale = np.sqrt(fold(map_blocks(rows, _squares, mean)) / rows.n)
    scale[scale == 0] = 1.0
    total = fold(map_blocks(rows, _products, _Unit(mean, scale))) / rows.n
    listed = np.flatnonzero(chunklets >= 0)
    if not listed.size:
        return Scatter(total, np.zeros_like(total), scale, 0.0)
    order = np.argsort(chunklets[listed], kind="stable")
    inside = ((gather(rows, listed) - mean) / scale)[order]
    weight = row_strengths(known, listed)[order]
    weight /= weight.max()
    sizes = np.bincount(chunklets[listed])
    first = np.cumsum(sizes) - sizes
    masses = np.add.reduceat(weight, first)
    sums = np.add.reduceat(inside * weight[:, None], first, axis=0)
    inside -= np.repeat(sums / masses[:, None], sizes, axis=0)
    within = (inside * weight[:, None]).T @ inside / masses.sum()
    # A weighted sum of squares is worth its mass less that of the mean: 1 for equal weights.
    freedom = float((masses - np.add.reduceat(weight**2, first) / masses).sum())
    return Scatter(total, within, scale, freedom)


def _relevant_directions(scatter: Scatter, shrinkage: float, n_components: int | None) -> Array:
    """W (c, d), W C W' = I with C shrunk, along the directions of least C relative to all rows.

    In the whitened space of all rows C's eigenvectors are the generalised eigenvectors of
    (C, total), its smallest eigenvalues Fisher's best directions.
    """
    T = scatter.whitener()
    if not T.shape[1]:
        raise InvalidData("all rows are equal: there is no direction to scale.")
    if n_components is not None and n_components > T.shape[1]:
        raise InvalidParameter(
            f"n_components={n_components} but the rows vary in {T.shape[1]} direction(s) only."
        )
    C = (1 - shrinkage) * scatter.within + shrinkage * scatter.target()
    values, vectors = np.linalg.eigh(T.T @ C @ T)
    W = ((T @ vectors) / np.sqrt(values)).T[:n_components]
    largest = np.take_along_axis(W, np.abs(W).argmax(axis=1)[:, None], axis=1)
    return np.asarray(W * np.sign(largest) / scatter.scale)  # the sign is free: fix it
