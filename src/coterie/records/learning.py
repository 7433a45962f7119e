"""P(same) by the answers: a regularised logistic regression around what was found without any.

log-odds(pair) = a · (log-odds by the classes) + Σ_c β_c P(class c | pair) + Σ_f δ_f[level of f]
                 + γ · lead(pair) + κ · clearness(pair)

a is near 1, β, γ, δ and κ near 0, unless answers say otherwise: β can turn the opinion about a
whole class of pairs after a few of them, γ tells how much it counts that another record is more
alike (`rivals`), κ how much that a pair is unlike the look-alikes of its class. How near, and how
often answers are wrong, are weighed by how probable they make the answers (Laplace's approximation
of the evidence). One of the possibilities is that the start is right. It is the likelier beforehand
the fewer pairs are in doubt: where the classes are clear-cut, a few answers against them are wrong
answers rather than news.

That records most alike are the same is known before any answer: it is why somebody looks for them.
And that those least alike are not. So some pairs of either kind count as answers (`anchors_of`).
Without them one or two answers "different", among many about strangers, would turn a whole class;
and a tenth of wrong answers would pass for the truth about a tenth of the pairs.

An answer says something about its own pair twice: by itself, and by what was learned from it, which
is part of the log-odds by the fields. `Belief.heard` is the second part, so that it counts once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.records.classes import PairClasses
from coterie.records.comparison import BOTH_MISSING, N_LEVELS, ONE_MISSING
from coterie.records.rivals import Rivals

__all__ = ["Answers", "Belief", "anchors_of", "learn"]

Float = NDArray[np.float64]


class _Start(NamedTuple):
    """How far a, γ, κ, β and δ may be from the start: standard deviations."""

    scale: float
    of_lead: float
    of_clearness: float
    of_class: float
    of_level: float


_RIGHT = _Start(0.05, 0.3, 0.3, 0.3, 0.03)
_OFF = tuple(
    _Start(0.15, gamma, 2.0, beta, delta)
    for gamma in (0.3, 2.0)
    for beta in (1.0, 2.0)
    for delta in (0.1, 0.3, 0.5)
)
_LEAST_DOUBT = 0.01  # that the start is off, however clear-cut it seems
_ERROR_RATES = (0.02, 0.05, 0.1, 0.2)  # of answers, to choose from
_FEW_ERRORS = 15.0  # the prior of the error rate is (1 − ε)^15
_STEPS = 50
_LEAST_LEFT = 0.2  # of what is known about a pair, without the answer about it
_ANCHORS = 20  # pairs that are surely the same, and as many that are surely different
_ANCHORS_COUNT = 16.0  # answers that those of one kind are together
_ANCHORS_WRONG = 0.02  # of them


class Answers(NamedTuple):
    """Answered pairs.

    Attributes
    ----------
    pairs : (m, 2) int64
    levels : (m, F) int8
    lead : (m,)
        See `Rivals.lead`.
    same : (m,) bool
    wrong : (m,)
        Probability that an answer is wrong where it is known; NaN where it is to be estimated.
    weight : (m,)
        How many times each counts.
    """

    pairs: NDArray[np.int64]
    levels: NDArray[np.int8]
    lead: Float
    same: NDArray[np.bool_]
    wrong: Float
    weight: Float

    def and_others(self, others: Answers) -> Answers:
        """These answers and then others."""
        return Answers(
            np.concatenate([self.pairs, others.pairs]),
            np.concatenate([self.levels, others.levels]),
            np.concatenate([self.lead, others.lead]),
            np.concatenate([self.same, others.same]),
            np.concatenate([self.wrong, others.wrong]),
            np.concatenate([self.weight, others.weight]),
        )


class Belief(NamedTuple):
    """How log-odds follow from the levels of a pair.

    Attributes
    ----------
    classes : PairClasses
    scale : float
        a.
    of_lead : float
        γ.
    of_clearness : float
        κ.
    of_class : (C,)
        β.
    of_level : (F, levels)
        δ.
    error_rate : float
        Of answers.
    answered : (k, 2) int64
        Pairs that it was learned from.
    heard : (k,)
        How much of the log-odds of each by the fields comes from the answer about itself.
    told_of_class : (C,)
        What the answers about its pairs say of whether a class is "same", in nats: Σ over answers
        of the pair's share of the class times ± log((1 − ε) / ε).
    """

    classes: PairClasses
    scale: float
    of_lead: float
    of_clearness: float
    of_class: Float
    of_level: Float
    error_rate: float
    answered: NDArray[np.int64] = np.empty((0, 2), dtype=np.int64)
    heard: Float = np.empty(0)
    told_of_class: Float = np.zeros(1)

    def log_odds(self, levels: NDArray[np.int8], pairs: NDArray[np.int64], rivals: Rivals) -> Float:
        """log P(same) / P(different) of pairs (m, 2) by the fields, levels (m, F), and rivals."""
        base = self.classes.log_odds(levels)
        found = self.scale * base
        if self.of_lead:
            found += self.of_lead * rivals.lead(pairs, base)
        if self.of_class.any() or self.of_clearness:
            found += self.by_class(levels)
        for f in np.flatnonzero(self.of_level.any(axis=1)):
            found += self.of_level[f, levels[:, f]]
        return np.asarray(found)

    def by_class(self, levels: NDArray[np.int8]) -> Float:
        """What answers about whole classes add, (m,)."""
        share = self.classes.shares(levels)
        clear = self.classes.clearness(levels, share)
        return np.asarray(share @ self.of_class + self.of_clearness * clear)


def anchors_of(classes: PairClasses, pairs: NDArray[np.int64], levels: NDArray[np.int8]) -> Answers:
    """Of candidate pairs (m, 2), levels (m, F), some that are clear, as answers known beforehand.

    "Same" are pairs of the class that agrees most, spread evenly over the half of them that is
    furthest from look-alikes; "different" are spread over the half of all others that is least
    alike. What a lead means they leave open.
    """
    share = classes.shares(levels)
    odds = classes.log_odds(levels)
    mine = np.flatnonzero((share[:, int(classes.same.argmax())] > 0.5) & (odds > 0))
    clear = classes.clearness(levels[mine], share[mine])
    same = _spread(mine[np.lexsort((odds[mine], clear))][mine.size // 2 :])
    others = np.flatnonzero(odds < 0)
    different = _spread(others[np.argsort(odds[others], kind="stable")][: others.size // 2])
    some = np.concatenate([same, different])
    return Answers(
        pairs[some],
        levels[some],
        np.zeros(some.size),
        np.arange(some.size) < same.size,
        np.full(some.size, _ANCHORS_WRONG),
        np.concatenate([_weights(same.size), _weights(different.size)]),
    )


def _spread(order: NDArray[np.int64]) -> NDArray[np.int64]:
    """A few of them, evenly."""
    return order[np.linspace(0, order.size - 1, min(order.size, _ANCHORS)).astype(np.int64)]


def _weights(count: int) -> Float:
    """Of the anchors of one kind: never more than one answer each."""
    return np.full(count, min(_ANCHORS_COUNT / max(count, 1), 1.0))


def learn(
    classes: PairClasses,
    answers: Answers,
    error_rate: float | None = None,
    anchors: Answers | None = None,
) -> Belief:
    """What the answers make of the classes.

    Parameters
    ----------
    classes : PairClasses
    answers : Answers
    error_rate : float, optional
        How often answers are wrong; found if not given.
    anchors : Answers, optional
        What is known before, see `anchors_of`.
    """
    n_classes, n_fields, _ = classes.log_level.shape
    if not answers.same.size:
        rate = _ERROR_RATES[1] if error_rate is None else error_rate
        nothing = np.zeros(n_classes), np.zeros((n_fields, N_LEVELS))
        return Belief(classes, 1.0, 0.0, 0.0, *nothing, rate)
    n_answers = answers.same.size
    if anchors is not None:
        answers = answers.and_others(anchors)
    used = _stepped(answers.levels)
    columns = np.flatnonzero(used.any(axis=0))
    base = classes.log_odds(answers.levels)
    shares = classes.shares(answers.levels)
    clear = classes.clearness(answers.levels, shares)
    design = np.column_stack([base, answers.lead, clear, shares, used[:, columns]])
    widths = 1, 1, 1, n_classes, columns.size
    rates = _ERROR_RATES if error_rate is None else (error_rate,)
    fits: list[_Fitted] = []
    for start, before in _possible_starts(classes.doubt):
        begin = _as_it_was(design)
        for rate in rates:  # the weights by one rate are near those by the next
            fits.append(_fit(design, answers, np.repeat(start, widths), rate, before, begin))
            begin = fits[-1].weights
    # Weighed by their evidence rather than the best alone: a few answers seldom decide.
    evidence = np.array([fit.evidence for fit in fits])
    share = np.exp(evidence - np.logaddexp.reduce(evidence))
    weights = share @ np.array([fit.weights for fit in fits])
    rate = float(share @ np.array([fit.error_rate for fit in fits]))
    heard = share @ np.array([fit.heard[:n_answers] for fit in fits])
    steps = np.zeros(n_fields * N_LEVELS)
    steps[columns] = weights[n_classes + 3 :]
    return Belief(
        classes,
        float(weights[0]),
        float(weights[1]),
        float(weights[2]),
        weights[3 : n_classes + 3],
        steps.reshape(n_fields, N_LEVELS) @ _STEPS_OF.T,
        rate,
        answers.pairs[:n_answers],
        heard,
        _told_of_class(answers, shares, rate, n_answers),
    )


def _told_of_class(answers: Answers, shares: Float, rate: float, n_answers: int) -> Float:
    """See `Belief`; the anchors after the `n_answers` are no answers."""
    wrong = np.where(np.isnan(answers.wrong), rate, answers.wrong)
    sure = answers.weight * (np.log1p(-wrong) - np.log(wrong))
    return np.asarray(np.where(answers.same, sure, -sure)[:n_answers] @ shares[:n_answers])


def _possible_starts(doubt: float) -> list[tuple[_Start, float]]:
    """Each with its log-probability before the answers; `doubt` pairs in doubt for a likely one."""
    off = (doubt + _LEAST_DOUBT) / (doubt + 1.0)
    return [(_RIGHT, np.log1p(-off)), *((start, np.log(off / len(_OFF))) for start in _OFF)]


def _steps() -> Float:
    """What each level is made of, (levels, levels): missing values, or steps up from "differs".

    Levels next to each other share all steps but one, so what is learned of one serves both.
    """
    made = np.tril(np.ones((N_LEVELS, N_LEVELS)))
    made[:, [BOTH_MISSING, ONE_MISSING]] = 0.0
    made[BOTH_MISSING, BOTH_MISSING] = made[ONE_MISSING, ONE_MISSING] = 1.0
    return made


_STEPS_OF = _steps()


def _stepped(levels: NDArray[np.int8]) -> Float:
    """The steps of every field's level, (m, F · levels)."""
    return _STEPS_OF[levels].reshape(len(levels), -1)


