"""One fit after the other in a process of its own that ends itself when a fit takes too long.

The limit is CPU time, so that other work on the machine does not decide who finishes. It is kept
by a timer of the operating system, which also ends compiled code; where there is none (Windows)
nothing is limited.
"""

from __future__ import annotations

import os
import signal
import time
import warnings
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np
from contestants import EVERYONE
from numpy.typing import NDArray

from coterie import Constraints


class Problem(NamedTuple):
    """What a method is given."""

    X: Any
    pairs: Constraints
    k: int
    seed: int


class Answer(NamedTuple):
    """Labels, or why there are none; CPU seconds of the fit."""

    labels: NDArray[Any] | None
    seconds: float
    status: str


def _tiny() -> Problem:
    """For a first fit that loads compiled code, outside the time that is measured."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 3)) + 4.0 * y[:, None]
    return Problem(X, Constraints(60, [(0, 1), (2, 3), (30, 31)], [(0, 40), (5, 50)]), 2, 0)


# As NumPy comes: a package that makes it raise on import does so for itself, not for the others.
_AS_IT_COMES = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


def _fit(method: str, problem: Problem) -> Answer:
    begin = time.process_time()
    try:
        with np.errstate(**_AS_IT_COMES):
            labels = EVERYONE[method](*problem)
    except ModuleNotFoundError as error:
        return Answer(None, 0.0, f"not installed: {error.name}")
    except Exception as error:
        return Answer(None, time.process_time() - begin, f"failed: {type(error).__name__}")
    return Answer(np.asarray(labels), time.process_time() - begin, "finished")


def _serve(pipe: Connection) -> None:
    warnings.simplefilter("ignore")
    warm: set[str] = set()
    limited = hasattr(signal, "setitimer")
    while True:
        method, problem, limit = pipe.recv()
        if method not in warm:
            _fit(method, _tiny())
            warm.add(method)
        if limited:
            signal.setitimer(signal.ITIMER_PROF, limit)
        answer = _fit(method, problem)
        if limited:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
        pipe.send(answer)


class Worker:
    """Fits methods; a fit over the limit costs the process, and the next fit gets a new one."""

    def __init__(self) -> None:
        self._process: Any = None
        self._pipe: Any = None

    def fit(self, method: str, problem: Problem, limit: float) -> Answer:
        """Labels of one method, within `limit` CPU seconds."""
        if self._process is None or not self._process.is_alive():
            self._start()
        try:
            self._pipe.send((method, problem, limit))
            return self._pipe.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self._process.join()
            return self._ended(limit)

    def _start(self) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def _ended(self, limit: float) -> Answer:
        code = self._process.exitcode
        if os.name == "posix" and code == -signal.SIGPROF:
            return Answer(None, limit, "time-out")
        return Answer(None, 0.0, f"failed: its process ended with {code}")
