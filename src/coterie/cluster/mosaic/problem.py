"""What beliefs are formed from: a field over the rows, pairs, and how far these are trusted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.field import FieldRidge, build_field, place_prototypes
from coterie.cluster.mosaic.noise import Noise
from coterie.cluster.mosaic.passes import Float32
from coterie.cluster.mosaic.tuning import Tuning
from coterie.inference.messages import PairFactors

__all__ = ["MosaicProblem", "MosaicSettings", "pose"]


class MosaicSettings(NamedTuple):
    """The parameters of `Mosaic` that its parts need, and its numbers."""

    n_clusters: int | None
    max_clusters: int | None
    n_prototypes: int
    may_be_blobs: bool
    inference: str
    smoothness: float
    n_init: int
    max_iter: int
    tol: float
    tuning: Tuning


class MosaicProblem(NamedTuple):
    """Rows with a field, pairs between them, and the noise of these.

    Attributes
    ----------
    ridge : FieldRidge
        Learns the field from beliefs.
    evidence : Evidence
    weights : (n,)
        How often each row counts.
    noise : Noise
        To begin with; pairs are judged at this rate.
    factors : PairFactors
        The pairs at this rate.
    settings : MosaicSettings
    """

    ridge: FieldRidge
    evidence: Evidence
    weights: Array
    noise: Noise
    factors: PairFactors
    settings: MosaicSettings

    @property
    def tuning(self) -> Tuning:
        """The numbers of `settings`."""
        return self.settings.tuning

    def heard_at(self, noise: Noise) -> MosaicProblem:
        """The same rows and pairs, trusted otherwise."""
        return self._replace(noise=noise, factors=self.evidence.factors(noise.rate))

    def with_pairs(self, evidence: Evidence, noise: Noise) -> MosaicProblem:
        """The same rows with other pairs."""
        return self._replace(evidence=evidence).heard_at(noise)


def pose(
    coordinates: Float32,
    count: int,
    evidence: Evidence,
    weights: Array,
    noise: Noise,
    settings: MosaicSettings,
    rng: np.random.Generator,
) -> MosaicProblem:
    """The problem with `count` prototypes among rows at `coordinates` (n, e)."""
    tuning = settings.tuning
    prototypes = place_prototypes(coordinates, count, tuning, rng)
    field = build_field(coordinates, prototypes, tuning.steepness)
    teaching = np.full(len(coordinates), tuning.free_weight)
    teaching[evidence.core.rows] = 1.0
    ridge = FieldRidge(field, teaching * weights, settings.smoothness, tuning, rng)
    return MosaicProblem(ridge, evidence, weights, noise, evidence.factors(noise.rate), settings)
