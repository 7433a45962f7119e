"""Iterated conditional modes as printed: one node after the other to its best label.

Besag (1986); section 3.3.6 of Basu et al. (2006), step 2a of Figure 1 of Basu et al. (2004).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from coterie.inference._kernels import RandomState, draw_seed
from coterie.inference._local_search import Groups, icm_plan, no_savings, run_moves
from coterie.inference.contraction import on_contracted
from coterie.inference.feasible import feasible_start
from coterie.inference.model import (
    Inference,
    PairwiseModel,
    cheapest_labels,
    check_labels,
    total_energy,
)

__all__ = ["plain_icm"]


def plain_icm(
    model: PairwiseModel,
    labels: ArrayLike | None = None,
    *,
    random_state: RandomState = None,
    max_sweeps: int = 100,
    time_limit: float = 10.0,
) -> Inference:
    """Lower E by moves of single nodes only, in a new random order each sweep.

    What the papers call ICM, to compare with. `icm` adds moves of whole must-link components and
    swaps along hard edges, without which the search ends far above the least energy where
    penalties are large.

    Parameters
    ----------
    labels : (s,), optional
        Start, each node's cheapest label by default. One of infinite energy is replaced by
        `feasible_start`.
    random_state : int, Generator, RandomState or None
    max_sweeps : int
        ``converged`` is False when it is reached.
    time_limit : float
        Seconds that `feasible_start` may take for exact search.

    Returns
    -------
    Inference
        Without marginals.
    """
    plan = icm_plan(model)
    start = None if labels is None else check_labels(model, labels)
    if plan.welded:  # nodes that a hard must-link joins are one
        return on_contracted(
            model,
            start,
            lambda small, y: plain_icm(
                small, y, random_state=random_state, max_sweeps=max_sweeps, time_limit=time_limit
            ),
        )
    y = cheapest_labels(model) if start is None else start.copy()
    seed = draw_seed(random_state)
    # Without hard edges the first sweep leaves forbidden labels by itself, if there are others.
    if not np.isfinite(model.unary).any(axis=1).all() or (
        plan.hard and not np.isfinite(total_energy(model, y))
    ):
        y = feasible_start(model, np.random.default_rng(int(seed)), time_limit=time_limit)
    none = np.empty(0, dtype=np.int64)
    nowhere = np.zeros_like(plan.single.edges)
    no_groups = Groups(np.zeros(1, dtype=np.int64), none, np.full(model.n_nodes, -1), nowhere)
    rows_only = plan._replace(groups=no_groups, hard=False)
    done = run_moves(model, rows_only, y, None, seed, max_sweeps, 0, no_savings(model))
    report = {"row_moves": done.row_moves}
    return Inference(y, None, total_energy(model, y), None, done.sweeps, done.converged, report)
