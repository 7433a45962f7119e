"""Labels of least energy, proven: narrow components by elimination, wide ones by HiGHS."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import ArrayLike

from coterie._typing import IntArray
from coterie.inference._kernels import RandomState
from coterie.inference.contraction import on_contracted
from coterie.inference.elimination import ExactPlan, exact_plan, solve_exactly
from coterie.inference.icm import icm
from coterie.inference.improving import improve
from coterie.inference.model import Inference, PairwiseModel, check_labels, subgraph, total_energy

__all__ = ["least_energy"]


def least_energy(
    model: PairwiseModel,
    labels: ArrayLike | None = None,
    *,
    random_state: RandomState = None,
    time_limit: float = np.inf,
    max_table: int = 2**16,
    plan: ExactPlan | None = None,
) -> Inference:
    """Labels of least energy, and whether that is proven.

    Components of the graph are independent. Narrow ones (K^(width+1) ≤ `max_table`) are solved by
    elimination, the others by a mixed-integer program over the labels that may lower the energy of
    the start: the better the start, the smaller the program.

    Parameters
    ----------
    labels : (s,), optional
        Start; the energy found is never above its energy. `icm` polishes it first, or finds one.
    time_limit : float
        Seconds for all programs together. Components not solved by then keep the better of their
        start and of what HiGHS had found.
    plan : ExactPlan, optional
        From `exact_plan` of a model with the same graph and K and no hard must-links.

    Returns
    -------
    Inference
        Without marginals. ``converged`` is True if the energy is proven least, up to HiGHS'
        tolerance (1e-6 of the largest cost);
        ``report["bound"]`` is a lower bound on it, ``report["unproven"]`` the number of nodes in
        components that time ran out on.

    Raises
    ------
    NoFeasibleLabels
        If hard edges and forbidden labels leave no labelling of finite energy.
    """
    start = None if labels is None else check_labels(model, labels)

    def run(small: PairwiseModel, first: IntArray | None) -> Inference:
        y = icm(small, first, random_state=random_state, time_limit=time_limit).labels
        how = exact_plan(small, max_table=max_table) if plan is None else plan
        return _least_energy(small, y, how, time.monotonic() + time_limit)

    return run(model, start) if plan is not None else on_contracted(model, start, run)


def _least_energy(
    model: PairwiseModel, start: IntArray, plan: ExactPlan, deadline: float
) -> Inference:
    narrow = ~plan.wide
    labels = start.copy()
    labels[narrow] = solve_exactly(model, plan, marginals=False).labels[narrow]
    given_up, unproven = 0.0, 0
    wide = np.flatnonzero(plan.wide)
    wide = wide[np.argsort(plan.component[wide], kind="stable")]
    starts = np.unique(plan.component[wide], return_index=True)[1]
    for nodes in np.split(wide, starts[1:]) if wide.size else []:
        part, _ = subgraph(model, nodes)
        labels[nodes], bound = improve(part, labels[nodes], deadline)
        gap = total_energy(part, labels[nodes]) - bound
        given_up += max(gap, 0.0)
        unproven += nodes.size if gap > 0 else 0
    value = total_energy(model, labels)
    report = {"bound": value - given_up, "unproven": unproven, "eliminated": int(narrow.sum())}
    return Inference(labels, None, value, None, 0, unproven == 0, report)
