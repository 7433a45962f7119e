"""How far Mosaic trusts the pairs.

Where rows are in many pairs, pairs check one another: the share that beliefs break, having heard
them all, is the share that is wrong.

Where they are in few that share is too low: beliefs that have heard a wrong pair explain it. There
the rate is chosen by cross-validation: pairs are held out in turn, beliefs are formed from the
others at each rate of a ladder, and the probability of the held-out pairs under beliefs and rate
decides. That beliefs are too sure of themselves is no sign of wrong pairs, though: clusters may not
follow the rows' positions. So trust is kept unless beliefs at the rate found do better than
trusting ones even if either are judged at the rate that suits them.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.field import Float32
from coterie.cluster.mosaic.pilot import Kind, Pilot, side_by_side
from coterie.cluster.mosaic.soft import State
from coterie.constraints import Constraints

Array = NDArray[Any]

_LADDER = (0.05, 0.1, 0.2, 0.3)  # rates that are tried beyond the first, while they do better
_FOLDS = 3
_ROUNDS = 8  # low trust takes them: beliefs grow slowly from pairs that say little
_FEWEST_PAIRS = 2 * _FOLDS
_JUDGED_AT = (0.002, 0.005, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
_MOST_PAIRS, _MOST_ROWS = 5_000, 10_000  # enough for a rate; more would take time only
_COMPANY = 2  # free rows for each row in pairs, where not all take part
_FEWEST_ROWS = 2_000
_MANY = 50  # pairs a row; from 25 the rate that beliefs end with was within .02 on average


class Fold(NamedTuple):
    """Some pairs held out (·, 2), their kinds and weights, and what the others say."""

    pairs: Array
    kind: Array
    weight: Array
    evidence: Evidence
    start: Array


def trusted_rate(
    pilot: Pilot, state: State, coordinates: Float32, kind: Kind, n_clusters: int
) -> float | None:
    """The rate at which to listen to the pairs; None to trust them.

    They are trusted where they cannot tell: pairs of one kind alone are predicted best by one
    cluster, or broken because clusters are too few.

    Parameters
    ----------
    pilot : Pilot
    state : State
        Where the pilot ended, trusting the pairs.
    coordinates : (n, e)
        Where the pilot's rows lie.
    kind : Kind
        How to start.
    """
    stage = pilot.stage
    plain = _plain_pairs(stage.evidence)
    if not _both_kinds(stage.evidence, plain):
        return None
    if 2 * plain.size < _MANY * np.unique(stage.evidence.constraints.pairs[plain]).size:
        return _predicting_rate(pilot, coordinates, kind, n_clusters)
    rate = stage.settle_rate(state).rate
    return rate if rate > stage.first_rate else None


def _predicting_rate(
    pilot: Pilot, coordinates: Float32, kind: Kind, n_clusters: int
) -> float | None:
    """The rate under which held-out pairs are most probable.

    None unless less trust is better by more than one standard error.
    """
    rng = np.random.default_rng(kind.seed)  # of its own: what follows does not depend on it
    pilot, plain = _smaller(pilot, coordinates, rng)
    if not _both_kinds(pilot.stage.evidence, plain):
        return None
    parts = np.array_split(rng.permutation(plain), _FOLDS)
    folds = side_by_side([partial(_hold_out, pilot, part, kind, n_clusters) for part in parts])
    trusting = _agreement(pilot, folds, pilot.stage.first_rate, n_clusters)
    best, found, beliefs = _chances(trusting, pilot.stage.first_rate).sum(), None, trusting
    for rate in _LADDER:
        doubting = _agreement(pilot, folds, rate, n_clusters)
        now = _chances(doubting, rate).sum()
        if now <= best:
            break
        best, found, beliefs = now, rate, doubting
    lead = _at_best(beliefs) - _at_best(trusting)
    return found if lead.sum() > np.sqrt(lead.size) * lead.std() else None


def _smaller(
    pilot: Pilot, coordinates: Float32, rng: np.random.Generator
) -> tuple[Pilot, NDArray[np.int64]]:
    """The pilot, or one of fewer rows and pairs that tells as much; and its plain pairs."""
    stage = pilot.stage
    evidence, n = stage.evidence, len(coordinates)
    plain = _plain_pairs(evidence)
    if plain.size > _MOST_PAIRS:
        evidence = Evidence(_without(evidence.constraints, rng.permutation(plain)[_MOST_PAIRS:]))
        pilot, plain = pilot.hearing(evidence, None), _plain_pairs(evidence)
    inside = np.unique(evidence.constraints.pairs[plain])  # not rows in hard pairs only
    most = min(max((1 + _COMPANY) * inside.size, _FEWEST_ROWS), _MOST_ROWS)
    if n > most:
        others = np.setdiff1d(np.arange(n), inside, assume_unique=True)
        room = max(most - inside.size, 0)
        rows = np.sort(np.concatenate([inside, rng.permutation(others)[:room]]))
        evidence = Evidence(evidence.constraints.subset(rows))
        count = len(stage.ridge.field.prototypes)
        pilot = Pilot.placed(
            coordinates[rows], count, evidence, stage.weights[rows], pilot.settings, rng
        )
    return pilot, _plain_pairs(evidence)


def _plain_pairs(evidence: Evidence) -> NDArray[np.int64]:
    """Numbers of the pairs that the rate is about."""
    return np.flatnonzero(evidence.is_plain & (evidence.constraints.weight > 0))


def _both_kinds(evidence: Evidence, plain: Array) -> bool:
    kinds = evidence.constraints.kind[plain]
    return bool(min((kinds > 0).sum(), (kinds < 0).sum()) >= _FEWEST_PAIRS)


def _hold_out(pilot: Pilot, part: Array, kind: Kind, n_clusters: int) -> Fold:
    known = pilot.stage.evidence.constraints
    part = np.sort(part)
    evidence = Evidence(_without(known, part))
    start = pilot.hearing(evidence, None).start_labels(kind, n_clusters)
    return Fold(known.pairs[part], known.kind[part], known.weight[part], evidence, start)


def _without(known: Constraints, part: Array) -> Constraints:
    kept = np.ones(known.n_pairs, dtype=bool)
    kept[part] = False
    return known._take(kept)


class Agreement(NamedTuple):
    """How probably beliefs agree with each held-out pair (m,), and the pairs' weights."""

    share: Array
    weight: Array


def _agreement(pilot: Pilot, folds: list[Fold], rate: float, n_clusters: int) -> Agreement:
    """By beliefs formed at `rate`."""

    def agree(fold: Fold) -> Array:
        state = pilot.hearing(fold.evidence, rate).try_start(fold.start, n_clusters, _ROUNDS)
        left, right = state.rows[fold.pairs[:, 0]], state.rows[fold.pairs[:, 1]]
        together = np.einsum("ij,ij->i", left, right)
        return np.where(fold.kind > 0, together, 1.0 - together)

    share = np.concatenate(side_by_side([partial(agree, fold) for fold in folds]))
    return Agreement(share, np.concatenate([fold.weight for fold in folds]))


def _chances(agreement: Agreement, rate: float) -> NDArray[np.float64]:
    """log-probability of each held-out pair (m,) if answers are wrong at `rate`."""
    right = rate + (1.0 - 2.0 * rate) * agreement.share
    return np.asarray(agreement.weight * np.log(right))


def _at_best(agreement: Agreement) -> NDArray[np.float64]:
    """The same at the rate that suits the beliefs best."""
    return max((_chances(agreement, rate) for rate in _JUDGED_AT), key=np.sum)
