"""From the rows that taught to all: one pass over the rows, then those in pairs under their pairs.

A field is learned from some of the rows and the pairs among them (`teaching.py`). At the end every
row is placed by it, and rows in pairs hear all their pairs, those that taught nothing too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._typing import Array
from coterie.cluster.mosaic.beliefs import nodes_and_ends, softmax
from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.finish import MosaicFit, Placer
from coterie.cluster.mosaic.passes import field_map
from coterie.cluster.mosaic.problem import MosaicSettings
from coterie.cluster.mosaic.space import MosaicSpace, Placing, place_rows, place_rows_and_values
from coterie.cluster.mosaic.teaching import named_by
from coterie.constraints import Constraints, PairTable

__all__ = ["Everyone", "Learned", "place_everyone"]

_ROWS_AT_ONCE = 1 << 16


class Learned(NamedTuple):
    """What some rows taught.

    Attributes
    ----------
    rows : (r,)
        Which of all rows they are.
    evidence : Evidence
        The pairs among them.
    space : MosaicSpace
    fit : MosaicFit
        Its labels are theirs.
    """

    rows: NDArray[np.int64]
    evidence: Evidence
    space: MosaicSpace
    fit: MosaicFit

    @property
    def placing(self) -> Placing:
        """The way from any row to its cluster."""
        return Placing(self.space, field_map(self.fit.field.landmarks, self.fit.field_weights))


class Everyone(NamedTuple):
    """Clusters (n,) of all rows, and the soft pairs most probably wrong."""

    labels: NDArray[np.int32]
    suspects: PairTable


def place_everyone(
    X: Any,
    learned: Learned,
    constraints: Constraints,
    weights: Array | None,
    settings: MosaicSettings,
    rng: np.random.Generator,
    *,
    refine: bool,
) -> Everyone:
    """All rows by the field, and those in pairs by their pairs if `refine`."""
    n, found = X.shape[0], learned.fit
    if learned.rows.size == n:
        labels = place_rows(X, learned.placing)
        if refine:
            core = learned.evidence.core.rows
            labels[core] = found.labels[core]
        return Everyone(labels, learned.evidence.suspects(found.together))
    inside = np.unique(constraints.pairs)
    labels, values = place_rows_and_values(X, learned.placing, inside)
    if not inside.size:
        return Everyone(labels, learned.evidence.suspects(found.together))
    evidence = Evidence(constraints.subset(inside), settings.tuning)
    counts = np.ones(inside.size) if weights is None else weights[inside]
    with named_by(inside, n):
        own, together = _placed(evidence, values, counts, found, settings, rng)
    if refine:
        labels[inside] = own
        _give_back(labels, learned, constraints)
    some = evidence.suspects(together)
    suspects = PairTable(inside[some.i], inside[some.j], some.kind, some.value, name=some.name)
    return Everyone(labels, suspects)


def _placed(
    evidence: Evidence,
    values: Array,
    weights: Array,
    found: MosaicFit,
    settings: MosaicSettings,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Labels (r,) of rows with field `values` (r, K) under their pairs, and which ends agree."""
    core, rate, k = evidence.core, found.noise_rate, values.shape[1]
    own = core.contract(weights[core.rows, None] * values[core.rows])
    prior = softmax(found.sharpness, own)
    nodes, together = nodes_and_ends(evidence, settings, prior, rate)
    placer = Placer(evidence, weights, k, found.sharpness, rate, rng)
    return placer.place(values, nodes.argmax(axis=1)).labels, together


def _give_back(labels: NDArray[np.int32], learned: Learned, constraints: Constraints) -> None:
    """A cluster that all pairs together would leave empty keeps the rows it had before."""
    found, k = learned.fit, learned.fit.field_weights.shape[1]
    held = np.zeros(k, dtype=bool)
    for start in range(0, labels.size, _ROWS_AT_ONCE):  # bincount copies to int64
        held |= np.bincount(labels[start : start + _ROWS_AT_ONCE], minlength=k) > 0
        if held.all():
            return
    for cluster in np.flatnonzero(~held):
        rows = learned.rows[found.labels == cluster]
        labels[np.setdiff1d(rows, constraints.pairs[constraints.is_hard])] = cluster
