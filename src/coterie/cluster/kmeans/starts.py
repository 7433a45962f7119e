"""Where the centres start: neighbourhoods from the must-links, completed by k-means++.

Neighbourhoods are groups of rows that the pairs say belong together (Figure 1 of
Basu et al. 2004, section 3.3.5 of Basu et al. 2006).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError, eigsh
from sklearn.cluster import KMeans

from coterie._typing import Array
from coterie.cluster.distances import distances_to, least_distances
from coterie.cluster.kmeans.oversampling import oversampled, thinned
from coterie.cluster.kmeans.problem import KMeansProblem
from coterie.cluster.kmeans.values import Measure
from coterie.cluster.labelling import measure_rows, sums_by_label
from coterie.cluster.statistics import Shape
from coterie.constraints import Constraints
from coterie.data import one_thread

__all__ = ["neighborhoods"]

_MANY_ROWS = 1 << 21  # above which k-means|| stands in for k-means++


def neighborhoods(constraints: Constraints, n_clusters: int, seed: int = 0) -> Array:
    """Groups of two or more rows that belong together: (n,) group numbers, -1 for no group.

    Components of all must-links, hard and soft, where they agree with the cannot-links. A
    component that holds a cannot-link (a wrong answer joins what should be apart, and a few
    would join everything) is cut into at most `n_clusters` groups by the signed graph of its
    pairs if it is one of the few large ones, and left out if it is small.
    """
    closure = constraints.closure(hard_only=False)
    group = closure.component.copy()
    torn = np.unique(closure.component[constraints.pairs[closure.clashing, 0]])
    group[np.isin(group, torn)] = -1
    large = torn[closure.sizes[torn] * 4 * n_clusters >= closure.sizes[closure.sizes > 1].sum()]
    fresh = closure.n_components
    for number in large:  # at most 4 K of them
        rows = np.flatnonzero(closure.component == number)
        group[rows] = fresh + _cut(constraints, rows, n_clusters, seed)
        fresh += n_clusters
    sizes = np.bincount(group[group >= 0], minlength=fresh)
    number = np.where(sizes >= 2, np.cumsum(sizes >= 2) - 1, -1)
    return np.where(group >= 0, number[group], -1)


def _cut(constraints: Constraints, rows: Array, n_clusters: int, seed: int) -> Array:
    """Parts (r,) of `rows` by the leading eigenvectors of W+ - W- among them."""
    inside = constraints.subset(rows)
    r, parts = rows.size, min(n_clusters, rows.size)
    if parts < 2:
        return np.zeros(r, dtype=np.int64)
    strength = np.minimum(inside.strength(), 1e3)  # a hard pair outweighs soft ones, finitely
    i, j = inside.pairs.T
    signed = sp.coo_array((strength * inside.kind, (i, j)), shape=(r, r))
    matrix = (signed + signed.T).tocsr()
    degree = np.asarray(abs(matrix).sum(axis=1)).ravel()
    root = sp.diags_array(1 / np.sqrt(np.maximum(degree, np.finfo(float).tiny)))
    matrix = root @ matrix @ root
    if r <= max(64, 4 * parts):
        vectors = np.linalg.eigh(matrix.toarray())[1][:, -parts:]
    else:
        start = np.random.default_rng(seed).standard_normal(r)
        try:
            vectors = eigsh(matrix, k=parts, which="LA", tol=1e-3, v0=start)[1]
        except ArpackError as error:  # no convergence: the eigenvectors found so far still serve
            vectors = getattr(error, "eigenvectors", np.empty((r, 0)))
            if not vectors.shape[1]:
                return np.zeros(r, dtype=np.int64)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(norms > 0, norms, 1.0)
    with one_thread():
        fitted = KMeans(parts, n_init=4, random_state=seed).fit(unit)
    return fitted.labels_.astype(np.int64)


def group_centers(
    problem: KMeansProblem, measure: Measure, group: Array, of: Array
) -> tuple[Array, Array]:
    """Centroids (p, d) and sizes (p,) of groups of the rows `of` (r,), which rise.

    Groups (r,) are numbered 0..p-1; -1 is no group.
    """
    count = int(group.max(initial=-1)) + 1
    at = np.flatnonzero(group >= 0)
    rows, labels = of[at], group[at]
    weights = np.ones(rows.size)
    if problem.weights.size:
        # A group whose rows all weigh nothing still says where a cluster is.
        silent = np.bincount(labels, weights=problem.weights[rows], minlength=count) == 0
        weights = np.where(silent[labels], 1.0, problem.weights[rows])
    return problem.group_centers(rows, labels, weights, measure)


def complete_groups(problem: KMeansProblem, measure: Measure, group: Array, seed: int) -> Array:
    """Centres (K, d): the groups' centroids in the order of their numbers, then k-means++."""
    centers, _ = group_centers(problem, measure, group, np.arange(group.size))
    return plus_plus(problem, measure, centers, np.random.default_rng(seed))


