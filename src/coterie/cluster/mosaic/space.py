"""The space Mosaic measures in: a few Euclidean coordinates for every row, dense or sparse."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD

from coterie._typing import Array
from coterie.cluster.mosaic.columns import Columns
from coterie.cluster.mosaic.passes import FieldMap, Float32, RowValues, shares, values_near
from coterie.data import Block, Rows, check_blocks, each_row, fold, join, map_blocks
from coterie.distortions import Cosine, SquaredEuclidean
from coterie.distortions.rows import row_sums
from coterie.distortions.whitening import whitening

__all__ = [
    "DISTORTIONS",
    "MosaicSpace",
    "Placing",
    "chances_of_rows",
    "check_rows",
    "fit_space",
    "place_rows",
    "place_rows_and_values",
    "relevant_change",
    "values_of_rows",
]


DISTORTIONS = ("sqeuclidean", "cosine")
_LEAST_SPREAD = 1e-9  # of the spread of all rows counted alike: single precision holds the rest
_NO_EXTENT = 1e-10  # of the largest variance along an axis: rounding
_STEP = 2048  # rows handled at once
_PAIR_STEP = 1 << 16  # pairs handled at once


class MosaicSpace(NamedTuple):
    """The affine map from rows to coordinates, ((s x) - mean) basis.

    Attributes
    ----------
    mean : (d,) float64
        Mean of the rows.
    basis : (d, e) float64 or (d,)
        Columns of the projection over the spread, or for e = d one over the spread.
    unit : bool
        Whether rows are brought to unit length first (s = 1/|x|, the cosine distance).
    columns : Columns or None
        If given, the chances of its clusters (n, K) are the coordinates.
    """

    mean: Array
    basis: Array
    unit: bool
    columns: Columns | None = None

    @property
    def n_coordinates(self) -> int:
        """e, or K where they are chances."""
        return int(self.basis.shape[-1] if self.columns is None else len(self.columns.means))

    def coordinates(self, X: Any) -> Float32:
        """Coordinates (n, e) of rows (n, d); squared distances between rows average 1 in `fit`."""
        return fold(map_blocks(Rows(X), _coordinates, self), joined=("values",)).values

    def changed(self, change: Array) -> MosaicSpace:
        """The space whose coordinates are these times `change` (e, e)."""
        basis = self.basis[:, None] * change if self.basis.ndim == 1 else self.basis @ change
        return self._replace(basis=basis)


class Placing(NamedTuple):
    """The way from rows to clusters: a space, a field in it, and how sharply it is read."""

    space: MosaicSpace
    field: FieldMap
    sharpness: float = 1.0


def place_rows(X: Any, placing: Placing) -> NDArray[np.int32]:
    """Where a field is highest at each row of X, (n,); nothing else is kept of the rows."""
    rows = Rows(X)
    return join(map_blocks(rows, _highest, placing), rows.n)


def place_rows_and_values(
    X: Any, placing: Placing, listed: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """`place_rows`, and the field (r, K) at the `listed` rows (r,), whose numbers rise."""
    rows = Rows(X)
    parts = map_blocks(rows, _highest_and_values, placing, listed=listed)
    placed = fold(parts, joined=("labels", "values"), lengths=(rows.n, listed.size))
    return placed.labels, placed.values


def values_of_rows(X: Any, placing: Placing) -> Any:
    """The field (n, K) at each row of X, as `each_row` gives it: of files it is not held."""
    return each_row(Rows(X), _values, placing, placing.field.shares.shape[1])


def chances_of_rows(X: Any, placing: Placing) -> Any:
    """softmax(sharpness · field) (n, K) at each row of X, as `each_row` gives it."""
    return each_row(Rows(X), _chances, placing, placing.field.shares.shape[1])


class _Weights(NamedTuple):
    weights: Array


class _Centre(NamedTuple):
    mean: Array
    unit: bool


def check_rows(X: Any, distortion: str) -> None:
    """Refuse rows whose distances overflow, or without a direction where these are compared."""
    check_blocks(Rows(X), Cosine() if distortion == "cosine" else SquaredEuclidean())


def fit_space(
    X: Any,
    distortion: str,
    weights: Array,
    max_coordinates: int,
    most_numbers: int,
    seed: int,
) -> tuple[MosaicSpace, Float32]:
    """The space of rows X (n, d) that count `weights` (n,) times, and their coordinates (n, e).

    Up to `max_coordinates` columns are kept as they are; of more, the leading principal
    components: of the covariance where it has no more than `most_numbers` entries, else by a
    randomised SVD.
    """
    unit, d = distortion == "cosine", X.shape[1]
    mean = _mean(X, weights, unit)
    if d <= max_coordinates:
        basis: Array = np.ones(d)
    elif X.shape[0] < d and X.shape[0] ** 2 <= most_numbers:
        basis = _leading_axes_of_few(X, weights, mean, unit, max_coordinates)
    elif d * d <= most_numbers:
        basis = _leading_axes(_covariance(X, weights, mean, unit), max_coordinates)
    else:
        svd = TruncatedSVD(max_coordinates, random_state=seed)
        scaled = X if not unit else _scaled(X, _scale(X, True))
        basis = svd.fit(scaled).components_.T.astype(np.float64)
    # Centre and scale before float32: what is left are differences of the order of 1.
    plain = MosaicSpace(mean, basis, unit)
    spread = np.sqrt(_mean_square(X, weights, plain))
    if (weights != weights[0]).any():  # rows that hardly count may lie far from all that do
        spread = max(spread, _LEAST_SPREAD * np.sqrt(_mean_square(X, np.ones_like(weights), plain)))
    space = MosaicSpace(mean, basis / (spread if spread > 0 else 1.0), unit)
    return space, space.coordinates(X)


def relevant_change(coordinates: Array, pairs: Array, strength: Array) -> Array | None:
    """The change (e, e) of coordinates after which must-linked rows differ alike everywhere.

    Relevant component analysis: S^(-1/2) for S the mean of (x_i - x_j)(x_i - x_j)'/2 over the
    must-links, shrunk towards equal spread by e / (e + their number), then scaled so that squared
    distances between rows average 1 again. A pair counts as its `strength` in plain pairs, but
    never as more than one: insisting does not make it a sample.

    None if there are fewer must-links than coordinates, or if they have no extent.
    """
    n, e = coordinates.shape
    code, which = np.unique(pairs[:, 0] * n + pairs[:, 1], return_inverse=True)
    pairs = np.column_stack([code // n, code % n])
    strength = np.minimum(np.bincount(which, strength), 1.0)
    if e < 2 or strength.sum() < e:
        return None
    total = np.zeros((e, e))
    for lo in range(0, len(pairs), _PAIR_STEP):
        part = slice(lo, lo + _PAIR_STEP)
        gaps = (coordinates[pairs[part, 0]] - coordinates[pairs[part, 1]]).astype(np.float64)
        total += (gaps * strength[part, None]).T @ gaps
    if not total.any():
        return None
    total /= 2.0 * strength.sum()
    share = e / (e + strength.sum())
    total = (1.0 - share) * total + share * np.trace(total) / e * np.eye(e)
    change = whitening(total, tolerance=0.0).root
    spread = coordinates.astype(np.float64).T @ coordinates / n
    return np.asarray(change / np.sqrt(2.0 * np.trace(change @ spread @ change)))


# -- passes over rows ------------------------------------------------------------------------------
def _coordinates(block: Block, space: MosaicSpace) -> RowValues:
    out = np.empty((block.stop - block.start, space.n_coordinates), dtype=np.float32)
    for lo, hi in _steps(block):
        out[lo:hi] = _project(block.rows[lo:hi], space)
    return RowValues(out)


def _values(block: Block, placing: Placing) -> NDArray[np.float64]:
    values = np.empty((block.stop - block.start, placing.field.shares.shape[1]))
    for lo, hi in _steps(block):
        values[lo:hi] = _values_near(block.rows[lo:hi], placing)
    return values


def _chances(block: Block, placing: Placing) -> NDArray[np.float64]:
    return shares(_values(block, placing), placing.sharpness)


class _Placed(NamedTuple):
    labels: NDArray[np.int32]
    values: NDArray[np.float64]


def _highest_and_values(block: Block, placing: Placing) -> _Placed:
    near = _values_near(block.rows[block.listed], placing) if block.listed.size else None
    nothing = np.empty((0, placing.field.shares.shape[1]))
    return _Placed(_highest(block, placing), nothing if near is None else near.astype(float))


def _highest(block: Block, placing: Placing) -> NDArray[np.int32]:
    labels = np.empty(block.stop - block.start, dtype=np.int32)
    for lo, hi in _steps(block):
        labels[lo:hi] = _values_near(block.rows[lo:hi], placing).argmax(axis=1)
    return labels


def _values_near(rows: Any, placing: Placing) -> Float32:
    return values_near(_project(rows, placing.space).astype(np.float32), placing.field)


def _sum_from(block: Block, origin: Array) -> Array:
    return np.asarray(block.state.weights @ (block.rows - origin))


def _scaled_sum(block: Block, unit: bool) -> Array:
    weights, scale = block.state.weights, _scale(block.rows, unit)
    share = weights if scale is None else weights * scale
    return np.asarray(block.rows.T @ share, dtype=np.float64)


def _scatter(block: Block, centre: _Centre) -> Array:
    """Sum of w (x - mean)(x - mean)' over dense rows, of w x x' over sparse ones."""
    d = block.rows.shape[1]
    total = np.zeros((d, d))
    for lo, hi in _steps(block):
        rows, root = block.rows[lo:hi], np.sqrt(block.state.weights[lo:hi])
        scale = _scale(rows, centre.unit)
        if sp.issparse(rows):
            scaled = _scaled(rows, root * (1.0 if scale is None else scale))
            total += (scaled.T @ scaled).toarray()
        else:
            centred = _centred(rows, scale, centre.mean)
            centred *= root[:, None].astype(centred.dtype)
            total += centred.T @ centred
    return total


def _square_length(block: Block, space: MosaicSpace) -> float:
    total = 0.0
    for lo, hi in _steps(block):
        part = _project(block.rows[lo:hi], space)
        squares = np.einsum("ij,ij->i", part, part, dtype=np.float64)
        total += float(block.state.weights[lo:hi] @ squares)
    return total


def _steps(block: Block) -> list[tuple[int, int]]:
    size = block.stop - block.start
    return [(lo, min(lo + _STEP, size)) for lo in range(0, size, _STEP)]


# -- what they add up to ---------------------------------------------------------------------------
def _mean(X: Any, w: Array, unit: bool) -> NDArray[np.float64]:
    rows, state = Rows(X), _Weights(w)
    if sp.issparse(X) or unit:
        return np.asarray(fold(map_blocks(rows, _scaled_sum, unit, state=state)) / w.sum())
    # From the first row: a sum of numbers near 1e8 would lose what lies behind the point.
    origin = X[0].astype(np.float64)
    shifted = fold(map_blocks(rows, _sum_from, origin, state=state))
    return np.asarray(origin + shifted / w.sum())


def _covariance(X: Any, w: Array, mean: Array, unit: bool) -> NDArray[np.float64]:
    parts = map_blocks(Rows(X), _scatter, _Centre(mean, unit), state=_Weights(w))
    total = fold(parts) / w.sum()
    return np.asarray(total - np.outer(mean, mean) if sp.issparse(X) else total)


def _mean_square(X: Any, w: Array, space: MosaicSpace) -> float:
    """Mean squared distance between two rows in `space`: twice the total variance."""
    total = fold(map_blocks(Rows(X), _square_length, space, state=_Weights(w)))
    return 2.0 * total / float(w.sum())


def _leading_axes(covariance: Array, count: int) -> NDArray[np.float64]:
    """Eigenvectors (d, count) of the largest eigenvalues, largest first, signs fixed."""
    _, vectors = np.linalg.eigh(covariance)
    return _signed(vectors[:, ::-1][:, :count])


def _leading_axes_of_few(
    X: Any, w: Array, mean: Array, unit: bool, count: int
) -> NDArray[np.float64]:
    """The same of fewer rows than columns, from their inner products; no axes without extent.

    With Y = sqrt(w) (x - mean), the axis of YY' u = s u is Y'u / sqrt(s).
    """
    root = np.sqrt(w)
    rows = _scaled(X, root if (scale := _scale(X, unit)) is None else root * scale)
    product = rows @ rows.T
    inner = np.asarray(product.toarray() if sp.issparse(product) else product, dtype=np.float64)
    cross = np.outer(rows @ mean, root)
    inner += -cross - cross.T + np.outer(root, root) * (mean @ mean)
    values, vectors = np.linalg.eigh(inner)
    kept = np.arange(values.size)[::-1][:count]
    kept = kept[values[kept] > _NO_EXTENT * values[-1]]
    if not kept.size:
        return np.eye(len(mean), 1)
    chosen = vectors[:, kept]
    axes = np.asarray(rows.T @ chosen) - np.outer(mean, root @ chosen)
    return _signed(axes / np.sqrt(values[kept]))


def _signed(axes: Array) -> NDArray[np.float64]:
    """Each axis with the sign that makes its largest entry positive."""
    largest = np.abs(axes).argmax(axis=0)
    return np.asarray(axes * np.sign(axes[largest, np.arange(axes.shape[1])]))


# -- some rows -------------------------------------------------------------------------------------
def _project(rows: Any, space: MosaicSpace) -> Array:
    projected = _affine(rows, space)
    if space.columns is None:
        return projected
    # As learned: from coordinates of single precision.
    return space.columns.chances(projected.astype(np.float32).astype(np.float64))


def _affine(rows: Any, space: MosaicSpace) -> Array:
    scale = _scale(rows, space.unit)
    if space.basis.ndim == 1 or not sp.issparse(rows):
        centred = _centred(rows, scale, space.mean)
        if space.basis.ndim == 1:
            return centred * space.basis
        return centred @ space.basis.astype(centred.dtype)
    # Sparse rows in many columns are never filled: the mean is projected instead.
    product = np.asarray(rows @ space.basis)
    if scale is not None:
        product *= scale[:, None]
    return product - space.mean @ space.basis


def _scale(rows: Any, unit: bool) -> Array | None:
    if not unit:
        return None
    return np.asarray(1.0 / np.sqrt(row_sums(rows, power=2)))


def _scaled(rows: Any, scale: Array | None) -> Any:
    if scale is None:
        return rows
    return sp.diags_array(scale) @ rows if sp.issparse(rows) else rows * scale[:, None]


def _centred(rows: Any, scale: Array | None, mean: Array) -> Array:
    dense = _scaled(rows, scale)
    dense = dense.toarray() if sp.issparse(dense) else dense
    return dense - mean.astype(dense.dtype)