class _Fitted(NamedTuple):
    weights: Float
    error_rate: float
    evidence: float
    heard: Float  # (m,) what each answer adds to the log-odds of its own pair


def _as_it_was(design: Float) -> Float:
    """The weights without answers: a = 1 and all else 0."""
    weights = np.zeros(design.shape[1])
    weights[0] = 1.0
    return weights


def _fit(
    design: Float,
    answers: Answers,
    spread: Float,
    error_rate: float,
    before: float,
    begin: Float,
) -> _Fitted:
    """Most probable weights by Fisher scoring, and the evidence for spread and error rate.

    `before` is the log-probability of that spread without answers, `begin` where to begin.
    """
    wrong = np.where(np.isnan(answers.wrong), error_rate, answers.wrong)
    mean = _as_it_was(design)
    precision = spread**-2
    weights = begin
    value = _log_posterior(design @ weights, answers, wrong) - _distance(weights, mean, precision)
    information = np.diag(precision)
    for _ in range(_STEPS):
        slope, curve = _derivatives(design @ weights, answers, wrong)
        information = (design * curve[:, None]).T @ design + np.diag(precision)
        step = np.linalg.solve(information, design.T @ slope - precision * (weights - mean))
        length, better = 1.0, False
        while length > 1e-4 and not better:
            trial = weights + length * step
            found = _log_posterior(design @ trial, answers, wrong)
            found -= _distance(trial, mean, precision)
            better = found > value
            length *= 0.5
        if not better:
            break
        gained, weights, value = found - value, trial, found
        if gained < 1e-6:
            break
    _, logdet = np.linalg.slogdet(information)
    evidence = before + value + 0.5 * np.log(precision).sum() - 0.5 * logdet
    evidence += _FEW_ERRORS * np.log1p(-error_rate)
    heard = _heard(design, information, *_derivatives(design @ weights, answers, wrong))
    return _Fitted(weights, error_rate, float(evidence), heard)


