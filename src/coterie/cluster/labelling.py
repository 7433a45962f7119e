"""The pass that K-Means and its kin make over the rows: nearest centres, costs and sums.

Every function of a block here is pure: it can run in a thread, another process or on a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.cluster import _kernels as kernels
from coterie.cluster.statistics import NONE, Counter, Shape, Statistics
from coterie.data import Block, Rows, each_row, fold, join, map_blocks
from coterie.distortions import CenterTerms, Distortion

__all__ = [
    "BEYOND",
    "CentersOf",
    "Labelled",
    "Price",
    "RowTerms",
    "centers_of",
    "distances_to",
    "label_rows",
    "largest_term",
    "least_cost",
    "measure_rows",
    "nearest_centers",
    "nearest_within",
    "own_block",
    "own_distances",
    "own_sum",
    "row_distances",
    "sums_by_label",
]

BEYOND = kernels.BEYOND
NO_LABELS = np.empty(0, dtype=np.int32)
# Bytes handled at once. Where a product is all that is made of the rows, fewer steps of Python
# count for more than the cache; evidence for a metric is better made of rows that are still in it.
_LARGE, _SMALL = 1 << 22, 1 << 20


class RowTerms(NamedTuple):
    """What belongs to each row under a metric: its weight and the distortion's r and s.

    `weight` and `scale` of size 0 stand for ones. A `term` of size 0 says that term and scale are
    made of the rows whenever these are read, as they are for rows that do not fit in memory.
    """

    weight: Array
    term: Array
    scale: Array

    def of_rows(
        self, at: slice | Array, rows: Any, distortion: Distortion, A: Array | None
    ) -> RowTerms:
        """Those of the rows `at` these places, which `rows` holds."""
        weight = _part(self.weight, at)
        if self.term.size:
            return RowTerms(weight, self.term[at], _part(self.scale, at))
        term = np.asarray(distortion.row_term(rows, A), dtype=np.float64)
        return RowTerms(weight, term, self.scale_of_rows(at, rows, distortion, A))

    def scale_of_rows(
        self, at: slice | Array, rows: Any, distortion: Distortion, A: Array | None
    ) -> Array:
        """The scale (r,) of the rows `at` these places, (0,) for ones."""
        if self.term.size:
            return _part(self.scale, at)
        scale = distortion.row_scale(rows, A)
        return NONE if scale is None else np.asarray(scale, np.float64)


def _part(values: Array, at: slice | Array) -> Array:
    """values[at], or (0,) where `values` is (0,), which stands for ones."""
    return values[at] if values.size else NONE


class Price(NamedTuple):
    """What a distance costs: factor * weight * distance, or of its `root`.

    A free row that costs `limit` or more with every centre is labelled `BEYOND`.
    """

    factor: float = 1.0
    limit: float = np.inf
    root: bool = False


class Labelled(NamedTuple):
    """What a pass finds.

    Attributes
    ----------
    labels : (n,) int32
        The nearest centre of each row; of listed rows the label they had, if they had one.
    unary : (r, K)
        What each label would cost each listed row.
    lead : (r,)
        What the best other label of a listed row costs above the one it has.
    cost : float
        Of all rows under `labels`; rows beyond the limit do not count.
    statistics : Statistics
        Of all rows under `labels`.
    """

    labels: Array
    unary: Array
    lead: Array
    cost: float
    statistics: Statistics


class _Centers(NamedTuple):
    distortion: Distortion
    A: Array | None
    terms: CenterTerms
    price: Price
    shape: Shape


class _Before(NamedTuple):
    labels: Array


def label_rows(
    rows: Rows,
    row_terms: RowTerms,
    distortion: Distortion,
    A: Array | None,
    terms: CenterTerms,
    price: Price,
    shape: Shape,
    listed: Array,
    before: Array | None = None,
) -> Labelled:
    """One pass over the rows: labels, costs of the `listed` rows (r,), cost and sums of all.

    With `before` (r,) the listed rows keep these labels.
    """
    # In this order slope.T, which every product takes, is contiguous.
    terms = terms._replace(slope=np.asfortranarray(terms.slope))
    held = _Before(NO_LABELS if before is None else before.astype(np.int32))
    passes = map_blocks(
        rows,
        _label_block,
        _Centers(distortion, A, terms, price, shape),
        state=row_terms,
        listed=listed,
        listed_state=held,
    )
    lengths = (rows.n, listed.size, listed.size)
    return fold(passes, joined=("labels", "unary", "lead"), lengths=lengths)


def _label_block(block: Block, centers: _Centers) -> Labelled:
    distortion, A, terms, price, shape = centers
    size, r = block.stop - block.start, block.listed.size
    labels = np.empty(size, dtype=np.int32)
    unary, lead = np.empty((r, shape.n_clusters)), np.empty(r)
    counter = Counter(shape, distortion)
    total, first = 0.0, 0
    size = _SMALL if shape.form is not None else _LARGE
    for lo, hi, piece in block.chunks(shape.n_clusters, size):
        own = block.state.of_rows(slice(lo, hi), piece, distortion, A)
        product = distortion.product(piece, terms, own.scale if own.scale.size else None)
        cost, first = kernels.nearest(
            product, terms.offset, lo, first, own, price, block.listed,
            block.listed_state.labels, labels, unary, lead,
        )  # fmt: skip
        total += cost
        counter.add(piece, labels[lo:hi], own.weight, own.scale)
    return Labelled(labels, unary, lead, total, counter.statistics)


class _Metric(NamedTuple):
    distortion: Distortion
    A: Array | None


class _Measured(NamedTuple):
    term: Array
    scale: Array


def measure_rows(
    rows: Rows, weight: Array, distortion: Distortion, A: Array | None = None
) -> RowTerms:
    """The distortion's row term and row scale of every row under the metric A.

    Of rows in files nothing is kept: see `RowTerms`.
    """
    if not rows.in_memory:
        return RowTerms(weight, NONE, NONE)
    found = fold(map_blocks(rows, _measure_block, _Metric(distortion, A)), joined=("term", "scale"))
    return RowTerms(weight, found.term, found.scale)


def _measure_block(block: Block, metric: _Metric) -> _Measured:
    distortion, A = metric
    term = np.empty(block.stop - block.start)
    scale = NONE
    for lo, hi, piece in block.chunks():
        term[lo:hi] = distortion.row_term(piece, A)
        here = distortion.row_scale(piece, A)
        if here is not None:
            scale = scale if scale.size else np.empty(term.size)
            scale[lo:hi] = here
    return _Measured(term, scale)


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


def largest_term(rows: Rows, row_terms: RowTerms, distortion: Distortion, A: Array | None) -> float:
    """The largest |r| that any row has by itself: what distances are rounded by."""
    if row_terms.term.size:
        return float(np.abs(row_terms.term).max())
    return max(map_blocks(rows, _term_block, _Metric(distortion, A)))


def _term_block(block: Block, metric: _Metric) -> float:
    pieces = (piece for _, _, piece in block.chunks())
    return max(float(np.abs(metric.distortion.row_term(piece, metric.A)).max()) for piece in pieces)


class _Labels(NamedTuple):
    labels: Array
    weight: Array = NONE
    term: Array = NONE
    scale: Array = NONE


def own_distances(
    rows: Rows, labels: Array, centers: Array, distortion: Distortion, A: Array | None = None
) -> Array:
    """Distortion (n,) of every row to the centre of its own cluster."""
    to = centers_of(rows, centers, distortion, A)
    return join(map_blocks(rows, own_block, to, state=_Labels(labels)), rows.n)


def own_block(block: Block, to: CentersOf) -> Array:
    """Distortion (b,) of each row of the block to the centre of its cluster, or its root."""
    distortion, A, terms = to.distortion, to.A, to.terms
    gaps = np.empty(block.stop - block.start)
    for lo, hi, piece in block.chunks(extra=len(terms.offset)):
        cross = distortion.cross(piece, terms, distortion.row_scale(piece, A))
        own = cross[np.arange(hi - lo), block.state.labels[lo:hi]]
        gaps[lo:hi] = np.maximum(own + distortion.row_term(piece, A), 0.0)
    return np.sqrt(gaps, out=gaps) if to.root else gaps


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
    return fold(map_blocks(rows, _own_sum_block, to, state=_Labels(labels, weights)))


def _own_sum_block(block: Block, to: CentersOf) -> float:
    gaps, weight = own_block(block, to), block.state.weight
    return float(gaps @ weight if weight.size else gaps.sum())


class _SumTask(NamedTuple):
    distortion: Distortion
    A: Array | None
    shape: Shape


def sums_by_label(
    rows: Rows,
    labels: Array,
    row_terms: RowTerms,
    distortion: Distortion,
    A: Array | None,
    shape: Shape,
) -> Statistics:
    """Statistics of all rows by label (n,); rows with a negative label are passed over."""
    state = _Labels(labels.astype(np.int32), *row_terms)
    return fold(map_blocks(rows, _sum_block, _SumTask(distortion, A, shape), state=state))


def _sum_block(block: Block, task: _SumTask) -> Statistics:
    distortion, A, shape = task
    labels, *terms = block.state
    row_terms = RowTerms(*terms)
    counter = Counter(shape, distortion)
    for lo, hi, piece in block.chunks():
        own = row_terms.of_rows(slice(lo, hi), piece, distortion, A)
        counter.add(piece, labels[lo:hi], own.weight, own.scale)
    return counter.statistics
