"""Gibbs sampling: marginals by drawing each label given its neighbours.

Equation 3.1 of Lu and Leen (2007).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from coterie._typing import IntArray
from coterie.exceptions import InvalidParameter
from coterie.inference import _field_kernels
from coterie.inference._kernels import RandomState, draw_seed
from coterie.inference.contraction import on_contracted
from coterie.inference.feasible import feasible_start
from coterie.inference.model import (
    Inference,
    PairwiseModel,
    cheapest_labels,
    check_labels,
    entry_rows,
    total_energy,
)

__all__ = ["gibbs"]


def gibbs(
    model: PairwiseModel,
    labels: ArrayLike | None = None,
    *,
    random_state: RandomState = None,
    burn_in: int = 100,
    n_samples: int = 1000,
) -> Inference:
    """Estimate marginals from `n_samples` sweeps after `burn_in`.

    With hard cannot-links the chain starts from a feasible labelling and stays feasible. Besides
    single nodes it then draws swaps of two labels along chains of hard edges, without which a
    component would never change with K = 2. With few labels more than two, some labellings of
    dense components may still not be reached (``report["swaps"]`` says whether swaps were drawn).

    Parameters
    ----------
    labels : (s,), optional
        Start, used if its energy is finite.

    Returns
    -------
    Inference
        `labels` are the best sampled, `marginals` and `edge_same` sample frequencies; ``converged``
        is always True (a fixed number of sweeps).
    """
    if burn_in < 0 or n_samples < 1:
        raise InvalidParameter("burn_in must be >= 0 and n_samples >= 1.")
    start = None if labels is None else check_labels(model, labels)
    seed = draw_seed(random_state)
    return on_contracted(model, start, lambda m, y: _run(m, y, seed, burn_in, n_samples))


def _run(
    model: PairwiseModel, labels: IntArray | None, seed: np.uint64, burn_in: int, n_samples: int
) -> Inference:
    if labels is None:
        labels = cheapest_labels(model)
    if not np.isfinite(total_energy(model, labels)):
        labels = feasible_start(model, np.random.default_rng(int(seed)))
    y = labels.copy()
    tally = _field_kernels.Tally(
        labels.copy(), np.zeros(model.unary.shape), np.zeros(model.indices.shape[0])
    )
    starts = _swap_starts(model)
    _field_kernels.gibbs_run(model, starts, seed, burn_in, n_samples, y, tally)
    value = total_energy(model, tally.best)
    report = {"burn_in": burn_in, "n_samples": n_samples, "last": y, "swaps": starts.size > 0}
    marginals, edge_same = tally.counts / n_samples, tally.together / n_samples
    sweeps = burn_in + n_samples
    return Inference(tally.best, marginals, value, None, sweeps, True, report, edge_same)


def _swap_starts(model: PairwiseModel) -> IntArray:
    """Nodes of hard edges, where swaps begin.

    None where an edge is hard for some labels and not for others: a chain would not be the same
    from both sides, and its swaps not drawn by the right odds.
    """
    hard = np.isinf(model.same)
    uneven = hard.any(axis=1) != hard.all(axis=1)
    if model.n_labels < 2 or uneven.any() or np.isinf(model.differ).any():
        return np.empty(0, dtype=np.int64)
    return np.unique(entry_rows(model)[hard.all(axis=1)])
