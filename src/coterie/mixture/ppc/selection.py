"""Which covariance type: the one whose clusters are those that the answers are about.

Density alone does not say: of several mixtures that fit the rows, one has the clusters that
somebody was asked about. So types whose plain mixture foretells the answers clearly worse than the
best one does, by more than chance among them explains, are out; among the others the likelihood
that new rows can be expected to have decides (Akaike's criterion). A third of the answers at a time
is foretold by a mixture that was fitted to the others: full covariances of many columns have room
for any answers that they are fitted to.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from coterie._typing import FloatArray, IntArray
from coterie.constraints import Constraints
from coterie.data import Rows, map_blocks
from coterie.exceptions import InvalidData
from coterie.mixture.ppc.core import CoreGraph
from coterie.mixture.ppc.covariances import COVARIANCES
from coterie.mixture.ppc.em import EmRun, PpcProblem, best_run, make_problem
from coterie.mixture.ppc.gaussians import RowWeights, cluster_log_densities, log_sum_rows
from coterie.mixture.ppc.model import Mixture, n_parameters
from coterie.mixture.ppc.preparation import Starts, make_prior, start_with_pairs
from coterie.mixture.ppc.start import Start, StartRows, mixture_of

__all__ = ["Choice", "choose_type"]

_MOST_ROWS = 5000  # on which types are compared
_FOLDS = 3  # in which the answers are held out
_CLEARLY = 3.0  # nats by which answers are foretold worse: they are 20 times less likely
_STANDARD_ERRORS = 2.0  # of that difference, by which it is no accident of which answers came
_MOST_SURE = 0.95  # nobody is surer of an answer than this when mixtures are compared by it


class Choice(NamedTuple):
    """The type chosen, and its run where it was one on all rows."""

    covariance_type: str
    run: EmRun | None


class _Candidate(NamedTuple):
    """A type with its run, how well it foretells the answers, and Akaike's criterion.

    `answers` (·,) is in nats, of all that was said about the same two rows together.
    """

    covariance_type: str
    run: EmRun
    answers: FloatArray
    criterion: float


class _Fold(NamedTuple):
    """The problem without some of the pairs, where it starts, and these pairs."""

    problem: PpcProblem
    start: Start
    held_out: Constraints


def choose_type(
    problem: PpcProblem,
    starts: Starts,
    constraints: Constraints,
    init: Any,
    weights_update: str,
    max_iter: int,
    tol: float,
) -> Choice:
    """Compare the types by a run each from the first start, on all rows or on a sample of many.

    `init` is what the starts were found by: those of held-out answers are found without them.
    """
    whole = problem.rows.n <= _MOST_ROWS
    if not whole:
        chosen = _sample(constraints, problem.core.seed)
        problem, starts = _part(problem, starts, constraints, weights_update, chosen)
        constraints = constraints.subset(chosen)
    first = starts._replace(each=starts.each[:1])
    shown = _telling_columns(problem.rows)
    folds = _folds(problem, first, constraints, init)
    found: list[_Candidate] = []
    refusal: InvalidData | None = None
    for name in COVARIANCES:
        try:
            found.append(_candidate(problem, shown, first, folds, name, max_iter, tol))
        except InvalidData as error:  # singular without a prior: another type may not be
            refusal = error
    if not found:
        assert refusal is not None
        raise refusal
    most = max(found, key=lambda candidate: candidate.answers.sum()).answers
    near = [candidate for candidate in found if not _clearly_worse(candidate.answers, most)]
    best = max(near, key=lambda candidate: candidate.criterion)
    return Choice(best.covariance_type, best.run if whole and len(starts.each) == 1 else None)


def _clearly_worse(answers: FloatArray, most: FloatArray) -> bool:
    """Whether answers (m,) are foretold clearly worse than by the type that does it best."""
    behind = most - answers
    if not behind.size:  # no pairs: nothing was foretold
        return False
    error = np.sqrt(behind.size) * behind.std()
    return bool(behind.sum() > max(_CLEARLY, _STANDARD_ERRORS * error))


def _telling_columns(rows: Rows) -> Rows:
    """The rows with gaps for the values of constant columns.

    What density a mixture gives to a constant is a matter of the prior and of the type alone.
    """
    values = np.asarray(rows.take(np.arange(rows.n)), dtype=np.float64)
    constant = np.nanmax(values, axis=0) == np.nanmin(values, axis=0)
    values[:, constant] = np.nan
    return Rows(values)


def _folds(problem: PpcProblem, starts: Starts, constraints: Constraints, init: Any) -> list[_Fold]:
    """The problem with each part of the pairs held out in turn; none without pairs."""
    weights = problem.weights.weights
    seed, shape = problem.core.seed, problem.shape
    # Of two thirds of the pairs, too, exact inference and log Ω may be dear.
    settings = problem.core.settings
    if not problem.core.is_quick:
        settings = settings._replace(inference="mean_field")
    said = np.flatnonzero(constraints.weight > 0)
    which, n_distinct = _which_rows(constraints.pairs[said])
    order = np.random.default_rng(seed).permutation(n_distinct)
    found = []
    for part in np.array_split(order, min(_FOLDS, n_distinct)) if n_distinct else ():
        held_out = np.isin(which, part)  # with all that was said about these two rows
        known = constraints.pick(said[~held_out])
        core = CoreGraph(known, shape.n_clusters, settings, seed, weights if weights.size else None)
        own = starts
        if isinstance(init, str) and init in ("neighborhoods", "mosaic"):  # those that hear pairs
            rng = np.random.RandomState(seed)
            own = Starts(starts.given, (start_with_pairs(starts.given, known, shape, init, rng),))
        if shape.prior is not None:  # it knows the clusters of the start
            shape = shape._replace(prior=make_prior(problem.rows, own, shape.prior.rows))
        without = make_problem(problem.rows, problem.weights, core, shape, "proportions")
        found.append(_Fold(without, own.each[0], constraints.pick(said[held_out])))
    return found


def _which_rows(pairs: IntArray) -> tuple[IntArray, int]:
    """Numbers (m,) of the two rows of each pair, and how many two rows there are."""
    distinct, which = np.unique(pairs, axis=0, return_inverse=True)
    return which.ravel(), distinct.shape[0]


def _candidate(
    problem: PpcProblem,
    shown: Rows,
    starts: Starts,
    folds: list[_Fold],
    covariance_type: str,
    max_iter: int,
    tol: float,
) -> _Candidate:
    problem = problem.reshaped(problem.shape._replace(covariance_type=covariance_type))
    mixtures = starts.mixtures(problem, max_iter, tol)
    run = best_run(problem, mixtures, 1, max_iter, tol)
    mixture = run.state.mixture
    of_rows = log_sum_rows(_log_densities(shown, mixture))
    weights = problem.weights.weights
    likelihood = float(of_rows @ weights if weights.size else of_rows.sum())
    mixed = len({kind for fold in folds for kind in fold.held_out.kind.tolist()}) > 1
    answers = []
    for fold in folds:  # from the fold's own start, and from the mixture that knows no pairs
        theirs = fold.problem.reshaped(fold.problem.shape._replace(covariance_type=covariance_type))
        begin = [mixture_of(fold.start, starts.given, theirs.shape), *mixtures[1:]]
        ended = best_run(theirs, begin, 1, max_iter, tol)
        resp = _log_densities(shown, ended.state.mixture)
        log_sum_rows(resp)
        answers.append(foretold(fold.held_out, resp, picked=not mixed))
    each = np.concatenate(answers) if answers else np.zeros(0)
    return _Candidate(covariance_type, run, each, likelihood - n_parameters(mixture))


def _log_densities(shown: Rows, mixture: Mixture) -> FloatArray:
    return np.concatenate(list(map_blocks(shown, cluster_log_densities, mixture)))


def foretold(constraints: Constraints, resp: FloatArray, *, picked: bool) -> FloatArray:
    """log P(answers | posteriors of the plain mixture), summed for each two rows, (·,).

    Rows are independent given `resp` (n, K). An answer of certainty γ is right with probability γ,
    and counts as often as its weight says. Nobody is more than .95 sure here, so that one answer
    never decides alone; a hard one counts once. Pairs of one kind only (neighbours in an image)
    were `picked` by what they are: of those it is by how much likelier they are than two rows
    picked at random, or one cluster that takes everything would foretell all must-links.
    """
    i, j = constraints.pairs.T
    must = constraints.kind > 0
    together = np.einsum("mk,mk->m", resp[i], resp[j])
    sure = np.where(np.isnan(constraints.certainty), _MOST_SURE, constraints.certainty)
    sure = np.minimum(sure, _MOST_SURE)
    times = np.where(np.isinf(constraints.weight), 1.0, constraints.weight)

    def log_chance(same: FloatArray) -> FloatArray:
        agrees = np.where(must, same, 1.0 - same)
        return np.log(sure * agrees + (1.0 - sure) * (1.0 - agrees))

    value = log_chance(together)
    if picked:
        share = resp.mean(axis=0)
        value -= log_chance(np.full(must.size, share @ share))
    which, n_distinct = _which_rows(constraints.pairs)
    summed: FloatArray = np.zeros(n_distinct)
    np.add.at(summed, which, times * value)
    return summed


def _sample(constraints: Constraints, seed: int) -> IntArray:
    """Rows to compare types on: some that are in pairs, half of them at most, and some others."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(constraints.n_pairs)
    in_pairs = np.unique(constraints.pairs[order[: _MOST_ROWS // 4]])
    others = rng.choice(constraints.n_samples, _MOST_ROWS - in_pairs.size, replace=False)
    return np.union1d(in_pairs, others)


def _part(
    problem: PpcProblem,
    starts: Starts,
    constraints: Constraints,
    weights_update: str,
    chosen: IntArray,
) -> tuple[PpcProblem, Starts]:
    """Some rows with the pairs among them."""
    weights = problem.weights.weights
    weights = weights[chosen] if weights.size else weights
    core = CoreGraph(
        constraints.subset(chosen),
        problem.shape.n_clusters,
        problem.core.settings,
        problem.core.seed,
        weights if weights.size else None,
    )
    rows = Rows(problem.rows.take(chosen))
    part = make_problem(rows, RowWeights(weights), core, problem.shape, weights_update)
    values = starts.given.rows.take(chosen)
    first = starts.each[0]
    each = first._replace(labels=None if first.labels is None else first.labels[chosen])
    alone = starts.alone
    if alone is not None and alone.labels is not None:
        alone = alone._replace(labels=alone.labels[chosen])
    given = StartRows(Rows(values), values, weights, starts.given.known)
    return part, Starts(given, (each,), alone)
