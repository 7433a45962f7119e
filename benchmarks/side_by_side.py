"""Two trees of Coterie side by side: is anything of `results/README.md` slower than it was?

    git worktree add /tmp/old a15a5b6                                   # 0.1.0
    python benchmarks/side_by_side.py /tmp/old/src src [--threads 2] [case ...]

One process for each tree holds the rows of a case, and both run it in turn, so that a machine whose
speed changes changes both. Printed: the least seconds of each (an iteration's, where a fit counts
them) and the ratio new / old. Only names that both trees have are used, and every parameter whose
default changed is given.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

Case = Callable[[], Callable[[], Any]]  # prepares, and gives what is timed


def blobs(n: int, d: int, k: int, dtype: str = "float32") -> tuple[Any, Any]:
    import numpy as np

    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n)
    X = rng.standard_normal((n, d)) + 1.5 * rng.standard_normal((k, d))[y]
    return X.astype(dtype), y


def made(kind: Any, *given: Any, **options: Any) -> Any:
    """An estimator, without the options that this tree does not have yet."""
    known = inspect.signature(kind).parameters
    return kind(*given, **{name: value for name, value in options.items() if name in known})


def fitted(model: Any, X: Any, pairs: Any) -> Callable[[], Any]:
    return lambda: model.fit(X, constraints=pairs)


def pckmeans(n_pairs: int) -> Callable[[], Any]:
    from coterie import PCKMeans
    from coterie.constraints import sample_pairs

    X, y = blobs(1_000_000, 32, 20)
    model = PCKMeans(20, init=X[:20], max_iter=20, tol=0, random_state=0, w="auto")
    return fitted(model, X, sample_pairs(y, n_pairs, random_state=0))


def pckmeans_text() -> Callable[[], Any]:
    import numpy as np
    import scipy.sparse as sp
    from sklearn.preprocessing import normalize

    from coterie import PCKMeans
    from coterie.constraints import sample_pairs

    n, d, k = 20_000, 50_000, 20
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n)
    words = rng.zipf(1.3, size=(n, 80)) % (d // 2) + (y[:, None] * 997) % (d // 2)
    entries = (np.ones(n * 80), (np.repeat(np.arange(n), 80), words.ravel()))
    X = normalize(sp.csr_matrix(entries, shape=(n, d)))
    start = X[:k].toarray()
    model = PCKMeans(k, init=start, max_iter=10, tol=0, metric="cosine", random_state=0, w="auto")
    return fitted(model, X, sample_pairs(y, 5000, random_state=0))


def small() -> Callable[[], Any]:
    from coterie import PCKMeans
    from coterie.constraints import sample_pairs

    X, y = blobs(2000, 10, 5, "float64")
    model = PCKMeans(5, init=X[:5], w=1.0, max_iter=10, tol=0, random_state=0)
    return fitted(model, X, sample_pairs(y, 400, random_state=0))


def mpckmeans(n: int, d: int, k: int, n_pairs: int) -> Callable[[], Any]:
    from coterie import MPCKMeans
    from coterie.constraints import sample_pairs

    X, y = blobs(n, d, k, "float64")
    model = MPCKMeans(k, init=X[:k], max_iter=10, tol=0.0, random_state=0)
    return fitted(model, X, sample_pairs(y, n_pairs, random_state=0))


def copkmeans(name: str, fraction: float) -> Callable[[], Any]:
    import numpy as np
    from sklearn.preprocessing import StandardScaler

    from coterie import COPKMeans
    from coterie.datasets import load, pccc_constraints

    bunch = load(name)
    X = StandardScaler().fit_transform(bunch.data.astype(np.float32))
    k = len(np.unique(bunch.target))
    model = COPKMeans(k, init=X[:k], max_iter=20, random_state=0)
    return fitted(model, X, pccc_constraints(name, fraction, bunch.target))


def ppc(X: Any, y: Any, pairs: Any, k: int, **options: Any) -> Callable[[], Any]:
    import numpy as np

    from coterie import PPC

    means = np.array([X[y == h].mean(axis=0) for h in range(k)])
    fixed = {"covariance_type": "full", "reg_covar": 1e-6, "prior_rows": 0.0, "passes": 1}
    steps = {"max_iter": 8, "tol": 0, "random_state": 0}
    return fitted(made(PPC, k, init=means, **fixed, **steps, **options), X, pairs)


def ppc_rows() -> Callable[[], Any]:
    from coterie.constraints import sample_pairs

    X, y = blobs(200_000, 10, 5, "float64")
    return ppc(X, y, sample_pairs(y, 20_000, random_state=0), 5)


def ppc_grid() -> Callable[[], Any]:
    from coterie.constraints import grid_neighbors

    X, y = blobs(316 * 317, 5, 4, "float64")
    return ppc(X, y, grid_neighbors((316, 317), q=0.1), 4, inference="mean_field")


def tvclust(n: int, n_pairs: int, **options: Any) -> Callable[[], Any]:
    from coterie import TVClust
    from coterie.constraints import sample_pairs

    X, y = blobs(n, 10, 20, "float64")
    # From labels: how starts are found has changed, and is no part of an iteration.
    fixed = {"truncation": 20, "covariance_type": "full", "init": y, "random_state": 0}
    model = made(TVClust, **fixed, **options)
    return fitted(model, X, sample_pairs(y, n_pairs, random_state=0))


def rdpmeans() -> Callable[[], Any]:
    from coterie import RDPMeans
    from coterie.constraints import sample_pairs

    X, y = blobs(1_000_000, 16, 20, "float64")
    weights = {"lambda_": 60.0, "xi0": 1.0, "xi_rate": 1.0, "xi_max": 1.0}
    model = RDPMeans(**weights, init="single", order="natural", max_iter=5, random_state=0)
    return fitted(model, X, sample_pairs(y, 100_000, random_state=0))


def propagation() -> Callable[[], Any]:
    import numpy as np

    from coterie.constraints import sample_pairs
    from coterie.propagation import propagate_gaussian

    X, y = blobs(20_000, 5, 10, "float64")
    centers = np.array([X[y == h].mean(axis=0) for h in range(10)])
    pairs = sample_pairs(y, 500, random_state=0)
    return lambda: propagate_gaussian(X, y, centers, None, pairs, 0.6)


def command_line() -> Callable[[], Any]:
    import pyarrow as pa
    from pyarrow import parquet

    from coterie.cli.main import main

    folder = Path(tempfile.mkdtemp())
    X, y = blobs(1_000_000, 20, 8, "float64")
    parquet.write_table(pa.table({f"x{j}": X[:, j] for j in range(20)}), folder / "x.parquet")
    lines = [f"{i},{i + 1},{'must' if y[i] == y[i + 1] else 'cannot'}" for i in range(0, 2000, 2)]
    (folder / "pairs.csv").write_text("\n".join(["a,b,kind", *lines]))
    given = ["fit", str(folder / "x.parquet"), "--constraints", str(folder / "pairs.csv")]
    more = ["-k", "8", "--method", "pckmeans", "--seed", "0", "--quiet", "--force"]
    return lambda: main([*given, *more], standalone_mode=False)


def help_page() -> Callable[[], Any]:
    code = "from coterie.cli.main import main; main(['--help'])"
    return lambda: subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)


CASES: dict[str, Case] = {
    "PCKMeans, 1,000,000 x 32, 100,000 pairs": lambda: pckmeans(100_000),
    "PCKMeans, 1,000,000 x 32, 1,000 pairs": lambda: pckmeans(1000),
    "PCKMeans, 20,000 x 50,000 CSR, cosine": pckmeans_text,
    "PCKMeans, 2,000 x 10, 400 pairs": small,
    "MPCKMeans, 2,000 x 10, 400 pairs": lambda: mpckmeans(2000, 10, 5, 400),
    "MPCKMeans, 200,000 x 20, 20,000 pairs": lambda: mpckmeans(200_000, 20, 10, 20_000),
    "COPKMeans, Letter, 4,950 pairs": lambda: copkmeans("letter", 0.005),
    "COPKMeans, Letter, 19,900 pairs": lambda: copkmeans("letter", 0.01),
    "COPKMeans, MNIST, 61,075 pairs": lambda: copkmeans("mnist", 0.005),
    "PPC, 200,000 x 10, 20,000 pairs": ppc_rows,
    "PPC, a grid of 100,000 pixels, mean field": ppc_grid,
    "TVClust, variational, 100,000 x 10, 100,000 pairs": lambda: tvclust(
        100_000, 100_000, n_init=1, max_iter=7, tol=0.0
    ),
    "RDPMeans, 1,000,000 x 16, 100,000 pairs": rdpmeans,
    "propagation, 20,000 x 5, 500 pairs": propagation,
    "coterie fit, 1,000,000 x 20 Parquet": command_line,
    "coterie --help": help_page,
}


def work() -> None:
    """A worker: a case comes in, it is prepared and run once, then timed as often as asked."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if "case" in asked:
                run = CASES[asked["case"]]()
                result = run()
                said: dict[str, Any] = {"iterations": int(getattr(result, "n_iter_", 1) or 1)}
            else:
                begun = time.perf_counter()
                run()
                said = {"seconds": time.perf_counter() - begun}
        except Exception as error:  # a case that one tree lacks is a line, not the end
            said = {"error": f"{type(error).__name__}: {error}"[:200]}
        print("@" + json.dumps(said), flush=True)


