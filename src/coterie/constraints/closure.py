"""What pairs entail: components of must-links and the cannot-links between them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from coterie._typing import BoolArray, IntArray
from coterie.constraints.conflicts import MustPaths
from coterie.constraints.exclusive import choose, of_nodes
from coterie.constraints.graph import connected, distinct_edges, sum_by_edge, symmetric_csr
from coterie.exceptions import InvalidParameter

if TYPE_CHECKING:
    from coterie.constraints.constraints import Constraints


class Link(NamedTuple):
    """One step of a proof: from row i to row j by the user's pair number `pair`.

    −1 where it is no pair but an exclusive group that holds both rows.
    """

    i: int
    j: int
    kind: str
    pair: int


class Relation(NamedTuple):
    """What is known about two rows: kind "must", "cannot" or "unknown", and the pairs that say so.

    `path` walks from the first row to the second: must-links only, or with one cannot-link.
    """

    kind: str
    path: tuple[Link, ...]


class Closure:
    """Components of must-links, and the cannot-links between components.

    Entailed pairs are never written out: two rows of one component belong together, and one
    cannot-link between two components separates all their rows.

    Attributes
    ----------
    component : (n,) int64
        Component of each row, numbered by smallest row; rows in no must-link are their own.
    n_components : int
    clashing : (·,) int64
        Numbers of the informative cannot-links that lie inside a component.
    """

    def __init__(self, constraints: Constraints, hard_only: bool) -> None:
        c = constraints
        informative = c.weight > 0
        must = c.kind > 0
        self._constraints = c
        self._counts: BoolArray = c.is_hard if hard_only else informative
        self.component: IntArray
        self.n_components: int
        self.component, self.n_components = connected(c.pairs[self._counts & must], c.n_samples)
        self._edges, self._pair_edge = distinct_edges(
            c.pairs, self.component, informative & ~must, self.n_components
        )
        groups = c.exclusive
        if groups.rows.size:
            groups = choose(groups, groups.is_hard if hard_only else groups.weight > 0)
        self._groups = groups
        self.clashing: IntArray = np.flatnonzero(informative & ~must & (self._pair_edge < 0))

    @cached_property
    def sizes(self) -> IntArray:
        """Number of rows (C,) in each component."""
        return np.bincount(self.component, minlength=self.n_components)

    @cached_property
    def cannot(self) -> csr_array:
        """Summed cost of the cannot-links between two components: symmetric (C, C) CSR.

        Soft and hard cannot-links alike; a plain one adds its weight, a hard one inf. Those inside
        a component are in `clashing` instead, and exclusive groups in `exclusive`.
        """
        total = sum_by_edge(
            self._pair_edge,
            np.ones(self._constraints.n_pairs, dtype=bool),
            self._constraints.cost()[:, np.newaxis],
            self._edges.shape[0],
        )
        indptr, indices, edge_of = symmetric_csr(self._edges, self.n_components)
        shape = (self.n_components, self.n_components)
        return csr_array((total[edge_of, 0], indices, indptr), shape=shape)

    def exclusive(self) -> list[IntArray]:
        """Components of which no two belong together, one array for each group that says so."""
        ptr, components, _ = of_nodes(self._groups, self.component)
        return np.split(components, ptr[1:-1]) if ptr.size > 1 else []

    def groups(self, min_size: int = 2) -> list[IntArray]:
        """Rows of each component of at least `min_size` rows, in order of component number."""
        by_component = np.argsort(self.component, kind="stable")
        split = np.split(by_component, np.cumsum(self.sizes)[:-1])
        return [split[at] for at in np.flatnonzero(self.sizes >= min_size)]

    def relation(self, i: int, j: int) -> Relation:
        """What the pairs say about rows i and j, with a shortest proof.

        Only the pairs this closure is built from count: the hard ones, unless `hard_only=False`.
        Where pairs contradict each other, a must-link path is reported first.
        """
        n = self.component.size
        for row in (i, j):
            if not 0 <= row < n:
                raise InvalidParameter(f"row {row} is not one of the {n} rows (0 to {n - 1})")
        if self.component[i] == self.component[j]:
            path = self._paths.between(int(i), int(j))
            assert path is not None
            return Relation("must", self._walk(int(i), path))
        bridge = self._nearest_cannot_link(int(i), int(j))
        if bridge is None:
            return self._by_group(int(i), int(j))
        cannot, near, far = bridge
        there, back = self._paths.between(int(i), near), self._paths.between(far, int(j))
        assert there is not None
        assert back is not None
        return Relation("cannot", self._walk(int(i), [*there, cannot, *back]))

    def _by_group(self, i: int, j: int) -> Relation:
        """What exclusive groups say about rows of two components; the step has no pair number."""
        rows, group = self._groups.rows, self._groups.group_of
        near, far = (np.flatnonzero(self.component[rows] == self.component[end]) for end in (i, j))
        _, first, second = np.intersect1d(group[near], group[far], return_indices=True)
        if not first.size:
            return Relation("unknown", ())
        a, b = int(rows[near[first[0]]]), int(rows[far[second[0]]])
        there, back = self._paths.between(i, a), self._paths.between(b, j)
        assert there is not None
        assert back is not None
        step = Link(a, b, "cannot", -1)
        return Relation("cannot", (*self._walk(i, there), step, *self._walk(b, back)))

    def __repr__(self) -> str:
        joined = int((self.sizes > 1).sum())
        return (
            f"Closure({self.component.size} rows in {self.n_components} components, {joined} of "
            f"more than one row; {self._edges.shape[0]} component pairs cannot-linked, "
            f"{self.clashing.size} cannot-links inside a component)"
        )

    @cached_property
    def _paths(self) -> MustPaths:
        return MustPaths(self._constraints, self._counts & (self._constraints.kind > 0))

    def _nearest_cannot_link(self, i: int, j: int) -> tuple[int, int, int] | None:
        """The cannot-link (number, end near i, end near j) on a shortest walk from i to j."""
        pairs = self._constraints.pairs
        a, b = self.component[i], self.component[j]
        ends = self.component[pairs]
        forward = (ends[:, 0] == a) & (ends[:, 1] == b)
        between = forward | ((ends[:, 0] == b) & (ends[:, 1] == a))
        chosen = np.flatnonzero(between & self._counts & (self._constraints.kind < 0))
        if not chosen.size:
            return None
        near = np.where(forward[chosen], pairs[chosen, 0], pairs[chosen, 1])
        far = pairs[chosen].sum(axis=1) - near
        length = self._paths.distances(i, near) + self._paths.distances(j, far)
        best = int(np.argmin(length))
        return int(chosen[best]), int(near[best]), int(far[best])

    def _walk(self, start: int, path: list[int]) -> tuple[Link, ...]:
        links = []
        for pair in path:
            end = int(self._constraints.pairs[pair].sum()) - start
            kind = "must" if self._constraints.kind[pair] > 0 else "cannot"
            links.append(Link(start, end, kind, pair))
            start = end
        return tuple(links)


def build_closure(constraints: Constraints, hard_only: bool) -> Closure:
    """See `Constraints.closure`; linear in rows and pairs."""
    return Closure(constraints, hard_only)