def _heard(design: Float, information: Float, slope: Float, curve: Float) -> Float:
    """By how much each z is larger for its own answer, (m,): one Newton step without it.

    With h = x' H⁻¹ x, taking x out of H leaves h / (1 − curve h); never more than the whole.
    """
    leverage = np.einsum("ij,ji->i", design, np.linalg.solve(information, design.T))
    return np.asarray(slope * leverage / np.maximum(1.0 - curve * leverage, _LEAST_LEFT))


def _distance(weights: Float, mean: Float, precision: Float) -> float:
    return float(0.5 * (precision * np.square(weights - mean)).sum())


def _chances(z: Float, answers: Answers, wrong: Float) -> tuple[Float, Float]:
    """P(same) and the probability of the answer that was given."""
    p = 1.0 / (1.0 + np.exp(-np.clip(z, -40, 40)))
    said = p * (1 - wrong) + (1 - p) * wrong
    return p, np.clip(np.where(answers.same, said, 1 - said), 1e-12, 1.0)


def _log_posterior(z: Float, answers: Answers, wrong: Float) -> float:
    return float((answers.weight * np.log(_chances(z, answers, wrong)[1])).sum())


def _derivatives(z: Float, answers: Answers, wrong: Float) -> tuple[Float, Float]:
    """Slope of the log-likelihood in z, and its Fisher information, (m,) each."""
    p, given = _chances(z, answers, wrong)
    change = (1 - 2 * wrong) * p * (1 - p)
    slope = np.where(answers.same, change, -change) / given
    said = p * (1 - wrong) + (1 - p) * wrong
    curve = change**2 / np.clip(said * (1 - said), 1e-12, None)
    return answers.weight * slope, answers.weight * curve
