"""Naive mean field: independent marginals that maximise a lower bound on log Z."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from coterie._typing import FloatArray, IntArray
from coterie.exceptions import InvalidParameter
from coterie.inference import _field_kernels
from coterie.inference._kernels import RandomState, draw_seed
from coterie.inference.annealing import annealed_labels, hard_entries
from coterie.inference.contraction import on_contracted
from coterie.inference.model import Inference, PairwiseModel, check_labels, entry_rows, total_energy

__all__ = ["mean_field"]


def mean_field(
    model: PairwiseModel,
    labels: ArrayLike | None = None,
    *,
    marginals: ArrayLike | None = None,
    random_state: RandomState = None,
    max_sweeps: int = 200,
    tol: float = 1e-6,
    shuffle: bool = True,
    pairs: bool = True,
) -> Inference:
    """Maximise Σ_i H(q_i) − Σ_i q_i·unary_i − Σ_edges E_q[cost] ≤ log Z, one node at a time.

    Each update q_i(k) ∝ exp(−unary[i, k] − Σ_j E_{q_j}[cost(k, y_j)]) is the exact maximum over q_i
    (Lu and Leen 2007, §3.3, each unordered pair counted once), so the bound never falls. With hard
    edges the bound is finite only if every possible pair of labels is allowed: the start is then a
    feasible labelling, found by mean field whose hard edges become harder step by step, and a label
    is given weight only where it is allowed with certainty.

    Parameters
    ----------
    labels : (s,), optional
        Start at these labels with certainty, if their energy is finite.
    marginals : (s, K), optional
        Start; rows sum to 1. Default: exp(−unary), or a feasible labelling with hard edges.
    max_sweeps, tol : int, float
        Stop when no marginal changed by more than `tol` in a sweep.
    shuffle : bool
        Visit nodes in a new random order each sweep; False goes through memory, forth and back,
        which is several times faster on graphs larger than the cache.
    pairs : bool
        Whether `edge_same` is wanted.

    Returns
    -------
    Inference
        ``log_partition`` is the bound, ``report["bounds"]`` (sweeps + 1,) its history, and
        ``report["frozen"]`` how many nodes of hard edges ended with all their weight on one label:
        there the bound may be far below log Z.
    """
    start = None if labels is None else check_labels(model, labels)
    if marginals is None:
        return on_contracted(
            model,
            start,
            lambda m, y: _run(m, y, None, random_state, max_sweeps, tol, shuffle, pairs),
        )
    q = np.array(marginals, dtype=np.float64)
    if q.shape != model.unary.shape or not np.allclose(q.sum(axis=1), 1.0) or (q < 0).any():
        raise InvalidParameter(f"marginals must be {model.unary.shape}, >= 0, rows summing to 1.")
    return _run(model, None, q, random_state, max_sweeps, tol, shuffle, pairs)


def _run(
    model: PairwiseModel,
    labels: IntArray | None,
    q: FloatArray | None,
    random_state: RandomState,
    max_sweeps: int,
    tol: float,
    shuffle: bool,
    pairs: bool,
) -> Inference:
    seed = draw_seed(random_state)
    if q is None:
        q = _start(model, labels, seed)
    bounds = [_field_kernels.field_bound(model, q)]
    converged, sweeps = False, 0
    state = np.array([seed], dtype=np.uint64)
    while sweeps < max_sweeps and not converged:
        direction = 0 if shuffle else 1 - 2 * (sweeps % 2)
        change = _field_kernels.field_sweep(model, direction, np.arange(model.n_nodes), state, q)
        bounds.append(_field_kernels.field_bound(model, q))
        sweeps += 1
        converged = bool(change <= tol)
    y = np.argmax(q, axis=1).astype(np.int64)
    edge_same = None
    if pairs:
        edge_same = np.einsum("ek,ek->e", q[entry_rows(model)], q[model.indices])
    value = total_energy(model, y)
    report = {
        "log_partition": "lower bound",
        "bounds": np.array(bounds),
        "frozen": _frozen(model, q),
    }
    return Inference(y, q, value, float(bounds[-1]), sweeps, converged, report, edge_same)


def _start(model: PairwiseModel, labels: IntArray | None, seed: np.uint64) -> FloatArray:
    """Certain labels where given or where an edge is hard; exp(−unary) elsewhere."""
    hard = hard_entries(model)
    q = np.empty_like(model.unary)
    _field_kernels.softmax_rows(model.unary, q)
    if labels is not None and np.isfinite(total_energy(model, labels)):
        certain = np.arange(model.n_nodes)
    else:
        certain = np.unique(entry_rows(model)[hard])
        needs = hard.any() or not np.isfinite(q).all()
        labels = annealed_labels(model, seed) if needs else None
    if labels is not None:
        q[certain] = 0.0
        q[certain, labels[certain]] = 1.0
    return q


def _frozen(model: PairwiseModel, q: FloatArray) -> int:
    """Nodes of hard edges that have all their weight on one label."""
    nodes = np.unique(entry_rows(model)[hard_entries(model)])
    return int(np.count_nonzero(q[nodes].max(axis=1, initial=0.0) == 1.0))
