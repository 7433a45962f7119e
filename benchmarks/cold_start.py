"""The first fit on a new machine: what importing and compiling cost before anything is cached.

    python benchmarks/cold_start.py                   # the estimators that have a bar
    python benchmarks/cold_start.py PCKMeans GPKMeans # some, by name
    python benchmarks/cold_start.py PPC --top 15      # and the functions that compile slowest

Each estimator is imported and fitted to iris with 50 pairs in a process of its own whose
`NUMBA_CACHE_DIR` is empty. Seconds are of CPU, so that other work on the machine changes little;
the second fit, in the same process, shows what is left without compiling.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any, NamedTuple

BARS = {
    "PCKMeans": 6.0,
    "HMRFKMeans": 6.0,
    "Mosaic": 6.0,
    "TVClust": 6.0,
    "RDPMeans": 6.0,
    "PPC": 8.0,
}
GOAL = 4.0
N_PAIRS = 50


class Compiled(NamedTuple):
    """One compile of one function: seconds with and without those of the functions it calls."""

    function: str
    inclusive: float
    own: float


def compile_times() -> list[Compiled]:
    """Listen to numba from now on; the list grows by one with each compile that ends."""
    from numba.core import event

    done: list[Compiled] = []
    within: list[list[float]] = []  # begin, and seconds of the compiles inside, of those under way

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            within.append([time.process_time(), 0.0])

        def on_end(self, event: Any) -> None:
            begun, inside = within.pop()
            seconds = time.process_time() - begun
            if within:
                within[-1][1] += seconds
            function = event.data["dispatcher"].py_func
            name = f"{function.__module__}.{function.__qualname__}"
            done.append(Compiled(name, seconds, seconds - inside))

    event.register("numba:compile", Listener())
    return done


def estimator(name: str) -> Any:
    """The estimator called `name` for iris, as a beginner would make it."""
    import coterie

    kind = getattr(coterie, name)
    if name in ("GPKMeans", "GraphPropagation"):
        return kind(coterie.MPCKMeans(3, random_state=0))
    known = kind().get_params()
    given = {"n_clusters": 3, "n_components": 3, "random_state": 0}
    return kind(**{key: value for key, value in given.items() if key in known})


def measure(name: str) -> dict[str, Any]:
    """Import and fit here, in this process; what it cost."""
    begun = time.process_time()
    import numpy as np
    from sklearn.datasets import load_iris

    from coterie import Constraints

    model = estimator(name)
    imported = time.process_time() - begun
    compiled = compile_times()
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    pairs = np.array([rng.choice(len(y), 2, replace=False) for _ in range(N_PAIRS)])
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    seconds = []
    for _ in range(2):
        begun = time.process_time()
        known = Constraints(len(y), must_link=pairs[same], cannot_link=pairs[~same])
        model.fit(X, constraints=known)
        seconds.append(time.process_time() - begun)
    return {"imported": imported, "first": seconds[0], "second": seconds[1], "compiled": compiled}


def in_new_process(name: str) -> dict[str, Any]:
    """`measure` in a process that finds nothing compiled."""
    with tempfile.TemporaryDirectory() as empty:
        answer = subprocess.run(
            [sys.executable, __file__, name, "--here"],
            env={**os.environ, "NUMBA_CACHE_DIR": empty},
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
    found: dict[str, Any] = json.loads(answer.stdout)
    found["compiled"] = [Compiled(*entry) for entry in found["compiled"]]
    return found


def show(name: str, found: dict[str, Any], top: int) -> None:
    """One line, and the `top` slowest functions below it."""
    compiled = found["compiled"]
    own = sum(entry.own for entry in compiled)
    bar = f"bar {BARS[name]:g}, goal {GOAL:g}" if name in BARS else "no bar"
    print(
        f"{name:14s} import {found['imported']:5.2f} s, first fit {found['first']:6.2f} s ({bar}), "
        f"second {found['second']:5.2f} s; {len(compiled)} compiles took {own:.2f} s",
        flush=True,
    )
    for entry in sorted(compiled, key=lambda entry: -entry.own)[:top]:
        print(
            f"    own {entry.own:5.2f} s, with callees {entry.inclusive:5.2f} s  {entry.function}"
        )


def main() -> None:
    """Measure every estimator asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=list(BARS))
    parser.add_argument("--top", type=int, default=0, help="list the slowest compiles")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        json.dump(measure(options.names[0]), sys.stdout)
        return
    for name in options.names:
        show(name, in_new_process(name), options.top)


if __name__ == "__main__":
    main()
