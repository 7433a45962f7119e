"""What Mosaic computes on one block of rows, in every round and for new rows.

Each function takes a block with the state of its rows and arguments that are the same for all
blocks, and writes to neither: `map_blocks` may run it in a thread or in another process.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._typing import Array
from coterie.cluster.mosaic import _kernels as kernels
from coterie.data import Block

Float32 = NDArray[np.float32]

_STEP = 1024  # rows handled at once: a block of them times all prototypes stays in the cache


class RowValues(NamedTuple):
    """What a pass found for the rows of its block, (b, ...)."""

    values: Array


# -- from coordinates to features and values -----------------------------------------------------
class Landmarks(NamedTuple):
    """Prototypes (M, e), the map (M, r) from kernel values to features, the kernel's steepness."""

    prototypes: Float32
    whiten: Float32
    steepness: float


class Features(NamedTuple):
    """Features (b, r) of rows and their nearest prototypes (b,)."""

    features: Float32
    near: NDArray[np.int64]


class FieldMap(NamedTuple):
    """Landmarks, and what each of them adds to a field, (M, K): the map times its weights."""

    landmarks: Landmarks
    shares: Float32


def field_map(landmarks: Landmarks, weights: Array) -> FieldMap:
    """The field of weights (r, K), for rows whose features are not at hand."""
    return FieldMap(landmarks, (landmarks.whiten.astype(float) @ weights).astype(np.float32))


def kernel(A: Float32, B: Float32, steepness: float) -> Float32:
    """Cauchy kernel 1 / (1 + steepness |a - b|^2) of all pairs, (n, M).

    A mixture of Gaussians of every width: steep near a prototype, and never flat far from it. At
    a steepness of 2 the typical Gaussian is a quarter of the mean squared distance between two
    rows (1 in a `MosaicSpace`) wide.
    """
    squares = A @ (-2.0 * B.T)
    squares += np.einsum("ij,ij->i", A, A)[:, None]
    squares += np.einsum("ij,ij->i", B, B)
    np.maximum(squares, 0.0, out=squares)
    squares *= steepness
    squares += 1.0
    return np.reciprocal(squares, out=squares)


def features(block: Block, landmarks: Landmarks) -> Features:
    """Features and nearest prototypes of rows at coordinates (b, e)."""
    size = block.stop - block.start
    out = np.empty((size, landmarks.whiten.shape[1]), dtype=np.float32)
    near = np.empty(size, dtype=np.int64)
    for lo in range(0, size, _STEP):
        hi = min(lo + _STEP, size)
        values = kernel(block.rows[lo:hi], landmarks.prototypes, landmarks.steepness)
        near[lo:hi] = values.argmax(axis=1)
        np.matmul(values, landmarks.whiten, out=out[lo:hi])
    return Features(out, near)


def values_at(block: Block, field: FieldMap) -> RowValues:
    """Field values (b, K) at coordinates (b, e)."""
    return RowValues(values_near(block.rows, field).astype(np.float64))


def values_near(coordinates: Float32, field: FieldMap) -> Float32:
    """Field values (n, K) at coordinates (n, e)."""
    out = np.empty((len(coordinates), field.shares.shape[1]), dtype=np.float32)
    marks = field.landmarks
    for lo in range(0, len(out), _STEP):
        hi = min(lo + _STEP, len(out))
        near = kernel(coordinates[lo:hi], marks.prototypes, marks.steepness)
        np.matmul(near, field.shares, out=out[lo:hi])
    return out


def values_of(block: Block, weights: Float32) -> RowValues:
    """Field values (b, K) of rows with features (b, r), for field weights (r, K)."""
    return RowValues((block.rows @ weights).astype(np.float64))


class Highest(NamedTuple):
    """Where the field is highest (b,), its value there, and the squared length of all values."""

    labels: NDArray[np.int64]
    tops: Array
    squares: Array


def highest_at(block: Block, field: FieldMap) -> Highest:
    """The highest of the field's values at coordinates (b, e), which are not kept."""
    values = values_at(block, field).values
    squares = np.einsum("ij,ij->i", values, values)
    return Highest(values.argmax(axis=1), values.max(axis=1), squares)


# -- ridge regression on features ----------------------------------------------------------------
class Targets(NamedTuple):
    """What the field should say at each row, times its weight, (n, K)."""

    targets: Float32


class RootWeights(NamedTuple):
    """Square root of what each row counts, (n,)."""

    root: Float32


def moments(block: Block, _: None) -> NDArray[np.float64]:
    """features' targets, (r, K)."""
    return (block.rows.T @ block.state.targets).astype(np.float64)


def gram(block: Block, _: None) -> NDArray[np.float64]:
    """features' diag(weights) features, (r, r)."""
    part = block.rows * block.state.root[:, None]
    return (part.T @ part).astype(np.float64)


def square_lengths(block: Block, change: Float32) -> RowValues:
    """Squared length (b,) of each row's features times `change` (r, .)."""
    out = np.empty(block.stop - block.start)
    for lo in range(0, out.size, _STEP):
        half = block.rows[lo : lo + _STEP] @ change
        out[lo : lo + _STEP] = np.einsum("ij,ij->i", half, half)
    return RowValues(out)


# -- from values to probabilities ----------------------------------------------------------------
class Seen(NamedTuple):
    """Beliefs (n, K) that a field's values should predict, and what each row counts, (n,)."""

    beliefs: Array
    weights: Array


class Derivatives(NamedTuple):
    """Of the log-likelihood in the sharpness."""

    slope: float
    curvature: float


def softmax(block: Block, scale: float) -> RowValues:
    """Each row of scale · values (b, K) as probabilities."""
    return RowValues(shares(block.rows, scale))


def shares(values: Array, scale: float) -> NDArray[np.float64]:
    """`softmax` of the values (n, K) themselves."""
    out = np.empty_like(values)
    kernels.below_top(scale, values, out)
    np.exp(out, out=out)  # NumPy's is faster than a compiled loop's
    kernels.to_shares(out)
    return out


def derivatives(block: Block, sharpness: float) -> Derivatives:
    """Of sum_i w_i sum_k t_ik log softmax(b v_i)_k in b, at b = `sharpness`."""
    gaps = np.empty_like(block.rows)
    kernels.below_top(sharpness, block.rows, gaps)
    chance = gaps.astype(np.float32)  # ten times as fast, and the sharpness is wanted to 1 %
    np.exp(chance, out=chance)
    return Derivatives(*kernels.slope_and_curvature(chance, block.rows, *block.state))
