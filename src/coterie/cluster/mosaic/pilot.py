"""A space with its prototypes, on which Mosaic tries its starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.field import Float32, Ridge, build_field, place_prototypes
from coterie.cluster.mosaic.soft import SoftStage, State
from coterie.cluster.mosaic.starts import Joins, cluster_prototypes
from coterie.data import num_threads, one_blas_thread, use_threads

Array = NDArray[Any]
T = TypeVar("T")

_FREE_WEIGHT = 0.2  # of a row in no pair, beside 1: what it believes is an echo of the field
JOIN_PENALTIES = (10.0, 100.0, 1000.0)  # in rows: how far around it a pair speaks


@dataclass(frozen=True)
class Settings:
    """The parameters of `Mosaic` that the search needs.

    `rate` is that of the soft stage's rounds, None to estimate it on the way; `rate_is_known`
    says whether it is the user's.
    """

    n_clusters: int | None
    n_prototypes: int
    may_be_blobs: bool
    inference: str
    smoothness: float
    rate: float | None
    rate_is_known: bool
    n_init: int
    max_iter: int
    tol: float


class Kind(NamedTuple):
    """A kind of start: which repetition's seed, and which reach (None: by position)."""

    seed: int
    reach: int | None


class Pilot:
    """Prototypes with their field, and pairs: where starts are made and tried."""

    def __init__(
        self, ridge: Ridge, evidence: Evidence, weights: Array, settings: Settings
    ) -> None:
        self.settings = settings
        self.stage = SoftStage(
            ridge, evidence, weights, settings.inference, settings.rate, settings.rate_is_known
        )
        self._joins: dict[int, Joins] = {}

    @classmethod
    def placed(
        cls,
        coordinates: Float32,
        count: int,
        evidence: Evidence,
        weights: Array,
        settings: Settings,
        rng: np.random.Generator,
    ) -> Pilot:
        """A pilot with `count` prototypes among rows at `coordinates` (n, e)."""
        field = build_field(coordinates, place_prototypes(coordinates, count, rng))
        teaching = np.full(len(coordinates), _FREE_WEIGHT)
        teaching[evidence.core.rows] = 1.0
        ridge = Ridge(field, teaching * weights, settings.smoothness, rng)
        return cls(ridge, evidence, weights, settings)

    def hearing(self, evidence: Evidence, rate: float | None) -> Pilot:
        """The same prototypes with other pairs, or with a noise rate that is settled."""
        settings = replace(self.settings, rate=rate)
        return Pilot(self.stage.ridge, evidence, self.stage.weights, settings)

    def merit(self, state: State) -> float:
        """See `SoftStage.merit`."""
        return self.stage.merit(self.stage.settle_rate(state))

    def joins(self, reach: int) -> Joins:
        """Where the pairs join prototypes, at one of the `JOIN_PENALTIES`."""
        if reach not in self._joins:
            stage = self.stage
            self._joins[reach] = Joins(stage.ridge, stage.evidence, JOIN_PENALTIES[reach])
        return self._joins[reach]

    def start_labels(self, kind: Kind, n_clusters: int) -> NDArray[np.int64]:
        """Clusters (n,) of rows by their prototypes', joined by the pairs at one reach or near."""
        field = self.stage.ridge.field
        counts = np.bincount(field.near, self.stage.weights, minlength=len(field.prototypes))
        if kind.reach is None:
            positions = field.prototypes.astype(np.float64)
            labels = cluster_prototypes(positions, counts, n_clusters, kind.seed)
        else:
            labels = self.joins(kind.reach).labels(n_clusters, counts, kind.seed)
        return labels[field.near]

    def try_start(self, labels: Array, n_clusters: int, rounds: int) -> State:
        """Some rounds of the soft stage from `labels` (n,)."""
        start = self.stage.start(labels, n_clusters)
        return self.stage.run(start, min(rounds, self.settings.max_iter), self.settings.tol)


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
