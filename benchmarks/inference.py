"""Engines against a sparse matrix product of the same size, in one process.

    python benchmarks/inference.py [--pairs 100000] [--clusters 20]

Prints seconds and the ratio to ``A @ U`` (A the graph with 2E entries, U the (s, K) unary costs).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from coterie import inference


def random_pairs_model(
    n_rows: int, n_pairs: int, n_labels: int, *, seed: int = 0, hard: bool = False
) -> inference.PairwiseModel:
    """Random pairs among `n_rows` rows, three in four of them right, both kinds, cost 1."""
    rng = np.random.default_rng(seed)
    pairs = np.sort(rng.integers(n_rows, size=(n_pairs, 2)), axis=1)
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    rows, flat = np.unique(pairs, return_inverse=True)
    a, b = flat.reshape(-1, 2).T
    truth = rng.integers(n_labels, size=rows.size)
    unary = 2 * rng.exponential(size=(rows.size, n_labels))
    unary[np.arange(rows.size), truth] *= 0.3
    must = (truth[a] == truth[b]) ^ (rng.random(a.size) < 0.25)
    edge = np.tile(np.arange(a.size), 2)
    source, target = np.concatenate((a, b)), np.concatenate((b, a))
    order = np.lexsort((target, source))
    indptr = np.concatenate(([0], np.cumsum(np.bincount(source, minlength=rows.size))))
    linked = must[edge[order]]
    same = np.where(linked, 0.0, np.inf if hard else 1.0)
    return inference.pairwise_model(unary, indptr, target[order], same, np.where(linked, 1.0, 0.0))


def seconds(run: Callable[[], Any], repeats: int = 3) -> float:
    """Best of a few runs, after one that compiles."""
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--clusters", type=int, default=20)
    args = parser.parse_args()
    model = random_pairs_model(args.rows, args.pairs, args.clusters)
    hard = random_pairs_model(args.rows, args.pairs, args.clusters, hard=True)
    graph = csr_array(
        (np.ones(model.indices.size), model.indices, model.indptr), shape=(model.n_nodes,) * 2
    )
    base = seconds(lambda: graph @ model.unary)
    plan, hard_plan = inference.icm_plan(model), inference.icm_plan(hard)
    exact = inference.exact_plan(model, max_table=2**16)
    warm = inference.icm(model, random_state=0, plan=plan).labels
    hard_warm = inference.icm(hard, random_state=0, plan=hard_plan).labels
    runs: dict[str, Callable[[], Any]] = {
        "icm plan": lambda: inference.icm_plan(model),
        "icm cold": lambda: inference.icm(model, random_state=0, plan=plan),
        "icm warm": lambda: inference.icm(model, warm, random_state=0, plan=plan),
        "icm cold, hard": lambda: inference.icm(hard, random_state=0, plan=hard_plan),
        "icm warm, hard": lambda: inference.icm(hard, hard_warm, random_state=0, plan=hard_plan),
        "exact plan": lambda: inference.exact_plan(model, max_table=2**16),
        "auto, labels": lambda: inference.auto(model, marginals=False, plan=exact),
        "auto": lambda: inference.auto(model, plan=exact),
        "mean field": lambda: inference.mean_field(model, random_state=0),
        "belief propagation": lambda: inference.belief_propagation(model),
        "gibbs, 20 sweeps": lambda: inference.gibbs(model, burn_in=0, n_samples=20),
    }
    print(f"{model.n_nodes} nodes, {model.n_edges} edges, K={model.n_labels}")
    print(f"{'matvec':20s} {base * 1e3:9.1f} ms")
    for name, run in runs.items():
        spent = seconds(run)
        print(f"{name:20s} {spent * 1e3:9.1f} ms {spent / base:8.1f} x")


if __name__ == "__main__":
    main()
