"""The pass that K-Means and its kin make over the rows: nearest centres, costs and sums.

Every function of a block here is pure: it can run in a thread, another process or on a cluster.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from coterie._typing import Array
from coterie.cluster.statistics import NONE, Counter, Shape, Statistics
from coterie.data import Block, Rows, Scratch, fold, make_room, map_blocks
from coterie.distortions import CenterTerms, Distortion

__all__ = [
    "BEYOND",
    "Labelled",
    "Price",
    "RowTerms",
    "label_rows",
    "largest_term",
    "measure_rows",
    "sums_by_label",
]

BEYOND = -2  # label of a free row that costs `limit` or more with every centre
NO_LABELS = np.empty(0, dtype=np.int32)
_NO_DIGEST = np.empty(0, dtype=np.uint64)
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
    labels : (n,) int32, or (0,)
        The nearest centre of each row; of listed rows the label they had, if they had one. (0,)
        where nobody asked for them.
    listed_labels : (r,) int32
        Those of the listed rows.
    digest : (blocks,) uint64
        A number for each block that depends on the labels of all rows that are not listed: where
        labels are not kept, it tells whether they are those of another pass.
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
    listed_labels: Array
    digest: Array
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
    keep: bool


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
    keep: bool = True,
    scratch: Scratch | None = None,
) -> Labelled:
    """One pass over the rows: labels, costs of the `listed` rows (r,), cost and sums of all.

    With `before` (r,) the listed rows keep these labels. With `keep` False nothing that belongs to
    other rows comes back, as they may be many and elsewhere. What is as long as rows or listed
    rows is put into memory of `scratch`.
    """
    # In this order slope.T and square.T, which every product takes, are contiguous.
    square = terms.square
    if square is not None and square.ndim == 2:
        square = np.asfortranarray(square)
    terms = terms._replace(slope=np.asfortranarray(terms.slope), square=square)
    r = listed.size
    room = make_room(
        scratch or Scratch(),
        rows={"labels": ((rows.n,), np.int32)} if keep else {},
        listed={"unary": ((r, shape.n_clusters), np.float64), "lead": ((r,), np.float64)},
    )
    held = _Before(NO_LABELS if before is None else before.astype(np.int32))
    passes = map_blocks(
        rows,
        _label_block,
        _Centers(distortion, A, terms, price, shape, keep),
        state=row_terms,
        listed=listed,
        listed_state=held,
        room=room,
    )
    joined = ("listed_labels", "digest") if keep else ("labels", "listed_labels", "digest")
    return fold(passes, joined=joined, room=room)


def _label_block(block: Block, centers: _Centers) -> Labelled:
    distortion, A, terms, price, shape, keep = centers
    size, r = block.stop - block.start, block.listed.size
    labels = block.empty("labels", (size,), np.int32)
    unary, lead = block.empty("unary", (r, shape.n_clusters)), block.empty("lead", (r,))
    counter = Counter(shape, distortion)
    total, first = 0.0, 0
    size = _SMALL if shape.form is not None else _LARGE
    product = None
    for lo, hi, piece in block.chunks(shape.n_clusters, size):
        own = block.state.of_rows(slice(lo, hi), piece, distortion, A)
        scale = own.scale if own.scale.size else None
        # Once for all pieces: Dask's workers give freed memory back, and would get it page by page.
        out = None if product is None else product[: hi - lo]
        product = distortion.product(piece, terms, scale, out)
        cost, first = nearest(
            product, terms.offset, lo, first, own, price, block.listed,
            block.listed_state.labels, labels, unary, lead,
        )  # fmt: skip
        total += cost
        counter.add(piece, labels[lo:hi], own.weight, own.scale)
    listed = labels[block.listed]
    if keep:
        return Labelled(labels, listed, _NO_DIGEST, unary, lead, total, counter.statistics)
    labels[block.listed] = 0
    digest = _digest(labels)
    return Labelled(NO_LABELS, listed, digest, unary, lead, total, counter.statistics)


def _digest(labels: Array) -> Array:
    """One number (1,) for all labels of a block, without arrays of its length beside them."""
    other = _multipliers(labels.size)
    total = np.einsum("i,i->", labels, other, dtype=np.uint64, casting="unsafe")
    return np.array([total], dtype=np.uint64)


@lru_cache(maxsize=4)  # blocks have one or two sizes
def _multipliers(size: int) -> Array:
    """Odd numbers (size,) without a pattern: sums of labels times these differ as labels do."""
    return np.random.default_rng(0).integers(2**63, size=size, dtype=np.uint64) * 2 + 1


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
    passes = map_blocks(rows, _measure_block, _Metric(distortion, A))
    found = fold(passes, joined=("term", "scale"), lengths=(rows.n,))
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
    state = _Labels(labels.astype(np.int32, copy=False), *row_terms)
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


# -- compiled: records of arrays in, arrays filled -------------------------------------------------
@njit(cache=True, nogil=True)
def _cost_of(w: Any, distance: Any, root: Any) -> Any:
    """w times the distance, or w times its square root; a weight of 0 silences an infinity."""
    if not w > 0.0:
        return 0.0
    return w * np.sqrt(max(distance, 0.0)) if root else w * distance


@njit(cache=True, nogil=True)
def nearest(
    product: Any, offset: Any, start: Any, first: Any, terms: Any, price: Any, listed: Any,
    before: Any, labels: Any, unary: Any, lead: Any,
) -> Any:  # fmt: skip
    """Label rows start.. of a block with their nearest centres; copy the costs of listed rows.

    The distance of row i from centre k is product_ik + offset_k + term_i, its cost factor * weight
    * distance. Returns the summed cost of these rows under `labels`, and the first listed row that
    is not among them.
    """
    # IN: product (c, K); offset (K,); first: number of the first listed row from `start` on;
    #     terms: weight (c,) or (0,) for ones, term (c,); price: factor, limit (free rows that
    #     cost as much are labelled BEYOND and not summed), root (the distance is the square root);
    #     listed (r,) positions in the block; before (r,) labels they keep, or (0,)
    # OUT: labels (b,); unary (r, K) costs of listed rows and lead (r,), what the best other label
    #      costs above the one in `labels`
    weight, term, _ = terms  # once: see `inference._kernels`
    n_clusters = product.shape[1]
    total = 0.0
    at = first
    for c in range(product.shape[0]):
        i = start + c
        w = price.factor if weight.size == 0 else price.factor * weight[c]
        free = at == listed.size or listed[at] != i
        if free or before.size == 0:
            best = 0
            low = product[c, 0] + offset[0]
            for k in range(1, n_clusters):
                here = product[c, k] + offset[k]
                if here < low:
                    low = here
                    best = k
            labels[i] = best
        else:
            labels[i] = before[at]
        if free:
            cost = _cost_of(w, np.float64(low) + term[c], price.root)
            if price.limit < np.inf and w > 0.0 and not cost < price.limit:
                labels[i] = BEYOND
            else:
                total += cost
            continue
        y = labels[i]
        other = np.inf
        for k in range(n_clusters):
            here = product[c, k] + offset[k]
            cost = _cost_of(w, np.float64(here) + term[c], price.root)
            unary[at, k] = cost
            if k != y and cost < other:
                other = cost
        lead[at] = other - unary[at, y]
        total += unary[at, y]
        at += 1
    return total, at
