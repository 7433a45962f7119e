"""Several classifiers that carry groups to all rows, weighed by the rows that they foretell.

None is right for all data: the regression on neighbourhoods follows clusters of any shape, a
mixture of round clusters uses all rows where clusters are round, and trees find the few columns
that matter. How far each is to be trusted is seen on rows whose group it was not told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie.active.information.tree_kernels import grow, vote

__all__ = [
    "Described",
    "Pool",
    "compile_trees",
    "pooled",
    "softmax",
    "squared_distances",
    "tempered",
]

Float = NDArray[np.float64]
Int = NDArray[np.int64]

SHARPNESS = 8.0  # log-odds for each unit of a regression on groups
_NOISES = 0.1, 0.5  # variances with which placed rows show their group: close, and smooth
_TREES = 40
_STEPS = 15  # of the mixture
_POWERS = 0.25, 0.5, 1.0, 2.0  # a classifier may be too sure of itself, or not enough
_POWER_COST = 0.5  # log-probability that a power costs for each factor of two
_EVEN = 0.05  # share of every opinion that is spread evenly
_PRIOR = 2.0  # rows' worth of trust that each classifier has from the start
_LEAST = 1e-4


class Described(NamedTuple):
    """Rows as classifiers see them.

    Attributes
    ----------
    phi : (b, m)
        Coordinates of `Features`.
    points : (b, q)
        Points whose squared distances are the rows' distortions, as near as q columns allow.
    X : (b, d)
        The rows themselves, array or CSR matrix.
    share : (b,)
        How many rows of all each stands for.
    """

    phi: Float
    points: Float
    X: Any
    share: Float

    def beside(self, others: Described) -> Described:
        """These rows, then the others."""
        rows = sp.vstack([self.X, others.X], "csr") if sp.issparse(self.X) else None
        return Described(
            np.vstack([self.phi, others.phi]),
            np.vstack([self.points, others.points]),
            np.vstack([self.X, others.X]) if rows is None else rows,
            np.concatenate([self.share, others.share]),
        )


class Opinion(NamedTuple):
    """One classifier: its probabilities for placed rows without themselves, and for any rows."""

    held_out: Float
    of: Callable[[Described], Float]


class Pool(NamedTuple):
    """The opinions together, Σ_e w_e p_e.

    The first of them, the regression that `Field` keeps up to date, is weighed with the others,
    and left to who has it.

    Attributes
    ----------
    of_anchors : (P, G)
        What the others say, times their weights; of placed rows, as if they were not placed.
    weights : (E,)
    power : float
        To which probabilities of the first are to be raised.
    of : callable
        `Described` rows -> (b, G), as `of_anchors`.
    """

    of_anchors: Float
    weights: Float
    power: float
    of: Callable[[Described], Float]

    def merged(self, into: int, gone: int) -> Pool:
        """The same after groups were joined, `into` the earlier one."""
        if gone >= self.of_anchors.shape[1]:
            return self
        of = self.of
        return self._replace(
            of_anchors=_joined(self.of_anchors, into, gone),
            of=lambda rows: _joined(of(rows), into, gone),
        )


def pooled(anchors: Described, at: Int, own: Int, groups: Int, n_groups: int, seed: int) -> Pool:
    """What the classifiers say together.

    Parameters
    ----------
    anchors : Described
        P rows.
    at, own : (R,)
        Which of them are placed, and where.
    groups : (A,)
        The groups that have rows; at least two.
    n_groups : int
        G, those without rows included, which get 0.
    seed : int
    """
    target = np.searchsorted(groups, own)
    k = groups.size
    opinions = [_regression(anchors, at, target, k, noise) for noise in _NOISES]
    opinions += [_mixture(anchors, at, target, k), _trees(anchors, at, target, k, seed)]
    judged = np.bincount(target, minlength=k)[target] > 1  # a row alone foretells itself only
    rows = np.arange(at.size)
    powers = [_best_power(opinion.held_out[judged], target[judged]) for opinion in opinions]
    held = [tempered(o.held_out, power) for o, power in zip(opinions, powers, strict=True)]
    weights = _weights(np.array([p[rows, target] for p in held]).T[judged])

    def of(described: Described) -> Float:
        found = np.zeros((len(described.phi), n_groups))
        for weight, opinion, power in list(zip(weights, opinions, powers, strict=True))[1:]:
            found[:, groups] += weight * tempered(opinion.of(described), power)
        return found

    of_anchors = of(anchors)
    of_anchors[np.ix_(at, groups)] = np.tensordot(weights[1:], np.array(held[1:]), axes=1)
    return Pool(of_anchors, weights, powers[0], of)


def _joined(chance: Float, into: int, gone: int) -> Float:
    found = chance.copy()
    found[:, into] += found[:, gone]
    found[:, gone] = 0.0
    return found


def softmax(scores: Float) -> Float:
    """exp(scores) with rows that sum to 1, (b, k)."""
    found = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


# -- how far to trust each -----------------------------------------------------------------
def tempered(chance: Float, power: float) -> Float:
    """p^power with rows that sum to 1, and a little spread evenly."""
    found = softmax(power * np.log(np.maximum(chance, _LEAST)))
    return (1 - _EVEN) * found + _EVEN / chance.shape[1]


def _best_power(chance: Float, target: Int) -> float:
    """The power under which the rows' groups are most probable; 1 if it hardly matters."""

    def score(power: float) -> float:
        own = tempered(chance, power)[np.arange(len(target)), target]
        return float(np.log(own).sum() - _POWER_COST * abs(np.log2(power)))

    return max(_POWERS, key=score) if len(target) else 1.0


