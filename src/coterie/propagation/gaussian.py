"""Gaussian propagation of pairs (Eaton 2005, chapter 3 and appendix B)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from coterie._typing import FloatArray
from coterie.constraints import Constraints
from coterie.data import Block, Rows, map_blocks
from coterie.exceptions import InvalidData, InvalidParameter
from coterie.parameters import check_arguments
from coterie.propagation.near_ends import Clusters, neighborhoods, scaled
from coterie.propagation.shape import Labelled
from coterie.propagation.spreading import Options, spread
from coterie.validation import check_choice, check_constraints, check_plain_rows

__all__ = ["Fitting", "propagate_gaussian", "read_clusters"]

SCALES = ("aim", "paper")
RADII = ("euclidean", "mahalanobis")


def propagate_gaussian(
    X: Any,
    labels: Any,
    centers: Any,
    metrics: Any,
    constraints: Constraints,
    threshold: float | str = 0.5,
    *,
    scale: str = "aim",
    radius: str = "euclidean",
    reduce: str = "max",
    share_ends: bool = True,
    hard_weight: float = 1.0,
    default_certainty: float = 0.95,
    max_pairs: int = 10_000_000,
) -> Constraints:
    r"""Carry known pairs over to rows near their ends, as far as the clusters reach.

    A source (A, B) of weight w gives rows i, j the weight (3.7)

    .. math:: w \exp(-\tfrac{1}{2} [q_A(i) + q_B(j)]), \qquad
        q_A(i) = (x_i - x_A)^\top (s_A \Sigma_{h(A)})^{-1} (x_i - x_A),

    the larger of the two orientations, if the exponential is at least `threshold`. :math:`\Sigma_h`
    is the inverse metric of the cluster, scaled so that three standard deviations of its longest
    axis are its radius, the distance from the centre to its farthest row (3.4, 3.5). :math:`s_A`
    is the value at A of that Gaussian around the centre (3.6): rows at the rim of a cluster say
    less about their surroundings.

    Found exactly, by range search at both ends and merging: time and memory are those of the
    output, not |C| n².

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,)
        Cluster of each row, 0..K-1.
    centers : array-like of shape (K, n_features)
    metrics : array-like or None
        None (Euclidean), (n_features,) or (K, n_features) diagonals, (1, n_features, n_features)
        or (K, n_features, n_features) matrices: `distortion_params_` of a fitted model.
    constraints : Constraints
    threshold : float in (0, 1] or "auto", default 0.5
        1 reaches only rows equal to the ends. "auto" is the lowest, 0.01 at least, at which a
        source gives no more than 4 pairs on average: what one
        number reaches depends on dimension and density.
    scale : {"aim", "paper"}, default "aim"
        (3.5) prints :math:`n_h A_h^{-1}` with n_h a ratio of lengths; the aim it states needs
        :math:`n_h^2`. "paper" is as printed.
    radius : {"euclidean", "mahalanobis"}, default "euclidean"
        How far the farthest row of a cluster is from its centre: as (3.4) needs it, beside the
        standard deviation of an axis, or under the cluster's metric, as Table 2.1 says. A
        Mahalanobis distance counts standard deviations already: the aim is then a third of it.
    reduce : {"max", "sum", "reduced", "full", "auto"}, default "max"
        Of several pairs of one kind on the same rows, the strongest ("max": reduced propagation)
        or their sum ("sum": full propagation). "auto" is reduced.
    share_ends : bool, default True
        Whether a propagated pair may share one row with its source. Step 3d as printed drops
        them; only the source pair itself needs to be.
    hard_weight : float, default 1
        Weight that a hard source (which stays hard) hands on: propagated pairs are soft.
    default_certainty : float, default 0.95
        That of the estimator the result is for; it matters where some pairs carry a certainty.
    max_pairs : int, default 10 million
        Refuse to propagate to more pairs, counted before those on the same rows merge.

    Returns
    -------
    Constraints
        Sources and propagated pairs, one for each two rows and kind, weights in plain pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import Constraints
    >>> from coterie.propagation import propagate_gaussian
    >>> X = np.array([[0.0], [0.3], [3.0], [9.0], [9.2], [12.0]])
    >>> known = Constraints(6, cannot_link=[(1, 4)])
    >>> y, centers = np.array([0, 0, 0, 1, 1, 1]), np.array([[1.0], [10.0]])
    >>> propagate_gaussian(X, y, centers, None, known).cannot_link.tolist()
    [[0, 3], [0, 4], [1, 3], [1, 4]]
    """
    check_arguments(propagate_gaussian, locals())
    options = Options.checked(threshold, reduce, share_ends, hard_weight, max_pairs)
    fitting = Fitting.checked(scale, radius)
    X = check_plain_rows(X, sparse=False).astype(np.float64, copy=False)
    known = check_constraints(constraints, X.shape[0])
    clusters = read_clusters(X, labels, centers, metrics, fitting)
    return spread(known, neighborhoods(X, clusters), options, default_certainty).constraints


class Fitting(NamedTuple):
    """How Gaussians are fitted to the extent of their clusters."""

    scale: str
    radius: str

    @classmethod
    def checked(cls, scale: Any, radius: Any) -> Fitting:
        """Both choices, or an error that names the ones there are."""
        return cls(check_choice("scale", scale, SCALES), check_choice("radius", radius, RADII))

    def spread(self, radius: FloatArray, least: FloatArray) -> FloatArray:
        """c_h of (3.5), from the radius of each cluster and the least eigenvalue of its metric.

        (3.4): n_h = radius / (3 σ), and the longest axis has σ² = 1 / (least eigenvalue of A_h).
        """
        if self.scale == "aim" and self.radius == "mahalanobis":
            return np.asarray((radius / 3.0) ** 2)  # in units of σ along every axis
        ratio = radius * np.sqrt(least) / 3.0
        return np.asarray(ratio if self.scale == "paper" else ratio**2)


def read_clusters(X: Any, labels: Any, centers: Any, metrics: Any, fitting: Fitting) -> Clusters:
    """Check what is known of the clusters and scale their Gaussians by (3.4) and (3.5)."""
    n, d = X.shape
    y = np.asarray(labels)
    mu = check_plain_rows(centers, sparse=False, name="centers").astype(np.float64, copy=False)
    if mu.shape[1] != d:
        raise InvalidData(f"centers have {mu.shape[1]} columns and X has {d}.")
    if y.shape != (n,) or y.dtype.kind not in "iu" or y.min() < 0 or y.max() >= len(mu):
        raise InvalidData(
            f"labels must be {n} integers from 0 to {len(mu) - 1}, one a row of X and one number "
            "a row of centers."
        )
    factors, least = _factors(metrics, len(mu), d)
    under = factors if fitting.radius == "mahalanobis" else np.ones((1, 1, d))
    radius = np.zeros(len(mu))
    for far in map_blocks(Rows.of(X), _farthest, _Around(mu, under), state=Labelled(y)):
        np.maximum(radius, far, out=radius)
    return Clusters(y, mu, factors, fitting.spread(radius, least))


class _Around(NamedTuple):
    """Centres (K, d), and the factors of the metrics that distances from them are under."""

    centers: FloatArray
    factors: FloatArray


def _farthest(block: Block, around: _Around) -> FloatArray:
    """Distance (K,) of each cluster's farthest row of the block from its centre."""
    radius = np.zeros(len(around.centers))
    for lo, hi, rows in block.chunks():
        y = block.state.labels[lo:hi]
        gaps = scaled(rows - around.centers[y], around.factors, y)
        np.maximum.at(radius, y, np.sqrt((gaps**2).sum(axis=1)))
    return radius


