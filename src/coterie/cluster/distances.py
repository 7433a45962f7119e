"""How far rows are from centres, for labels of new rows, scores and starts: passes over the rows.

Nothing of n x K numbers is held where the rows are not in memory themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from coterie._typing import Array
from coterie.cluster.statistics import NONE
from coterie.data import Block, Rows, each_row, fold, join, map_blocks
from coterie.distortions import CenterTerms, Distortion

__all__ = [
    "CentersOf",
    "centers_of",
    "distances_to",
    "least_cost",
    "least_distances",
    "nearest_centers",
    "nearest_within",
    "own_block",
    "own_distances",
    "own_leads",
    "own_sum",
    "row_distances",
]


class CentersOf(NamedTuple):
    """Centres that rows are compared with; `root` asks for the root of the distortion."""

    distortion: Distortion
    A: Array | None
    terms: CenterTerms
    root: bool = False
    limit: float = np.inf


def centers_of(
    rows: Rows, centers: Array, distortion: Distortion, A: Array | None, root: bool = False
) -> CentersOf:
    """The centres (K, d) as a pass over the rows takes them."""
    return CentersOf(distortion, A, distortion.center_terms(centers.astype(rows.dtype), A), root)


def distances_to(
    rows: Rows, centers: Array, distortion: Distortion, A: Array | None = None
) -> Array:
    """Distortions (n, K) of all rows to some centres, held in memory."""
    return join(map_blocks(rows, _distance_block, centers_of(rows, centers, distortion, A)), rows.n)


def row_distances(
    rows: Rows, centers: Array, distortion: Distortion, A: Array | None, root: bool = False
) -> Any:
    """Distortions (n, K), or their roots, as `each_row` gives them: of files they are not held."""
    to = centers_of(rows, centers, distortion, A, root)
    return each_row(rows, _distance_block, to, len(centers), rows.dtype)


def _distance_block(block: Block, to: CentersOf) -> Array:
    gaps = np.empty((block.stop - block.start, len(to.terms.offset)), dtype=block.rows.dtype)
    for lo, hi, part in _distances(block, to):
        gaps[lo:hi] = part
    return gaps


def _distances(block: Block, to: CentersOf) -> Iterator[tuple[int, int, Array]]:
    """(lo, hi, distortions of rows lo..hi of the block)."""
    distortion, A, terms = to.distortion, to.A, to.terms
    for lo, hi, piece in block.chunks(extra=len(terms.offset)):
        part = distortion.cross(piece, terms, distortion.row_scale(piece, A))
        part = np.maximum(part + distortion.row_term(piece, A)[:, None], 0.0)
        part = part.astype(block.rows.dtype, copy=False)
        yield lo, hi, np.sqrt(part, out=part) if to.root else part


def least_distances(rows: Rows, centers: Array, distortion: Distortion, A: Array | None) -> Array:
    """Distortion (n,) of every row to its nearest centre."""
    return join(map_blocks(rows, _nearest_block, centers_of(rows, centers, distortion, A)), rows.n)


def _nearest_block(block: Block, to: CentersOf) -> Array:
    gaps = np.empty(block.stop - block.start, dtype=block.rows.dtype)
    for lo, hi, part in _distances(block, to):
        gaps[lo:hi] = part.min(axis=1)
    return gaps


def least_cost(rows: Rows, centers: Array, distortion: Distortion, A: Array | None) -> float:
    """The summed distortion of all rows to their nearest centres."""
    return fold(map_blocks(rows, _least_block, centers_of(rows, centers, distortion, A)))


def _least_block(block: Block, to: CentersOf) -> float:
    return float(
        sum(part.min(axis=1).sum(dtype=np.float64) for _, _, part in _distances(block, to))
    )


def nearest_within(
    rows: Rows, centers: Array, distortion: Distortion, A: Array | None, root: bool, limit: float
) -> Array:
    """The nearest centre (n,) int32 of every row; -1 where none is nearer than `limit`."""
    to = centers_of(rows, centers, distortion, A, root)._replace(limit=limit)
    return join(map_blocks(rows, _within_block, to), rows.n)


def _within_block(block: Block, to: CentersOf) -> Array:
    labels = np.empty(block.stop - block.start, dtype=np.int32)
    for lo, hi, part in _distances(block, to):
        labels[lo:hi] = part.argmin(axis=1)
        labels[lo:hi][part.min(axis=1) >= to.limit] = -1
    return labels


def nearest_centers(
    rows: Rows, centers: Array, distortion: Distortion, A: Array | None, discount: Array
) -> Array:
    """The centre (n,) of least distortion less `discount` (K,) or (1,) of every row."""
    to = centers_of(rows, centers, distortion, A)
    less = to.terms.offset - discount.astype(to.terms.offset.dtype)
    to = to._replace(terms=to.terms._replace(offset=less))
    return join(map_blocks(rows, _argmin_block, to), rows.n)


def _argmin_block(block: Block, to: CentersOf) -> Array:
    labels = np.empty(block.stop - block.start, dtype=np.int32)
    for lo, hi, piece in block.chunks(extra=len(to.terms.offset)):
        scale = to.distortion.row_scale(piece, to.A)
        labels[lo:hi] = to.distortion.cross(piece, to.terms, scale).argmin(axis=1)
    return labels


class _Own(NamedTuple):
    labels: Array
    weight: Array = NONE


def own_distances(
    rows: Rows, labels: Array, centers: Array, distortion: Distortion, A: Array | None = None
) -> Array:
    """Distortion (n,) of every row to the centre of its own cluster."""
    to = centers_of(rows, centers, distortion, A)
    return join(map_blocks(rows, own_block, to, state=_Own(labels)), rows.n)


def own_block(block: Block, to: CentersOf) -> Array:
    """Distortion (b,) of each row of the block to the centre of its cluster, or its root."""
    distortion, A, terms = to.distortion, to.A, to.terms
    gaps = np.empty(block.stop - block.start)
    for lo, hi, piece in block.chunks(extra=len(terms.offset)):
        cross = distortion.cross(piece, terms, distortion.row_scale(piece, A))
        own = cross[np.arange(hi - lo), block.state.labels[lo:hi]]
        gaps[lo:hi] = np.maximum(own + distortion.row_term(piece, A), 0.0)
    return np.sqrt(gaps, out=gaps) if to.root else gaps


class _Contrast(NamedTuple):
    """By cluster: how the slopes (K, d) and offsets (K,) of two centres differ."""

    distortion: Distortion
    A: Array | None
    slope: Array
    offset: Array


def own_leads(
    rows: Rows, labels: Array, one: Array, other: Array, distortion: Distortion, A: Array | None
) -> Array:
    """How much farther each row is from its cluster's centre in `one` than from that in `other`.

    (n,), for centres (K, d) under a metric that all clusters share: the cost is that of two
    centres, however many clusters there are.
    """
    far, near = (distortion.center_terms(each.astype(rows.dtype), A) for each in (one, other))
    to = _Contrast(distortion, A, far.slope - near.slope, far.offset - near.offset)
    return join(map_blocks(rows, _lead_block, to, state=_Own(labels)), rows.n)


def _lead_block(block: Block, to: _Contrast) -> Array:
    leads = np.empty(block.stop - block.start)
    for lo, hi, piece in block.chunks(extra=block.rows.shape[1]):
        own = block.state.labels[lo:hi]
        if sp.issparse(piece):
            row = np.repeat(np.arange(hi - lo), np.diff(piece.indptr))
            parts = piece.data * to.slope[own[row], piece.indices]
            products = np.bincount(row, parts, minlength=hi - lo)
        else:
            products = np.einsum("ij,ij->i", piece, to.slope[own])
        scale = to.distortion.row_scale(piece, to.A)
        leads[lo:hi] = to.offset[own] + (products if scale is None else scale * products)
    return leads


def own_sum(
    rows: Rows,
    labels: Array,
    weights: Array,
    centers: Array,
    distortion: Distortion,
    A: Array | None,
    root: bool,
) -> float:
    """The summed w d, or w times its root, of all rows to the centres of their clusters."""
    to = centers_of(rows, centers, distortion, A, root)
    return fold(map_blocks(rows, _own_sum_block, to, state=_Own(labels, weights)))


def _own_sum_block(block: Block, to: CentersOf) -> float:
    gaps, weight = own_block(block, to), block.state.weight
    return float(gaps @ weight if weight.size else gaps.sum())