def shared_metric(A: Array | None) -> Array | None:
    """One metric to compare centres with, where A has one for each cluster."""
    if A is None or A.ndim == 1 or (A.ndim == 3 and len(A) == 1):
        return A
    return A.mean(axis=0) if A.ndim == 2 else A.mean(axis=0, keepdims=True)


def farthest_first(problem: KMeansProblem, measure: Measure, centers: Array, sizes: Array) -> Array:
    """Numbers of K neighbourhoods, large and far apart: weighted farthest-first traversal."""
    A, distortion = shared_metric(measure.A), problem.distortion
    chosen = [0]
    gap = np.full(len(centers), np.inf)
    while len(chosen) < problem.settings.n_clusters:
        gap = np.minimum(gap, distortion.to_centers(centers, centers[chosen[-1:]], A)[:, 0])
        score = sizes * gap
        score[chosen] = -np.inf
        chosen.append(int(score.argmax()))
    return np.array(chosen)


def with_single_rows(constraints: Constraints, group: Array, n_clusters: int) -> Array:
    """Groups (n,) and, where they are fewer than `n_clusters`, single rows as groups of one.

    A row cannot-linked to every neighbourhood is one by itself (Figure 1 of Basu et al. 2004), and
    so are rows that are cannot-linked to each other as well: what Explore finds (section 4). Rows
    are taken one by one, always the one apart from most of those that are left.
    """
    count = int(group.max(initial=-1)) + 1
    grown = group.copy()
    alive = _apart_from_all(constraints, group)
    apart = _cannot_graph(constraints)
    while alive.any() and count < n_clusters:
        degree = np.where(alive, apart @ alive.astype(np.int64), -1)
        row = int(degree.argmax())
        grown[row] = count
        count += 1
        alive &= np.bincount(_neighbors(apart, row), minlength=alive.size) > 0
    return grown


def _apart_from_all(constraints: Constraints, group: Array) -> Array:
    """Rows in no group and cannot-linked to some row of every group, (n,) bool."""
    count = int(group.max(initial=-1)) + 1
    i, j = _telling_cannot_links(constraints).T
    row, other = np.concatenate([i, j]), np.concatenate([j, i])
    if not count:  # apart from one another: each has a cannot-link
        return np.bincount(row, minlength=group.size) > 0
    keep = (group[row] < 0) & (group[other] >= 0)
    met = np.unique(np.stack([row[keep], group[other[keep]]], axis=1), axis=0)[:, 0]
    return np.bincount(met, minlength=group.size) == count


def _telling_cannot_links(constraints: Constraints) -> Array:
    """Cannot-links (p, 2) without those of weight 0, which say nothing."""
    return constraints.pairs[(constraints.kind < 0) & (constraints.weight > 0)]


def _cannot_graph(constraints: Constraints) -> Any:
    """1 where two rows are cannot-linked, CSR (n, n)."""
    i, j = _telling_cannot_links(constraints).T
    n = constraints.n_samples
    half = sp.coo_array((np.ones(i.size, dtype=np.int64), (i, j)), shape=(n, n))
    return (half + half.T).tocsr()


def _neighbors(graph: Any, row: int) -> Array:
    return graph.indices[graph.indptr[row] : graph.indptr[row + 1]]


