"""Pairs asked by Explore and Consolidate against random pairs (Basu et al. 2004, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from coterie import ActiveSession, Constraints, PCKMeans
from coterie.active import Explore, ExploreConsolidate, LabelOracle, answer_all
from coterie.constraints import learning_curve_pairs
from coterie.constraints.sampling import LearningCurveSplit
from coterie.metrics import evaluate
from lab import Row
from lab.protocol import Data, data, with_entailed

FOLDS = 10
#: w of section 5.4: no weight, the paper's intermediate value, and pairs that are never broken.
WEIGHTS: dict[str, dict[str, float]] = {
    "text": {"0": 0.0, "intermediate": 0.001, "very high": np.inf},
    "iris": {"0": 0.0, "intermediate": 1.0, "very high": np.inf},
}
STRATEGIES: dict[str, Callable[[int], Any]] = {
    "active": ExploreConsolidate,
    "Explore only": lambda k: Explore(),  # K untold, it never stops exploring
}


def cell(part: str, set: str, draw: int, seed: int, **options: Any) -> Iterator[Row]:
    """One fold: all schemes and weights at each number of pairs; or how long Explore takes."""
    rows = data(set)
    metric = "sqeuclidean" if set == "iris" else "cosine"
    if part == "explore":
        split = fold(rows.y, (0,), draw)
        session = begin(rows, Explore(rows.k), metric, split, seed)
        answer_all(session, LabelOracle(rows.y))
        return iter([{"scheme": "Explore only", "queries": session.n_asked}])
    return curves(rows, metric, draw, seed, **options)


def fold(y: Any, sizes: tuple[int, ...], draw: int) -> LearningCurveSplit:
    """Draws 10r to 10r + 9 are the ten folds of run r."""
    run, number = divmod(draw, FOLDS)
    splits = learning_curve_pairs(y, sizes, n_splits=FOLDS, random_state=run)
    return next(islice(splits, number, None))


def begin(
    rows: Data, strategy: Any, metric: str, split: LearningCurveSplit, seed: int
) -> ActiveSession:
    """A session that may ask about the training rows."""
    return ActiveSession(
        rows.X, strategy=strategy, distortion=metric, candidates=split.train, random_state=seed
    )


def curves(
    rows: Data,
    metric: str,
    draw: int,
    seed: int,
    start: str,
    pairs: list[int],
    schemes: list[str],
    weights: list[str],
) -> Iterator[Row]:
    """Scores on the test fold and the objective over all rows, at each number of pairs."""
    split = fold(rows.y, tuple(pairs), draw)
    told = {"random": split.constraints}
    for scheme in schemes:
        if scheme in STRATEGIES:
            session = begin(rows, STRATEGIES[scheme](rows.k), metric, split, seed)
            told[scheme] = list(ask(session, rows.y, pairs))
    values = WEIGHTS["iris" if metric == "sqeuclidean" else "text"]
    for number, count in enumerate(pairs):
        known = {scheme: with_entailed(told[scheme][number]) for scheme in schemes}
        for w in weights:
            found = {
                scheme: scores(Fit(metric, values[w], start, seed), rows, known[scheme], split.test)
                for scheme in schemes
            }
            if {"active", "random"} <= found.keys():
                gap = {name: found["active"][name] - found["random"][name] for name in ("nmi", "f")}
                yield {"scheme": "active - random", "w": w, "pairs": count, **gap}
            for scheme, values_found in found.items():
                curve = {"curve": f"{scheme}, w {w}"}
                yield {**curve, "scheme": scheme, "w": w, "pairs": count, **values_found}


def ask(session: ActiveSession, y: Any, pairs: list[int]) -> Iterator[Constraints]:
    """What is known after so many questions; fewer where nothing is left to ask."""
    oracle = LabelOracle(y)
    for count in pairs:
        answer_all(session, oracle, max_questions=count - session.n_asked)
        yield session.constraints


class Fit(NamedTuple):
    """How PCKMeans is run."""

    metric: str
    w: float
    start: str
    seed: int


def scores(fit: Fit, rows: Data, known: Constraints, test: Any) -> dict[str, float]:
    """NMI and F on the test fold; the objective a row, in the paper's sense.

    For text SPKMeans maximises the mean cosine, so it is 1 less ours; for Euclidean rows it is
    minimised as it is.
    """
    model = PCKMeans(
        rows.k, w=fit.w, distortion=fit.metric, init=fit.start, random_state=fit.seed
    ).fit(rows.X, constraints=known)
    found = evaluate(rows.y, model.labels_, rows=test)
    mean = model.objective_ / rows.y.size
    objective = 1.0 - mean if fit.metric == "cosine" else mean
    return {"nmi": found["nmi"], "f": found["f"], "objective": objective}
