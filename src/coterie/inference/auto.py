"""Exact where it is affordable, the best approximation elsewhere, component by component."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from coterie._typing import IntArray
from coterie.inference._kernels import RandomState
from coterie.inference.contraction import on_contracted
from coterie.inference.elimination import ExactPlan, exact_plan, solve_exactly
from coterie.inference.icm import icm
from coterie.inference.mean_field import mean_field
from coterie.inference.model import Inference, PairwiseModel, check_labels, subgraph, total_energy

__all__ = ["auto"]


def auto(
    model: PairwiseModel,
    labels: ArrayLike | None = None,
    *,
    marginals: bool = True,
    random_state: RandomState = None,
    max_table: int = 2**16,
    max_sweeps: int = 200,
    plan: ExactPlan | None = None,
) -> Inference:
    """Trees and narrow components exactly; wide ones by `icm` and, for marginals, `mean_field`.

    Parameters
    ----------
    labels : (s,), optional
        Start for `icm` on the wide components.
    marginals : bool
        Whether marginals, `edge_same` and log Z are wanted as well as labels.
    max_table : int
        Largest table, K^(width+1) entries, for an exact component.
    plan : ExactPlan, optional
        From `exact_plan`, for a graph without hard must-links met again and again.

    Returns
    -------
    Inference
        ``report``: exact_nodes, approximate_nodes, largest_width (of the exact ones), and what
        log_partition is ("exact" or "lower bound").
    """
    start = None if labels is None else check_labels(model, labels)

    def run(small: PairwiseModel, y: IntArray | None) -> Inference:
        how = exact_plan(small, max_table=max_table) if plan is None else plan
        found = solve_exactly(small, how, marginals=marginals)
        if not how.wide.any():
            return found
        return _add_wide(small, how, found, y, marginals, random_state, max_sweeps)

    return run(model, start) if plan is not None else on_contracted(model, start, run)


def _add_wide(
    model: PairwiseModel,
    plan: ExactPlan,
    found: Inference,
    start: IntArray | None,
    marginals: bool,
    random_state: RandomState,
    max_sweeps: int,
) -> Inference:
    """`found` with the wide components filled in."""
    nodes = np.flatnonzero(plan.wide)
    part, entries = subgraph(model, nodes)
    y = None if start is None else start[nodes]
    search = icm(part, y, random_state=random_state, max_sweeps=max_sweeps)
    found.labels[nodes] = search.labels
    sweeps, converged = search.sweeps, search.converged
    report = dict(found.report)
    log_partition = found.log_partition
    if marginals:
        field = mean_field(part, random_state=random_state, max_sweeps=max_sweeps)
        assert found.marginals is not None
        assert found.edge_same is not None
        assert field.log_partition is not None
        assert log_partition is not None
        found.marginals[nodes] = field.marginals
        found.edge_same[entries] = field.edge_same
        log_partition += field.log_partition
        report["log_partition"] = "lower bound"
        sweeps, converged = max(sweeps, field.sweeps), converged and field.converged
    return found._replace(
        energy=total_energy(model, found.labels),
        log_partition=log_partition,
        sweeps=sweeps,
        converged=converged,
        report=report,
    )
