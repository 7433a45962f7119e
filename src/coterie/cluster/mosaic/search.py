"""Mosaic's search: which space, which start, how many prototypes; judged by the pairs."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.cluster.mosaic.beliefs import (
    MosaicState,
    form_beliefs,
    merit,
    settle_noise,
    start_from,
    start_over,
)
from coterie.cluster.mosaic.blobs import (
    Blobs,
    corner_blobs,
    fit_blobs,
    other_blobs,
    round_blobs,
    telling,
)
from coterie.cluster.mosaic.columns_search import TaughtSpace, learn_columns
from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.field import field_values
from coterie.cluster.mosaic.finish import MosaicFit, finish
from coterie.cluster.mosaic.geometry import (
    Geometry,
    best_geometry,
    by_directions,
    geometries,
    single_starts,
)
from coterie.cluster.mosaic.judging import clear_lead, log_chances, trial_of
from coterie.cluster.mosaic.mending import mend
from coterie.cluster.mosaic.noise import Noise
from coterie.cluster.mosaic.parallel import side_by_side
from coterie.cluster.mosaic.passes import Float32
from coterie.cluster.mosaic.problem import MosaicProblem, MosaicSettings, pose
from coterie.cluster.mosaic.space import MosaicSpace, relevant_change
from coterie.cluster.mosaic.starts import (
    TOLD,
    Joins,
    StartKind,
    knows_groups,
    start_kinds,
    try_start,
)
from coterie.cluster.mosaic.teaching import named_by, teaching_rows
from coterie.cluster.mosaic.trust import Foretold, Rehearsal, choose_noise, rehearse
from coterie.data import Rows, gather

__all__ = ["Search"]


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
        before: Array | None = None,
    ) -> None:
        self.before = before  # clusters (n,) of an earlier fit
        self.settings, self.tuning = settings, settings.tuning
        self.evidence, self.weights, self.noise, self.rng = evidence, weights, noise, rng
        seeds = rng.integers(2**31, size=settings.n_init).tolist()
        self.kinds = start_kinds(seeds, self.tuning.reaches)
        own = np.random.default_rng(seeds[0])
        self.trial = trial_of(evidence, own).sample(self.tuning.deciding_pairs, own)
        self.positions: list[Geometry] = []  # clusters by position, when they have been found
        self.few = min(settings.n_prototypes, self.tuning.pilot_prototypes)

    def run(
        self, X: Any, space: MosaicSpace, coordinates: Float32
    ) -> tuple[MosaicSpace, MosaicFit, Array]:
        """Decide by pilots, of some of the rows where they are many; learn shapes from all.

        Returns the space, the clusters, and the rows (·,) that these are of.
        """
        known, tuning = self.evidence.constraints, self.tuning
        most = max(tuning.pilot_rows, tuning.rows_a_cluster * (self.settings.n_clusters or 0))
        rows = teaching_rows(len(coordinates), known, self.weights, most, self.rng)
        if rows.size == len(coordinates):
            space, found = self._decide(X, space, coordinates)
        else:
            some, scout = gather(Rows(X), rows), self._among(rows)
            with named_by(rows, len(coordinates)):
                space, found = scout._decide(some, space, coordinates[rows])
        if isinstance(found, MosaicFit):
            return space, found, rows
        if rows.size < len(coordinates):
            goal = self._for_all_rows(found, space.coordinates(X))
        else:
            goal = self._for_all_prototypes(found)
        return space, finish(*self._to_the_end(*goal), self.rng), np.arange(len(coordinates))

    def _among(self, rows: Array) -> Search:
        """The search of some of the rows, and of the pairs among them."""
        evidence = Evidence(self.evidence.constraints.subset(rows), self.tuning)
        noise = evidence.first_noise() if self.noise.origin == "estimated" else self.noise
        return Search(self.settings, evidence, self.weights[rows], noise, self.rng)

    def _decide(
        self, X: Any, space: MosaicSpace, coordinates: Float32
    ) -> tuple[MosaicSpace, MosaicFit | Lead]:
        """The space, and the clusters in it; or, where pairs teach shapes, who leads in it."""
        first = Pilot(space, coordinates, self._pose(coordinates, self.few, self.noise))
        k = self.settings.n_clusters or self._count_clusters(first)
        blobs = self._by_position(X, first, k) if self.settings.may_be_blobs else None
        if blobs is not None and 2 * k > self.few:  # prototypes are too few for any shape
            return space, fit_blobs(first.problem, blobs, coordinates, self.trial, self.rng)
        pilots = [first, *self._other_pilots(X, first)]
        if blobs is not None and blobs.name != "means":
            self.kinds = [*self.kinds, StartKind(self.kinds[0].seed, np.inf, blobs.labels)]
        lead = self._choose_space(pilots, k)
        place, kind = lead.pilot.coordinates, lead.kinds[0]
        rehearsal = rehearse(lead.pilot.problem, place, kind, k)
        noise, foretold = choose_noise(lead.pilot.problem, lead.state, rehearsal)
        if blobs is not None:
            taught = self._taught(X, first, blobs, rehearsal, noise, foretold)
            if taught == "position":
                return space, fit_blobs(first.problem, blobs, coordinates, self.trial, self.rng)
            if isinstance(taught, TaughtSpace):
                return taught.space, self._fit_columns(X, taught.space, first.problem, noise)
        if noise.origin == "chosen":
            pilots = [p._replace(problem=p.problem.heard_at(noise)) for p in pilots]
            lead = self._choose_space(pilots, k)
        return lead.pilot.space, lead

    def _by_position(self, X: Any, pilot: Pilot, k: int) -> Blobs | None:
        """The clusters by position that foretell the pairs best: K-Means unless others clearly do.

        None if prototypes are too few.
        """
        seed, problem = self.kinds[0].seed, pilot.problem
        means = round_blobs(problem, pilot.coordinates, k, seed)
        if means is None:
            return None
        found = [Geometry(means.name, means.labels)]
        if pilot.space.unit:
            found.insert(0, by_directions(pilot.coordinates, pilot.space, problem, k, seed))
        found += geometries(X, pilot.coordinates, problem, k, seed)
        self.positions = found
        name, labels = best_geometry(found, self.trial, self.tuning.clear)
        return means if name == means.name else other_blobs(problem, name, labels, k)

    def _taught(
        self,
        X: Any,
        first: Pilot,
        blobs: Blobs,
        rehearsal: Rehearsal | None,
        noise: Noise,
        shapes: Foretold | None,
    ) -> TaughtSpace | Literal["position", "shapes"]:
        """What pairs teach: shapes if others are foretold clearly better, columns if better still.

        Of models that do about equally well, the simplest: few pairs cannot say much about the
        shape of clusters, and wrong ones say what is not so. Two may be taught, and pairs that say
        nothing would teach one of them twice as often as either: each has half of the doubt.
        """
        if rehearsal is None or shapes is None:
            return "position"
        trial, confidence = rehearsal.trial, 0.5 + 0.5 * self.tuning.clear

        def clear(taught: Array, other: Array) -> bool:
            lead = log_chances(trial, taught) - log_chances(trial, other)
            return clear_lead(trial.pairs, lead, confidence)

        position = trial.together(blobs.labels[rehearsal.rows])
        best: TaughtSpace | Literal["position", "shapes"] = "position"
        if clear(shapes.together, position):
            best = "shapes"
        columns = self._columns(X, first, rehearsal, noise)
        if columns is None:
            return best
        # Chances of columns are as sharp as pairs like them. So they are compared with chances that
        # are, too; or, as those of shapes are not, labels with labels.
        if best == "shapes":
            better = clear(columns.foretold.by_label, shapes.by_label)
        else:
            told = telling(
                trial._replace(pairs=rehearsal.rows[trial.pairs]), blobs, first.coordinates
            )
            better = clear(columns.foretold.together, told.together)
        return columns if better else best

    def _columns(
        self, X: Any, first: Pilot, rehearsal: Rehearsal, noise: Noise
    ) -> TaughtSpace | None:
        """Columns taught by the pairs, from clusters by position and single starts of K-Means."""
        seed, starts = self.kinds[0].seed, [each.labels for each in self.positions]
        others = range(seed + 1, seed + 1 + self.tuning.kmeans_starts - len(starts))
        starts += single_starts(first.problem, rehearsal.n_clusters, others)
        return learn_columns(X, first.space, self.weights, rehearsal, noise.rate, starts, seed)

    def _fit_columns(
        self, X: Any, space: MosaicSpace, problem: MosaicProblem, noise: Noise
    ) -> MosaicFit:
        coordinates = space.coordinates(X)
        blobs = corner_blobs(coordinates, self.tuning.steepness)
        return fit_blobs(problem, blobs, coordinates, self.trial, self.rng, noise)

    def _other_pilots(self, X: Any, first: Pilot) -> list[Pilot]:
        """Of the space as the must-links would have it, where they are enough."""
        change = relevant_change(first.coordinates, *self.evidence.must_links())
        if change is None:
            return []
        space = first.space.changed(change)
        rows = space.coordinates(X)
        return [Pilot(space, rows, self._pose(rows, self.few, self.noise))]

    def _pose(self, coordinates: Float32, count: int, noise: Noise) -> MosaicProblem:
        pairs, weights = self.evidence, self.weights
        return pose(coordinates, count, pairs, weights, noise, self.settings, self.rng)

    def _count_clusters(self, pilot: Pilot) -> int:
        joins = side_by_side([partial(Joins, pilot.problem, r) for r in self.tuning.reaches])
        found = max(j.n_clusters(self.tuning.shuffles, self.rng) for j in joins)
        return min(found, self.settings.max_clusters or found)

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
        return self._or_told(max(leads, key=_settled_merit), k)

    def _race(
        self, problem: MosaicProblem, kinds: list[StartKind], k: int
    ) -> tuple[MosaicState, list[StartKind]]:
        """A few rounds from every kind of start: the best state, and the best kinds."""
        rounds = self.tuning.race_rounds
        states = side_by_side([partial(try_start, problem, kind, k, rounds) for kind in kinds])
        order = sorted(range(len(kinds)), key=lambda i: -states[i].score)
        return states[order[0]], [kinds[i] for i in order[: self.tuning.finalists]]

    def _or_told(self, lead: Lead, k: int) -> Lead:
        """The lead, or a start from the groups that the pairs tell, if that is clearly better.

        It has a head start, for it begins with what the pairs say, and not where the rows lie. So
        it is compared once the others have had time to hear them.
        """
        problem, kind = lead.pilot.problem, StartKind(self.kinds[0].seed, TOLD)
        if not knows_groups(self.evidence.constraints, k, kind.seed):
            return lead
        told = try_start(problem, kind, k, self.tuning.pilot_rounds)
        if not self._clearly(problem, told, lead.state):
            return lead
        kinds = [kind, *lead.kinds][: self.tuning.finalists]
        return lead._replace(state=told, kinds=kinds)

    def _clearly(self, problem: MosaicProblem, one: MosaicState, other: MosaicState) -> bool:
        """Whether the field of one foretells the pairs clearly better than that of the other."""
        graph = problem.evidence.graph
        chances = (problem.evidence.log_likelihoods(s.prior, problem.factors) for s in (one, other))
        return clear_lead(graph.edges, np.subtract(*chances), self.tuning.clear)

    def _for_all_prototypes(self, lead: Lead) -> tuple[MosaicProblem, list[MosaicState]]:
        """The problem with all prototypes, and where to start: what the pilot believes, and afresh.

        The pilot may have joined what more prototypes can tell apart.
        """
        pilot, count, k = lead.pilot, self.settings.n_prototypes, lead.state.rows.shape[1]
        if count <= self.few:
            return pilot.problem, [lead.state]
        problem = self._pose(pilot.coordinates, count, pilot.problem.noise)
        return problem, [self._race(problem, lead.kinds, k)[0], start_over(lead.state)]

    def _for_all_rows(
        self, lead: Lead, coordinates: Float32
    ) -> tuple[MosaicProblem, list[MosaicState]]:
        """The same where the pilot saw some rows only, for all, at `coordinates` (n, e)."""
        ridge, k = lead.pilot.problem.ridge, lead.state.rows.shape[1]

        def spread(beliefs: Array) -> Array:
            values = field_values(coordinates, ridge.field.landmarks, ridge.solve(beliefs))
            return np.asarray(values.argmax(axis=1))

        kinds = [
            kind if kind.labels is None else kind._replace(labels=spread(np.eye(k)[kind.labels]))
            for kind in lead.kinds
        ]
        noise, count = lead.pilot.problem.noise, self.settings.n_prototypes
        problem = self._pose(coordinates, count, noise)
        told = start_from(problem, spread(lead.state.rows), k)
        return problem, [self._race(problem, kinds, k)[0], told]

    def _to_the_end(
        self, problem: MosaicProblem, starts: list[MosaicState]
    ) -> tuple[MosaicProblem, MosaicState]:
        """What is believed in the end, of the start that does best."""
        k = starts[0].rows.shape[1]
        if self.before is not None and self.before.max() < k:
            # Only here: these clusters have heard pairs that a rehearsal would hold out.
            starts = [*starts, start_from(problem, self.before, k)]
        states = side_by_side([partial(self._all_rounds, problem, start) for start in starts])
        best = max(states, key=partial(merit, problem))
        return problem, mend(problem, best, partial(self._all_rounds, problem))

    def _all_rounds(self, problem: MosaicProblem, start: MosaicState) -> MosaicState:
        return settle_noise(problem, form_beliefs(problem, start, self.settings.max_iter))


def _settled_merit(lead: Lead) -> float:
    problem = lead.pilot.problem
    return merit(problem, settle_noise(problem, lead.state))
