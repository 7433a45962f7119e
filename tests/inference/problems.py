"""Random small models of every kind, for comparison with enumeration."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie.inference import PairwiseModel, pairwise_model

SHAPES = ("tree", "cycle", "clique", "random", "forest")


class Problem(NamedTuple):
    model: PairwiseModel
    unary: np.ndarray  # (n, K)
    edges: list[tuple[int, int]]
    same: np.ndarray  # (E, K)
    differ: np.ndarray  # (E, K)
    entry_edge: np.ndarray  # (2E,) edge of each CSR entry


def graph(shape: str, n: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    order = rng.permutation(n)
    if shape == "clique":
        return [(i, j) for i in range(n) for j in range(i + 1, n)]
    if shape == "random":
        return [(i, j) for i in range(n) for j in range(i + 1, n) if rng.random() < 0.4]
    keep = 0.6 if shape == "forest" else 1.0
    tree = [(order[rng.integers(b)], order[b]) for b in range(1, n) if rng.random() < keep]
    if shape == "cycle" and n > 2:
        tree = [(order[b], order[(b + 1) % n]) for b in range(n)]
    return sorted((int(min(p)), int(max(p))) for p in tree)


def assemble(unary, edges, same, differ, rng=None) -> Problem:
    """Problem from edges listed once; CSR rows shuffled if a generator is given."""
    unary = np.asarray(unary, float)
    n, k = unary.shape
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    source = np.concatenate((ends[:, 0], ends[:, 1]))
    target = np.concatenate((ends[:, 1], ends[:, 0]))
    edge = np.tile(np.arange(len(edges)), 2)
    if rng is not None:
        mix = rng.permutation(source.size)
        source, target, edge = source[mix], target[mix], edge[mix]
    order = np.argsort(source, kind="stable")
    indptr = np.concatenate(([0], np.cumsum(np.bincount(source, minlength=n)))).astype(np.int64)
    same, differ = np.asarray(same, float), np.asarray(differ, float)
    model = pairwise_model(unary, indptr, target[order], same[edge[order]], differ[edge[order]])
    wide = (len(edges), k)
    same, differ = (np.broadcast_to(c if c.ndim == 2 else c[:, None], wide) for c in (same, differ))
    return Problem(model, unary, list(edges), same, differ, edge[order])


def random_problem(seed: int, *, n_max=8, hard=True, shapes=SHAPES, k_max=3) -> Problem:
    """Every shape, K, both kinds, hard and soft, one cost or one per cluster, in turn."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, n_max + 1))
    k = int(rng.integers(1, k_max + 1)) if seed % 7 == 0 else int(rng.integers(2, k_max + 1))
    edges = graph(shapes[seed % len(shapes)], n, rng)
    unary = rng.normal(size=(n, k)) * rng.choice([0.3, 1.0, 3.0])
    if rng.random() < 0.2:
        unary[rng.random((n, k)) < 0.15] = np.inf
    width = k if rng.random() < 0.4 else 1
    kind = rng.random((len(edges), 1)) < 0.5
    cost = rng.exponential(size=(len(edges), width)) * rng.choice([0.5, 2.0])
    if hard:
        cost[rng.random(len(edges)) < rng.choice([0.0, 0.2, 0.6])] = np.inf
    both = rng.random((len(edges), 1)) < 0.1  # some pairs given as both kinds
    other = np.where(both, rng.exponential(size=(len(edges), width)), 0.0)
    same, differ = np.where(kind, other, cost), np.where(kind, cost, other)
    if hard and width > 1 and rng.random() < 0.3:  # hard for some labels only
        same[rng.random(same.shape) < 0.2] = np.inf
    return assemble(unary, edges, same, differ, rng)
