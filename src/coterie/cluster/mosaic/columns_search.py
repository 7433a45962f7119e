"""Columns that pairs teach: from several starts, and judged by pairs held out in turn."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie._typing import Array
from coterie.cluster.mosaic.beliefs import lean_towards
from coterie.cluster.mosaic.columns import MOST_COLUMNS, Taught, hear_columns
from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.judging import trial_of
from coterie.cluster.mosaic.parallel import side_by_side
from coterie.cluster.mosaic.problem import MosaicSettings
from coterie.cluster.mosaic.space import MosaicSpace
from coterie.cluster.mosaic.trust import Foretold, Rehearsal
from coterie.data import Rows, gather

__all__ = ["TaughtSpace", "learn_columns", "plain_columns"]

_MOST_NUMBERS = 0.25  # of those of the tuning, rows · columns · clusters: they are read so often


class TaughtSpace(NamedTuple):
    """The space whose coordinates are the chances of the clusters, and what was foretold in it."""

    space: MosaicSpace
    foretold: Foretold


def plain_columns(X: Any, space: MosaicSpace) -> MosaicSpace:
    """`space`, or where it is made of principal components the columns themselves.

    Components mix the columns, and a column by itself may be what matters. Sparse columns, or very
    many, stay mixed.
    """
    if space.basis.ndim == 1 or sp.issparse(X) or X.shape[1] > MOST_COLUMNS:
        return space
    unit = np.linalg.norm(space.basis[:, 0])  # one over the spread: components have length 1
    return space._replace(basis=np.full(X.shape[1], unit))


def learn_columns(
    X: Any,
    space: MosaicSpace,
    weights: Array,
    rehearsal: Rehearsal,
    rate: float,
    starts: list[Array],
    seed: int,
) -> TaughtSpace | None:
    """Columns taught by the pairs of a rehearsal, and what they foretell of those held out.

    Every start has a few rounds, the best ones some more. With a part of the pairs held out, all
    begins where the best start did, which has heard none. None if the rows of the pairs are too
    many to be read so often (such pairs can teach any shape), or if a cluster is left without rows.

    Parameters
    ----------
    X : (n, d)
    space : MosaicSpace
        Of the rows.
    weights : (n,)
        How often each counts.
    rehearsal : Rehearsal
    rate : float
        At which pairs are wrong.
    starts : list of (n,)
        Clusters that have heard no pair.
    seed : int
        Of the sample, where not all rows can be read.
    """
    k, settings = rehearsal.n_clusters, rehearsal.problem.settings
    tuning, base = settings.tuning, plain_columns(X, space)
    most = int(_MOST_NUMBERS * tuning.most_numbers) // (k * base.n_coordinates)
    if rehearsal.rows.size > most:
        return None
    chosen = _with_others(rehearsal.rows, X.shape[0], most, seed)
    place = np.searchsorted(chosen, rehearsal.rows)  # of the rehearsal's rows among those
    rows = base.coordinates(gather(Rows(X), chosen)).astype(np.float64)
    lesson = _Lesson(rows, weights[chosen], rate, k, settings)

    whole = _moved(rehearsal.problem.evidence, place, chosen.size)
    begun = [lean_towards(start[chosen], k, tuning.first_belief) for start in starts]
    tried = lesson.learn([(whole, start) for start in begun], tuning.pilot_rounds)
    order = sorted(range(len(tried)), key=lambda i: -tried[i].score)[: tuning.finalists]
    ended = lesson.learn([(whole, tried[i].beliefs) for i in order], settings.max_iter)
    winner = max(range(len(order)), key=lambda i: ended[i].score)
    columns = ended[winner].columns
    if np.unique(columns.log_densities(rows).argmax(axis=1)).size < k:
        return None

    parts = [_moved(fold.evidence, place, chosen.size) for fold in rehearsal.folds]
    begin = begun[order[winner]]
    taught = lesson.learn([(part, begin) for part in parts], settings.max_iter)
    beliefs = [part.beliefs[place] for part in taught]
    return TaughtSpace(base._replace(columns=columns), rehearsal.foretold_by(beliefs))


class _Lesson(NamedTuple):
    """What is the same for all starts and all parts of the pairs."""

    rows: NDArray[np.float64]
    weights: Array
    rate: float
    n_clusters: int
    settings: MosaicSettings

    def learn(self, tasks: list[tuple[Evidence, Array]], rounds: int) -> list[Taught]:
        """What each of some pairs teaches from each of some beliefs (n, K)."""
        return side_by_side([partial(self._learn, *task, rounds) for task in tasks])

    def _learn(self, evidence: Evidence, beliefs: Array, rounds: int) -> Taught:
        trial = trial_of(evidence, np.random.default_rng(0))
        return hear_columns(
            self.rows, self.weights, evidence, trial, self.rate, beliefs, rounds, self.settings
        )


def _with_others(rows: Array, n: int, most: int, seed: int) -> NDArray[np.int64]:
    """`rows` and as many others as there may be, `most` in all, rising."""
    if n <= most:
        return np.arange(n)
    others = np.setdiff1d(np.arange(n), rows, assume_unique=True)
    drawn = np.random.default_rng(seed).permutation(others)[: most - rows.size]
    return np.sort(np.concatenate([rows, drawn]))


def _moved(evidence: Evidence, place: Array, n: int) -> Evidence:
    """The same pairs where row i is row place[i] of n."""
    return Evidence(evidence.constraints.relabel(place, n), evidence.tuning)
