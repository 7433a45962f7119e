"""k-means|| (Bahmani et al. 2012): starts for more rows than one pass for each centre can afford.

In each of a few rounds as many rows as there are clusters are drawn at once, with chances in
proportion to their distance from the centres so far; the candidates, weighted by the rows that
are nearest to them, are thinned out by k-means++ in memory. A draw is a race: row i gets the key
-log(u_i) / (w_i d_i) with u_i a hash of seed, round and row number, and the smallest keys win. So
it does not depend on how the rows are cut into blocks or who reads them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from coterie._typing import Array
from coterie.cluster.kmeans.problem import KMeansProblem
from coterie.cluster.statistics import NONE, Shape, sum_rows
from coterie.data import Block, fold, map_blocks
from coterie.distortions import CenterTerms, Distortion

__all__ = ["oversampled", "thinned", "uniforms"]

_ROUNDS = 5


class _Weights(NamedTuple):
    weight: Array


class _Draw(NamedTuple):
    distortion: Distortion
    A: Array | None
    terms: CenterTerms | None  # of the centres so far; None if there are none
    seed: int
    size: int  # rows to draw, or centres


class _Drawn(NamedTuple):
    """Keys (c,), numbers (c,) and rows (c, d) of a block's candidates."""

    keys: Array
    numbers: Array
    rows: Any


def oversampled(
    problem: KMeansProblem, centers: Array, A: Array | None, seed: int
) -> tuple[Array, Array]:
    """Candidate centres (c, d), those given first, and the weight (c,) of the rows nearest to each.

    Parameters
    ----------
    centers : (p, d)
        Known already, for instance the centroids of neighbourhoods; p may be 0.
    A : array or None
        One metric to compare by.
    """
    distortion, weights = problem.distortion, _Weights(problem.weights)
    candidates = np.asarray(centers, dtype=problem.rows.dtype)
    for step in range(_ROUNDS + (not len(candidates))):
        size = problem.settings.n_clusters if len(candidates) else 1
        terms = distortion.center_terms(candidates, A) if len(candidates) else None
        rows = _draw(problem, _Draw(distortion, A, terms, seed + step, size))
        candidates = np.concatenate([candidates, _as_centers(problem, rows, A)])
    task = _Draw(distortion, A, distortion.center_terms(candidates, A), seed, len(candidates))
    return candidates, fold(map_blocks(problem.rows, _weigh_block, task, state=weights))


def thinned(
    distortion: Distortion, A: Array | None, candidates: Array, weights: Array, given: int,
    n_clusters: int, rng: Any,
) -> Array:  # fmt: skip
    """K of the candidates (c, d) by greedy k-means++ with these weights (c,), the first `given`
    among them.
    """
    chosen = list(range(given))
    trials = 2 + int(np.log(n_clusters))
    gap = np.full(len(candidates), np.inf)
    if chosen:
        gap = distortion.to_centers(candidates, candidates[chosen], A).min(axis=1)
    while len(chosen) < n_clusters:
        mass = weights * gap if chosen else weights.astype(np.float64)
        if not mass.sum() > 0:  # every candidate sits on a chosen one
            mass = np.ones(len(candidates))
        drawn = rng.choice(len(candidates), size=trials, p=mass / mass.sum())
        gaps = np.minimum(gap[:, None], distortion.to_centers(candidates, candidates[drawn], A))
        best = int((weights @ gaps).argmin())
        gap = gaps[:, best]
        chosen.append(int(drawn[best]))
    return candidates[chosen]


def _draw(problem: KMeansProblem, task: _Draw) -> Any:
    """The rows (at most `task.size`, d) that win the race."""
    parts = list(map_blocks(problem.rows, _draw_block, task, state=_Weights(problem.weights)))
    keys = np.concatenate([part.keys for part in parts])
    numbers = np.concatenate([part.numbers for part in parts])
    rows = [part.rows for part in parts]
    whole = sp.vstack(rows, format="csr") if problem.rows.is_sparse else np.concatenate(rows)
    won = np.lexsort((numbers, keys))[: task.size]
    won = won[np.isfinite(keys[won])]  # rows that sit on a centre never win
    return whole[won]


def _draw_block(block: Block, task: _Draw) -> _Drawn:
    n = block.stop - block.start
    keys = -np.log(uniforms(task.seed, np.arange(block.start, block.stop)))
    for lo, hi, piece in block.chunks(0 if task.terms is None else len(task.terms.offset)):
        weight = block.state.weight[lo:hi] if block.state.weight.size else 1.0
        with np.errstate(divide="ignore"):
            keys[lo:hi] /= weight * _gaps(piece, task).min(axis=1)
    best = np.argpartition(keys, task.size - 1)[: task.size] if n > task.size else np.arange(n)
    best = np.sort(best)
    return _Drawn(keys[best], block.start + best, block.take(best))


def _weigh_block(block: Block, task: _Draw) -> Array:
    near = np.zeros(task.size)
    for lo, hi, piece in block.chunks(task.size):
        weight = block.state.weight[lo:hi] if block.state.weight.size else None
        nearest = _gaps(piece, task).argmin(axis=1)
        near += np.bincount(nearest, weights=weight, minlength=task.size)
    return near


def _gaps(piece: Any, task: _Draw) -> Array:
    """Distortion (b, c) of rows from the centres so far, 1 if there are none."""
    if task.terms is None:
        return np.ones((piece.shape[0], 1))
    cross = task.distortion.cross(piece, task.terms, task.distortion.row_scale(piece, task.A))
    return np.maximum(cross + task.distortion.row_term(piece, task.A)[:, None], 0.0)


def _as_centers(problem: KMeansProblem, rows: Any, A: Array | None) -> Array:
    """Each row (c, d) as the centre of a cluster of its own."""
    count = rows.shape[0]
    scale = problem.distortion.row_scale(rows, A)
    own = np.arange(count, dtype=np.int32)
    shape = Shape(count, problem.rows.d)
    given = NONE if scale is None else np.asarray(scale, dtype=np.float64)
    counts, sums, _ = sum_rows([(0, count, rows)], own, NONE, given, problem.distortion, shape)
    return problem.distortion.centroid(sums, counts, A).astype(problem.rows.dtype)


def uniforms(seed: int, numbers: Array) -> Array:
    """A number in (0, 1) for each row number: a hash (SplitMix64), the same whoever asks."""
    with np.errstate(over="ignore"):
        z = numbers.astype(np.uint64) + np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
        z ^= z >> np.uint64(31)
    return ((z >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53
