"""K-Means in clusters of bounded sizes: the same objective, another assignment step."""

from __future__ import annotations

import numpy as np

from coterie._typing import Array
from coterie.cluster.kmeans.core_graph import CoreLabels
from coterie.cluster.kmeans.problem import KMeansProblem
from coterie.cluster.kmeans.values import Assignment, Geometry
from coterie.cluster.labelling import label_rows, sums_by_label
from coterie.constraints.sizes import Sizes, explain_sizes
from coterie.inference import SizedModel, label_with_sizes, pair_energy, prove_sized

__all__ = ["SizedProblem"]


class SizedProblem(KMeansProblem):
    """A problem whose `settings.sizes` bound the rows of each cluster, whatever these weigh.

    Beside the core's labels those of all other rows follow, by a transport. The step holds n · K
    costs.
    """

    def simpler(self) -> type[KMeansProblem]:
        return KMeansProblem

    def assign(
        self,
        centers: Array,
        geometry: Geometry,
        last: CoreLabels | None,
        seed: int,
        refresh: bool = False,
        prove: bool = False,
    ) -> Assignment:
        """Label every row within the sizes, at no higher cost than with the core's `last` labels.

        Rows in no pair are sent to the clusters by an exact transport; see `label_with_sizes`.
        """
        cost = self._costs(centers, geometry)
        core, pairs = self.core, geometry.pairs
        free = np.setdiff1d(np.arange(self.rows.n), core.rows, assume_unique=True)
        graph, _ = self.graph.model(cost[core.rows], None, pairs)
        model = SizedModel(graph, core.sizes, cost[free], self._sizes)
        start = None if last is None else last.nodes
        limit = self.settings.time_limit
        found = label_with_sizes(model, pairs.plan, start, seed, fresh=refresh, time_limit=limit)
        if found is None:
            raise explain_sizes(self.constraints, self._sizes, limit)
        proven = not core.n_nodes
        if prove and not proven:
            found, proven = prove_sized(model, found, self.graph.deadline)
        labels = np.empty(self.rows.n, dtype=np.int32)
        labels[free], labels[core.rows] = found.free, core.expand(found.nodes)
        objective = float(cost[np.arange(self.rows.n), labels].sum())
        objective += pair_energy(graph, found.nodes) + self.graph.inside_cost(found.nodes, pairs)
        objective += self.prior_cost(geometry.measure.A) + self.price.factor * float(
            self.distortion.center_costs(centers, geometry.measure.A).sum()
        )
        statistics = sums_by_label(
            self.rows, labels, geometry.measure.terms, self.distortion, geometry.measure.A,
            self.shape,
        )  # fmt: skip
        return Assignment(
            labels, CoreLabels(found.nodes, proven=proven), statistics, objective, _NO_DIGEST
        )

    def _costs(self, centers: Array, geometry: Geometry) -> Array:
        """What each label would cost each row, (n, K), pairs apart."""
        measure = geometry.measure
        terms = self.distortion.center_terms(centers, measure.A)
        every = np.arange(self.rows.n)
        return label_rows(
            self.rows, measure.terms, self.distortion, measure.A, terms, self.price, self.shape,
            every,
        ).unary  # fmt: skip

    @property
    def _sizes(self) -> Sizes:
        sizes = self.settings.sizes
        assert sizes is not None
        return sizes


_NO_DIGEST = np.empty(0, dtype=np.uint64)
