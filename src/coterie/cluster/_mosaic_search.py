"""Mosaic's search: which space, which start, how many prototypes; judged by the pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from coterie.cluster._mosaic_blobs import blob_field, blob_state, polished_centres
from coterie.cluster._mosaic_evidence import Evidence
from coterie.cluster._mosaic_field import Field, Float32, Ridge, build_field, place_prototypes
from coterie.cluster._mosaic_finish import Placer, finish, roughness
from coterie.cluster._mosaic_soft import SoftStage, State
from coterie.cluster._mosaic_space import Space, whitening
from coterie.cluster._mosaic_starts import Joins, cluster_prototypes
from coterie.data import num_threads, one_blas_thread, use_threads

Array = NDArray[Any]
T = TypeVar("T")

_FREE_WEIGHT = 0.2  # of a row in no pair, beside 1: what it believes is an echo of the field
_JOIN_PENALTIES = (10.0, 100.0, 1000.0)  # in rows: how far around it a pair speaks
_RACE_ROUNDS = 3  # after which only the most promising start goes on
_FINALISTS = 2  # kinds of start that are tried again with all prototypes
_PILOT_ROUNDS = 10  # after which two spaces are compared
_FINISH_ROUNDS = 20
PILOT_PROTOTYPES = 300


@dataclass(frozen=True)
class Settings:
    """The parameters of `Mosaic` that the search needs; `rate` None estimates the noise."""

    n_clusters: int | None
    n_prototypes: int
    may_be_blobs: bool
    inference: str
    smoothness: float
    rate: float | None
    n_init: int
    max_iter: int
    tol: float


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


class Kind(NamedTuple):
    """A kind of start: which repetition's seed, and which reach (None: by position)."""

    seed: int
    reach: int | None


class Search:
    """Everything that is the same for all spaces and starts of one fit."""

    def __init__(
        self, settings: Settings, evidence: Evidence, weights: Array, rng: np.random.Generator
    ) -> None:
        self.settings, self.evidence, self.weights, self.rng = settings, evidence, weights, rng
        seeds = rng.integers(2**31, size=settings.n_init).tolist()
        reaches = [*range(len(_JOIN_PENALTIES)), None]
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
        pilots = [Pilot(self, rows, few) for _, rows in spaces]
        k = wanted.n_clusters
        if k is None:
            k = max(j.n_clusters(self.rng, len(coordinates)) for j in pilots[0].joins)
        states = self._pilot_states(pilots, k)
        best = max(range(len(pilots)), key=lambda p: pilots[p].merit(states[p][0]))
        pilot, (state, kinds) = pilots[best], states[best]
        if wanted.n_prototypes > few:
            pilot = Pilot(self, spaces[best][1], wanted.n_prototypes)
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

    def _pilot_states(self, pilots: list[Pilot], k: int) -> list[tuple[State, list[Kind]]]:
        """State of each pilot after its best start, and the kinds of start that led its race.

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
        return [(state, kinds) for state, (_, kinds) in zip(states, raced, strict=True)]

    def _settled(self, stage: SoftStage, starts: list[State]) -> list[State]:
        """Where the soft stage ends from each start, noise rates settled."""
        rounds, tol = self.settings.max_iter, self.settings.tol

        def run(start: State) -> State:
            return stage.settle_rate(stage.run(start, rounds, tol))

        return side_by_side([partial(run, start) for start in starts])

    def _race(self, pilot: Pilot, kinds: list[Kind], k: int) -> tuple[State, list[Kind]]:
        """A few rounds from every kind of start: the best state, and the best kinds."""
        rounds, tol = min(_RACE_ROUNDS, self.settings.max_iter), self.settings.tol
        states = side_by_side([partial(pilot.try_start, kind, k, rounds, tol) for kind in kinds])
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


class Pilot:
    """A space with its prototypes: the stage of the search that starts are tried on."""

    def __init__(self, search: Search, coordinates: Float32, count: int) -> None:
        settings, evidence = search.settings, search.evidence
        rng = search.rng
        field = build_field(coordinates, place_prototypes(coordinates, count, rng))
        teaching = np.full(len(coordinates), _FREE_WEIGHT)
        teaching[evidence.core.rows] = 1.0
        ridge = Ridge(field, teaching * search.weights, settings.smoothness, rng)
        self.stage = SoftStage(ridge, evidence, search.weights, settings.inference, settings.rate)
        self.joins = side_by_side([partial(Joins, ridge, evidence, p) for p in _JOIN_PENALTIES])

    def merit(self, state: State) -> float:
        """See `SoftStage.merit`."""
        return self.stage.merit(self.stage.settle_rate(state))

    def try_start(self, kind: Kind, n_clusters: int, rounds: int, tol: float) -> State:
        """A few rounds from clusters of prototypes by the pairs, at one reach, or by position."""
        field = self.stage.ridge.field
        counts = np.bincount(field.near, self.stage.weights, minlength=len(field.prototypes))
        if kind.reach is None:
            positions = field.prototypes.astype(np.float64)
            labels = cluster_prototypes(positions, counts, n_clusters, kind.seed)
        else:
            labels = self.joins[kind.reach].labels(n_clusters, counts, kind.seed)
        return self.stage.run(self.stage.start(labels[field.near], n_clusters), rounds, tol)


def side_by_side(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """Results of independent tasks, run on as many threads as there are.

    Each task is the same for any number of threads, and so is the order of the results.
    """
    threads = num_threads()
    workers = min(threads, len(tasks))

    def work(task: Callable[[], T]) -> T:
        with use_threads(max(1, threads // workers)):
            return task()

    with one_blas_thread():
        if workers == 1:
            return [task() for task in tasks]
        with ThreadPoolExecutor(workers) as pool:
            # A copy of the context: settings and watchers of this thread hold in the others.
            futures = [pool.submit(copy_context().run, work, task) for task in tasks]
            return [future.result() for future in futures]
