"""Directional distortions: cosine distance and Pearson correlation distance.

d_A(x, mu) = 1 - x' A mu / (|x|_A |mu|_A) with A = diag(a), (3.17); correlation is the same for
rows with their own mean taken off, which sparse rows carry along without being filled.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie._typing import Array
from coterie.data import Block, Rows, fold, map_blocks
from coterie.distortions.base import Bound, ByColumn, CenterTerms, ConstantBound
from coterie.distortions.bounds import GrowingBound
from coterie.distortions.learning import GradientProblem, MetricProblem, MetricTask
from coterie.distortions.rows import gather_pairs, row_sums
from coterie.exceptions import InvalidData

__all__ = ["Correlation", "Cosine"]


class Cosine(ByColumn):
    """Cosine distance 1 - cos(x, mu); rows and centres count by direction only."""

    name: ClassVar[str] = "cosine"
    forms: ClassVar[tuple[str, ...]] = ("diagonal",)

    def check_rows(self, X: Any) -> None:
        """A row of zeros has no direction."""
        norms = self.squared_norms(X)
        bad = np.flatnonzero(~(norms > 0) | ~np.isfinite(norms))
        if bad.size:
            what = "is constant" if self.name == "correlation" else "is all zeros"
            if not np.isfinite(norms[bad[0]]):
                what = "has squares that overflow"
            raise InvalidData(
                f"row {bad[0]} {what} ({bad.size} such rows): it has no direction for the "
                f"{self.name} distance. Drop those rows, or use distortion='sqeuclidean'."
            )

    def squared_norms(self, X: Any, A: Array | None = None) -> NDArray[np.float64]:
        """|x|^2_A of every row."""
        return row_sums(X, A, power=2)

    def row_term(self, X: Any, A: Array | None = None) -> NDArray[np.float64]:
        """1."""
        return np.ones(X.shape[0])

    def row_scale(self, X: Any, A: Array | None = None) -> Array:
        """1 / |x|_A."""
        return 1.0 / np.sqrt(self.squared_norms(X, A))

    def center_terms(self, centers: Array, A: Array | None = None) -> CenterTerms:
        """g = -A mu / |mu|_A, b = 0."""
        norms = np.sqrt(self.squared_norms(centers, A))
        unit = centers / np.where(norms > 0, norms, 1.0)[:, None]
        slope = -unit if A is None else -unit * A
        return CenterTerms(slope.astype(centers.dtype), np.zeros(len(centers), centers.dtype))

    def centroid(self, sums: Array, counts: Array, A: Array | None = None) -> Array:
        """sum_i x_i / |x_i|_A scaled to unit length, the minimiser (3.24 for unit rows).

        Rows that cancel out leave a centre of length zero, at distance 1 from every row.
        """
        norms = np.sqrt(self.squared_norms(sums, A))
        return sums / np.where(norms > 0, norms, 1.0)[:, None]

    def between_columns(self, xi: Any, xj: Any) -> Any:
        """x_im x_jm of matching rows: what the cosine of a pair is made of, besides the lengths."""
        return xi.multiply(xj) if sp.issparse(xi) else xi * xj

    def from_columns(self, columns: Any, A: Array, scales: Array) -> Array:
        """`between` from kept `between_columns`, (m,); `scales` are 1 / (|x_i|_A |x_j|_A)."""
        return np.maximum(1.0 - np.asarray(columns @ A) * scales, 0.0)

    def dots(self, xi: Any, xj: Any, A: Array | None = None) -> NDArray[np.float64]:
        """x_i' A x_j of matching rows, (m,)."""
        return row_sums(self.between_columns(xi, xj), A)

    def cosines(self, xi: Any, xj: Any, A: Array | None = None) -> NDArray[np.float64]:
        """cos_A of matching rows, (m,)."""
        lengths = np.sqrt(self.squared_norms(xi, A) * self.squared_norms(xj, A))
        return self.dots(xi, xj, A) / lengths

    def between(self, X: Any, i: Array, j: Array, A: Array | None = None) -> Array:
        """1 - cos_A(x_i, x_j)."""
        values = np.empty(len(i))
        for lo, hi, xi, xj in gather_pairs(X, i, j):
            values[lo:hi] = 1.0 - self.cosines(xi, xj, A)
        return np.maximum(values, 0.0)

    def between_gradient(self, X: Any, i: Array, j: Array, A: Array) -> Array:
        """Minus the derivative of the cosine, (3.29), of one pair."""
        source = Rows.of(X).source
        return -self.angle_gradient(source.take(i), source.take(j), np.ones(1), A)

    def bound(self, X: Any) -> Bound:
        """1 for non-negative rows, 2 otherwise."""
        least = min(map_blocks(Rows.of(X), _least_block, None))
        return ConstantBound(1.0 if least >= 0 else 2.0)

    def paper_bound(self, X: Any, i: Array, j: Array) -> Bound:
        """1 (section 3.3.3.2), which bounds non-negative rows; more where a pair is farther."""
        printed = ConstantBound(1.0)
        if self.bound(X).value(None) == printed.constant:
            return printed
        return GrowingBound(self, X, i, j, printed)

    def angle_gradient(self, xi: Any, xj: Any, weights: Array, A: Array) -> NDArray[np.float64]:
        """sum_p weights_p d cos_A(x_i, x_j) / d a_m over matching rows, (d,).

        d cos / d a_m = x_m y_m / (|x||y|) - cos/2 (x_m^2/|x|^2 + y_m^2/|y|^2): (3.29) without the
        minus that turns it into the derivative of the distance.
        """
        left, right = self.squared_norms(xi, A), self.squared_norms(xj, A)
        lengths = np.sqrt(left * right)
        cosine = self.dots(xi, xj, A) / lengths
        gradient = self.between_columns(xi, xj).T @ (weights / lengths)
        for rows, norms in ((xi, left), (xj, right)):
            squares = rows.power(2) if sp.issparse(rows) else rows * rows
            gradient = gradient - 0.5 * (squares.T @ (weights * cosine / norms))
        return np.asarray(gradient, dtype=np.float64)

    def metric_problem(self, task: MetricTask) -> MetricProblem:
        """J(a) = sum_i w_i (1 - cos_a(x_i, mu)) + broken must-links' distances, and phi_max less
        the distance of broken cannot-links.
        """
        pairs, bound = task.pairs, task.bound
        signed, cannot_mass = (pairs.must - pairs.cannot)[:, 0], float(pairs.cannot.sum())
        state = _Labelled(task.labels, task.weights)

        def value(a: Array) -> float:
            spokes = _Spokes(self, task.centers.astype(task.rows.dtype), a)
            data = fold(map_blocks(task.rows, _loss_block, spokes, state=state))
            apart = float(signed @ self.between(task.rows, pairs.i, pairs.j, a))
            return data + apart + cannot_mass * float(bound.value(a))

        def gradient(a: Array) -> Array:
            total = self.row_gradient(task, a) + cannot_mass * bound.gradient(a)
            for lo, hi, xi, xj in gather_pairs(task.rows, pairs.i, pairs.j):
                total -= self.angle_gradient(xi, xj, signed[lo:hi], a)
            return total

        return GradientProblem(value, gradient, task.prior_width)

    def row_gradient(self, task: MetricTask, a: Array) -> Array:
        """d/da of sum_i w_i (1 - cos_a(x_i, mu_{y_i})), without filling rows.

        d cos / d a_m = x_m mu_m / (|x||mu|) - cos/2 (x_m^2/|x|^2 + mu_m^2/|mu|^2), (3.29).
        """
        wide = np.asarray(task.centers, dtype=np.float64)
        lengths = np.sqrt(self.squared_norms(wide, a))
        unit = wide / np.where(lengths > 0, lengths, 1.0)[:, None]
        state = _Labelled(task.labels, task.weights)
        turn = fold(map_blocks(task.rows, _turn_block, _Spokes(self, unit, a), state=state))
        own = (turn.along * unit).sum(axis=0)
        return -(own - 0.5 * turn.squares - 0.5 * (turn.cosines @ unit**2))