def _factors(metrics: Any, k: int, d: int) -> tuple[FloatArray, FloatArray]:
    """F with A = F Fᵀ, and the least eigenvalue of each A."""
    if metrics is None:
        return np.ones((1, 1, d)), np.ones(1)
    A = np.asarray(metrics, dtype=np.float64)
    if A.shape in ((d,), (k, d)):
        A = A.reshape(-1, d)
        _need_positive(A.min(axis=1))
        return np.sqrt(A)[:, None, :], A.min(axis=1)
    if A.shape in ((1, d, d), (k, d, d)):
        values, vectors = np.linalg.eigh(A)
        _need_positive(values[:, 0])
        return vectors * np.sqrt(values)[:, None, :], values[:, 0]
    raise InvalidParameter(
        f"metrics has shape {A.shape}; give None, ({d},), ({k}, {d}), (1, {d}, {d}) or "
        f"({k}, {d}, {d}) for {k} clusters in {d} dimensions."
    )


def _need_positive(least: FloatArray) -> None:
    bad = np.flatnonzero(~(least > 0) | ~np.isfinite(least))
    if bad.size:
        raise InvalidParameter(
            f"metrics[{bad[0]}] is not positive definite (least eigenvalue {least[bad[0]]:g}), so "
            "its Gaussian has no finite width; propagate in fewer dimensions."
        )
