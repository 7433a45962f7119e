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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._typing import Array
from coterie.cluster.mosaic.beliefs import MosaicState, form_beliefs, settle_noise, start_from
from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.noise import Noise
from coterie.cluster.mosaic.parallel import side_by_side
from coterie.cluster.mosaic.passes import Float32
from coterie.cluster.mosaic.problem import MosaicProblem, pose
from coterie.cluster.mosaic.starts import StartKind, start_labels
from coterie.constraints import Constraints

__all__ = ["choose_noise"]


class Fold(NamedTuple):
    """Some pairs held out (·, 2), their subjects, kinds and weights, and what the others say."""

    pairs: Array
    subject: Array
    kind: Array
    weight: Array
    evidence: Evidence
    start: Array


class Agreement(NamedTuple):
    """How probably beliefs agree with each held-out pair (m,), the pairs' weights and subjects."""

    share: Array
    weight: Array
    subject: Array

    def log_chances(self, rate: float) -> NDArray[np.float64]:
        """log-probability of the held-out pairs of each subject if answers are wrong at `rate`."""
        right = rate + (1.0 - 2.0 * rate) * self.share
        return np.asarray(np.bincount(self.subject, self.weight * np.log(right)))

    def at_best(self, rates: tuple[float, ...]) -> NDArray[np.float64]:
        """The same at the one of some rates that suits the beliefs best."""
        return max((self.log_chances(rate) for rate in rates), key=np.sum)


def choose_noise(
    problem: MosaicProblem, state: MosaicState, coordinates: Float32, kind: StartKind
) -> Noise:
    """The noise at which to hear the pairs; that of `problem` is to trust them.

    They are trusted where they cannot tell: pairs of one kind alone are predicted best by one
    cluster, or broken because clusters are too few.

    Parameters
    ----------
    problem : MosaicProblem
    state : MosaicState
        What is believed, trusting the pairs.
    coordinates : (n, e)
        Where the rows lie.
    kind : StartKind
        How to start.
    """
    evidence = problem.evidence
    if not _both_kinds(evidence, problem.tuning.folds):
        return problem.noise
    rows = np.unique(evidence.constraints.pairs[evidence.plain])
    if 2 * evidence.n_subjects < problem.tuning.many_pairs * rows.size:
        return _predicting_noise(problem, coordinates, kind, state.rows.shape[1])
    rate = settle_noise(problem, state).noise.rate
    return Noise(rate, "chosen") if rate > problem.noise.rate else problem.noise


def _predicting_noise(
    whole: MosaicProblem, coordinates: Float32, kind: StartKind, n_clusters: int
) -> Noise:
    """The noise under which held-out pairs are most probable.

    That of `whole` unless less trust is better by more than one standard error.
    """
    tuning = whole.tuning
    rng = np.random.default_rng(kind.seed)  # of its own: what follows does not depend on it
    problem = _deciding_part(whole, coordinates, rng)
    if not _both_kinds(problem.evidence, tuning.folds):
        return whole.noise
    parts = np.array_split(rng.permutation(problem.evidence.n_subjects), tuning.folds)
    folds = side_by_side([partial(_hold_out, problem, part, kind, n_clusters) for part in parts])
    agree = partial(_agreement, problem, folds, n_clusters)
    trusting = beliefs = agree(problem.noise.rate)
    best, found = trusting.log_chances(problem.noise.rate).sum(), whole.noise
    for rate in tuning.ladder:
        doubting = agree(rate)
        now = doubting.log_chances(rate).sum()
        if now <= best:
            break
        best, found, beliefs = now, Noise(rate, "chosen"), doubting
    rates = (problem.noise.rate, *tuning.ladder)
    lead = beliefs.at_best(rates) - trusting.at_best(rates)
    return found if lead.sum() > np.sqrt(lead.size) * lead.std() else whole.noise


def _deciding_part(
    problem: MosaicProblem, coordinates: Float32, rng: np.random.Generator
) -> MosaicProblem:
    """The problem, or one of fewer rows and pairs that tells as much."""
    tuning, n = problem.tuning, len(coordinates)
    evidence = problem.evidence
    if evidence.n_subjects > tuning.deciding_pairs:
        surplus = rng.permutation(evidence.n_subjects)[tuning.deciding_pairs :]
        evidence = _without(evidence, np.isin(evidence.subject, surplus))
        problem = problem.with_pairs(evidence, evidence.first_noise())
    known = problem.evidence.constraints
    inside = np.unique(known.pairs[problem.evidence.plain])  # not rows in hard pairs only
    # As many rows again are in no such pair, for the field needs to know where rows lie; but no
    # more in all than the deciding pairs could have.
    most = min(2 * inside.size, max(2 * tuning.deciding_pairs, inside.size))
    if n <= most:
        return problem
    others = np.setdiff1d(np.arange(n), inside, assume_unique=True)
    rows = np.sort(np.concatenate([inside, rng.permutation(others)[: most - inside.size]]))
    evidence = Evidence(known.subset(rows), tuning)
    count, weights = problem.ridge.field.n_prototypes, problem.weights[rows]
    noise = evidence.first_noise()
    return pose(coordinates[rows], count, evidence, weights, noise, problem.settings, rng)


def _both_kinds(evidence: Evidence, folds: int) -> bool:
    """Whether a fold will hold some plain pairs of either kind."""
    must = evidence.constraints.kind[evidence.plain] > 0
    counts = (np.unique(evidence.subject[kind]).size for kind in (must, ~must))
    return min(counts) >= 2 * folds


def _hold_out(problem: MosaicProblem, part: Array, kind: StartKind, n_clusters: int) -> Fold:
    """The subjects `part` held out."""
    whole, known = problem.evidence, problem.evidence.constraints
    out = np.isin(whole.subject, part)
    evidence = _without(whole, out)
    start = start_labels(problem.with_pairs(evidence, problem.noise), kind, n_clusters)
    pairs = whole.plain[out]
    return Fold(
        pairs=known.pairs[pairs],
        subject=whole.subject[out],
        kind=known.kind[pairs],
        weight=known.weight[pairs],
        evidence=evidence,
        start=start,
    )


def _without(evidence: Evidence, out: Array) -> Evidence:
    """The evidence without the plain pairs marked in `out`."""
    known: Constraints = evidence.constraints
    kept = np.ones(known.n_pairs, dtype=bool)
    kept[evidence.plain[out]] = False
    return Evidence(known._take(kept), evidence.tuning)


def _agreement(
    problem: MosaicProblem, folds: list[Fold], n_clusters: int, rate: float
) -> Agreement:
    """Of beliefs formed at `rate`."""
    tasks = [partial(_agree, problem, fold, n_clusters, rate) for fold in folds]
    share = np.concatenate(side_by_side(tasks))
    weight, subject = (
        np.concatenate([getattr(fold, name) for fold in folds]) for name in ("weight", "subject")
    )
    return Agreement(share, weight, subject)


def _agree(problem: MosaicProblem, fold: Fold, n_clusters: int, rate: float) -> Array:
    part = problem.with_pairs(fold.evidence, Noise(rate, "chosen"))
    start = start_from(part, fold.start, n_clusters)
    rows = form_beliefs(part, start, problem.tuning.pilot_rounds).rows
    together = np.einsum("ij,ij->i", rows[fold.pairs[:, 0]], rows[fold.pairs[:, 1]])
    return np.where(fold.kind > 0, together, 1.0 - together)