class _Labelled(NamedTuple):
    labels: Array
    weights: Array


class _Spokes(NamedTuple):
    """Centres (K, d) and the weights of the columns."""

    distortion: Cosine
    centers: Array
    a: Array


class _Turn(NamedTuple):
    """Sums over rows: w x / |x| and w cos by cluster, (K, d) and (K,); w cos x^2 / |x|^2, (d,)."""

    along: Array
    squares: Array
    cosines: Array


def _least_block(block: Block, _: None) -> float:
    values = block.rows.data if sp.issparse(block.rows) else block.rows
    return float(values.min()) if values.size else 0.0


def _weights(block: Block) -> Array:
    weights = block.state.weights
    return weights if weights.size else np.ones(block.stop - block.start)


def _loss_block(block: Block, spokes: _Spokes) -> float:
    """sum_i w_i (1 - cos_a(x_i, mu_{y_i})) of a block."""
    distortion, centers, a = spokes
    terms, weights, total = distortion.center_terms(centers, a), _weights(block), 0.0
    for lo, hi, chunk in block.chunks(extra=len(centers)):
        cross = distortion.cross(chunk, terms, distortion.row_scale(chunk, a))
        own = cross[np.arange(hi - lo), block.state.labels[lo:hi]]
        total += float(weights[lo:hi] @ np.maximum(own + 1.0, 0.0))
    return total


