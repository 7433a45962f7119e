"""HMRF-KMeans and its ablations: learning curves (Basu et al. 2006, section 3.5)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

import scipy.sparse as sp

from coterie import HMRFKMeans
from coterie.constraints import learning_curve_pairs
from coterie.constraints.sampling import LearningCurveSplit
from coterie.distortions import KLDivergence
from coterie.metrics import evaluate
from lab import Row
from lab.protocol import data, with_entailed

FOLDS = 2
ABLATIONS: dict[str, dict[str, Any]] = {
    "C-D-R": {"prior_width": 1.0},  # s as printed
    "C-D": {"prior": None},
    "C": {"learn_metric": False},
}


@cache
def fold(name: str, sizes: tuple[int, ...], draw: int) -> LearningCurveSplit:
    """Draws 2r and 2r + 1 are the two folds of run r; the same pairs for every distortion."""
    run, number = divmod(draw, FOLDS)
    splits = learning_curve_pairs(data(name).y, sizes, n_splits=FOLDS, random_state=run)
    return next(islice(splits, number, None))


def cell(part: str, set: str, draw: int, seed: int, **options: Any) -> Iterator[Row]:
    """All methods on one fold of one run, or what a data set is."""
    if part == "sets":
        return sizes_of(set)
    return (engines if part == "inference" else curves)(set, draw, seed, **options)


def sizes_of(name: str) -> Iterator[Row]:
    """Rows, columns and classes (Tables 3.1 and 3.2)."""
    X, _, k = data(name)
    for what, value in zip(("instances", "dimensions", "classes"), (*X.shape, k), strict=True):
        yield {"method": what, "value": value}
    if sp.issparse(X):
        yield {"method": "alpha", "value": KLDivergence().bind(X).smoothing}


def engines(
    name: str, draw: int, seed: int, distortion: str, pairs: list[int], names: list[str]
) -> Iterator[Row]:
    """The E-step by ICM and by more expensive engines (section 3.3.6); `value` is CPU seconds."""
    X, y, k = data(name)
    split = fold(name, tuple(pairs), draw)
    for count, known in zip(pairs, split.constraints, strict=True):
        models = {"K-Means": HMRFKMeans(k, learn_metric=False, random_state=seed)}
        for engine in names:
            models[engine] = HMRFKMeans(
                k, distortion=distortion, inference=engine, random_state=seed
            )
        for method, model in models.items():
            begin = time.process_time()
            model.fit(X, constraints=None if method == "K-Means" else known)
            seconds = time.process_time() - begin
            nmi = evaluate(y, model.labels_, rows=split.test)["nmi"]
            yield {"method": method, "pairs": count, "nmi": nmi, "value": seconds}


def curves(name: str, draw: int, seed: int, distortion: str, pairs: list[int]) -> Iterator[Row]:
    """NMI on the test fold of each method at each number of pairs."""
    X, y, k = data(name)
    split = fold(name, tuple(pairs), draw)

    def nmi(known: Any, **settings: Any) -> float:
        model = HMRFKMeans(k, distortion=distortion, random_state=seed, **settings)
        return evaluate(y, model.fit(X, constraints=known).labels_, rows=split.test)["nmi"]

    unsupervised = nmi(None, learn_metric=False)
    for count, known in zip(pairs, split.constraints, strict=True):
        told = with_entailed(known)
        for method, settings in ABLATIONS.items():
            yield {"method": method, "pairs": count, "nmi": nmi(told, **settings)}
        yield {"method": "K-Means", "pairs": count, "nmi": unsupervised}