def plus_plus(
    problem: KMeansProblem,
    measure: Measure,
    centers: Array,
    rng: Any,
    trials: int | None = None,
) -> Array:
    """Complete `centers` (p, d) to K by k-means++ with greedy trials, in the distortion itself.

    Of very many rows by k-means||, wherever they are kept: a pass for each centre, with a number
    for each row and trial, would be too much.
    """
    k, n = problem.settings.n_clusters, problem.rows.n
    if n > _MANY_ROWS and len(centers) < k:
        A, given = shared_metric(measure.A), len(centers)
        candidates, near = oversampled(problem, centers, A, int(rng.integers(2**31)))
        return thinned(problem.distortion, A, candidates, near, given, k, rng)
    weights = problem.weights if problem.weights.size else np.ones(n)
    trials = 2 + int(np.log(k)) if trials is None else trials
    centers = np.asarray(centers)
    if not len(centers):
        first = rng.choice(n, p=weights / weights.sum())
        centers = problem.as_centers(np.array([first]), measure)
    A = shared_metric(measure.A)
    gap = least_distances(problem.rows, centers, problem.distortion, A)
    while len(centers) < k:
        mass = np.cumsum(weights * gap)
        if mass[-1] > 0:
            drawn = np.searchsorted(mass, rng.uniform(size=trials) * mass[-1])
        else:  # every row sits on a centre already
            drawn = rng.integers(n, size=trials)
        candidates = problem.as_centers(np.minimum(drawn, n - 1), measure)
        new_gap = distances_to(problem.rows, candidates, problem.distortion, A)
        np.minimum(new_gap, gap[:, None], out=new_gap)
        best = int((weights @ new_gap).argmin())
        gap = new_gap[:, best].copy()
        del new_gap  # before the next is made: a number for each row and trial
        centers = np.concatenate([centers, candidates[best : best + 1]])
    return centers


def perturbed_mean(problem: KMeansProblem, measure: Measure, centers: Array, rng: Any) -> Array:
    """Complete `centers` by perturbations of the global centroid (Basu et al. 2006, 3.3.5)."""
    together = np.zeros(problem.rows.n, dtype=np.int32)
    shape = Shape(1, problem.rows.d)
    counts, sums, _ = sums_by_label(
        problem.rows, together, measure.terms, problem.distortion, measure.A, shape
    )
    mean = problem.distortion.centroid(sums, counts, shared_metric(measure.A))
    missing = problem.settings.n_clusters - len(centers)
    noise = rng.standard_normal((missing, problem.rows.d))
    moving = problem.distortion.translation_invariant
    spread = _spread(problem) if moving else float(np.abs(mean).mean())
    moved = mean + 0.01 * spread * noise
    if not moving and mean.min() >= 0:
        moved = np.maximum(moved, 0.1 * mean)  # stay inside the domain of non-negative rows
    return np.concatenate([np.asarray(centers).reshape(-1, problem.rows.d), moved])


def _spread(problem: KMeansProblem) -> float:
    squares = measure_rows(problem.rows, problem.weights, problem.distortion).term
    return float(np.sqrt(squares.mean() / problem.rows.d))


def initial_centers(
    problem: KMeansProblem, measure: Measure, init: str, *, first: bool, seed: int
) -> list[Array]:
    """Candidate centres (K, d) for one start; the caller keeps the one of least objective.

    Where there are more than K neighbourhoods the first start of "neighborhoods" offers two
    choices: the largest (Basu et al. 2004, Figure 1) and the weighted farthest-first traversal
    (Basu et al. 2006, section 3.3.5), since the largest may all lie in one cluster and the
    farthest may be outliers. Later starts draw them at random, far ones more often, so that
    restarts differ.
    """
    rng = np.random.default_rng(seed)
    if init == "random":
        p = problem.weights / problem.weights.sum() if problem.weights.size else None
        k, n = problem.settings.n_clusters, problem.rows.n
        return [problem.as_centers(rng.choice(n, k, replace=False, p=p), measure)]
    if init == "k-means++":
        return [plus_plus(problem, measure, np.empty((0, problem.rows.d)), rng)]
    found = find_groups(problem, measure, seed, singles=_SINGLES[init])
    return _from_groups(problem, measure, found, init, first, rng)


