"""The linear-programming relaxation: a lower bound on the energy, and labels by rounding."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from coterie._typing import IntArray
from coterie.exceptions import CoterieError
from coterie.inference._kernels import RandomState
from coterie.inference._program import build_program, contested, solve
from coterie.inference.contraction import on_contracted
from coterie.inference.icm import icm
from coterie.inference.model import (
    Inference,
    NoFeasibleLabels,
    PairwiseModel,
    cheapest_labels,
    check_labels,
    subgraph,
)

__all__ = ["linear_program"]

_INFEASIBLE = 2
_INTEGRAL = 1e-6


def linear_program(
    model: PairwiseModel,
    labels: ArrayLike | None = None,
    *,
    random_state: RandomState = None,
    time_limit: float | None = None,
) -> Inference:
    """Solve the Kleinberg-Tardos type relaxation with HiGHS, round, and polish by `icm`.

    Each node takes its heaviest label, then `icm` lowers the energy from there. Where the solution
    is integral (``report["fractional_nodes"] == 0``) the labels are optimal. Components whose
    cheapest labels cost nothing on edges are optimal as they are and stay out of the program.

    Parameters
    ----------
    labels : (s,), optional
        Polished too, and returned if lower in energy than the rounding.
    time_limit : float, optional
        Seconds for HiGHS.

    Returns
    -------
    Inference
        ``report["lower_bound"]`` ≤ minimum of E ≤ ``energy``, up to HiGHS' tolerance of 1e-7.

    Raises
    ------
    NoFeasibleLabels
    """
    start = None if labels is None else check_labels(model, labels)
    return on_contracted(model, start, lambda m, y: _run(m, y, random_state, time_limit))


def _run(
    model: PairwiseModel,
    labels: IntArray | None,
    random_state: RandomState,
    time_limit: float | None,
) -> Inference:
    rounded = cheapest_labels(model)
    nodes = contested(model, rounded)
    settled, _ = subgraph(model, np.setdiff1d(np.arange(model.n_nodes), nodes))
    bound, fractional = float(settled.unary.min(axis=1).sum()), 0
    if nodes.size:
        part, _ = subgraph(model, nodes)
        program = build_program(part, np.isfinite(part.unary))
        answer = solve(program, integer=False, time_limit=time_limit)
        if answer.status == _INFEASIBLE:
            raise NoFeasibleLabels(nodes, model.n_labels)
        if answer.x is None:
            raise CoterieError(
                f"HiGHS gave no solution of the relaxation over {nodes.size} nodes "
                f"(status {answer.status}); raise time_limit or use another method."
            )
        rounded[nodes] = np.argmax(answer.x, axis=1)
        fractional = int((answer.x.max(axis=1) < 1 - _INTEGRAL).sum())
        bound += answer.bound
    found = icm(model, rounded, random_state=random_state)
    if labels is not None:
        other = icm(model, labels, random_state=random_state)
        found = other if other.energy < found.energy else found
    report = {
        "lower_bound": bound,
        "fractional_nodes": fractional,
        "program_nodes": int(nodes.size),
        "icm": found.report,
    }
    return found._replace(report=report)
