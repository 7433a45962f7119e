"""Odd values that are fed to every parameter, and what may come of them."""

from __future__ import annotations

import inspect
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd

from coterie import RCA
from coterie.estimators import ESTIMATORS, estimator_class
from coterie.exceptions import CoterieError
from coterie.parameter_table import PARAMETERS

CLASSES = [*map(estimator_class, ESTIMATORS), RCA]

LONGEST = (
    60  # seconds of CPU time that an accepted value may take on 30 rows, with kernels to compile
)

ODD: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 10**30, -(10**30), 0.0, -0.0, 0.5, -0.5, 1e-308, 1e308,
    float("nan"), float("inf"), -float("inf"), "", "auto", "nonsense", "3", b"x", [], [1],
    [1, 2, 3], [[1], [1, 2]], {}, {"a": 1}, (), (0.5, "x"), np.array([]),
    np.array([1.0, 2.0, 3.0]), np.ones((3, 3)), np.full((3, 3), np.nan), np.int64(2),
    np.float32(0.5), np.bool_(True), object(), len, int, 1j, pd.DataFrame({"a": [1]}), slice(3),
    {1}, np.array("auto"), np.array(2), np.random.default_rng(0), 10**400,
]  # fmt: skip


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Of CPU time, which a loaded machine does not use up; on the clock, ten times as long."""

    def give_up(*_: Any) -> None:
        raise AssertionError(f"still at work after {seconds} s of CPU time, or {10 * seconds} s")

    limits = {
        signal.SIGPROF: (signal.ITIMER_PROF, seconds),
        signal.SIGALRM: (signal.ITIMER_REAL, 10 * seconds),
    }
    before = {kind: signal.signal(kind, give_up) for kind in limits}
    for timer, limit in limits.values():
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for kind, (timer, _) in limits.items():
            signal.setitimer(timer, 0)
            signal.signal(kind, before[kind])


def error_of(work: Callable[..., Any], *args: Any, **kwargs: Any) -> BaseException | None:
    try:
        with warnings.catch_warnings(), at_most(LONGEST):
            warnings.simplefilter("ignore")
            work(*args, **kwargs)
    except Exception as error:
        return error
    return None


def cryptic(error: BaseException | None, name: str) -> bool:
    """Whether it is an error, and not one of ours that names the parameter."""
    return error is not None and not (isinstance(error, CoterieError) and name in str(error))


def parameters(taker: Callable[..., Any]) -> list[str]:
    return [*inspect.signature(taker).parameters]


def rule_keys(taker: Callable[..., Any]) -> set[str]:
    """The rows of the table by which a class or function is checked."""
    owners = [c.__name__ for c in (taker.__mro__ if isinstance(taker, type) else (taker,))]
    keys = ((*(f"{owner}.{name}" for owner in owners), name) for name in parameters(taker))
    return {found for each in keys if (found := next((k for k in each if k in PARAMETERS), None))}
