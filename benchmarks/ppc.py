"""PPC beside scikit-learn's GaussianMixture, in one process.

    python benchmarks/ppc.py [--repeats 3]

1. 200,000 × 10, K = 5, 20,000 random pairs, full covariance: an EM iteration at most 1.5 ×
   GaussianMixture's.
2. 100,000 pixels (316 × 317), 4-neighbour links: a mean-field EM iteration at most 3 ×.
3. A Gibbs sweep at most 2 × a mean-field sweep, on the same grid.
4. Memory beyond X at most 3·n·K floats + 200 MB.

The time of an iteration is the difference between runs of many and of few iterations.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from coterie.constraints import Constraints, grid_neighbors
from coterie.inference import PairwiseModel, gibbs, mean_field
from coterie.mixture import PPC

FEW, MANY = 2, 8


def seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def per_iteration(fit: Callable[[int], object], repeats: int) -> float:
    """Seconds of one more EM iteration: the least difference over a few repeats."""
    few = min(seconds(lambda: fit(FEW)) for _ in range(repeats))
    many = min(seconds(lambda: fit(MANY)) for _ in range(repeats))
    return (many - few) / (MANY - FEW)


def resident(field: str) -> float:
    """Megabytes of VmRSS or VmHWM (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def extra_megabytes(call: Callable[[], object]) -> float:
    """How far resident memory rises above its level before the call."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    before = resident("VmRSS")
    call()
    return resident("VmHWM") - before


def groups(n: int, d: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return 1.5 * rng.normal(size=(k, d))[y] + rng.normal(size=(n, d)), y


def random_pairs(y: np.ndarray, m: int, seed: int = 1) -> Constraints:
    rng = np.random.default_rng(seed)
    pairs = rng.integers(y.size, size=(m + 100, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]][:m]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return Constraints(y.size, pairs[same], pairs[~same])


def compare(
    name: str, X: np.ndarray, k: int, pairs: Constraints, repeats: int, bar: float, **params: object
) -> None:
    start = GaussianMixture(k, max_iter=1, random_state=0).fit(X[:5000])
    given = {
        "weights_init": start.weights_,
        "means_init": start.means_,
        "precisions_init": start.precisions_,
    }

    def theirs(max_iter: int) -> object:
        return GaussianMixture(k, tol=0, max_iter=max_iter, **given).fit(X)

    def ours(max_iter: int) -> object:
        settings = {"tol": 0, "max_iter": max_iter, "init": start, "random_state": 0}
        model = PPC(k, covariance_type="full", **settings, **params)
        return model.fit(X, constraints=pairs)

    few = np.arange(5000)
    PPC(k, init=start, **params).fit(X[few], constraints=pairs.subset(few))  # compile
    used = extra_megabytes(lambda: ours(FEW))  # before larger runs leave freed memory behind
    allowed = 3 * X.shape[0] * k * 8 / 2**20 + 200
    a, b = per_iteration(ours, repeats), per_iteration(theirs, repeats)
    print(f"{name}: {a:.3f} s an iteration, GaussianMixture {b:.3f} s: {a / b:.2f} × (bar {bar})")
    print(f"    memory beyond X {used:.0f} MB (bar {allowed:.0f})")


def compare_sweeps(shape: tuple[int, int], k: int, repeats: int) -> None:
    links = grid_neighbors(shape, q=0.1)
    core = links.core()
    unary = np.random.default_rng(0).exponential(size=(core.n_nodes, k))
    model = PairwiseModel(unary, core.indptr, core.indices, *core.costs(links.strength()))

    def field(sweeps: int) -> float:
        run = lambda: mean_field(model, max_sweeps=sweeps, tol=0, shuffle=False)  # noqa: E731
        return min(seconds(run) for _ in range(repeats))

    def sample(sweeps: int) -> float:
        run = lambda: gibbs(model, burn_in=0, n_samples=sweeps, random_state=0)  # noqa: E731
        return min(seconds(run) for _ in range(repeats))

    field(1), sample(1)
    a, b = (sample(22) - sample(2)) / 20, (field(22) - field(2)) / 20
    print(f"Gibbs sweep {a * 1e3:.1f} ms, mean-field sweep {b * 1e3:.1f} ms: {a / b:.2f} × (bar 2)")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = groups(200_000, 10, 5)
    compare("200,000 × 10, 20,000 pairs", X, 5, random_pairs(y, 20_000), repeats, 1.5)
    X, _ = groups(316 * 317, 5, 4)
    links = grid_neighbors((316, 317), q=0.1)
    compare("grid, mean field", X, 4, links, repeats, 3.0, inference="mean_field")
    compare_sweeps((316, 317), 4, repeats)


if __name__ == "__main__":
    main()
