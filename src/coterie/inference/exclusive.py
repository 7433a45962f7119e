"""Labels of low energy where groups of nodes are to have different labels, without their pairs.

E(y) of a `PairwiseModel`, plus for each group h and label k  w_h · c(c − 1)/2,  c the nodes of h
that have label k; a hard group (w_h = inf) may have each label once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from coterie._typing import FloatArray, IntArray
from coterie.inference.icm import icm
from coterie.inference.model import NoFeasibleLabels, PairwiseModel, energy, subgraph

__all__ = ["NodeGroups", "group_energy", "label_with_groups"]

_MAX_SWEEPS = 50


class NodeGroups(NamedTuple):
    """Groups of nodes that are to have different labels.

    Attributes
    ----------
    ptr : (H + 1,) int64
    nodes : (·,) int64
        Nodes of group h are `nodes[ptr[h]:ptr[h + 1]]`, each once.
    weight : (H,) float64
        What two nodes of one label cost; ``+inf`` is hard.
    """

    ptr: IntArray
    nodes: IntArray
    weight: FloatArray

    @property
    def n_groups(self) -> int:
        """Number of groups H."""
        return self.ptr.size - 1

    def members(self, h: int) -> IntArray:
        """Nodes of group h."""
        return self.nodes[self.ptr[h] : self.ptr[h + 1]]


def group_energy(groups: NodeGroups, labels: IntArray) -> float:
    """What the groups cost under labels (s,)."""
    group = np.repeat(np.arange(groups.n_groups), np.diff(groups.ptr))
    code = group * (int(labels.max(initial=0)) + 1) + labels[groups.nodes]
    found, count = np.unique(code, return_counts=True)
    twice = count > 1
    pairs = count[twice] * (count[twice] - 1) / 2
    weight = groups.weight[found[twice] // (int(labels.max(initial=0)) + 1)]
    return float((weight * pairs).sum())


def label_with_groups(
    model: PairwiseModel, groups: NodeGroups, labels: IntArray | None, seed: int
) -> tuple[IntArray, bool]:
    """Labels (s,) of no more energy than `labels`, and whether none have less.

    Each group in turn is given its best labels beside those of all other nodes, which is an
    assignment problem (with one more copy of each label for each further node of a soft group
    that may share it), until none changes; nodes of no group go through `icm`. Where groups
    share no node and no edge leads out of one, that is the least energy.

    Raises
    ------
    NoFeasibleLabels
        Hard groups and hard edges leave no labels, or none was found from scratch.
    """
    search = _Search(model, groups)
    found = labels
    if found is None or np.isinf(search.energy(found)):
        found = search.first_labels()
    found = found.copy()
    search.settle_plain(found)
    tied = np.flatnonzero(~search.is_plain)
    for sweep in range(_MAX_SWEEPS):
        before = found.copy()
        for h in tied:
            search.improve_group(int(h), found)
        search.improve_rest(found, seed + sweep)
        if search.is_separable or np.array_equal(before, found):
            break
    return found, search.is_separable


class _Search:
    def __init__(self, model: PairwiseModel, groups: NodeGroups) -> None:
        self.model, self.groups = model, groups
        count = np.bincount(groups.nodes, minlength=model.n_nodes)
        self.shared = count > 1
        self.rest = np.flatnonzero(count == 0)
        self.is_separable = not self.shared.any() and not model.indices.size
        by_node = np.argsort(groups.nodes, kind="stable")
        group = np.repeat(np.arange(groups.n_groups), np.diff(groups.ptr))
        self._group = group[by_node]
        # Groups that nothing but their own nodes bears upon.
        bound = self.shared[groups.nodes] | (np.diff(model.indptr)[groups.nodes] > 0)
        self.is_plain = np.bincount(group, bound, minlength=groups.n_groups) == 0
        self._group_ptr = np.searchsorted(groups.nodes[by_node], np.arange(model.n_nodes + 1))

    def energy(self, labels: IntArray) -> float:
        """E of the model and its groups."""
        return energy(self.model, labels) + group_energy(self.groups, labels)

    # -- from scratch ----------------------------------------------------------------------
    def first_labels(self) -> IntArray:
        """Labels group by group, the largest first, each beside those labelled before it."""
        labels = np.full(self.model.n_nodes, -1, dtype=np.int64)
        self.settle_plain(labels)
        for h in np.argsort(-np.diff(self.groups.ptr), kind="stable"):
            members = self.groups.members(int(h))
            self._assign(int(h), members[labels[members] < 0], labels)
        costs = self._costs(self.rest, labels, -1)
        has_edges = np.diff(self.model.indptr)[self.rest] > 0
        for at in range(self.rest.size):  # one after the other: edges join them
            node = self.rest[at : at + 1]
            own = self._costs(node, labels, -1)[0] if has_edges[at] else costs[at]
            if not np.isfinite(own).any():
                raise NoFeasibleLabels(node, self.model.n_labels)
            labels[node] = own.argmin()
        return labels

    # -- better labels ---------------------------------------------------------------------
    def settle_plain(self, labels: IntArray) -> None:
        """The best labels of groups that nothing else bears upon, in place, once and for all.

        Where the cheapest labels of the nodes differ already, those are the best.
        """
        nodes, sizes = self.groups.nodes, np.diff(self.groups.ptr)
        group = np.repeat(np.arange(sizes.size), sizes)
        cheapest = self.model.unary[nodes].argmin(axis=1)
        _, code, count = np.unique(
            group * self.model.n_labels + cheapest, return_inverse=True, return_counts=True
        )
        clash = np.bincount(group, count[code] > 1, minlength=sizes.size) > 0
        easy = (self.is_plain & ~clash)[group]
        labels[nodes[easy]] = cheapest[easy]
        for h in np.flatnonzero(self.is_plain & clash):
            self._assign(int(h), self.groups.members(int(h)), labels)

    def improve_group(self, h: int, labels: IntArray) -> None:
        """The best labels of group h beside those of the other nodes, in place."""
        members = self.groups.members(h)
        old = labels[members].copy()
        before = self._energy_of(h, members, labels)
        self._assign(h, members, labels)
        # Edges inside a soft group are not seen by the assignment.
        if not self._energy_of(h, members, labels) < before - 1e-12 * abs(before):
            labels[members] = old

    def improve_rest(self, labels: IntArray, seed: int) -> None:
        """Nodes of no group, by local search beside the others, in place."""
        rest = self.rest
        if not rest.size:
            return
        part, _ = subgraph(self.model, rest)
        fixed = labels.copy()
        fixed[rest] = -1
        part = part._replace(unary=self._costs(rest, fixed, -1))
        labels[rest] = icm(part, labels[rest], random_state=seed).labels

    def _energy_of(self, h: int, members: IntArray, labels: IntArray) -> float:
        """What depends on the labels of the members; edges inside the group count half twice."""
        costs = self._costs(members, labels, h, inside=True)
        own = costs[np.arange(members.size), labels[members]].sum()
        count = np.bincount(labels[members])
        together = float((count * (count - 1) / 2).sum())
        return float(own + (self.groups.weight[h] * together if together else 0.0))

    def _assign(self, h: int, some: IntArray, labels: IntArray) -> None:
        """Give `some` members of group h their best labels beside all that are labelled."""
        if not some.size:
            return
        members, weight = self.groups.members(h), self.groups.weight[h]
        others = np.setdiff1d(members, some)
        used = np.bincount(labels[others][labels[others] >= 0], minlength=self.model.n_labels)
        costs = self._costs(some, labels, h)
        copies = 1 if np.isinf(weight) else 2
        while True:
            found = _match(costs, used, weight, copies)
            last = np.isinf(weight) or copies >= some.size
            if found is None and last:
                raise NoFeasibleLabels(some, self.model.n_labels)
            if found is not None and (last or np.bincount(found).max() < copies):
                break
            copies = min(2 * copies, some.size)
        labels[some] = found

    def _costs(self, some: IntArray, labels: IntArray, h: int, inside: bool = False) -> FloatArray:
        """Cost (·, K) of each label of `some` nodes beside the labelled ones, group h left out.

        Edges among `some` are left out too, or with `inside` counted half at both ends.
        """
        model = self.model
        out = model.unary[some].copy()
        counts = np.diff(model.indptr)[some]
        owner = np.repeat(np.arange(some.size), counts)
        offset = np.arange(owner.size) - np.repeat(np.cumsum(counts) - counts, counts)
        entry = np.repeat(model.indptr[some], counts) + offset
        other = model.indices[entry]
        share = np.where(np.isin(other, some), 0.5 if inside else 0.0, 1.0)
        seen = np.flatnonzero((labels[other] >= 0) & (share > 0))
        if seen.size:
            self._add_edges(out, owner[seen], entry[seen], labels[other[seen]], share[seen])
        for at in np.flatnonzero(self.shared[some]):
            self._add_groups(out[at], int(some[at]), labels, h)
        return out

    def _add_edges(
        self, out: FloatArray, owner: IntArray, entry: IntArray, label: IntArray, share: FloatArray
    ) -> None:
        k = self.model.n_labels
        differ = np.broadcast_to(self.model.differ[entry], (entry.size, k))
        same = np.broadcast_to(self.model.same[entry], (entry.size, k))
        at = np.arange(entry.size)
        cost = 0.5 * (differ + differ[at, label][:, None])
        cost[at, label] = same[at, label]
        np.add.at(out, owner, share[:, None] * cost)

    def _add_groups(self, out: FloatArray, node: int, labels: IntArray, h: int) -> None:
        for g in self._group[self._group_ptr[node] : self._group_ptr[node + 1]]:
            if g == h:
                continue
            members = self.groups.members(int(g))
            taken = labels[members[members != node]]
            count = np.bincount(taken[taken >= 0], minlength=out.size)
            out[count > 0] += self.groups.weight[g] * count[count > 0]


def _match(costs: FloatArray, used: IntArray, weight: float, copies: int) -> IntArray | None:
    """Label (·,) of each node: least total, the t-th node of a label paying t · weight more."""
    n, k = costs.shape
    if np.isinf(weight):
        wide = np.where(used > 0, np.inf, costs)
    else:
        step = (used[:, None] + np.arange(copies)) * weight  # (K, copies)
        wide = (costs[:, :, None] + step).reshape(n, k * copies)
    if n > wide.shape[1]:
        return None
    try:
        _, column = linear_sum_assignment(wide)
    except ValueError:  # every way has an infinite cost
        return None
    return np.asarray(column // (1 if np.isinf(weight) else copies), dtype=np.int64)
