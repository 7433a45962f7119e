"""Kinds of candidate pairs, found without answers: Fellegi and Sunter's model with more classes.

Fellegi and Sunter (1969) know two kinds of pairs, and take the fields as independent in each. Where
people of one household share surname and address that is badly wrong: the pairs fall into three
kinds, and the middle one would count as "same". Here classes are added while that explains
the pairs better (BIC), and a class is "same" only if it is at the level of strangers in at most one
of the fields that identify a record.

Classes are learned from the candidates, which are chosen for being alike. How many strangers agree
by chance, in the year of birth and the town, say, cannot be seen there, and pairs that have little
else in common would fall to "same", the class that has a few of everything. So strangers are a
class of their own, which is not learned: random pairs show its shape, and its weight is that of all
pairs there are, less those that are too strange to be candidates.

Within a class that is "same" pairs are not equally sure. Each such class has look-alikes: things
that are like strangers in half of the fields that identify them and share the others (rooms of a
hotel, shops of a chain). There are few of them, but they are the likelier the more of its
identifying fields a pair disagrees in. So a pair that agrees in all of them is nearly certain, and
a single answer against it is rather a wrong answer than news about its whole class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.records import _kernels
from coterie.records.mixture import (
    ITERATIONS,
    LEAST_SAME,
    PRESENT,
    PRIOR,
    AllPairs,
    divide_same,
    expected_shapes,
    grow,
    label_classes,
    maximise,
    run,
    shape_of,
    start_at_best,
    start_shares,
)
from coterie.records.sizes import compare_sizes

__all__ = ["PairClasses", "fit_classes"]

Float = NDArray[np.float64]

_CLEARING = 10  # iterations in which strangers leave the classes that are "same"
_MOST_PAIRS = 25_000  # pairs that the classes are learned from
_FEWEST_PAIRS = 50  # of fewer nothing is learned; classes are as expected
_UNSURE = 3.0  # nats: pairs up to this are in doubt
_REACHED = 0.2  # of the strangers that might pass for the same are candidates, roughly
_LOOK_ALIKES = 0.01  # things that look the same, for each pair of a class that is "same"
_LARGEST_RATIO = 30.0  # nats, of strangers to a class in one field
_FAR = 20.0  # nats from look-alikes, and as far on their side: beyond that is no clearer
_FIVE = 5.0  # nats that clearness is counted in
_NONE = np.empty(0, dtype=np.int64)


class PairClasses(NamedTuple):
    """A mixture of classes of pairs.

    Attributes
    ----------
    log_weight : (C,)
        Logarithm of the share of the candidates that is of a class; of strangers, the last, of a
        share of all pairs, for each candidate.
    log_level : (C, F, levels)
        Log-probability of each level of each field in a class; 0 where a value is missing.
    same : (C,)
        Probability that pairs of a class are of the same record.
    separation : float
        How clear-cut the classes are: 1 if every pair is surely of one of them.
    doubt : float
        Pairs that are neither surely the same nor surely different, for each that is likely the
        same: near 0 if there are two groups of pairs with little in between.
    identifying : (I,) int64
        Fields that tell things apart; fewer than two where nobody knows.
    middle : float
        Mean of −log E(Π_f r_f) in the class that agrees most, see `clearness`.
    """

    log_weight: Float
    log_level: Float
    same: Float
    separation: float
    doubt: float
    identifying: NDArray[np.int64] = _NONE
    middle: float = 0.0

    def shares(self, levels: NDArray[np.int8]) -> Float:
        """Probabilities of the classes of pairs with these levels (m, F), (m, C)."""
        share = np.empty((len(levels), self.log_weight.size))
        _kernels.expect(levels, self.log_weight, self.log_level, share)
        return share

    def log_odds(self, levels: NDArray[np.int8]) -> Float:
        """log P(same) / P(different) of pairs with these levels (m, F), (m,).

        log Σ_c w_c s_c P_c  −  log Σ_c w_c [1 − s_c + ε s_c E(Π_f r_cf)] P_c

        with weights w, probabilities s that a class is "same" and P_c of the levels. The last term
        is of look-alikes, only of classes with s > 1/2: r_cf is P(level of f | strangers) / P(level
        of f | c), and the mean is over all halves of the identifying fields: one of two or three.
        """
        return _kernels.log_odds(
            levels,
            self.log_weight,
            self.log_level,
            self.same,
            self._ratio(),
            self.identifying,
            _LOOK_ALIKES,
        )

    def _ratio(self) -> Float:
        """P(level | strangers) / P(level | class), (C, F, levels)."""
        spread = self.log_level[-1] - self.log_level
        return np.exp(np.clip(spread, -_LARGEST_RATIO, _LARGEST_RATIO))

    def clearness(self, levels: NDArray[np.int8], share: Float) -> Float:
        """How far pairs of the class that agrees most are from its look-alikes, (m,).

        −log E(Π_f r_f) as in `log_odds`, less its mean in the class, by 5 nats; times the pair's
        share of the class, from `shares` (m, C). 0 where no fields identify.
        """
        if self.identifying.size < 2:
            return np.zeros(len(levels))
        top = int(self.same.argmax())
        alike = _kernels.look_alike(self._ratio()[top], levels, self.identifying)
        nats = np.clip(-np.log(np.maximum(alike, 1e-300)), -_FAR, _FAR)
        return share[:, top] * (nats - self.middle) / _FIVE


def fit_classes(
    levels: NDArray[np.int8],
    background: NDArray[np.int8],
    n_records: int,
    pairs: NDArray[np.int64] | None = None,
    *,
    some_are_same: bool = False,
) -> PairClasses:
    """Classes of candidate pairs, and which of them are "same".

    Parameters
    ----------
    levels : (m, F)
        Of the candidate pairs.
    background : (b, F)
        Of random pairs, which are strangers.
    n_records : int
        One pair in so many of all is taken to be of the same record, to begin with.
    pairs : (m, 2), optional
        The candidate pairs: how many records hang together by them tells more of the classes.
    some_are_same : bool, default=False
        Whether that is known, as it is of two files that somebody links. Then the class that
        agrees most is one that has pairs, though not more than there are records, rather than
        one that was only expected.
    """
    every = levels
    strangers = shape_of(background, n_records)
    per_candidate = 0.5 * n_records * (n_records - 1) / max(len(levels), 1)
    some = np.linspace(0, len(levels) - 1, min(len(levels), _MOST_PAIRS)).astype(np.int64)
    levels = levels[some]
    if levels.shape[1] == 1 or len(levels) < _FEWEST_PAIRS:
        return _by_expectation(strangers, n_records)
    share = start_shares(every, strangers, n_records)
    if some_are_same and pairs is not None:
        share = start_at_best(share, pairs, n_records)
    share = share[some]
    centres = np.stack([expected_shapes(strangers, True), expected_shapes(strangers, False)])
    fit = run(levels, share, centres, ITERATIONS)
    fit = grow(levels, fit, strangers)
    if pairs is not None:
        fit = divide_same(levels, fit, strangers, AllPairs(n_records, pairs, every))
    may_lead = None
    if some_are_same:  # something was learned of it, and it has no more pairs than there can be
        held = fit.share.sum(axis=0) * len(every) / len(levels)
        may_lead = (held >= PRIOR) & (held <= n_records)
    same, identifying = label_classes(fit.log_level, strangers, may_lead)
    separation = float(np.square(fit.share).sum(axis=1).mean())
    found = PairClasses(fit.log_weight, fit.log_level, same, separation, 0.0, identifying)
    found = _with_strangers(found, strangers, per_candidate)
    found = _cleared(found, levels, np.concatenate([fit.centres, strangers[None]]))
    if pairs is not None:
        found = _weighed_by_size(found, n_records, pairs, every)
    return found._replace(doubt=_doubt(found.log_odds(levels)), middle=_middle(found, levels))


def _weighed_by_size(
    classes: PairClasses, n: int, pairs: NDArray[np.int64], levels: NDArray[np.int8]
) -> PairClasses:
    """Less likely "same" where that would make things larger than the class that agrees most."""
    top = int(classes.same.argmax())
    others = [c for c in np.flatnonzero(classes.same > 0.5).tolist() if c != top]
    if not others:
        return classes
    of_class = classes.shares(levels).argmax(axis=1)
    same = classes.same.copy()
    for c in others:
        same[c] *= compare_sizes(n, pairs[of_class == top], pairs[of_class == c]).share
    return classes._replace(same=same)


def _with_strangers(classes: PairClasses, shape: Float, per_candidate: float) -> PairClasses:
    """A further class, of the strangers among all pairs: `per_candidate` for each candidate."""
    with np.errstate(divide="ignore"):
        log_level = np.where(PRESENT, np.log(shape), 0.0)
    return classes._replace(
        log_weight=np.append(classes.log_weight, np.log(_REACHED * per_candidate)),
        log_level=np.concatenate([classes.log_level, log_level[None]]),
        same=np.append(classes.same, LEAST_SAME),
    )


def _doubt(log_odds: Float) -> float:
    unsure = float((np.abs(log_odds) < _UNSURE).sum())
    return unsure / max(float((log_odds > 0).sum()), 1.0)


def _middle(classes: PairClasses, levels: NDArray[np.int8]) -> float:
    share = classes.shares(levels)
    held = max(float(share[:, int(classes.same.argmax())].sum()), 1e-300)
    return float(_FIVE * classes.clearness(levels, share).sum() / held)


def _by_expectation(strangers: Float, n_records: int) -> PairClasses:
    """Two classes as they are expected: one field, or few pairs, cannot tell what they are."""
    shapes = np.stack([expected_shapes(strangers, True), strangers])
    with np.errstate(divide="ignore"):
        log_level = np.log(shapes)
    log_level[:, :, ~PRESENT] = 0.0
    rate = 1.0 / max(n_records, 2)
    return PairClasses(np.log([rate, 1 - rate]), log_level, np.array([0.99, 0.01]), 0.0, 1.0)


def _cleared(classes: PairClasses, levels: NDArray[np.int8], centres: Float) -> PairClasses:
    """The classes that are "same" without the strangers they were learned with, by EM.

    The others stay as they are: strangers would take their pairs, and what is left of them could
    become anything after it was decided that they are "different".
    """
    same = np.flatnonzero(classes.same > 0.5)
    share = np.empty((len(levels), classes.same.size))
    for _ in range(_CLEARING):
        _kernels.expect(levels, classes.log_weight, classes.log_level, share)
        mine = np.ascontiguousarray(share[:, same])
        log_weight, log_level = classes.log_weight.copy(), classes.log_level.copy()
        log_weight[same] = np.log((mine.sum(axis=0) + 1.0) / len(levels))
        log_level[same] = maximise(levels, mine, centres[same])[1]
        classes = classes._replace(log_weight=log_weight, log_level=log_level)
    return classes
