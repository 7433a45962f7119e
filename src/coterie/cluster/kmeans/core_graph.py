"""The core as a pairwise model: rows in constraints, and the engine that labels them."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.constraints import Constraints
from coterie.inference import (
    IcmPlan,
    NodeGroups,
    NoFeasibleLabels,
    PairwiseModel,
    Savings,
    better_by_component,
    cheapest_labels,
    components,
    crowd_model,
    crowd_of,
    draw_seed,
    icm,
    icm_plan,
    infer,
    label_with_groups,
    plain_icm,
    polish,
    restart_crowd,
)

PROVING = "least_energy"  # the engine that ends with a proof
PLAIN = "plain_icm"  # the engine as printed, whose labels are left as they are


class PairCosts(NamedTuple):
    """What pairs cost: `cost` (m,) or (m, K) of each pair, summed to `same` and `differ` of each
    entry of the core's graph, and the local search's plans for them, of all nodes and of the
    crowd; what exclusive groups cost, if there are any.
    """

    cost: Array
    same: Array
    differ: Array
    plan: IcmPlan
    crowd_plan: IcmPlan | None
    groups: NodeGroups | None


class CoreLabels(NamedTuple):
    """Labels (s,) of the core's nodes, the share of the energy that a fresh search saved, whether
    the labels are proven best, and what the next local search from them need not find again.
    """

    nodes: Array
    saved: float = 0.0
    proven: bool = False
    savings: Savings | None = None


class CoreGraph:
    """The core of a set of constraints and an engine to label it, fixed for one fit."""

    def __init__(
        self,
        constraints: Constraints,
        n_clusters: int,
        engine: str,
        time_limit: float,
    ) -> None:
        self.constraints = constraints
        self.core = constraints.core()
        self.n_clusters = n_clusters
        self.engine = engine
        self.time_limit = time_limit
        self.deadline = time.monotonic() + time_limit
        # Writable copies: numba would compile every kernel again for read-only arrays.
        self._indptr, self._indices = self.core.indptr.copy(), self.core.indices.copy()
        graph = self._model(np.zeros((self.core.n_nodes, 1)), *np.zeros((2, self._indices.size, 1)))
        self._component = components(graph)[1]
        self._crowd = None if engine == PLAIN else crowd_of(graph, self._component)

    @property
    def crowd_size(self) -> int:
        """What a fresh search, which may find what a search from earlier labels does not, has to
        visit: nodes, and twice the edges between them.
        """
        return 0 if self._crowd is None else self._crowd.nodes.size + self._crowd.entries.size

    @property
    def can_prove(self) -> bool:
        """Whether labels of least energy are asked for, and there is anything to label."""
        return self.engine == PROVING and self.core.n_nodes > 0

    def pair_costs(self, cost: Array, w: float, like: PairCosts | None = None) -> PairCosts:
        """Costs (m,) or (m, K) of the user's pairs, laid out for the engines; a plain one of an
        exclusive group costs `w`.

        `like` are other costs with zeros and infinities in the same places.
        """
        same, differ = self.core.costs(cost)
        if like is not None:
            return like._replace(cost=cost, same=same, differ=differ)
        unary = np.zeros((self.core.n_nodes, self.n_clusters))
        model, crowd_plan = self._model(unary, same, differ), None
        if self._crowd is not None:
            crowd_plan = icm_plan(crowd_model(model, self._crowd), fresh=True)
        return PairCosts(cost, same, differ, icm_plan(model), crowd_plan, self._groups(w))

    def _groups(self, w: float) -> NodeGroups | None:
        core, groups = self.core, self.constraints.exclusive
        if not core.group_nodes.size:
            return None
        hard = groups.is_hard
        weight = np.where(hard, np.inf, w * np.where(hard, 0.0, groups.cost()))
        weight = weight[core.group_number]
        if not weight.all():  # those that cost nothing are none
            sizes = np.diff(core.group_ptr)
            kept = weight > 0
            ptr = np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64)
            nodes = core.group_nodes[np.repeat(kept, sizes)]
            return NodeGroups(ptr, nodes, weight[kept]) if nodes.size else None
        return NodeGroups(core.group_ptr, core.group_nodes, weight)

    def _model(self, unary: Array, same: Array, differ: Array) -> PairwiseModel:
        # The core's arrays are right by construction; checking them costs as much as a sweep.
        return PairwiseModel(unary, self._indptr, self._indices, same, differ)

    def model(
        self, unary: Array, lead: Array | None, pairs: PairCosts
    ) -> tuple[PairwiseModel, Array | None]:
        """The pairwise model of the nodes and, where every node is one row, their lead (s,).

        `unary` (r, K) are the costs of the core's rows, `lead` (r,) what the best other label of a
        row costs above the one it has.
        """
        core = self.core
        if core.n_nodes < core.rows.size or core.inside_cannot.size:
            unary, lead = core.contract(unary), None
        if core.inside_cannot.size:
            unary += core.unary(pairs.cost)
        return self._model(unary, pairs.same, pairs.differ), lead

    def inside_cost(self, nodes: Array, pairs: PairCosts) -> float:
        """What the cannot-links inside the nodes cost under these labels (s,)."""
        if not self.core.inside_cannot.size:
            return 0.0
        inside = self.core.unary(pairs.cost)
        at = nodes if inside.shape[1] > 1 else np.zeros_like(nodes)
        return float(np.take_along_axis(inside, at[:, None], axis=1).sum())

    def label(
        self,
        model: PairwiseModel,
        lead: Array | None,
        pairs: PairCosts,
        last: CoreLabels | None,
        seed: int,
        refresh: bool,
        prove: bool,
    ) -> CoreLabels:
        """Label the nodes, with no more energy than their labels so far, those of `last`, have.

        Local search from these or from scratch; with `refresh` also a fresh search of crowded
        components; then the engine asked for, each component keeping whichever is better. Exclusive
        groups are labelled by assignments, whatever the engine. The
        engine that proves the least energy works only if `prove`; the plain one works alone.
        """
        plan, groups = pairs.plan, pairs.groups
        drawn = draw_seed(seed)  # once for all searches: drawing takes as long as a short one
        saved, proven, savings = 0.0, False, None
        nodes = None if last is None else last.nodes
        try:
            if groups is not None:
                return self._label_groups(model, groups, nodes, seed)
            if self.engine == PLAIN:
                found = plain_icm(model, nodes, random_state=seed, time_limit=self.time_limit)
                return CoreLabels(found.labels)
            if last is None:
                start, limit = cheapest_labels(model), self.time_limit
                labels = icm(model, start, plan=plan, random_state=drawn, time_limit=limit).labels
            else:
                labels, savings = polish(model, plan, last.nodes, lead, drawn, last.savings)
            if (refresh or last is None) and self._crowd is not None:
                labels, saved = restart_crowd(model, self._crowd, labels, drawn, pairs.crowd_plan)
                savings = None
            if prove or self.engine not in ("icm", PROVING):
                labels, proven = self._ask_engine(model, plan, labels, seed)
                savings = None
        except NoFeasibleLabels:
            # Says which of the user's own pairs clash; returns only if the engine was wrong.
            self.constraints.check_feasible(
                self.n_clusters, hard_only=True, time_limit=self.time_limit
            )
            raise
        return CoreLabels(labels, saved, proven, savings)

    def _label_groups(
        self, model: PairwiseModel, groups: NodeGroups, nodes: Array | None, seed: int
    ) -> CoreLabels:
        """Labels group by group; where they do not come out, from some that keep all hard pairs."""
        try:
            found, proven = label_with_groups(model, groups, nodes, seed)
        except NoFeasibleLabels:
            feasible = self.constraints.check_feasible(
                self.n_clusters, hard_only=True, time_limit=self.time_limit
            )
            found, proven = label_with_groups(model, groups, feasible[self.core.first_rows], seed)
        return CoreLabels(found, proven=proven)

    def _ask_engine(
        self, model: PairwiseModel, plan: IcmPlan, labels: Array, seed: int
    ) -> tuple[Array, bool]:
        options: dict[str, Any] = {}
        exact = self.engine == PROVING
        if exact:  # half of the time left: later steps want some too
            options["time_limit"] = max(self.deadline - time.monotonic(), 0.0) / 2
        found = infer(model, self.engine, labels=labels, random_state=seed, **options)
        polished, _ = polish(model, plan, found.labels, None, seed)
        better = better_by_component(model, self._component, labels, polished)
        return better, exact and found.converged
