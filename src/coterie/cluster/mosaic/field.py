"""Prototypes and the field they carry: a smooth function of position, one value per cluster."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from coterie._typing import Array
from coterie.cluster.mosaic import passes
from coterie.cluster.mosaic.passes import Float32, Landmarks, field_map, kernel
from coterie.cluster.mosaic.tuning import Tuning
from coterie.data import Rows, fold, map_blocks, one_thread
from coterie.distortions.whitening import whitening
from coterie.exceptions import InvalidData

__all__ = [
    "FieldRidge",
    "MosaicField",
    "build_field",
    "field_values",
    "means_of",
    "place_prototypes",
]


_RANK_TOLERANCE = 1e-5  # directions of the kernel below this share of the largest are dropped
_MOST_LEVERAGE = 0.95  # a row that is all there is nearby keeps a little of the others' field


def place_prototypes(
    coordinates: Float32, count: int, tuning: Tuning, rng: np.random.Generator
) -> Float32:
    """Prototypes (M, e) spread as the rows are: a few K-Means steps from random rows.

    All distinct rows where there are no more than `count`.
    """
    most = max(tuning.most_numbers // count, count)
    rows = coordinates[np.sort(rng.permutation(len(coordinates))[:most])]
    distinct = np.unique(rows, axis=0)
    if len(distinct) <= count:
        return distinct
    start = distinct[np.sort(rng.permutation(len(distinct))[:count])]
    with one_thread():  # the sum over threads would round by their number
        model = KMeans(count, init=start, n_init=1, max_iter=tuning.few_steps, tol=0)
        return np.asarray(model.fit(rows).cluster_centers_)


class MosaicField(NamedTuple):
    """Features of every row from its kernel values at the prototypes.

    ``features @ features.T`` approximates the kernel between rows (Nyström): a linear function of
    the features is a smooth function of position whose squared length penalises roughness.

    Attributes
    ----------
    landmarks : Landmarks
        Prototypes (M, e) and the map (M, r) from kernel values to features.
    features : (n, r) float32
    at_prototypes : (M, r) float32
        Features of the prototypes.
    near : (n,) int64
        Nearest prototype of each row.
    """

    landmarks: Landmarks
    features: Float32
    at_prototypes: Float32
    near: NDArray[np.int64]

    @property
    def n_prototypes(self) -> int:
        """M."""
        return len(self.landmarks.prototypes)

    def counts(self, weights: Array) -> NDArray[np.float64]:
        """What the rows nearest to each prototype count together, (M,)."""
        return np.asarray(np.bincount(self.near, weights, minlength=self.n_prototypes), dtype=float)

    def values(self, weights: Array) -> NDArray[np.float64]:
        """Field values (n, K) of weights (r, K)."""
        parts = map_blocks(Rows(self.features), passes.values_of, weights.astype(np.float32))
        return fold(parts, joined=("values",), lengths=(len(self.features),)).values


def build_field(coordinates: Float32, prototypes: Float32, steepness: float) -> MosaicField:
    """The field of `prototypes` (M, e) over rows at `coordinates` (n, e)."""
    between = kernel(prototypes, prototypes, steepness).astype(np.float64)
    np.fill_diagonal(between, 1.0)
    whiten = whitening((between + between.T) / 2, _RANK_TOLERANCE).map.astype(np.float32)
    landmarks = Landmarks(prototypes, whiten, steepness)
    n, start = len(coordinates), 0
    features = np.empty((n, whiten.shape[1]), dtype=np.float32)
    near = np.empty(n, dtype=np.int64)
    # Each block is put in its place as it comes: all of them would not fit in memory twice.
    for part in map_blocks(Rows(coordinates), passes.features, landmarks):
        stop = start + len(part.near)
        features[start:stop], near[start:stop] = part
        start = stop
    return MosaicField(landmarks, features, between.astype(np.float32) @ whiten, near)


def field_values(coordinates: Float32, landmarks: Landmarks, weights: Array) -> NDArray[np.float64]:
    """Field values (n, K) at coordinates (n, e), block by block, without their features."""
    parts = map_blocks(Rows(coordinates), passes.values_at, field_map(landmarks, weights))
    return fold(parts, joined=("values",), lengths=(len(coordinates),)).values


class FieldRidge:
    """Weighted ridge regression on the features of a field, factored once.

    Minimises sum_i w_i |target_i - W' z_i|^2 + lambda |W|^2 over W (r, K).

    Parameters
    ----------
    field : MosaicField
    weights : (n,)
    penalty : float
        lambda.
    """

    def __init__(
        self,
        field: MosaicField,
        weights: Array,
        penalty: float,
        tuning: Tuning,
        rng: np.random.Generator,
    ) -> None:
        self.field, self.weights, self.penalty = field, weights, penalty
        root = passes.RootWeights(np.sqrt(weights).astype(np.float32))
        self.gram = fold(map_blocks(Rows(field.features), passes.gram, None, state=root))
        self.lower = self.factor(penalty)
        self.leverage = np.minimum(weights * self._pull(tuning, rng), _MOST_LEVERAGE)

    def factor(self, penalty: float) -> NDArray[np.float64]:
        """The lower Cholesky factor (r, r) of the Gram matrix with a penalty."""
        penalised = self.gram.copy()
        penalised[np.diag_indices_from(penalised)] += penalty
        try:
            return np.asarray(np.linalg.cholesky(penalised))
        except np.linalg.LinAlgError as error:
            raise InvalidData(
                f"sample_weight is up to {self.weights.max():g}, beside which smoothness is lost "
                "in rounding; divide all weights by one number, or raise smoothness."
            ) from error

    def solve(self, targets: Array) -> NDArray[np.float64]:
        """W (r, K) for targets (n, K)."""
        state = passes.Targets((self.weights[:, None] * targets).astype(np.float32))
        parts = map_blocks(Rows(self.field.features), passes.moments, None, state=state)
        return np.asarray(scipy.linalg.cho_solve((self.lower, True), fold(parts)))

    def values_without_own(self, targets: Array) -> NDArray[np.float64]:
        """Values (n, K) of the field of `targets`, each row's own left out: (f - h t) / (1 - h)."""
        values = self.field.values(self.solve(targets))
        h = self.leverage[:, None]
        return np.asarray((values - h * targets) / (1.0 - h))

    def _pull(self, tuning: Tuning, rng: np.random.Generator) -> NDArray[np.float64]:
        """z_i' (G + lambda I)^-1 z_i of every row, (n,); by a random sketch where rows are many.

        The sketch has a relative error of sqrt(2 / its width), on a pull that is small where rows
        are many.
        """
        (n, r), width = self.field.features.shape, tuning.leverage_sketch
        inverse = scipy.linalg.solve_triangular(self.lower, np.eye(r), lower=True).T
        if 2 * n * r > tuning.most_numbers and r > width:  # the features and their image
            inverse = inverse @ (rng.standard_normal((r, width)) / np.sqrt(width))
        rows, narrow = Rows(self.field.features), inverse.astype(np.float32)
        parts = map_blocks(rows, passes.square_lengths, narrow)
        return fold(parts, joined=("values",)).values


def means_of(X: Any, rows: Array, near: Array, count: int) -> Any:
    """Mean (count, d) of the `rows` (r,) of X nearest to each prototype; CSR for CSR rows."""
    share = 1.0 / np.maximum(np.bincount(near, minlength=count), 1)
    entries: Any = (share[near].astype(X.dtype), (near, rows))
    means = sp.csr_array(entries, shape=(count, X.shape[0])) @ X
    return sp.csr_matrix(means) if sp.issparse(X) else np.asarray(means)