def _turn_block(block: Block, spokes: _Spokes) -> _Turn:
    """What a block's rows add to the gradient; `spokes.centers` are of unit length."""
    distortion, unit, a = spokes
    weights, slope = _weights(block), unit * a
    turn = _Turn(np.zeros_like(unit), np.zeros(unit.shape[1]), np.zeros(len(unit)))
    for lo, hi, chunk in block.chunks(extra=len(unit)):
        here = block.state.labels[lo:hi]
        inverse = distortion.row_scale(chunk, a)
        dots = np.asarray(chunk @ slope.T)[np.arange(hi - lo), here]
        cosine = weights[lo:hi] * dots * inverse
        one_hot = np.zeros((hi - lo, len(unit)))
        one_hot[np.arange(hi - lo), here] = weights[lo:hi] * inverse
        squared = chunk.power(2) if sp.issparse(chunk) else chunk * chunk
        np.add(turn.along, np.asarray((chunk.T @ one_hot).T), out=turn.along)
        np.add(turn.squares, squared.T @ (cosine * inverse**2), out=turn.squares)
        np.add(turn.cosines, np.bincount(here, cosine, minlength=len(unit)), out=turn.cosines)
    return turn


class Correlation(Cosine):
    """Pearson correlation distance 1 - r(x, mu): the cosine of rows less their own mean.

    Its metric is not learned: with weights, which mean to take off would be a second choice.
    """

    name: ClassVar[str] = "correlation"
    forms: ClassVar[tuple[str, ...]] = ()

    def squared_norms(self, X: Any, A: Array | None = None) -> NDArray[np.float64]:
        """|x - mean(x)|^2, without filling sparse rows."""
        means = row_sums(X) / X.shape[1]
        if sp.issparse(X):
            return np.maximum(row_sums(X, power=2) - X.shape[1] * means**2, 0.0)
        gaps = X - means[:, None]
        return np.einsum("ij,ij->i", gaps, gaps)

    def center_terms(self, centers: Array, A: Array | None = None) -> CenterTerms:
        """g = -(mu - mean(mu)) / |mu - mean(mu)|: taking off the centre's mean is enough."""
        return super().center_terms(centers - centers.mean(axis=1, keepdims=True), A)

    def centroid(self, sums: Array, counts: Array, A: Array | None = None) -> Array:
        """The sum of the standardised rows, itself standardised."""
        return super().centroid(sums - sums.mean(axis=1, keepdims=True), counts, A)

    def dots(self, xi: Any, xj: Any, A: Array | None = None) -> NDArray[np.float64]:
        """<x_i - mean, x_j - mean> of matching rows."""
        d = xi.shape[1]
        return super().dots(xi, xj) - row_sums(xi) * row_sums(xj) / d

    def bound(self, X: Any) -> Bound:
        """2: a correlation can be -1 whatever the signs of the data."""
        return ConstantBound(2.0)
