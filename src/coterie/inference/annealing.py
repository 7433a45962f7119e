"""Labels that keep hard edges, found by mean field whose hard edges become harder step by step.

With hard edges single changes freeze: two nodes that must differ can only change together. While
an edge is soft they change one after the other.
"""

from __future__ import annotations

import numpy as np

from coterie._typing import BoolArray, FloatArray, IntArray
from coterie.inference import _field_kernels
from coterie.inference.feasible import feasible_start
from coterie.inference.icm import icm
from coterie.inference.model import PairwiseModel, total_energy

__all__ = ["annealed_labels", "hard_entries", "softened"]

STEPS = (1.0, 2.0, 4.0, 8.0, 16.0)  # nats that breaking a hard edge costs, in turn
_SWEEPS = 8  # over the nodes at each
_SURE = 40.0  # nats that a label the field gives no weight costs at least in the greedy labelling


def hard_entries(model: PairwiseModel) -> BoolArray:
    """CSR entries (2E,) that forbid some pair of labels."""
    return np.asarray(np.isinf(model.same).any(axis=1) | np.isinf(model.differ).any(axis=1))


def softened(model: PairwiseModel, strength: float) -> PairwiseModel:
    """`model` with `strength` in the place of infinite costs of pairs."""
    same, differ = (np.where(np.isinf(c), strength, c) for c in (model.same, model.differ))
    return model._replace(same=same, differ=differ)


def annealed_labels(model: PairwiseModel, seed: np.uint64) -> IntArray:
    """Labels (s,) of finite energy: the better of two searches.

    One restores feasibility near the marginals of the annealed field, the other starts from
    `feasible_start`; both end with `icm`, which moves whole components and swaps along chains.

    Raises
    ------
    NoFeasibleLabels
        If there are none.
    """
    rng = np.random.default_rng(int(seed))
    plain = icm(model, feasible_start(model, rng), random_state=int(seed))
    if not np.isfinite(model.unary).any(axis=1).all():
        return plain.labels
    leaning = model._replace(unary=_leaning(model, _annealed_field(model, seed)))
    near = icm(model, feasible_start(leaning, rng), random_state=int(seed))
    return min((near, plain), key=lambda found: total_energy(model, found.labels)).labels


def _annealed_field(model: PairwiseModel, seed: np.uint64) -> FloatArray:
    """Marginals (s, K) after mean field with harder and harder edges."""
    q = np.empty_like(model.unary)
    _field_kernels.softmax_rows(model.unary, q)
    state = np.array([seed], dtype=np.uint64)
    order = np.arange(model.n_nodes)
    for strength in STEPS:
        soft = softened(model, strength)
        for _ in range(_SWEEPS):
            _field_kernels.field_sweep(soft, 0, order, state, q)
    return q


def _leaning(model: PairwiseModel, q: FloatArray) -> FloatArray:
    """−log q (s, K), infinite only for labels that the model itself forbids."""
    cost = -np.log(np.maximum(q, np.exp(-_SURE)))
    return np.where(np.isinf(model.unary), np.inf, cost)
