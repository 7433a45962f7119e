"""Mosaic's search: which space, which start, how many prototypes; judged by the pairs."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.cluster.mosaic.beliefs import (
    MosaicState,
    form_beliefs,
    merit,
    settle_noise,
    start_over,
)
from coterie.cluster.mosaic.blobs import fit_blobs, rival_blobs
from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.finish import MosaicFit, finish
from coterie.cluster.mosaic.noise import Noise
from coterie.cluster.mosaic.parallel import side_by_side
from coterie.cluster.mosaic.passes import Float32
from coterie.cluster.mosaic.problem import MosaicProblem, MosaicSettings, pose
from coterie.cluster.mosaic.space import MosaicSpace, relevant_change
from coterie.cluster.mosaic.starts import Joins, StartKind, start_kinds, try_start
from coterie.cluster.mosaic.trust import choose_noise

__all__ = ["Search", "lead_error"]


class Pilot(NamedTuple):
    """A space, the rows in it, and the problem there with few prototypes."""

    space: MosaicSpace
    coordinates: Float32
    problem: MosaicProblem


class Lead(NamedTuple):
    """A pilot, what it believes, and the kinds of start that led its race."""

    pilot: Pilot
    state: MosaicState
    kinds: list[StartKind]


class Search:
    """Everything that is the same for all spaces and starts of one fit."""

    def __init__(
        self,
        settings: MosaicSettings,
        evidence: Evidence,
        weights: Array,
        noise: Noise,
        rng: np.random.Generator,
    ) -> None:
        self.settings, self.tuning = settings, settings.tuning
        self.evidence, self.weights, self.noise, self.rng = evidence, weights, noise, rng
        seeds = rng.integers(2**31, size=settings.n_init).tolist()
        self.kinds = start_kinds(seeds, self.tuning.reaches)

    def run(
        self, X: Any, space: MosaicSpace, coordinates: Float32
    ) -> tuple[MosaicSpace, MosaicFit]:
        """Choose the space and the trust by pilots with few prototypes, then learn with all."""
        pilots = self._pilots(X, space, coordinates)
        k = self.settings.n_clusters or self._count_clusters(pilots[0])
        lead = self._choose_space(pilots, k)
        if self.noise.origin == "estimated":
            place = lead.pilot.coordinates
            noise = choose_noise(lead.pilot.problem, lead.state, place, lead.kinds[0])
            if noise.origin == "chosen":
                pilots = [p._replace(problem=p.problem.heard_at(noise)) for p in pilots]
                lead = self._choose_space(pilots, k)
        problem, state = self._with_all_prototypes(lead, k)
        if self.settings.may_be_blobs:
            blobs = self._simplest(pilots[0], problem, state)
            if blobs is not None:
                return space, blobs
        return lead.pilot.space, finish(problem, state, self.rng)

    def _pilots(self, X: Any, space: MosaicSpace, coordinates: Float32) -> list[Pilot]:
        """Of the space as it is, and as the must-links would have it where they are enough."""
        spaces = [(space, coordinates)]
        change = relevant_change(coordinates, *self.evidence.must_links())
        if change is not None:
            other = space.changed(change)
            spaces.append((other, other.coordinates(X)))
        few = min(self.settings.n_prototypes, self.tuning.pilot_prototypes)
        return [Pilot(space, rows, self._pose(rows, few, self.noise)) for space, rows in spaces]

    def _pose(self, coordinates: Float32, count: int, noise: Noise) -> MosaicProblem:
        pairs, weights = self.evidence, self.weights
        return pose(coordinates, count, pairs, weights, noise, self.settings, self.rng)

    def _count_clusters(self, pilot: Pilot) -> int:
        joins = side_by_side([partial(Joins, pilot.problem, r) for r in self.tuning.reaches])
        return max(j.n_clusters(self.tuning.shuffles, self.rng) for j in joins)

    def _choose_space(self, pilots: list[Pilot], k: int) -> Lead:
        """The pilot that does best; the race of the first chooses the kinds of start of all."""
        leads: list[Lead] = []
        for pilot in pilots:
            kinds = leads[-1].kinds if leads else self.kinds
            leads.append(Lead(pilot, *self._race(pilot.problem, kinds, k)))
        rounds = self.tuning.pilot_rounds
        states = side_by_side(
            [partial(form_beliefs, lead.pilot.problem, lead.state, rounds) for lead in leads]
        )
        leads = [lead._replace(state=state) for lead, state in zip(leads, states, strict=True)]
        return max(leads, key=_settled_merit)

    def _race(
        self, problem: MosaicProblem, kinds: list[StartKind], k: int
    ) -> tuple[MosaicState, list[StartKind]]:
        """A few rounds from every kind of start: the best state, and the best kinds."""
        rounds = self.tuning.race_rounds
        states = side_by_side([partial(try_start, problem, kind, k, rounds) for kind in kinds])
        order = sorted(range(len(kinds)), key=lambda i: -states[i].score)
        return states[order[0]], [kinds[i] for i in order[: self.tuning.finalists]]

    def _with_all_prototypes(self, lead: Lead, k: int) -> tuple[MosaicProblem, MosaicState]:
        """What is believed in the end, in the space that was chosen."""
        problem, starts = lead.pilot.problem, [lead.state]
        if self.settings.n_prototypes > self.tuning.pilot_prototypes:
            count = self.settings.n_prototypes
            problem = self._pose(lead.pilot.coordinates, count, problem.noise)
            # Afresh, too: the pilot may have joined what more prototypes can tell apart.
            starts = [self._race(problem, lead.kinds, k)[0], start_over(lead.state)]
        states = side_by_side([partial(self._to_the_end, problem, start) for start in starts])
        return problem, max(states, key=partial(merit, problem))

    def _to_the_end(self, problem: MosaicProblem, start: MosaicState) -> MosaicState:
        return settle_noise(problem, form_beliefs(problem, start, self.settings.max_iter))

    def _simplest(
        self, pilot: Pilot, problem: MosaicProblem, state: MosaicState
    ) -> MosaicFit | None:
        """K-Means, if the pairs are not clearly better predicted by more prototypes.

        Clearly is by more than one standard error: of models that do about equally well, the
        simplest (Breiman's rule for pruning trees). By what is predicted, not by `merit`: few
        pairs that have been heard are easily explained.
        """
        k, seed = state.rows.shape[1], int(self.rng.integers(2**31))
        blobs = rival_blobs(pilot.problem, pilot.coordinates, k, seed)
        if blobs is None:
            return None
        lead = state.score - blobs.state.score
        if lead > lead_error(problem, state.prior, blobs.state.prior):
            return None
        return fit_blobs(pilot.problem, blobs, self.rng)


def _settled_merit(lead: Lead) -> float:
    problem = lead.pilot.problem
    return merit(problem, settle_noise(problem, lead.state))


def lead_error(problem: MosaicProblem, prior: Array, other: Array) -> float:
    """Standard error of how much better `prior` than `other` (s, K) predicts the pairs."""
    evidence = problem.evidence
    here, there = (evidence.log_likelihoods(p, problem.factors) for p in (prior, other))
    gaps = here - there
    return float(np.sqrt(gaps.size) * gaps.std()) if gaps.size else 0.0
