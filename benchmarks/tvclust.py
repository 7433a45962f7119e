"""Time of TVClust and RDP-means as ratios to scikit-learn and to the naive twin, in one process.

Run with ``python benchmarks/tvclust.py [--seed 0]``.

Bars: variational iteration <= 2 x BayesianGaussianMixture's; RDP-means pass <= 2 x a K-Means
iteration; a Gibbs sweep at least 100 x as fast as the naive twin's.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture

from coterie.cluster.rdp.fit import start_from_labels
from coterie.cluster.rdp.passes import run_round
from coterie.cluster.rdp.problem import RdpProblem, Xi, get_divergence
from coterie.constraints import Constraints
from coterie.data import Rows
from coterie.mixture.tvclust import gibbs
from coterie.mixture.tvclust.families import Gaussian
from coterie.mixture.tvclust.pairs import AnswerLogs, Beta, PairEvidence
from coterie.mixture.tvclust.variational import Alpha, Priors, TwoViews, run_variational

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from reference.tvclust import NaiveGaussian, naive_sweep

PRIORS = Priors(Beta(10.0, 1.0), Beta(10.0, 1.0), Alpha(1.0))


def _pairs(y: np.ndarray, m: int, rng: np.random.Generator) -> Constraints:
    i = rng.integers(len(y), size=m)
    j = (i + rng.integers(1, len(y), size=m)) % len(y)
    must = (y[i] == y[j]) ^ (rng.random(m) >= 0.95)
    pairs = np.column_stack([i, j])
    return Constraints(len(y), must_link=pairs[must], cannot_link=pairs[~must])


def _best(run: Callable[[], object], times: int = 3) -> float:
    """Least wall time of a few runs, after one to warm up."""
    run()
    spent = []
    for _ in range(times):
        begin = time.perf_counter()
        run()
        spent.append(time.perf_counter() - begin)
    return min(spent)


def _per_iteration(run: Callable[[int], object], few: int, many: int) -> float:
    """Time of one iteration, without what a fit costs besides."""
    return (_best(lambda: run(many)) - _best(lambda: run(few))) / (many - few)


def variational(seed: int) -> tuple[str, float]:
    """100,000 x 10, truncation 20, 100,000 pairs."""
    rng = np.random.default_rng(seed)
    X, y = make_blobs(100_000, n_features=10, centers=20, cluster_std=3.0, random_state=seed)
    data = TwoViews(
        Rows.centered(X),
        np.empty(0),
        PairEvidence(_pairs(y, 100_000, rng)),
        Gaussian(X.var(axis=0), 1.0, 12.0),
    )
    labels = rng.integers(20, size=len(X))

    def ours(iterations: int) -> None:
        own = np.random.default_rng(seed)
        run_variational(data, labels, 20, PRIORS, max_iter=iterations, tol=-np.inf, rng=own)

    def theirs(iterations: int) -> None:
        BayesianGaussianMixture(
            n_components=20, max_iter=iterations, tol=0.0, init_params="random", random_state=seed
        ).fit(X)

    ratio = _per_iteration(ours, 2, 7) / _per_iteration(theirs, 2, 7)
    return "variational iteration / BayesianGaussianMixture iteration (bar <= 2)", ratio


def rdp_means(seed: int) -> tuple[str, float]:
    """1,000,000 x 16, 100,000 pairs, 20 clusters."""
    rng = np.random.default_rng(seed)
    X, y = make_blobs(1_000_000, n_features=16, centers=20, cluster_std=8.0, random_state=seed)
    problem = RdpProblem(X, _pairs(y, 100_000, rng), None, get_divergence("sqeuclidean"))
    state = start_from_labels(problem, y)
    xi = Xi(1.0, 1.0)
    ours = _best(lambda: run_round(problem, state, xi, 1e4, np.random.default_rng(seed)))
    centers = X[rng.choice(len(X), 20, replace=False)]  # clusters overlap: no early end

    def theirs(iterations: int) -> None:
        KMeans(20, init=centers, n_init=1, max_iter=iterations, tol=0.0, algorithm="lloyd").fit(X)

    ratio = ours / _per_iteration(theirs, 2, 12)
    return "RDP-means pass / K-Means iteration (bar <= 2)", ratio


def gibbs_sweep(seed: int) -> tuple[str, float]:
    """5,000 x 4, 2,000 pairs; the twin is timed on the first 100 rows at the same clusters."""
    rng = np.random.default_rng(seed)
    X, y = make_blobs(5_000, n_features=4, centers=8, random_state=seed)
    X -= X.mean(axis=0)
    pairs = _pairs(y, 2_000, rng)
    scale = X.var(axis=0)
    data = TwoViews(Rows(X), np.empty(0), PairEvidence(pairs), Gaussian(scale, 1.0, 6.0))
    sampler = gibbs.Sampler(data)
    seats = sampler.of_nodes(y)
    ours = _best(lambda: sampler.sweep(seats, AnswerLogs.at(0.9, 0.9), 1.0, rng))
    neighbours: list[dict[int, list[int]]] = [{k: [] for k in range(len(X))} for _ in range(2)]
    for (a, b), kind in zip(pairs.pairs.tolist(), pairs.kind, strict=True):
        neighbours[int(kind < 0)][a].append(b)
        neighbours[int(kind < 0)][b].append(a)
    begin = time.perf_counter()
    some = 100
    naive_sweep(
        NaiveGaussian(scale, 1.0, 6.0), X, *neighbours, y.astype(np.int64), 0.9, 0.9, 1.0, rng,
        rows=range(some),
    )  # fmt: skip
    theirs = (time.perf_counter() - begin) * len(X) / some
    return "naive Gibbs sweep / ours (bar >= 100)", theirs / ours


@click.command()
@click.option("--seed", default=0, show_default=True)
def main(seed: int) -> None:
    """Run all three."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    for benchmark in (gibbs_sweep, variational, rdp_means):
        title, ratio = benchmark(seed)
        click.echo(f"{benchmark.__doc__}\n    {title}: {ratio:.2f}")


if __name__ == "__main__":
    main()
