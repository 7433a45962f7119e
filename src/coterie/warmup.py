"""Compile what fits need, before anybody waits for it.

Kernels are compiled when they are first called and kept in numba's cache, beside the package or in
`NUMBA_CACHE_DIR`. A container image, a new machine of a fleet or a CI job can have that done
beforehand: by `warm_up`, or `coterie warmup` on the command line.
"""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import get_tags

from coterie.constraints import Constraints
from coterie.estimators import ESTIMATORS, estimator_class
from coterie.exceptions import InfeasibleConstraints, InvalidConstraints
from coterie.progress import compiling

__all__ = ["Warmed", "warm_up"]

_ROWS, _CLUSTERS = 60, 3


class Warmed(NamedTuple):
    """An estimator that was warmed: its name, the seconds it took, how often numba compiled."""

    name: str
    seconds: float
    compiled: int


def warm_up(names: Iterable[str] | None = None) -> Iterator[Warmed]:
    """Fit estimators to tiny rows of every kind they take, one after the other.

    float64 and float32 rows, dense and (where an estimator takes them) CSR; soft pairs of which
    some are wrong, hard pairs (where it takes them), and none; `fit` and `predict`.

    Parameters
    ----------
    names : iterable of str, optional
        Keys of `coterie.estimators.ESTIMATORS`; all if not given.

    Yields
    ------
    Warmed
        After each estimator. `compiled` is 0 where the cache had everything.
    """
    for name in ESTIMATORS if names is None else names:
        made = estimator_class(name)
        seen: list[bool] = []
        begun = time.perf_counter()
        with compiling(seen.append), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tiny rows converge badly; nobody asked about them
            _fit_every_kind(made)
        yield Warmed(name, time.perf_counter() - begun, sum(seen))


def _fit_every_kind(made: Any) -> None:
    X, soft, hard = _problem()
    for dtype in (np.float64, np.float32):
        rows: list[Any] = [X.astype(dtype)]
        if get_tags(made()).input_tags.sparse:
            rows.append(sparse.csr_matrix(rows[0]))
        for some in rows:
            _fit(made, some)
            if _takes_pairs(made):
                _fit_with_pairs(made, some, soft, hard)


def _fit(made: Any, X: Any, **given: Constraints) -> None:
    model = _unfitted(made).fit(X, **given)
    if hasattr(model, "predict"):
        model.predict(X)


def _fit_with_pairs(made: Any, X: Any, soft: Constraints, hard: Constraints) -> None:
    """Fit to both sets of pairs.

    An estimator may refuse one of them and then needs no kernels for it: one that knows only soft
    pairs, or one that keeps every pair and cannot keep those that are wrong.
    """
    refused = []
    for pairs in (soft, hard):
        try:
            _fit(made, X, constraints=pairs)
        except (InvalidConstraints, InfeasibleConstraints) as error:
            refused.append(error)
    if len(refused) == 2:
        raise refused[0]


def _unfitted(made: Any) -> Any:
    model = made()
    if "estimator" in model.get_params(deep=False):
        model.set_params(estimator=estimator_class("mpckmeans")())
    known = model.get_params()
    given: dict[str, Any] = {name: 0 for name in known if name.split("__")[-1] == "random_state"}
    for name in known:
        if name.split("__")[-1] in ("n_clusters", "n_components"):
            given[name] = _CLUSTERS
    return model.set_params(**given)


def _takes_pairs(made: Any) -> bool:
    return "constraints" in inspect.signature(made.fit).parameters


def _problem() -> tuple[np.ndarray, Constraints, Constraints]:
    """Positive rows (n, 3) of three groups; soft pairs, a few wrong; hard pairs, all right."""
    rng = np.random.default_rng(0)
    group = np.arange(_ROWS) % _CLUSTERS
    X = 6 + 3 * np.eye(_CLUSTERS)[group] + rng.standard_normal((_ROWS, 3))
    pairs = rng.integers(_ROWS, size=(90, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = group[pairs[:, 0]] == group[pairs[:, 1]]
    wrong = rng.random(len(pairs)) < 0.15
    soft = Constraints.from_arrays(_ROWS, pairs, same ^ wrong)
    hard = Constraints.from_arrays(_ROWS, pairs[:30], same[:30], weight=np.inf)
    return X, soft, hard
