"""Score against the number of questions, over folds (Basu et al. 2004, section 5.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold

from coterie.active.annotators.oracles import LabelOracle, answer_all
from coterie.active.refitting import with_found_clusters
from coterie.active.session import ActiveSession
from coterie.active.strategies.strategy import Strategy
from coterie.exceptions import InvalidParameter
from coterie.metrics import evaluate
from coterie.parameters import check_arguments
from coterie.plot import plot_learning_curve
from coterie.validation import check_choice, check_count

__all__ = ["LearningCurve", "learning_curve"]

SCORES = ("ari", "nmi", "f", "accuracy", "precision", "recall")


@dataclass(frozen=True)
class LearningCurve:
    """Scores by number of questions and fold.

    Attributes
    ----------
    name : str
        What was run.
    budgets : (B,) int64
    values : dict of str to (folds, B) float64
        One table a score.
    """

    name: str
    budgets: NDArray[np.int64]
    values: dict[str, NDArray[np.float64]]

    def mean(self, score: str = "ari") -> NDArray[np.float64]:
        """Mean over the folds, (B,)."""
        return self._of(score).mean(axis=0)

    def area(self, score: str = "ari") -> float:
        """Area under the mean curve over the range of budgets, divided by its width."""
        mean = self.mean(score)
        if self.budgets.size == 1:
            return float(mean[0])
        width = self.budgets[-1] - self.budgets[0]
        areas = np.diff(self.budgets) * (mean[1:] + mean[:-1]) / 2
        return float(areas.sum() / width)

    def _of(self, score: str) -> NDArray[np.float64]:
        return self.values[check_choice("score", score, self.values)]

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row a fold and budget: name, fold, budget and the scores."""
        from coterie.constraints.frames import make_frame

        folds, budgets = next(iter(self.values.values())).shape
        columns: dict[str, Any] = {
            "name": np.full(folds * budgets, self.name),
            "fold": np.repeat(np.arange(folds), budgets),
            "budget": np.tile(self.budgets, folds),
        }
        columns |= {score: table.ravel() for score, table in self.values.items()}
        return make_frame(columns, backend)

    def plot(self, ax: Any = None, score: str = "ari") -> Any:
        """Mean curve with one standard deviation over folds; see `plot_learning_curve`."""
        return plot_learning_curve(self, ax=ax, score=score)


def learning_curve(
    strategy: Strategy,
    estimator: Any,
    X: Any,
    y: ArrayLike,
    budgets: Sequence[int],
    *,
    distortion: Any = None,
    folds: int | None = 10,
    repeats: int = 1,
    error_rate: float = 0.0,
    unknown_rate: float = 0.0,
    scores: Sequence[str] = ("nmi", "ari"),
    name: str | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> LearningCurve:
    """Score against the number of questions asked.

    With folds, questions are about the training rows only, all rows are clustered, and the test
    fold is scored (Basu et al. 2004 and 2006). Without, all rows are asked about and scored.

    Parameters
    ----------
    strategy : Strategy
    estimator : estimator or None
        Fitted anew for every budget; None: the strategy's own model.
    X : array-like or CSR matrix of shape (n, d)
    y : array-like of shape (n,)
        True classes; they answer the questions and score the result, nothing else.
    budgets : sequence of int
        Numbers of questions, rising; 0 is allowed where an estimator is given.
    distortion : str or Distortion, optional
        How strategies measure distances; the estimator's own if not given.
    folds : int or None, default=10
    repeats : int, default=1
        How often to run each fold, or the whole without folds, with another random_state.
    error_rate, unknown_rate : float, default=0
        Of the simulated person, see `LabelOracle`.
    scores : sequence of str, default=("nmi", "ari")
    name : str, optional
        For the frame and the plot; the strategy's if not given.
    n_jobs : int, optional
        Folds run side by side (joblib).
    random_state : int, default=0
    progress : callable, optional
        Called with (folds done, folds in all).

    Returns
    -------
    LearningCurve
    """
    check_arguments(learning_curve, locals())
    asked = np.asarray(budgets, dtype=np.int64)
    if asked.ndim != 1 or not asked.size or (np.diff(asked) <= 0).any() or asked[0] < 0:
        raise InvalidParameter(f"budgets={budgets!r} must be rising numbers of questions.")
    wanted = [check_choice("scores", score, SCORES) for score in scores]
    check_count("repeats", repeats)
    truth = np.asarray(y)
    jobs = [
        delayed(_one_run)(
            strategy,
            estimator,
            X,
            truth,
            asked,
            wanted,
            split,
            distortion,
            random_state + number,
            error_rate,
            unknown_rate,
        )
        for number, split in enumerate(_splits(truth.size, folds, repeats, random_state))
    ]
    tables = []
    for table in Parallel(n_jobs=n_jobs, return_as="generator")(jobs):
        tables.append(table)
        if progress is not None:
            progress(len(tables), len(jobs))
    stacked = np.array(tables)  # (folds, B, scores)
    values = {score: stacked[:, :, s] for s, score in enumerate(wanted)}
    return LearningCurve(name or repr(strategy), asked, values)


def _splits(
    n: int, folds: int | None, repeats: int, random_state: int
) -> list[tuple[NDArray[np.int64] | None, Any]]:
    """(rows to ask about or None for all, rows to score) of every run."""
    if folds is None:
        return [(None, "all")] * repeats
    if check_count("folds", folds, least=2) > n:
        raise InvalidParameter(f"folds={folds} are more than the {n} rows of y.")
    return [
        (train, test)
        for repeat in range(repeats)
        for train, test in KFold(folds, shuffle=True, random_state=random_state + repeat).split(
            np.zeros(n)
        )
    ]


def _one_run(
    strategy: Strategy,
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    budgets: NDArray[np.int64],
    scores: list[str],
    split: tuple[NDArray[np.int64] | None, Any],
    distortion: Any,
    seed: int,
    error_rate: float,
    unknown_rate: float,
) -> NDArray[np.float64]:
    """Scores at every budget, (B, scores)."""
    candidates, test = split
    session = ActiveSession(
        X,
        strategy=strategy,
        estimator=estimator,
        distortion=distortion,
        candidates=candidates,
        random_state=seed,
    )
    oracle = LabelOracle(y, error_rate=error_rate, unknown_rate=unknown_rate, random_state=seed)
    found = np.empty((budgets.size, len(scores)))
    for b, budget in enumerate(budgets.tolist()):
        answer_all(session, oracle, max_questions=budget - session.n_asked)
        if estimator is None:
            labels = session.labels()
        else:  # cold: a point of the curve does not depend on the points before it
            fresh = clone(estimator)
            if "random_state" in fresh.get_params(deep=False):
                fresh.set_params(random_state=seed)
            with_found_clusters(fresh, session.n_found)
            labels = fresh.fit(X, constraints=session.constraints).labels_
        result = evaluate(y, labels, rows=test)
        found[b] = [result[score] for score in scores]
    return found
