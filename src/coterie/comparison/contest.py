"""The fits of a comparison, and what is measured of them."""

from __future__ import annotations

import inspect
import statistics
import time
import warnings
from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from coterie.comparison.outcome import SCORES, Compared, Comparison
from coterie.constraints import Constraints
from coterie.exceptions import InvalidData, InvalidParameter
from coterie.metrics import adjusted_rand_score, constraint_satisfaction, evaluate
from coterie.parameters import check_arguments
from coterie.progress import watching
from coterie.validation import check_constraints, check_count

__all__ = ["compare"]


def compare(
    estimators: Mapping[str, Any],
    X: Any,
    *,
    constraints: Constraints | None = None,
    without_pairs: Collection[str] = (),
    runs: int = 5,
    seed: int = 0,
    truth: ArrayLike | None = None,
    held_out: bool = False,
    on_run: Callable[[str, int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Comparison:
    """Fit each estimator once per seed, and say how long it took and what came of it.

    An estimator that fails does not end the comparison: its row holds the error. The estimators
    themselves stay unfitted; clones are fitted.

    Parameters
    ----------
    estimators : mapping of str to estimator
        By the names of the table. In place of an estimator a function without arguments may make
        one; should that fail, it is that estimator's error. `random_state`, also that of an
        estimator within, is set to each seed; an estimator without one is fitted once.
    X : array-like, frame or CSR matrix of shape (n, d)
        Rows, given to every estimator as they are.
    constraints : Constraints, optional
        Pairs, told to every estimator whose `fit` takes them.
    without_pairs : collection of str
        Names of estimators that are not told the pairs, to see what pairs are worth.
    runs : int, default 5
        Fits of each estimator.
    seed : int, default 0
        The seeds are `seed`, `seed + 1`, ...
    truth : array-like of shape (n,), optional
        True classes, to score by; rows whose class is None or NaN are not scored.
    held_out : bool, default False
        Score only rows that are in no pair, as nobody gave those away.
    on_run : callable, optional
        Called before each fit with the name, the number of the run from 1, and of how many.
    stop : callable, optional
        Asked between the fits and after each of their iterations (see `coterie.progress`). Once it
        returns True the comparison ends with what is done; a fit that was cut short does not count.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import Constraints, PCKMeans, compare
    >>> X = np.array([[0.0], [0.2], [5.0], [5.3]])
    >>> known = Constraints(4, must_link=[(0, 1)], cannot_link=[(1, 2)])
    >>> both = {"told": PCKMeans(2), "not told": PCKMeans(2), "too many": PCKMeans(9)}
    >>> found = compare(both, X, constraints=known, without_pairs=["not told"], runs=2)
    >>> [(row.name, row.n_broken, row.stability) for row in found.rows]
    [('told', 0.0, 1.0), ('not told', 0.0, 1.0), ('too many', None, None)]
    >>> print(found.rows[2].error)  # doctest: +ELLIPSIS
    n_samples=4 should be >= n_clusters=9: there are fewer rows than clusters; lower ...
    """
    check_arguments(compare, locals())
    n_rows = int(X.shape[0]) if hasattr(X, "shape") else len(X)
    known = check_constraints(constraints, n_rows)
    check_count("runs", runs)
    check_count("seed", seed, least=0)
    _check_names(estimators, without_pairs)
    contest = _Contest(
        X,
        known,
        range(seed, seed + runs),
        _Scorer.of(truth, known, held_out),
        on_run or (lambda name, run, of: None),
        stop or (lambda: False),
    )
    with nullcontext() if stop is None else watching(lambda step: contest.is_stopped()):
        rows = [
            contest.row(name, made, told=name not in without_pairs)
            for name, made in estimators.items()
        ]
    return Comparison(
        rows, n_rows, known.n_pairs, runs, seed, truth is not None, contest.stopped_early
    )


def _check_names(estimators: Mapping[str, Any], without_pairs: Collection[str]) -> None:
    unusable = [n for n, made in estimators.items() if not (hasattr(made, "fit") or callable(made))]
    if unusable:
        raise InvalidParameter(
            f"`estimators`: {unusable[0]!r} is a {type(estimators[unusable[0]]).__name__}; give an "
            "estimator, or a function that makes one."
        )
    unknown = [name for name in without_pairs if name not in estimators]
    if unknown:
        raise InvalidParameter(
            f"`without_pairs` names {unknown[0]!r}, which is none of the estimators: "
            f"{', '.join(estimators)}."
        )


class _Fit(NamedTuple):
    """One fit that was not cut short: how long it took, and its labels (n,)."""

    seconds: float
    labels: NDArray[Any]


class _Contest:
    """Fits every estimator once per seed, until it is stopped."""

    def __init__(
        self,
        X: Any,
        constraints: Constraints,
        seeds: range,
        score: _Scorer,
        on_run: Callable[[str, int, int], None],
        stop: Callable[[], bool],
    ) -> None:
        self.X = X
        self.constraints = constraints
        self.seeds = seeds
        self.score = score
        self.on_run = on_run
        self.stop = stop
        self.stopped_early = False

    def is_stopped(self) -> bool:
        """Ask `stop`; once it has said so, that stands."""
        self.stopped_early = self.stopped_early or bool(self.stop())
        return self.stopped_early

    def row(self, name: str, made: Any, *, told: bool) -> Compared:
        """Fit one estimator, or what a function makes; `told` is whether it may have the pairs."""
        fits: list[_Fit] = []
        error: Exception | None = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                estimator = made if _is_estimator(made) else made()
                told = told and "constraints" in inspect.signature(estimator.fit).parameters
                fits = self._fits(name, estimator, told)
            except Exception as raised:  # whatever it is, the others should still be compared
                error = raised
        return Compared(
            name,
            told,
            warnings=_each_once(caught),
            error=error,
            **(self._summary(fits) if fits else {}),
        )

    def _fits(self, name: str, estimator: Any, told: bool) -> list[_Fit]:
        chances = [key for key in estimator.get_params() if key.split("__")[-1] == "random_state"]
        seeds = self.seeds if chances else self.seeds[:1]
        given = {"constraints": self.constraints} if told else {}
        fits: list[_Fit] = []
        for run, seed in enumerate(seeds, start=1):
            if self.is_stopped():
                break
            self.on_run(name, run, len(seeds))
            fresh = clone(estimator).set_params(**dict.fromkeys(chances, seed))
            begun = time.perf_counter()
            fresh.fit(self.X, **given)
            seconds = time.perf_counter() - begun
            if not self.is_stopped():
                fits.append(_Fit(seconds, np.asarray(fresh.labels_)))
        return fits

    def _summary(self, fits: list[_Fit]) -> dict[str, Any]:
        labels = [fit.labels for fit in fits]
        alike = [float(adjusted_rand_score(a, b)) for a, b in combinations(labels, 2)]
        broken = [constraint_satisfaction(found, self.constraints).n_broken for found in labels]
        scores = [self.score(found) for found in labels]
        return {
            "runs": len(fits),
            "n_clusters": statistics.fmean(np.unique(found).size for found in labels),
            "seconds": statistics.median(fit.seconds for fit in fits),
            "n_broken": statistics.fmean(broken),
            "stability": statistics.fmean(alike) if alike else None,
            "scores": {name: statistics.fmean(each[name] for each in scores) for name in scores[0]},
        }


class _Scorer(NamedTuple):
    """True classes (r,) of the rows (r,) that are scored; None and None without a truth."""

    classes: NDArray[Any] | None
    rows: NDArray[np.int64] | None

    @classmethod
    def of(cls, truth: ArrayLike | None, constraints: Constraints, held_out: bool) -> _Scorer:
        """Who is scored is decided, and checked, before anything is fitted."""
        if truth is None:
            if held_out:
                raise InvalidParameter("`held_out` says which rows to score; give `truth` too.")
            return cls(None, None)
        classes = np.asarray(truth)
        if classes.shape != (constraints.n_samples,):
            raise InvalidParameter(
                f"`truth` has shape {classes.shape}; give one class for each of the "
                f"{constraints.n_samples} rows."
            )
        scored = np.fromiter(map(_is_known, classes), np.bool_, count=classes.size)
        if held_out:
            scored[np.unique(constraints.pairs)] = False
        if not scored.any():
            raise InvalidData(
                "no row is left to score by `truth`: each has no class, or is in a pair and held "
                "out."
            )
        # By way of a list, as what is left without the gaps may be plain numbers or plain texts.
        return cls(np.array(classes[scored].tolist()), np.flatnonzero(scored))

    def __call__(self, labels: NDArray[Any]) -> dict[str, float]:
        """Scores of the labels (n,) of all rows."""
        if self.classes is None:
            return {}
        found = evaluate(self.classes, labels[self.rows])
        return {name: found[name] for name in SCORES}


def _is_estimator(made: Any) -> bool:
    return hasattr(made, "fit") and not isinstance(made, type)


def _is_known(value: Any) -> bool:
    """Neither None nor NaN, NaT or NA."""
    try:
        return value is not None and bool(value == value)
    except TypeError:  # pandas.NA, of which nobody knows whether it equals itself
        return False


def _each_once(caught: list[warnings.WarningMessage]) -> tuple[Warning, ...]:
    found = {(each.category, str(each.message)): each.message for each in caught}
    return tuple(
        message if isinstance(message, Warning) else category(message)
        for (category, _), message in found.items()
    )
