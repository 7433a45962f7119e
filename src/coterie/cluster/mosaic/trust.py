"""What pairs that were held out say: how far to trust the others, and whether these teach shapes.

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
from coterie.cluster.mosaic.judging import Trial, trial_of
from coterie.cluster.mosaic.noise import Noise
from coterie.cluster.mosaic.parallel import side_by_side
from coterie.cluster.mosaic.passes import Float32
from coterie.cluster.mosaic.problem import MosaicProblem, pose
from coterie.cluster.mosaic.starts import StartKind, start_labels
from coterie.cluster.mosaic.tuning import Tuning
from coterie.constraints import Constraints

__all__ = ["Foretold", "Rehearsal", "choose_noise", "foretell", "rehearse"]


class Fold(NamedTuple):
    """Which pairs of a trial are held out (m,), what the others say, and where beliefs start."""

    out: NDArray[np.bool_]
    evidence: Evidence
    start: Array


class Rehearsal(NamedTuple):
    """A problem small enough to be learned several times, each time without some of the pairs.

    Attributes
    ----------
    problem : MosaicProblem
    rows : (n,)
        Which of all rows are in it.
    trial : Trial
        All its pairs, each of which is held out once.
    folds : list of Fold
    n_clusters : int
    """

    problem: MosaicProblem
    rows: Array
    trial: Trial
    folds: list[Fold]
    n_clusters: int

    def foretold_by(self, beliefs: list[Array]) -> Foretold:
        """What beliefs (n, K), those of each fold, foretell of the pairs that it holds out."""
        together, by_label = np.empty((2, self.trial.must.size))
        for fold, rows in zip(self.folds, beliefs, strict=True):
            (i, j), labels = self.trial.pairs[fold.out].T, rows.argmax(axis=1)
            together[fold.out] = np.einsum("ij,ij->i", rows[i], rows[j])
            by_label[fold.out] = labels[i] == labels[j]
        return Foretold(together, by_label)


class Foretold(NamedTuple):
    """What beliefs that have not heard it foretell of each pair (m,) of a trial.

    Attributes
    ----------
    together : (m,)
        How probably its rows are together, ...
    by_label : (m,)
        ... and 1 if they are in the cluster that is most probable for each, 0 if not.
    """

    together: Array
    by_label: Array

    def log_chances(self, trial: Trial, rate: float) -> NDArray[np.float64]:
        """log-probability of each plain pair if answers are wrong at `rate`."""
        agree = np.where(trial.must, self.together, 1.0 - self.together)[trial.plain]
        right = rate + (1.0 - 2.0 * rate) * agree
        return np.asarray(trial.weight[trial.plain] * np.log(right))

    def at_best(self, trial: Trial, rates: tuple[float, ...]) -> NDArray[np.float64]:
        """The same at the one of some rates that suits the beliefs best."""
        return max((self.log_chances(trial, rate) for rate in rates), key=np.sum)


# -- how far pairs are trusted ---------------------------------------------------------------------
def choose_noise(
    problem: MosaicProblem, state: MosaicState, rehearsal: Rehearsal | None
) -> tuple[Noise, Foretold | None]:
    """The noise at which to hear the pairs, and what is foretold at it.

    That of `problem`, which is to trust them, where they cannot tell: pairs of one kind alone are
    predicted best by one cluster, or broken because clusters are too few.

    Parameters
    ----------
    problem : MosaicProblem
    state : MosaicState
        What is believed, trusting the pairs.
    rehearsal : Rehearsal or None
        None if pairs are too few to hold any out.
    """
    if rehearsal is None:
        return problem.noise, None
    evidence, tuning = problem.evidence, problem.tuning
    rows = np.unique(evidence.constraints.pairs[evidence.plain])
    learned = problem.noise.origin == "estimated" and _both_kinds(rehearsal, tuning.folds)
    if learned and 2 * evidence.n_subjects < tuning.many_pairs * rows.size:
        return _predicting_noise(problem.noise, rehearsal)
    noise = problem.noise
    if learned:
        rate = settle_noise(problem, state).noise.rate
        noise = Noise(rate, "chosen") if rate > noise.rate else noise
    return noise, foretell(rehearsal, noise.rate)


def _predicting_noise(trusting: Noise, rehearsal: Rehearsal) -> tuple[Noise, Foretold]:
    """The noise under which held-out pairs are most probable.

    `trusting` unless less trust is better by more than one standard error.
    """
    trial, first = rehearsal.trial, rehearsal.problem.noise.rate
    _, *ladder = rehearsal.problem.tuning.ladder
    calm = beliefs = foretell(rehearsal, first)
    best, found = calm.log_chances(trial, first).sum(), trusting
    for rate in ladder:
        doubting = foretell(rehearsal, rate)
        now = doubting.log_chances(trial, rate).sum()
        if now <= best:
            break
        best, found, beliefs = now, Noise(rate, "chosen"), doubting
    rates = (first, *ladder)
    lead = beliefs.at_best(trial, rates) - calm.at_best(trial, rates)
    doubt = lead.sum() > np.sqrt(lead.size) * lead.std()
    return (found, beliefs) if doubt else (trusting, calm)


def _both_kinds(rehearsal: Rehearsal, folds: int) -> bool:
    """Whether a fold will hold some plain pairs of either kind."""
    trial = rehearsal.trial
    counts = (np.count_nonzero(trial.plain & kind) for kind in (trial.must, ~trial.must))
    return bool(min(counts) >= 2 * folds)


# -- rehearsals ------------------------------------------------------------------------------------
def rehearse(
    whole: MosaicProblem, coordinates: Float32, kind: StartKind, n_clusters: int
) -> Rehearsal | None:
    """The pairs of `whole` held out in turn; None if they are fewer than two a part.

    Parameters
    ----------
    whole : MosaicProblem
    coordinates : (n, e)
        Where the rows lie.
    kind : StartKind
        How to start.
    """
    tuning = whole.tuning
    rng = np.random.default_rng(kind.seed)  # of its own: what follows does not depend on it
    problem, rows = _deciding_part(whole, coordinates, rng)
    if kind.labels is not None:
        kind = kind._replace(labels=kind.labels[rows])
    trial = trial_of(problem.evidence, rng, plain_only=_plain_are_enough(problem))
    # The same two rows are one subject, whatever was said of them.
    code = trial.pairs[:, 0] * rows.size + trial.pairs[:, 1]
    subjects, subject = np.unique(code, return_inverse=True)
    if subjects.size < 2 * tuning.folds:
        return None
    # Random pairs beside pairs of one kind are not pairs that could be spared.
    given = len(np.unique(problem.evidence.constraints.pairs, axis=0))
    folds = _parts(min(subjects.size, given), tuning)
    turn = rng.permutation(np.arange(subjects.size) % folds)[subject]
    tasks = [partial(_hold_out, problem, trial, turn == t, kind, n_clusters) for t in range(folds)]
    return Rehearsal(problem, rows, trial, side_by_side(tasks), n_clusters)


def _parts(count: int, tuning: Tuning) -> int:
    """Into how many parts `count` pairs are put: the fewer they are, the fewer can be spared."""
    return max(tuning.folds, min(count // 2, tuning.spared_pairs // count))


def _plain_are_enough(problem: MosaicProblem) -> bool:
    """Whether pairs that are taken at their word need not be held out."""
    return problem.evidence.n_subjects >= 2 * problem.tuning.folds


def foretell(rehearsal: Rehearsal, rate: float) -> Foretold:
    """What is said of held-out pairs when the others are heard at `rate`."""
    tasks = [partial(_beliefs_of_fold, rehearsal, fold, rate) for fold in rehearsal.folds]
    return rehearsal.foretold_by(side_by_side(tasks))


def _deciding_part(
    problem: MosaicProblem, coordinates: Float32, rng: np.random.Generator
) -> tuple[MosaicProblem, Array]:
    """The problem, or one of fewer rows and pairs that tells as much; and its rows."""
    tuning, n = problem.tuning, len(coordinates)
    known = problem.evidence.constraints
    asked = (
        problem.evidence.is_plain if _plain_are_enough(problem) else np.ones(known.n_pairs, bool)
    )
    if np.count_nonzero(asked) > tuning.deciding_pairs:
        # Drawn only here: a pair given twice must not move what chance does later.
        kept = ~asked
        kept[_among_few_rows(known.pairs, np.flatnonzero(asked), tuning.deciding_pairs, rng)] = True
        evidence = _with_only(problem.evidence, kept)
        problem = problem.with_pairs(evidence, _noise_of(evidence, problem.noise))
        known, asked = evidence.constraints, asked[kept]
    inside = np.unique(known.pairs[asked])
    # As many rows again are in no pair, for the field needs to know where rows lie; but no
    # more in all than the deciding pairs could have.
    most = min(2 * inside.size, max(2 * tuning.deciding_pairs, inside.size))
    if n <= most:
        return problem, np.arange(n)
    others = np.setdiff1d(np.arange(n), inside, assume_unique=True)
    rows = np.sort(np.concatenate([inside, rng.permutation(others)[: most - inside.size]]))
    evidence = Evidence(known.subset(rows), tuning)
    count, weights = problem.ridge.field.n_prototypes, problem.weights[rows]
    noise = _noise_of(evidence, problem.noise)
    return pose(coordinates[rows], count, evidence, weights, noise, problem.settings, rng), rows


def _among_few_rows(
    pairs: Array, asked: Array, most: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Which `most` of the pairs `asked` (·,) decide: those among as few rows, drawn at random, as
    have so many.

    Where every two of some rows were compared, a few of the pairs of all these rows would hardly
    say which of them belong together; all pairs of a few rows do.
    """
    rows, ends = np.unique(pairs[asked], return_inverse=True)
    complete = rng.permutation(rows.size)[ends.reshape(-1, 2)].max(axis=1)
    order = rng.permutation(asked.size)  # of pairs that the same row completes
    order = order[np.argsort(complete[order], kind="stable")]
    return np.asarray(asked[order[:most]])


