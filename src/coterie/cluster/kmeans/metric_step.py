"""M-step (B): a better metric for the labels and centres at hand (3.25, 3.28; 2.7)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.cluster.kmeans.problem import Assignment, Geometry, Problem
from coterie.distortions import Cosine, SeparableBregman, SquaredEuclidean
from coterie.distortions.base import gather_pairs
from coterie.distortions.learning import (
    GradientProblem,
    LinearProblem,
    MetricProblem,
    descend,
)

Array = NDArray[Any]

_LEAST_SHARE = 1e-3  # of a column's scatter over all rows that is believed within a cluster


def improve_metric(
    problem: Problem, assignment: Assignment, centers: Array, geometry: Geometry, w: float
) -> Array:
    """The metric after one step that does not raise the objective."""
    assert geometry.A is not None
    task = metric_problem(problem, assignment, centers, geometry, w)
    return descend(task, geometry.A)[0]


def metric_problem(
    problem: Problem, assignment: Assignment, centers: Array, geometry: Geometry, w: float
) -> MetricProblem:
    """The objective as a function of the metric, with labels and centres fixed."""
    pairs = broken_soft_pairs(problem, assignment.labels, w)
    if isinstance(problem.distortion, Cosine):
        return _cosine_problem(problem, assignment, centers, geometry, pairs)
    return _linear_problem(problem, assignment, centers, pairs)


class BrokenPairs:
    """Broken soft pairs: which, rows i and j, all (p,), must-link and cannot-link weights (p, G).

    A broken must-link counts half for the metric of each of its two clusters (2.7), a broken
    cannot-link for the metric of the one cluster it lies in; with one metric, G = 1.
    """

    def __init__(self, which: Array, i: Array, j: Array, must: Array, cannot: Array) -> None:
        self.which, self.i, self.j, self.must, self.cannot = which, i, j, must, cannot


def broken_soft_pairs(problem: Problem, labels: Array, w: float) -> BrokenPairs:
    """The soft pairs that `labels` break, with their weights per metric."""
    c, s = problem.constraints, problem.settings
    i, j = c.pairs.T
    same = labels[i] == labels[j]
    broken = np.flatnonzero((same != (c.kind > 0)) & ~c.is_hard)
    i, j, is_must = i[broken], j[broken], c.kind[broken] > 0
    weight = w * problem.pair_weight[broken]
    groups = s.n_clusters if s.per_cluster else 1
    must, cannot = np.zeros((2, broken.size, groups))
    at = np.arange(broken.size)
    for end in (i, j):
        group = labels[end] if s.per_cluster else np.zeros_like(at)
        must[at, group] += np.where(is_must, weight / 2, 0.0)
        cannot[at, group] += np.where(is_must, 0.0, weight / 2)
    return BrokenPairs(broken, i, j, must, cannot)


def _linear_problem(
    problem: Problem, assignment: Assignment, centers: Array, pairs: BrokenPairs
) -> LinearProblem:
    """For distortions linear in A; scatter in the shape of A."""
    s, X, distortion = problem.settings, problem.X, problem.distortion
    statistics = assignment.statistics
    counts = statistics.counts
    gaussian = isinstance(distortion, SquaredEuclidean)
    mass = counts if s.per_cluster else np.array([counts.sum()])
    assert statistics.evidence is not None
    assert isinstance(distortion, SeparableBregman)
    if s.form == "full":
        assert isinstance(distortion, SquaredEuclidean)
        within = distortion.within_full(statistics.evidence, counts, centers)
        scatter = within + distortion.pair_scatter_full(
            X, pairs.i, pairs.j, pairs.must - pairs.cannot
        )
        total = np.einsum("gii->i", statistics.evidence)
    else:
        zero = distortion.row_evidence(problem.rows.take(np.zeros(1, np.int64)))[1]
        evidence = statistics.evidence + zero * counts[:, None]
        within = distortion.within(evidence, counts, centers)
        if not s.per_cluster:
            within = within.sum(axis=0, keepdims=True)
        scatter = within + _pair_scatter(problem, distortion, pairs)
        mean = (counts @ np.asarray(centers, np.float64) / counts.sum())[None]
        total = distortion.within(
            evidence.sum(axis=0, keepdims=True), counts.sum(keepdims=True), mean
        )[0]
    spread = total.mean() if total.mean() > 0 else 1.0  # rows that are all alike teach nothing
    floor = np.maximum(total, 1e-6 * spread) * _LEAST_SHARE
    floor = floor * (mass / counts.sum())[:, None]
    if s.form == "diagonal" and not s.per_cluster:
        scatter, floor = scatter[0], floor[0]
    return LinearProblem(
        scatter=scatter,
        floor=np.maximum(floor, np.finfo(float).tiny),
        bound=problem.bound,
        cannot_mass=pairs.cannot.sum(axis=0),
        mass=mass if gaussian else np.zeros_like(mass),
        prior_width=s.prior_width,
    )


def _pair_scatter(problem: Problem, distortion: SeparableBregman, pairs: BrokenPairs) -> Array:
    """Distances of the broken pairs by column, must-links less cannot-links, (G, d)."""
    signed = pairs.must - pairs.cannot
    if problem.pair_columns is None:
        return distortion.pair_scatter(problem.X, pairs.i, pairs.j, signed)
    return np.asarray((problem.pair_columns[pairs.which].T @ signed).T)


def _cosine_problem(
    problem: Problem,
    assignment: Assignment,
    centers: Array,
    geometry: Geometry,
    pairs: BrokenPairs,
) -> GradientProblem:
    """J(a) = sum_i w_i (1 - cos_a(x_i, mu)) + broken must-links' distances - cannot-links'."""
    distortion, rows, labels = problem.distortion, problem.rows, assignment.labels
    assert isinstance(distortion, Cosine)
    signed = (pairs.must - pairs.cannot)[:, 0]
    weights = problem.weights if problem.weights.size else np.ones(rows.n)
    ceiling = float(pairs.cannot.sum() * problem.bound.value(None))

    def value(a: Array) -> float:
        moved = geometry._replace(
            A=a, row_scale=rows.row_values(lambda chunk: distortion.row_scale(chunk, a))
        )
        data = float(weights @ problem.own_distances(labels, centers, moved))
        return data + float(signed @ distortion.between(problem.X, pairs.i, pairs.j, a)) + ceiling

    def gradient(a: Array) -> Array:
        total = _row_gradient(problem, labels, centers, weights, a)
        for lo, hi, xi, xj in gather_pairs(problem.X, pairs.i, pairs.j):
            total -= distortion.angle_gradient(xi, xj, signed[lo:hi], a)
        return total

    return GradientProblem(value, gradient, problem.settings.prior_width)


def _row_gradient(
    problem: Problem, labels: Array, centers: Array, weights: Array, a: Array
) -> Array:
    """d/da of sum_i w_i (1 - cos_a(x_i, mu_{y_i})), cluster by cluster without filling rows.

    d cos / d a_m = x_m mu_m / (|x||mu|) - cos/2 (x_m^2/|x|^2 + mu_m^2/|mu|^2), (3.29).
    """
    distortion = problem.distortion
    assert isinstance(distortion, Cosine)
    wide = np.asarray(centers, dtype=np.float64)
    lengths = np.sqrt(distortion.squared_norms(wide, a))
    unit = wide / np.where(lengths > 0, lengths, 1.0)[:, None]
    slope = -(unit * a)

    def work(start: int, stop: int) -> tuple[Array, Array, Array]:
        along = np.zeros_like(wide)
        squares, cosines = np.zeros(wide.shape[1]), np.zeros(len(wide))
        for lo, hi, chunk in problem.rows.chunks(start, stop, extra=len(wide)):
            inverse = distortion.row_scale(chunk, a)
            here = labels[lo:hi].astype(np.int64)
            dots = -np.take_along_axis(np.asarray(chunk @ slope.T), here[:, None], axis=1)[:, 0]
            cosine = weights[lo:hi] * dots * inverse
            one_hot = np.zeros((hi - lo, len(wide)))
            one_hot[np.arange(hi - lo), here] = weights[lo:hi] * inverse
            along += np.asarray((chunk.T @ one_hot).T)
            squared = chunk.power(2) if hasattr(chunk, "power") else chunk * chunk
            squares += squared.T @ (cosine * inverse**2)
            cosines += np.bincount(here, weights=cosine, minlength=len(wide))
        return along, squares, cosines

    along, squares, cosines = problem.rows.map_reduce(
        work,
        lambda one, two: tuple(a + b for a, b in zip(one, two, strict=True)),
    )
    return -((along * unit).sum(axis=0) - 0.5 * squares - 0.5 * (cosines @ unit**2))