# How many single rows may be neighbourhoods: none, the one of Figure 1, or all there are.
_SINGLES = {"neighborhoods": None, "largest": None, "farthest": None, "figure-1": 1, "perturb": 0}


class Groups(NamedTuple):
    """Neighbourhoods, largest first: centroids (p, d) and weights (p,)."""

    centers: Array
    sizes: Array


def find_groups(
    problem: KMeansProblem, measure: Measure, seed: int, singles: int | None = None
) -> Groups:
    """The neighbourhoods of the pairs and at most so many of single rows, by size."""
    k, known = problem.settings.n_clusters, problem.constraints
    # Of the rows in pairs alone: all of them may be very many.
    rows = np.union1d(known.pairs.ravel(), known.exclusive.rows)
    known = known.subset(rows)
    group = neighborhoods(known, k, seed)
    most = k if singles is None else min(k, int(group.max(initial=-1)) + 1 + singles)
    if singles != 1 or (group >= 0).any():  # Figure 1: apart from neighbourhoods that there are
        group = with_single_rows(known, group, most)
    centers, sizes = group_centers(problem, measure, group, rows)
    by_size = np.argsort(-sizes, kind="stable")
    return Groups(centers[by_size], sizes[by_size])


def _from_groups(
    problem: KMeansProblem, measure: Measure, found: Groups, init: str, first: bool, rng: Any
) -> list[Array]:
    """Centres from neighbourhoods; a way of choosing among them repeats itself only if named."""
    centers, k = found.centers, problem.settings.n_clusters
    if len(centers) <= k:
        complete = perturbed_mean if init in ("perturb", "figure-1") else plus_plus
        return [complete(problem, measure, centers, rng)]
    if init not in ("largest", "farthest", "figure-1") and not first:
        return [centers[_draw_apart(problem, measure, *found, rng)]]
    choices = []
    if init != "farthest":
        choices.append(centers[:k])
    if init not in ("largest", "figure-1"):
        choices.append(centers[farthest_first(problem, measure, *found)])
    return choices


def many_centers(
    problem: KMeansProblem, measure: Measure, count: int, *, first: bool, seed: int
) -> list[Array]:
    """`count` candidates (K, d): some from the neighbourhoods, the others by k-means++ of all rows.

    Neighbourhoods are the better start where they tell the clusters apart and a poor one where
    they do not (several in one cluster, none in another), and which of the two it is shows only
    in the objective.
    """
    rng = np.random.default_rng(seed)
    found = find_groups(problem, measure, seed)
    candidates: list[Array] = []
    if len(found.centers):
        candidates = _from_groups(problem, measure, found, "neighborhoods", first, rng)
        sure = len(found.centers) == problem.settings.n_clusters
        while not sure and len(candidates) < max(2, count // 3):
            candidates += _from_groups(problem, measure, found, "neighborhoods", False, rng)
    none = np.empty((0, problem.rows.d))
    while len(candidates) < count:
        candidates.append(plus_plus(problem, measure, none, rng))
    return candidates


def _draw_apart(
    problem: KMeansProblem, measure: Measure, centers: Array, sizes: Array, rng: Any
) -> Array:
    """K neighbourhoods by k-means++ over their centroids, weighted by size."""
    A, distortion = shared_metric(measure.A), problem.distortion
    chosen = [int(rng.choice(len(centers), p=sizes / sizes.sum()))]
    gap = np.full(len(centers), np.inf)
    while len(chosen) < problem.settings.n_clusters:
        gap = np.minimum(gap, distortion.to_centers(centers, centers[chosen[-1:]], A)[:, 0])
        mass = sizes * gap
        mass[chosen] = 0.0
        if mass.sum() > 0:
            chosen.append(int(rng.choice(len(centers), p=mass / mass.sum())))
        else:
            chosen.append(int(rng.choice(np.setdiff1d(np.arange(len(centers)), chosen))))
    return np.array(chosen)