def _weights(own: Float) -> Float:
    """Weights of a mixture of the opinions, most probable given what each foretold, (E,).

    `own` (R, E): the probability that each gave to the row's group. By EM, from a prior worth
    `_PRIOR` rows for each.
    """
    weights = np.full(own.shape[1], 1 / own.shape[1])
    for _ in range(50):
        share = own * weights
        share /= share.sum(axis=1, keepdims=True)
        weights = share.sum(axis=0) + _PRIOR
        weights /= weights.sum()
    return weights


# -- the classifiers -----------------------------------------------------------------------
def _regression(anchors: Described, at: Int, target: Int, k: int, noise: float) -> Opinion:
    """Ridge regression of the groups on the coordinates; left out exactly, as in `Field`."""
    phi = anchors.phi[at]
    one_hot = np.eye(k)[target]
    toward = np.linalg.solve(phi.T @ phi + noise * np.eye(phi.shape[1]), phi.T)  # (m, R)
    weights = toward @ one_hot
    share = np.einsum("rm,mr->r", phi, toward)[:, np.newaxis]
    without = (phi @ weights - share * one_hot) / np.maximum(1 - share, 1e-9)
    return Opinion(
        softmax(SHARPNESS * without), lambda rows: softmax(SHARPNESS * (rows.phi @ weights))
    )


def _mixture(anchors: Described, at: Int, target: Int, k: int) -> Opinion:
    """Round clusters of one width, by EM over all rows; placed rows stay in their groups.

    A placed row is left out of its own centre: with mass M the centre without it is farther away
    by M / (M − 1).
    """
    points = anchors.points
    one_hot = np.eye(k)[target]
    centers = one_hot.T @ points[at] / one_hot.sum(axis=0)[:, np.newaxis]
    squared = squared_distances(points, centers)
    width = np.average(squared.min(axis=1), weights=anchors.share)
    share = np.full(k, 1 / k)
    mass = one_hot.sum(axis=0)
    for _ in range(_STEPS):
        width = max(float(width), np.finfo(np.float64).tiny)
        inside = _round(squared, width, share, points.shape[1])
        inside[at] = one_hot
        inside *= anchors.share[:, np.newaxis]
        mass = inside.sum(axis=0)
        share = mass / mass.sum()
        centers = inside.T @ points / mass[:, np.newaxis]
        squared = squared_distances(points, centers)
        width = (inside * squared).sum() / mass.sum()
    width = max(float(width), np.finfo(np.float64).tiny)
    own = squared[at]
    rows = np.arange(at.size)
    rest = np.maximum(mass[target] - anchors.share[at], 1e-9)
    own[rows, target] *= (mass[target] / rest) ** 2
    return Opinion(
        _round(own, width, share, points.shape[1]),
        lambda rows: _round(squared_distances(rows.points, centers), width, share, points.shape[1]),
    )


def _round(squared: Float, width: float, share: Float, columns: int) -> Float:
    """Probabilities of round clusters with mean squared radius `width`, (b, k)."""
    return softmax(np.log(share + 1e-12) - 0.5 * columns * squared / width)


def squared_distances(points: Float, centers: Float) -> Float:
    """Squared distances, (b, k)."""
    found = (points**2).sum(axis=1)[:, np.newaxis] - 2 * points @ centers.T
    return np.maximum(found + (centers**2).sum(axis=1), 0.0)


def _trees(anchors: Described, at: Int, target: Int, k: int, seed: int) -> Opinion:
    """Randomised trees on the columns; a row is judged by those that were not shown it.

    Columns of sparse rows say little one by one: there the trees cut the points.
    """
    rng = np.random.default_rng([seed, 3])
    X = _columns(anchors)[at]
    n, d = X.shape
    drawn = rng.integers(n, size=(_TREES, n))
    told = np.array([np.bincount(rows, minlength=n) for rows in drawn])
    shape = (_TREES, 2 * n)
    forest = (
        np.full(shape, -1, dtype=np.int64),
        np.zeros(shape),
        np.zeros(shape, dtype=np.int64),
        np.zeros((*shape, k)),
    )
    grow(X, target, told, k, max(1, int(np.sqrt(d))), int(rng.integers(2**31)), *forest)

    def ask(X: Any, told: Int) -> Float:
        found, votes = np.zeros((len(X), k)), np.zeros(len(X))
        vote(X, *forest, told, found, votes)
        heard = votes[:, np.newaxis]
        return np.where(heard > 0, found / np.maximum(heard, 1), 1 / k)

    everyone = np.zeros((_TREES, 0), dtype=np.int64)
    return Opinion(ask(X, told), lambda rows: ask(_columns(rows), everyone))


def compile_trees() -> None:
    """Have the kernels compiled before anybody waits for an answer to be taken in."""
    rows = Described(np.eye(2), np.eye(2), np.eye(2), np.ones(2))
    _trees(rows, np.arange(2), np.arange(2), 2, 0)


def _columns(rows: Described) -> Any:
    """What trees cut: single precision, in order."""
    given = rows.points if sp.issparse(rows.X) else rows.X
    return np.ascontiguousarray(given, dtype=np.float32)
