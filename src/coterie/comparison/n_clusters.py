"""How many clusters? As many as predict best the pairs that an estimator was not told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from coterie.constraints import Constraints
from coterie.exceptions import InvalidConstraints, InvalidParameter
from coterie.parameters import check_arguments
from coterie.validation import check_constraints, check_count

__all__ = ["ClusterCount", "choose_n_clusters"]

_NAMES = ("n_clusters", "n_components", "estimator__n_clusters")
_FEWEST = 10  # pairs of each kind below which the choice is a guess


class ClusterCount(NamedTuple):
    """How many clusters, and how well each number predicted the pairs held out.

    Attributes
    ----------
    n_clusters : int
        The number chosen.
    candidates : (c,) int64
    scores : (c, f) float64
        Of each number and fold (of those that hold news): the mean of the share of must-links and
        the share of cannot-links that were held out and are kept.
    """

    n_clusters: int
    candidates: NDArray[np.int64]
    scores: NDArray[np.float64]

    def to_frame(self) -> Any:
        """A row for each number: mean score and its standard error over the folds (pandas)."""
        import pandas as pd

        spread = self.scores.std(axis=1, ddof=1) / np.sqrt(self.scores.shape[1])
        return pd.DataFrame(
            {"n_clusters": self.candidates, "score": self.scores.mean(axis=1), "error": spread}
        )


def choose_n_clusters(
    estimator: Any,
    X: Any,
    candidates: Iterable[int],
    *,
    constraints: Constraints,
    folds: int = 5,
    random_state: int = 0,
) -> ClusterCount:
    """Choose the number of clusters by held-out pairs.

    The pairs are parted into folds. For each number of clusters the estimator is told all folds
    but one and asked whether the pairs of that one belong together: too few clusters join
    cannot-links, too many part must-links, and both kinds count alike however many there are. A
    pair that the others imply says nothing and is not asked about. The number chosen is the
    smallest whose score is not below the best by more than the standard error of the difference.

    Parameters
    ----------
    estimator : estimator
        With a parameter `n_clusters` (or `n_components`, or `estimator__n_clusters`); it stays
        unfitted, clones are fitted.
    X : array-like, frame or CSR matrix of shape (n, d)
    candidates : iterable of int
        Numbers to choose from.
    constraints : Constraints
        Pairs of both kinds, at least 10 of each; a few dozen before the answer means much.
    folds : int, default=5
    random_state : int, default=0
        Of the folds, and of the estimator if it has none of its own.

    Returns
    -------
    ClusterCount

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from coterie import PCKMeans, choose_n_clusters
    >>> from coterie.constraints import sample_pairs
    >>> X, y = load_wine(return_X_y=True)
    >>> known = sample_pairs(y, 100, random_state=0)
    >>> choose_n_clusters(PCKMeans(), scale(X), range(2, 6), constraints=known).n_clusters
    3
    """
    check_arguments(choose_n_clusters, locals())
    numbers = np.unique([check_count("candidates", k) for k in candidates])
    if not numbers.size:
        raise InvalidParameter("candidates is empty; give numbers of clusters to choose from.")
    known = check_constraints(constraints, np.shape(X)[0])
    parts = _folds(known, check_count("folds", folds, least=2), random_state)
    scores = np.array(
        [[_score(_copy(estimator, k, random_state), X, known, p) for p in parts] for k in numbers]
    )
    telling = np.isfinite(scores).all(axis=0)  # a fold may hold nothing but what the others imply
    if not telling.any():
        raise InvalidConstraints(
            "every pair follows from the others, so that none can be held out; give pairs between "
            "rows that the others leave open."
        )
    scores = scores[:, telling]
    return ClusterCount(int(numbers[_smallest_as_good(scores)]), numbers, scores)


def _folds(known: Constraints, folds: int, random_state: int) -> list[NDArray[np.int64]]:
    """Numbers of the pairs of each fold; every fold has its share of either kind."""
    rng = np.random.default_rng(random_state)
    fold = np.full(known.n_pairs, -1)
    for kind, word in ((1, "must-links"), (-1, "cannot-links")):
        own = np.flatnonzero((known.kind == kind) & (known.weight > 0))
        if own.size < max(_FEWEST, folds):
            raise InvalidConstraints(
                f"{own.size} {word} are too few to choose the number of clusters by: give at least "
                f"{max(_FEWEST, folds)} pairs of each kind."
            )
        fold[rng.permutation(own)] = np.arange(own.size) % folds
    return [np.flatnonzero(fold == f) for f in range(folds)]


def _copy(estimator: Any, k: int, random_state: int) -> Any:
    parameters = estimator.get_params()
    name = next((name for name in _NAMES if name in parameters), None)
    if name is None:
        raise InvalidParameter(
            f"{type(estimator).__name__} has no parameter {' or '.join(_NAMES)}: it finds the "
            "number of clusters by itself."
        )
    copy = clone(estimator).set_params(**{name: int(k)})
    if "random_state" in parameters and parameters["random_state"] is None:
        copy.set_params(random_state=random_state)
    return copy


def _score(model: Any, X: Any, known: Constraints, asked: NDArray[np.int64]) -> float:
    """Mean share of must-links and of cannot-links kept, among those asked that are news."""
    rest = known.pick(np.setdiff1d(np.arange(known.n_pairs), asked))
    labels = model.fit(X, constraints=rest).labels_
    asked = asked[_is_news(rest, known.pairs[asked])]
    ends, must = labels[known.pairs[asked]], known.kind[asked] > 0
    same = ends[:, 0] == ends[:, 1]
    shares = [kept.mean() for kept in (same[must], ~same[~must]) if kept.size]
    return float(np.mean(shares)) if shares else np.nan


def _is_news(told: Constraints, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which pairs (p, 2) do not follow from the pairs told."""
    closure = told.closure(hard_only=False)
    a, b = closure.component[pairs].T
    parted = closure.cannot != 0
    return np.asarray((a != b) & ~np.asarray(parted[a, b]).ravel().astype(bool))


def _smallest_as_good(scores: NDArray[np.float64]) -> int:
    """The first row (c, f) whose mean is within a standard error of the best row's, in pairs."""
    folds = scores.shape[1]
    behind = scores[int(scores.mean(axis=1).argmax())] - scores
    error = behind.std(axis=1, ddof=1) / np.sqrt(folds) if folds > 1 else np.zeros(len(scores))
    return int(np.flatnonzero(behind.mean(axis=1) <= error)[0])
