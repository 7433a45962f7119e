"""Posterior of the rows in pairs, and of the pairs: exact where the graph is narrow, by the chosen
engine elsewhere.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple, Self

import numpy as np

from coterie._typing import BoolArray, FloatArray, IntArray
from coterie.constraints import Constraints
from coterie.data import Scratch
from coterie.exceptions import TooWide
from coterie.inference import (
    ExactPlan,
    Inference,
    PairwiseModel,
    TreeClass,
    energy,
    exact_plan,
    icm,
    infer,
    tree_classes,
)
from coterie.inference.annealing import hard_entries, softened
from coterie.inference.model import components, entry_rows, subgraph
from coterie.mixture.ppc.posteriors import CorePosterior, Memory

__all__ = ["CoreGraph", "PpcSettings"]

_FIELDS = ("mean_field", "structured_mean_field")
_MAX_TABLE = {"exact": 2**18, "auto": 2**16}
_SMALL = 200  # nodes of a component with cycles below which log Ω is tried exactly
_QUICK_WIDTH = 2  # of components with cycles, for tables that are no work
# One sweep from where the last E-step ended: a partial E-step raises the bound too.
_FIELD = {"max_sweeps": 1, "tol": 1e-3, "shuffle": False, "pairs": False}
_FIELD_FIRST = {"max_sweeps": 30, "tol": 1e-3, "shuffle": False, "pairs": False}
_FIELD_LAST = {"max_sweeps": 30, "tol": 1e-3, "shuffle": False}
_GIBBS = 60  # samples of an E-step, after a third as many that are not counted
_GIBBS_LAST = {"burn_in": 100, "n_samples": 400}
# Messages go on from the last E-step and need not settle further than EM does.
_MESSAGES: dict[str, Any] = {"tol": 1e-4, "decode": False}
_MOST_PASSES = 200  # of messages
_DISAGREE = 0.5  # two samplers give a node another label for certain


class PpcSettings(NamedTuple):
    """How the core is treated: parameters of `PPC` that concern pairs."""

    inference: str
    sampling: str
    default_certainty: float
    passes: tuple[int, int] | None = None  # of an approximate E-step, first and last; None: ours

    def passes_at(self, level: int) -> int | None:
        """How many at a level: twice as many as at the one before, up to the last."""
        return None if self.passes is None else min(self.passes[0] << level, self.passes[1])

    def is_last(self, level: int) -> bool:
        """Whether no level has more passes."""
        return self.passes is None or self.passes[0] << level >= self.passes[1]


class _Part(NamedTuple):
    """Nodes that one engine works on; `graph` is their model, unary costs to be filled in."""

    method: str
    nodes: IntArray
    entries: IntArray
    graph: PairwiseModel
    plan: ExactPlan | None
    trees: tuple[TreeClass, ...] | None = None

    @property
    def hard(self) -> bool:
        """Whether a pair is hard."""
        return bool(hard_entries(self.graph).any())


class CoreGraph:
    """The constraint graph with what each E-step needs of it; fixed once it is built.

    Parameters
    ----------
    constraints : Constraints
    n_clusters : int
    settings : PpcSettings
    seed : int
        Gibbs sampling uses the same random numbers in every E-step, so that EM comes to rest.
    weights : (n,), optional
        How many copies of each row there are; those of a row in a pair share its cluster.
    """

    def __init__(
        self,
        constraints: Constraints,
        n_clusters: int,
        settings: PpcSettings,
        seed: int,
        weights: FloatArray | None = None,
    ) -> None:
        self.core = constraints.core()
        self.scratch = Scratch()  # for what every iteration finds for the core's rows
        self.n_samples = constraints.n_samples
        self.settings, self.seed = settings, seed
        core = self.core
        self.strength = constraints.strength(settings.default_certainty)
        same, differ = core.costs(self.strength)
        blank = np.zeros((core.n_nodes, n_clusters))
        self.graph = PairwiseModel(blank, core.indptr, core.indices, same, differ)
        self.exponent = np.ones(core.n_nodes)
        self.copies = None if weights is None else weights[core.rows]
        if settings.sampling == "point":
            copies = np.ones(core.rows.size) if self.copies is None else self.copies
            self.exponent = core.contract(copies)
        self.wide = np.zeros(core.n_nodes, dtype=np.bool_)
        self.width = 0
        self.parts = self._split() if core.n_nodes else []

    def _split(self) -> list[_Part]:
        """Parts by engine, and which nodes' share of log Ω is approximate."""
        method = self.settings.inference
        everything = np.arange(self.core.n_nodes)
        if method not in _MAX_TABLE:
            self.wide = _large_and_loopy(self.graph)
            return [self._part(method, everything, None)]
        plan = exact_plan(self.graph, max_table=_MAX_TABLE[method])
        self.wide, self.width = plan.wide, plan.width
        if not plan.wide.any():
            return [self._part("exact", everything, plan)]
        if method == "exact":
            self._refuse(plan)
        parts = [self._part("mean_field", np.flatnonzero(plan.wide), None)]
        if not plan.wide.all():
            parts.append(self._part("exact", np.flatnonzero(~plan.wide), None))
        return parts

    def _part(self, method: str, nodes: IntArray, plan: ExactPlan | None) -> _Part:
        if nodes.size == self.core.n_nodes:
            trees = None
            if method == "structured_mean_field":
                trees = tuple(tree_classes(self.graph))
            every = np.arange(self.graph.indices.size)
            return _Part(method, nodes, every, self.graph, plan, trees)
        graph, entries = subgraph(self.graph, nodes)
        if method == "exact":
            plan = exact_plan(graph, max_table=_MAX_TABLE["auto"])
        return _Part(method, nodes, entries, graph, plan)

    @property
    def engines(self) -> list[str]:
        """Engines in use."""
        return [part.method for part in self.parts]

    @property
    def is_quick(self) -> bool:
        """Whether every E-step is exact and takes hardly longer than mean field would."""
        in_cycles = sum(
            group.nodes.size
            for part in self.parts
            if part.plan is not None
            for group in part.plan.loopy
        )
        exact = all(part.method == "exact" for part in self.parts)
        return exact and self.width <= _QUICK_WIDTH and in_cycles <= _SMALL

    @property
    def freezes(self) -> bool:
        """Whether mean field meets hard pairs, along which single changes freeze."""
        return any(part.method in _FIELDS and part.hard for part in self.parts)

    def at_last_level(self, memory: Memory | None) -> bool:
        """Whether E-steps have as many passes as they ever will."""
        exact = all(part.method == "exact" for part in self.parts)
        return exact or memory is None or self.settings.is_last(memory.level)

    def soften(self, strength: float) -> Self:
        """The same core with pairs of `strength` in the place of hard ones in mean field."""
        other = copy.copy(self)
        same, differ = self.graph.same.copy(), self.graph.differ.copy()
        other.parts = []
        for part in self.parts:
            if part.method in _FIELDS:
                part = part._replace(graph=softened(part.graph, strength))
                same[part.entries], differ[part.entries] = part.graph.same, part.graph.differ
            other.parts.append(part)
        other.graph = self.graph._replace(same=same, differ=differ)
        return other

    def by_mean_field(self) -> Self:
        """The same core with mean field in the place of sampling and of loopy messages."""
        other = copy.copy(self)
        other.parts = [
            part if part.method in ("exact", *_FIELDS) else part._replace(method="mean_field")
            for part in self.parts
        ]
        return other

    def _refuse(self, plan: ExactPlan) -> None:
        inside = plan.component == plan.component[int(np.argmax(plan.wide))]
        rows = self.core.rows[inside[self.core.node]]
        raise TooWide(
            f"The pairs join {rows.size} rows (row {rows[0]} among them) too densely for exact "
            f"inference with {self.graph.n_labels} clusters: a table would need more than "
            f'{_MAX_TABLE["exact"]} entries. Use inference="auto" or "mean_field".'
        )

    def infer(
        self,
        log_likelihood: FloatArray,
        log_weights: FloatArray,
        last: Memory | None,
        final: bool,
    ) -> CorePosterior:
        """Posterior of every node.

        Parameters
        ----------
        log_likelihood : (r, K)
            log p(x | cluster) of the rows of the core.
        log_weights : (K,)
        last : Memory or None
            Of the last E-step; None to begin afresh.
        final : bool
            Whether this is the last E-step, done with more care.
        """
        if self.copies is not None:
            log_likelihood = log_likelihood * self.copies[:, None]
        unary = self.core.contract(log_likelihood)
        unary += self.exponent[:, None] * log_weights
        np.negative(unary, out=unary)
        if len(self.parts) == 1:
            return self._run(self.parts[0], unary, last, final)
        return self._join(unary, last, final)

    def _join(self, unary: FloatArray, last: Memory | None, final: bool) -> CorePosterior:
        marginals = np.empty_like(unary)
        edge_same = np.zeros(self.graph.indices.size)
        labels = np.empty(self.core.n_nodes, dtype=np.int64)
        log_partition, converged, unsure = 0.0, True, 0
        for part in self.parts:
            before = None if last is None else last.of(part.nodes)
            found = self._run(part, np.ascontiguousarray(unary[part.nodes]), before, final)
            marginals[part.nodes], labels[part.nodes] = found.marginals, found.labels
            if found.edge_same is not None:
                edge_same[part.entries] = found.edge_same
            log_partition += found.log_partition
            converged = converged and found.converged
            unsure += found.unsure
        return CorePosterior(marginals, log_partition, edge_same, labels, converged, unsure)

    def _run(
        self, part: _Part, unary: FloatArray, last: Memory | None, final: bool
    ) -> CorePosterior:
        model = part.graph._replace(unary=unary)
        found = self._engine(part, model, last, final)
        assert found.marginals is not None
        log_partition = found.log_partition
        if log_partition is None:
            log_partition = _free_energy(model, found)
        labels = found.labels
        if final and part.method != "exact":
            labels = found.marginals.argmax(axis=1)
            # Each row's own best cluster may break a hard pair: descend to labels that do not.
            if not np.isfinite(energy(model, labels)):
                labels = icm(model, labels, random_state=self.seed).labels
        unsure = self._unsure(part, model, found) if final else 0
        return CorePosterior(
            found.marginals,
            log_partition,
            found.edge_same,
            labels,
            bool(found.converged),
            unsure,
            found.report.get("messages"),
        )

    def _engine(
        self, part: _Part, model: PairwiseModel, last: Memory | None, final: bool
    ) -> Inference:
        if part.method == "exact":
            return infer(model, "exact", plan=part.plan)
        if part.method in _FIELDS:
            return self._field(part, model, last, final)
        passes = self.settings.passes_at(0 if last is None else last.level)
        options: dict[str, Any] = {}
        if part.method == "gibbs":
            samples = passes or _GIBBS
            options = {"burn_in": -(-samples // 3), "n_samples": samples}
            if final and samples < _GIBBS_LAST["n_samples"]:
                options = dict(_GIBBS_LAST)
        elif part.method == "belief_propagation":
            options = _MESSAGES | {"max_sweeps": _MOST_PASSES if final else passes or _MOST_PASSES}
            options["messages"] = None if last is None else last.messages
        return infer(model, part.method, random_state=self.seed, **options)

    def _field(
        self, part: _Part, model: PairwiseModel, last: Memory | None, final: bool
    ) -> Inference:
        """Mean field from where it was; where hard pairs freeze it, also afresh if that is better.

        The better bound is kept, so that the bound of EM does not fall.
        """
        options: dict[str, Any] = dict(_FIELD_FIRST if last is None else _FIELD)
        if final:
            options = dict(_FIELD_LAST)
        elif last is not None:
            options["max_sweeps"] = self.settings.passes_at(last.level) or _FIELD["max_sweeps"]
        if part.trees is not None:
            options["classes"] = part.trees
        if last is None:
            return infer(model, part.method, random_state=self.seed, **options)
        found = infer(
            model, part.method, random_state=self.seed, marginals=last.marginals, **options
        )
        if not part.hard:
            return found
        options["max_sweeps"] = _FIELD_FIRST["max_sweeps"]
        afresh = infer(model, part.method, random_state=self.seed, **options)
        assert found.log_partition is not None
        assert afresh.log_partition is not None
        return afresh if afresh.log_partition > found.log_partition else found

    def _unsure(self, part: _Part, model: PairwiseModel, found: Inference) -> int:
        """Nodes of hard pairs that another run might say something else about."""
        if part.method in _FIELDS:
            return int(found.report["frozen"])
        if part.method != "gibbs" or not part.hard:
            return 0
        again = infer(model, "gibbs", random_state=self.seed + 1, **_GIBBS_LAST)
        assert found.marginals is not None
        assert again.marginals is not None
        apart = np.abs(found.marginals - again.marginals).max(axis=1)
        return int(np.count_nonzero(apart > _DISAGREE))

    def report(self) -> dict[str, Any]:
        """How many rows were inferred exactly and how many approximately, and by what."""
        exact = np.zeros(self.core.n_nodes, dtype=np.bool_)
        for part in self.parts:
            exact[part.nodes] = part.method == "exact"
        in_exact = int(exact[self.core.node].sum())
        return {
            "engines": self.engines,
            "free_rows": self.n_samples - int(self.core.rows.size),
            "exact_rows": in_exact,
            "approximate_rows": int(self.core.rows.size - in_exact),
            "largest_width": self.width,
        }

    def fallback(self) -> str | None:
        """What "auto" could not do exactly, in words; None if it could do everything."""
        if self.settings.inference != "auto" or not self.wide.any():
            return None
        k = self.graph.n_labels
        fits = int(np.log(_MAX_TABLE["auto"]) / np.log(max(k, 2)) + 1e-9) - 1
        rows = int(self.wide[self.core.node].sum())
        return (
            f"The pairs join {rows} rows too densely for exact inference: with {k} clusters it "
            f"reaches a width of {fits}, and they are wider. Their posteriors are found by mean "
            "field, which is too sure of itself, and lower_bound_ is a lower bound. "
            'inference="gibbs" samples instead; inference="mean_field" says that this is meant.'
        )


def _large_and_loopy(graph: PairwiseModel) -> BoolArray:
    """Nodes of components with cycles and more than `_SMALL` nodes, or too wide for exact tables.

    Finding an elimination order of a huge grid takes longer than the whole fit by mean field.
    """
    count, component = components(graph)
    size = np.bincount(component, minlength=count)
    n_edges = np.bincount(component[entry_rows(graph)], minlength=count) // 2
    loopy = ((n_edges >= size) & (size > _SMALL))[component]
    rough = loopy.copy()
    rest = np.flatnonzero(~loopy)
    rough[rest] = exact_plan(subgraph(graph, rest)[0], max_table=_MAX_TABLE["auto"]).wide
    return rough


def _free_energy(model: PairwiseModel, found: Inference) -> float:
    """An estimate of log Z from sampled marginals: Σ_i H(q_i) − Σ_i q_i·u_i − Σ_e E[cost].

    The entropy is that of independent rows, so it is too large where pairs bind; hard pairs are
    never broken by the samples and cost nothing.
    """
    q = found.marginals
    assert q is not None
    assert found.edge_same is not None
    inside = q > 0
    value = -float((q[inside] * (np.log(q[inside]) + model.unary[inside])).sum())
    once = entry_rows(model) < model.indices
    together = found.edge_same[once]
    for cost, chance in ((model.same, together), (model.differ, 1.0 - together)):
        paid = chance > 0
        value -= float((cost[once, 0][paid] * chance[paid]).sum())
    return value
