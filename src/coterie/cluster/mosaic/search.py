"""Mosaic's search: which space, which start, how many prototypes; judged by the pairs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.cluster.mosaic.blobs import blob_field, blob_state, polished_centres
from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.field import Field, Float32
from coterie.cluster.mosaic.finish import Placer, finish, roughness
from coterie.cluster.mosaic.pilot import JOIN_PENALTIES, Kind, Pilot, Settings, side_by_side
from coterie.cluster.mosaic.soft import SoftStage, State
from coterie.cluster.mosaic.space import Space, whitening
from coterie.cluster.mosaic.trust import trusted_rate

Array = NDArray[Any]

_RACE_ROUNDS = 3  # after which only the most promising start goes on
_FINALISTS = 2  # kinds of start that are tried again with all prototypes
_PILOT_ROUNDS = 10  # after which two spaces are compared
_FINISH_ROUNDS = 20
PILOT_PROTOTYPES = 300


class Found(NamedTuple):
    """What a fit found, before it is published."""

    n_clusters: int
    labels: Array
    field: Field
    field_weights: Array
    sharpness: float
    rate: float
    history: list[float]
    beliefs: Array
    n_iter: int


class Search:
    """Everything that is the same for all spaces and starts of one fit."""

    def __init__(
        self, settings: Settings, evidence: Evidence, weights: Array, rng: np.random.Generator
    ) -> None:
        self.settings, self.evidence, self.weights, self.rng = settings, evidence, weights, rng
        seeds = rng.integers(2**31, size=settings.n_init).tolist()
        reaches = [*range(len(JOIN_PENALTIES)), None]
        self.kinds = [Kind(seed, reach) for seed in seeds for reach in reaches]

    def run(self, X: Any, space: Space, coordinates: Float32) -> tuple[Space, Found]:
        """Choose the space by a pilot with few prototypes, then learn the field with all."""
        wanted = self.settings
        few = min(wanted.n_prototypes, PILOT_PROTOTYPES)
        spaces = [(space, coordinates)]
        change = whitening(coordinates, *self.evidence.must_links())
        if change is not None:
            other = space.changed(change)
            spaces.append((other, other.coordinates(X)))
        pilots = [self._pilot(rows, few) for _, rows in spaces]
        k = wanted.n_clusters
        if k is None:
            joins = side_by_side([partial(pilots[0].joins, r) for r in range(len(JOIN_PENALTIES))])
            k = max(j.n_clusters(self.rng, len(coordinates)) for j in joins)
        best, state, kinds = self._choose_space(pilots, k)
        if wanted.rate is None:
            rate = trusted_rate(pilots[best], state, spaces[best][1], kinds[0], k)
            if rate is not None:
                wanted = self.settings = replace(wanted, rate=rate)
                pilots = [pilot.hearing(self.evidence, rate) for pilot in pilots]
                best, state, kinds = self._choose_space(pilots, k)
        pilot = pilots[best]
        if wanted.n_prototypes > few:
            pilot = self._pilot(spaces[best][1], wanted.n_prototypes)
            # Afresh, too: the pilot may have joined what more prototypes can tell apart.
            starts = [self._race(pilot, kinds, k)[0], pilot.stage.take_over(state)]
        else:
            starts = [state]
        stage = pilot.stage
        state = max(self._settled(stage, starts), key=stage.merit)
        if wanted.may_be_blobs:
            found = self._blobs(pilots[0].stage, coordinates, stage, state)
            if found is not None:
                return space, found
        return spaces[best][0], self._finish(stage, state)

    def _pilot(self, coordinates: Float32, count: int) -> Pilot:
        return Pilot.placed(
            coordinates, count, self.evidence, self.weights, self.settings, self.rng
        )

    def _choose_space(self, pilots: list[Pilot], k: int) -> tuple[int, State, list[Kind]]:
        """The pilot that does best, its state, and the kinds of start that led its race.

        The first pilot's race chooses the kinds of start for the second's.
        """
        kinds, raced = self.kinds, []
        for pilot in pilots:
            state, kinds = self._race(pilot, kinds, k)
            raced.append((state, kinds))
        rounds = min(_PILOT_ROUNDS, self.settings.max_iter)
        tasks = [
            partial(pilot.stage.run, state, rounds, self.settings.tol)
            for pilot, (state, _) in zip(pilots, raced, strict=True)
        ]
        states = side_by_side(tasks)
        best = max(range(len(pilots)), key=lambda p: pilots[p].merit(states[p]))
        return best, states[best], raced[best][1]

    def _settled(self, stage: SoftStage, starts: list[State]) -> list[State]:
        """Where the soft stage ends from each start, noise rates settled."""
        rounds, tol = self.settings.max_iter, self.settings.tol

        def run(start: State) -> State:
            return stage.settle_rate(stage.run(start, rounds, tol))

        return side_by_side([partial(run, start) for start in starts])

    def _race(self, pilot: Pilot, kinds: list[Kind], k: int) -> tuple[State, list[Kind]]:
        """A few rounds from every kind of start: the best state, and the best kinds."""

        def run(kind: Kind) -> State:
            return pilot.try_start(pilot.start_labels(kind, k), k, _RACE_ROUNDS)

        states = side_by_side([partial(run, kind) for kind in kinds])
        order = sorted(range(len(kinds)), key=lambda i: -states[i].score)
        return states[order[0]], [kinds[i] for i in order[:_FINALISTS]]

    def _blobs(
        self, pilot: SoftStage, coordinates: Float32, stage: SoftStage, state: State
    ) -> Found | None:
        """K-Means, if the pairs are not clearly better predicted by more prototypes.

        Clearly is by more than one standard error: of models that do about equally well, the
        simplest (Breiman's rule for pruning trees).
        """
        near = pilot.ridge.field
        k = state.rows.shape[1]
        seed = int(self.rng.integers(2**31))
        centres = polished_centres(coordinates, self.weights, near.prototypes, near.near, k, seed)
        if centres is None:
            return None
        field, values = blob_field(coordinates, centres)
        rival = blob_state(pilot, field, values)
        error = self.evidence.lead_error(state.alone, rival.alone, stage.first_chances)
        # By what is predicted, not by `merit`: few pairs that have been heard are easily explained.
        if state.score - rival.score > error:
            return None
        rival = pilot.hear_out(rival)
        sharpness = rival.sharpness
        placer = Placer(self.evidence, self.weights, rival.rate, k, self.rng)
        labels, _, cost = placer.place(values, sharpness, rival.nodes.argmax(axis=1))
        eye = np.eye(k)
        history = [cost + roughness(eye, self.settings.smoothness, sharpness)]
        return Found(k, labels, field, eye, sharpness, rival.rate, history, rival.rows, 1)

    def _finish(self, stage: SoftStage, state: State) -> Found:
        k = state.rows.shape[1]
        placer = Placer(self.evidence, stage.ridge.weights, state.rate, k, self.rng)
        done = finish(stage.ridge, placer, state.rows, state.nodes, state.sharpness, _FINISH_ROUNDS)
        return Found(
            k,
            done.labels,
            stage.ridge.field,
            done.field_weights,
            state.sharpness,
            state.rate,
            done.history,
            state.rows,
            state.rounds,
        )
