"""Speed of the K-Means family, as ratios to a reference in the same process.

    python benchmarks/kmeans_family.py                # every case
    python benchmarks/kmeans_family.py large text     # some
    python benchmarks/kmeans_family.py --threads 1

Times are the least of several runs, after one run that compiles. Both sides use the same number
of threads, the same start and the same number of iterations.
"""

from __future__ import annotations

import argparse
import gc
import os
import time
import tracemalloc
from collections.abc import Callable

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("cases", nargs="*", help="large, few, text, peer, growth, memory")
parser.add_argument("--threads", type=int, default=os.cpu_count())
parser.add_argument("--repeat", type=int, default=5)
options = parser.parse_args()
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = str(options.threads)

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402
from sklearn.cluster import KMeans  # noqa: E402
from sklearn.preprocessing import normalize  # noqa: E402

from coterie import Constraints, PCKMeans  # noqa: E402
from coterie.constraints import sample_pairs  # noqa: E402


def least(work: Callable[[], object], repeat: int | None = None) -> float:
    """Seconds of the quickest of several runs."""
    best = np.inf
    for _ in range(repeat or options.repeat):
        gc.collect()
        begun = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begun)
    return best


def blobs(n: int, d: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    X = rng.standard_normal((n, d), dtype=np.float32)
    X += 1.5 * rng.standard_normal((k, d), dtype=np.float32)[y]
    return X, y


def against_kmeans(X, known, k: int, iterations: int, metric: str, bar: float, title: str) -> None:
    rng = np.random.default_rng(1)
    rows = rng.choice(X.shape[0], k, replace=False)
    centers = X[rows].toarray() if sp.issparse(X) else X[rows]
    plain = KMeans(k, init=centers, n_init=1, max_iter=iterations, tol=0)
    ours = PCKMeans(
        k, init=centers, max_iter=iterations, tol=0, metric=metric, random_state=0, w="auto"
    )
    ours.fit(X, constraints=known)
    plain.fit(X)
    # Per iteration: a run that reaches its fixed point early stops.
    a = least(lambda: ours.fit(X, constraints=known)) / ours.n_iter_
    b = least(lambda: plain.fit(X)) / plain.n_iter_
    print(
        f"{title}: {a * 1e3:.1f} ms an iteration ({ours.n_iter_}), "
        f"KMeans {b * 1e3:.1f} ms ({plain.n_iter_}); ratio {a / b:.2f} (bar {bar})",
        flush=True,
    )


def large() -> None:
    X, y = blobs(1_000_000, 32, 20)
    known = sample_pairs(y, 100_000, random_state=0)
    against_kmeans(X, known, 20, 20, "sqeuclidean", 1.3, "1,000,000x32 f32, K=20, 100,000 pairs")


def few() -> None:
    X, y = blobs(1_000_000, 32, 20)
    known = sample_pairs(y, 1000, random_state=0)
    against_kmeans(X, known, 20, 20, "sqeuclidean", 1.1, "1,000,000x32 f32, K=20, 1,000 pairs")


def text() -> None:
    n, d, k = 20_000, 50_000, 20
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n)
    words = rng.zipf(1.3, size=(n, 80)) % (d // 2) + (y[:, None] * 997) % (d // 2)
    rows = np.repeat(np.arange(n), 80)
    X = sp.csr_matrix((np.ones(rows.size), (rows, words.ravel())), shape=(n, d))
    X = normalize(X)
    known = sample_pairs(y, 5000, random_state=0)
    against_kmeans(X, known, k, 10, "cosine", 1.3, "20,000x50,000 CSR, cosine, K=20, 5,000 pairs")


def peer() -> None:
    try:
        from active_semi_clustering.semi_supervised.pairwise_constraints import PCKMeans as Peer
    except ImportError:
        print("peer: pip install active-semi-supervised-clustering to run this case")
        return
    X, y = blobs(2000, 10, 5)
    X = X.astype(np.float64)
    known = sample_pairs(y, 400, random_state=0)
    must, cannot = known.must_link.tolist(), known.cannot_link.tolist()
    theirs = Peer(n_clusters=5, max_iter=10)
    ours = PCKMeans(5, w=1.0, max_iter=10, tol=0, random_state=0)
    ours.fit(X, constraints=known)
    a = least(lambda: ours.fit(X, constraints=known))

    def run() -> None:
        np.random.seed(0)  # noqa: NPY002 - the only seed it takes
        theirs.fit(X, ml=must, cl=cannot)

    b = least(run, 2)
    print(
        f"2,000x10, K=5, 400 pairs, whole fit of at most 10 iterations: {a * 1e3:.1f} ms "
        f"({ours.n_iter_} iterations, start included), active-semi-supervised-clustering "
        f"{b * 1e3:.0f} ms; {b / a:.0f} times faster (bar 50)",
        flush=True,
    )


def growth() -> None:
    def seconds(n: int, m: int) -> float:
        X, y = blobs(n, 16, 10)
        known = sample_pairs(y, m, random_state=0)
        model = PCKMeans(10, init=X[:10], max_iter=10, tol=0, random_state=0)
        model.fit(X, constraints=known)
        return least(lambda: model.fit(X, constraints=known), 3) / model.n_iter_

    rows = [seconds(n, 10_000) for n in (100_000, 1_000_000)]
    pairs = [seconds(1_000_000, m) for m in (10_000, 100_000, 1_000_000)]
    print(f"growth with rows 10^5 to 10^6: exponent {np.log10(rows[1] / rows[0]):.2f} (bar 1.1)")
    print(
        "growth with pairs 10^4 to 10^6: exponent "
        f"{np.log10(pairs[2] / pairs[0]) / 2:.2f} (bar 1.1), "
        f"seconds an iteration {[round(s, 3) for s in pairs]}",
        flush=True,
    )


def memory() -> None:
    X, y = blobs(1_000_000, 32, 20)
    known: Constraints = sample_pairs(y, 100_000, random_state=0)
    PCKMeans(20, init=X[:20], max_iter=2, random_state=0).fit(
        X[:5000], constraints=known.subset(np.arange(5000))
    )
    tracemalloc.start()
    PCKMeans(20, init=X[:20], max_iter=5, random_state=0).fit(X, constraints=known)
    extra = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    size = X.nbytes / 2**20
    print(f"memory beyond X: {extra:.0f} MB (bar 0.5 x {size:.0f} + 200 = {0.5 * size + 200:.0f})")


CASES = {case.__name__: case for case in (large, few, text, peer, growth, memory)}

if __name__ == "__main__":
    print(f"{options.threads} threads, least of {options.repeat} runs")
    for name in options.cases or CASES:
        CASES[name]()