def _noise_of(evidence: Evidence, noise: Noise) -> Noise:
    return evidence.first_noise() if noise.origin == "estimated" else noise


def _hold_out(
    problem: MosaicProblem, trial: Trial, out: NDArray[np.bool_], kind: StartKind, n_clusters: int
) -> Fold:
    """The pairs marked in `out` (m,) held out."""
    known = problem.evidence.constraints
    n = known.n_samples
    held = trial.pairs[out]
    kept = ~np.isin(known.pairs[:, 0] * n + known.pairs[:, 1], held[:, 0] * n + held[:, 1])
    evidence = _with_only(problem.evidence, kept)
    start = start_labels(problem.with_pairs(evidence, problem.noise), kind, n_clusters)
    return Fold(out, evidence, start)


def _with_only(evidence: Evidence, kept: Array) -> Evidence:
    """The evidence of some of the pairs."""
    known: Constraints = evidence.constraints
    return Evidence(known._take(kept), evidence.tuning)


def _beliefs_of_fold(rehearsal: Rehearsal, fold: Fold, rate: float) -> Array:
    problem = rehearsal.problem
    part = problem.with_pairs(fold.evidence, Noise(rate, "chosen"))
    start = start_from(part, fold.start, rehearsal.n_clusters)
    return form_beliefs(part, start, problem.tuning.pilot_rounds).rows
