"""Rows and distances between them, as the estimator measures them. Never n × n."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from coterie.distortions import Distortion, SquaredEuclidean, get_distortion
from coterie.exceptions import InvalidParameter

__all__ = ["FarthestFirst", "GroupSums", "Space", "candidate_mask", "distortion_of"]

Float = NDArray[np.float64]

_SAMPLE = 32, 256  # fewest and most rows that stand for the whole set in a density estimate
_SAMPLE_DISTANCES = 2_000_000  # between them, as many as make about so many distances
_CHUNK = 4096
_NEAR = 8  # the local radius reaches to this neighbour within the sample


def distortion_of(estimator: Any, given: str | Distortion | None = None) -> Distortion:
    """What was given, else the estimator's own (`metric`, or `distortion`), else sqeuclidean."""
    if given is not None:
        return get_distortion(given)
    parameters = {} if estimator is None else estimator.get_params(deep=False)
    for name in ("metric", "distortion"):  # where it has both, `metric` is None or the one meant
        value = parameters.get(name)
        if isinstance(value, (str, Distortion)):
            return get_distortion(value, name)
    return SquaredEuclidean()


def candidate_mask(candidates: ArrayLike | None, n: int) -> NDArray[np.bool_]:
    """Rows that questions may be about, (n,): those listed, or all."""
    mask = np.zeros(n, dtype=bool)
    if candidates is None:
        mask[:] = True
        return mask
    rows = np.asarray(candidates)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or rows.size < 2:
        raise InvalidParameter("candidates must list at least two row numbers.")
    if rows.min() < 0 or rows.max() >= n:
        raise InvalidParameter(f"candidates names row {rows.max()}, but rows are 0 to {n - 1}.")
    mask[rows] = True
    return mask


class Space:
    """The rows of a session.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    distortion : Distortion
    candidates : ndarray of shape (n,), bool
        Rows that questions may be about.
    """

    def __init__(self, X: Any, distortion: Distortion, candidates: NDArray[np.bool_]) -> None:
        distortion.check_rows(X)
        self.X = X
        self.n = int(X.shape[0])
        self.distortion = distortion.bind(X)
        self.candidates = candidates

    def to_row(self, row: int) -> Float:
        """Distances of all rows from one, (n,)."""
        if not self.distortion.translation_invariant or issparse(self.X):
            return self.between(np.arange(self.n), np.full(self.n, row))
        # The distance is the row term of the difference: one pass, no copies of whole columns.
        found = np.empty(self.n)
        for lo in range(0, self.n, _CHUNK):
            found[lo : lo + _CHUNK] = self.distortion.row_term(
                self.X[lo : lo + _CHUNK] - self.X[row]
            )
        return found

    def between(self, i: Any, j: Any) -> Float:
        """Distances of the listed pairs, (m,)."""
        i, j = np.asarray(i, dtype=np.int64), np.asarray(j, dtype=np.int64)
        return np.asarray(self.distortion.between(self.X, i, j), dtype=np.float64)

    def to_set(self, row: int, members: list[int]) -> float:
        """Distance of a row from the nearest of `members`."""
        return float(self.between(np.full(len(members), row), members).min())

    def column_sums(self, rows: list[int]) -> NDArray[Any]:
        """Σ s x over the listed rows, (d,): what `Distortion.centroid` is made from."""
        picked = self.X[rows]
        scale = self.distortion.row_scale(picked)
        if scale is None:
            return np.asarray(picked.sum(axis=0)).ravel()
        return np.asarray(picked.T @ scale).ravel()

    def to_centroids(self, row: int, sums: NDArray[Any], counts: Any) -> Float:
        """Distortion of a row to each centroid, (G,), from sums (G, d) and numbers of members."""
        centers = self.distortion.centroid(sums, np.asarray(counts, dtype=self.X.dtype))
        with np.errstate(divide="ignore", invalid="ignore"):  # a divergence to a centre with zeros
            distances = self.distortion.to_centers(self.X[[row]], centers)[0]
        return np.nan_to_num(distances.astype(np.float64), nan=np.inf, posinf=np.inf)

    def local_radius(self, seed: int) -> Float:
        """Distance of each row to its 8th nearest in a random sample of 32 to 256 rows, (n,).

        Large where rows are sparse. Once a session.
        """
        size = min(self.n, int(np.clip(_SAMPLE_DISTANCES // self.n, *_SAMPLE)))
        sample = np.random.default_rng([seed, 1]).choice(self.n, size, replace=False)
        near = np.full((self.n, min(_NEAR, size - 1) + 1), np.inf)
        for row in sample.tolist():
            # The worst of the nearest gives way; a row of the sample is its own nearest (0).
            distance = self.to_row(row)
            worst = near.argmax(axis=1)
            at = np.arange(self.n)
            near[at, worst] = np.minimum(near[at, worst], distance)
        return near.max(axis=1)


class GroupSums:
    """Sums of the rows of growing groups: only rows that are new are read."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._of: dict[int, tuple[set[int], NDArray[Any]]] = {}

    def sums(self, groups: list[list[int]]) -> NDArray[Any]:
        """(G, d). A group that lost a row (an undone answer) is summed anew."""
        found = []
        for g, members in enumerate(groups):
            now = set(members)
            known, total = self._of.get(g, (set(), 0.0))
            if not known <= now:
                known, total = set(), 0.0
            new = sorted(now - known)
            if new:
                total = total + self._space.column_sums(new)
                self._of[g] = now, total
            found.append(total)
        return np.array(found)


class FarthestFirst:
    """Distance of every row to the nearest of a growing list of rows: O(n d) a new member."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._members: list[int] = []
        self._nearest = np.full(space.n, np.inf)

    def nearest(self, members: list[int]) -> Float:
        """min over `members` of the distance to each row, (n,); do not write into it.

        Members beyond those of the last call are added; if some were taken back (an undone
        answer), all are added anew.
        """
        known = set(self._members)
        if not known <= set(members):
            known, self._members = set(), []
            self._nearest = np.full(self._space.n, np.inf)
        for row in members:
            if row not in known:
                self._nearest = np.minimum(self._nearest, self._space.to_row(row))
                self._members.append(row)
        return self._nearest