class Tree:
    """A process that has one tree."""

    def __init__(self, source: str, threads: int) -> None:
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
        env = {**os.environ, **dict.fromkeys(names, str(threads)), "PYTHONPATH": source}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--work"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True,
        )  # fmt: skip

    def ask(self, **message: Any) -> dict[str, Any]:
        assert self.process.stdin
        assert self.process.stdout
        print(json.dumps(message), file=self.process.stdin, flush=True)
        for line in self.process.stdout:
            if line.startswith("@"):
                return json.loads(line[1:])
        return {"error": "the process ended"}


def compare(name: str, sources: list[str], threads: int, repeat: int) -> str:
    """One line of the report."""
    trees = [Tree(source, threads) for source in sources]
    try:
        said = [tree.ask(case=name) for tree in trees]
        least = [float("inf")] * 2
        for _ in range(repeat):
            for place, tree in enumerate(trees):
                reply = tree.ask(run=True)
                least[place] = min(least[place], reply.get("seconds", float("inf")))
    finally:
        for tree in trees:
            tree.process.kill()
    for one in said:
        if "error" in one:
            return f"| {name} | {one['error']} | | |"
    old, new = (seconds / one["iterations"] for seconds, one in zip(least, said, strict=True))
    steps = " and ".join(str(one["iterations"]) for one in said)
    return f"| {name} ({steps}) | {old * 1e3:.1f} | {new * 1e3:.1f} | {new / old:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("cases", nargs="*", help="words of their names; all if none is given")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    print(f"{options.threads} threads, least of {options.repeat}, ms an iteration\n")
    print("| case (iterations) | old | new | new / old |\n|---|---|---|---|", flush=True)
    for name in CASES:
        if not options.cases or any(word in name for word in options.cases):
            print(
                compare(name, [options.old, options.new], options.threads, options.repeat),
                flush=True,
            )


if __name__ == "__main__":
    work() if "--work" in sys.argv else main()
