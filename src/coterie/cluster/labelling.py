"""The pass that K-Means and its kin make over the rows: nearest centres, costs and sums.

Every function of a block here is pure: it can run in a thread, another process or on a cluster.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.cluster import _kernels as kernels
from coterie.cluster.statistics import NONE, Counter, Shape, Statistics
from coterie.data import Block, MemoryRows, Rows, fold, map_blocks
from coterie.distortions import CenterTerms, Distortion
from coterie.exceptions import InvalidData

__all__ = [
    "BEYOND",
    "Labelled",
    "Price",
    "RowTerms",
    "check_domain",
    "distances_to",
    "label_rows",
    "measure_rows",
    "nearest_centers",
    "own_distances",
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

    def of_piece(
        self, lo: int, hi: int, piece: Any, distortion: Distortion, A: Array | None
    ) -> RowTerms:
        """Those of rows lo..hi, which `piece` holds."""
        weight = self.weight[lo:hi]
        if self.term.size:
            return RowTerms(weight, self.term[lo:hi], self.scale[lo:hi])
        scale = distortion.row_scale(piece, A)
        term = np.asarray(distortion.row_term(piece, A), dtype=np.float64)
        return RowTerms(weight, term, NONE if scale is None else np.asarray(scale, np.float64))


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
        own = block.state.of_piece(lo, hi, piece, distortion, A)
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


class _To(NamedTuple):
    distortion: Distortion
    A: Array | None
    terms: CenterTerms


def _to(rows: Rows, centers: Array, distortion: Distortion, A: Array | None) -> _To:
    return _To(distortion, A, distortion.center_terms(centers.astype(rows.dtype), A))


def distances_to(
    rows: Rows, centers: Array, distortion: Distortion, A: Array | None = None
) -> Array:
    """Distortions (n, K) of all rows to some centres."""
    parts = list(map_blocks(rows, _distance_block, _to(rows, centers, distortion, A)))
    return np.concatenate(parts)


def _distance_block(block: Block, to: _To) -> Array:
    distortion, A, terms = to
    gaps = np.empty((block.stop - block.start, len(terms.offset)), dtype=block.rows.dtype)
    for lo, hi, piece in block.chunks(extra=len(terms.offset)):
        part = distortion.cross(piece, terms, distortion.row_scale(piece, A))
        gaps[lo:hi] = np.maximum(part + distortion.row_term(piece, A)[:, None], 0.0)
    return gaps


def nearest_centers(
    rows: Rows, centers: Array, distortion: Distortion, A: Array | None, discount: Array
) -> Array:
    """The centre (n,) of least distortion less `discount` (K,) or (1,) of every row."""
    to = _to(rows, centers, distortion, A)
    less = to.terms.offset - discount.astype(to.terms.offset.dtype)
    to = to._replace(terms=to.terms._replace(offset=less))
    return np.concatenate(list(map_blocks(rows, _argmin_block, to)))


def _argmin_block(block: Block, to: _To) -> Array:
    labels = np.empty(block.stop - block.start, dtype=np.int32)
    for lo, hi, piece in block.chunks(extra=len(to.terms.offset)):
        scale = to.distortion.row_scale(piece, to.A)
        labels[lo:hi] = to.distortion.cross(piece, to.terms, scale).argmin(axis=1)
    return labels


class _Labels(NamedTuple):
    labels: Array
    weight: Array = NONE
    term: Array = NONE
    scale: Array = NONE


def own_distances(
    rows: Rows, labels: Array, centers: Array, distortion: Distortion, A: Array | None = None
) -> Array:
    """Distortion (n,) of every row to the centre of its own cluster."""
    to = _to(rows, centers, distortion, A)
    return np.concatenate(list(map_blocks(rows, _own_block, to, state=_Labels(labels))))


def _own_block(block: Block, to: _To) -> Array:
    distortion, A, terms = to
    gaps = np.empty(block.stop - block.start)
    for lo, hi, piece in block.chunks(extra=len(terms.offset)):
        cross = distortion.cross(piece, terms, distortion.row_scale(piece, A))
        own = cross[np.arange(hi - lo), block.state.labels[lo:hi]]
        gaps[lo:hi] = np.maximum(own + distortion.row_term(piece, A), 0.0)
    return gaps


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
        own = row_terms.of_piece(lo, hi, piece, distortion, A)
        counter.add(piece, labels[lo:hi], own.weight, own.scale)
    return counter.statistics


def check_domain(rows: Rows, distortion: Distortion) -> None:
    """Refuse rows outside the domain of the distortion, naming the first."""
    if isinstance(rows.source, MemoryRows):
        distortion.check_rows(rows.source.X)
        return
    for found in map_blocks(rows, _check_block, distortion):
        if found is not None:
            start, problem = found
            place = getattr(rows.source, "place", "row {}".format)(start)
            raise InvalidData(f"in the rows from {place} on, counted from there: {problem}")


def _check_block(block: Block, distortion: Distortion) -> tuple[int, str] | None:
    """Where the block begins and what is wrong in it, if anything is."""
    try:
        distortion.check_rows(block.rows)
    except InvalidData as problem:
        return block.start, str(problem)
    return None
