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

from coterie.progress import keep_going
from coterie.records import _kernels
from coterie.records.comparison import BOTH_MISSING, N_LEVELS, ONE_MISSING, SCORES
from coterie.records.rivals import find_rivals
from coterie.records.sizes import compare_sizes

__all__ = ["PairClasses", "fit_classes"]

Float = NDArray[np.float64]

_MOST_CLASSES = 6
_MOST_DIVISIONS = 3  # of classes that are "same", beyond those
_ITERATIONS = 60
_TRIAL_ITERATIONS = 8
_CLEARING = 10  # iterations in which strangers leave the classes that are "same"
_TRIAL_PAIRS = 5_000  # pairs that decide which class is split
_MOST_PAIRS = 25_000  # pairs that the classes are learned from
_FEWEST_PAIRS = 50  # of fewer nothing is learned; classes are as expected
_PRIOR = 5.0  # pairs that the expected shape of a class counts for, in each field
_UNSURE = 3.0  # nats: pairs up to this are in doubt
_REACHED = 0.2  # of the strangers that might pass for the same are candidates, roughly
_LEAST_SAME = 1e-4  # probability that a class is "same", however strange it is
_LOOK_ALIKES = 0.01  # things that look the same, for each pair of a class that is "same"
_LARGEST_RATIO = 30.0  # nats, of strangers to a class in one field
_FAR = 20.0  # nats from look-alikes, and as far on their side: beyond that is no clearer
_FIVE = 5.0  # nats that clearness is counted in
_BEST_ARE_SAME = 0.5  # of pairs of two linked files most like each other, to begin with
_TOLERANCE = 1e-6  # relative change of the log-likelihood
# Levels of a field in pairs of the same record, before any is seen: mostly equal, seldom strange.
_SAME_SHAPE = np.array(
    [0, 0, 0.05, 0.02, 0.02, 0.02, 0.02, 0.03, 0.04, 0.05, 0.07, 0.08, 0.2, 0.2, 0.2]
)
_STRANGE_SHAPE = np.array(
    [0, 0, 0.4, 0.2, 0.15, 0.08, 0.05, 0.03, 0.02, 0.01, 0.005, 0.005, 0.03, 0.01, 0.01]
)
_PRESENT = SCORES == SCORES
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
    strangers = _shape_of(background, n_records)
    per_candidate = 0.5 * n_records * (n_records - 1) / max(len(levels), 1)
    some = np.linspace(0, len(levels) - 1, min(len(levels), _MOST_PAIRS)).astype(np.int64)
    levels = levels[some]
    if levels.shape[1] == 1 or len(levels) < _FEWEST_PAIRS:
        return _by_expectation(strangers, n_records)
    share = _start(every, strangers, n_records)
    if some_are_same and pairs is not None:
        share = _start_at_best(share, pairs, n_records)
    share = share[some]
    centres = np.stack([_prior_shapes(strangers, True), _prior_shapes(strangers, False)])
    fit = _run(levels, share, centres, _ITERATIONS)
    fit = _grow(levels, fit, strangers)
    if pairs is not None:
        fit = _divide_same(levels, fit, strangers, _Everything(n_records, pairs, every))
    may_lead = None
    if (
        some_are_same
    ):  # a class of which something was learned, and not more pairs than there can be
        held = fit.share.sum(axis=0) * len(every) / len(levels)
        may_lead = (held >= _PRIOR) & (held <= n_records)
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
        log_level = np.where(_PRESENT, np.log(shape), 0.0)
    return classes._replace(
        log_weight=np.append(classes.log_weight, np.log(_REACHED * per_candidate)),
        log_level=np.concatenate([classes.log_level, log_level[None]]),
        same=np.append(classes.same, _LEAST_SAME),
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
    shapes = np.stack([_prior_shapes(strangers, True), strangers])
    with np.errstate(divide="ignore"):
        log_level = np.log(shapes)
    log_level[:, :, ~_PRESENT] = 0.0
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
        log_level[same] = _maximise(levels, mine, centres[same])[1]
        classes = classes._replace(log_weight=log_weight, log_level=log_level)
    return classes


class _Fit(NamedTuple):
    log_weight: Float
    log_level: Float
    share: Float
    centres: Float  # (C, F, levels) shapes that the classes lean to
    likelihood: float


def _shape_of(background: NDArray[np.int8], n_records: int) -> Float:
    """How often each level occurs in each field of strangers, (F, levels), missing values aside.

    Of few records some random pairs are the same: the most alike, about two in n, are left out.
    """
    with np.errstate(invalid="ignore"):
        alike = np.nan_to_num(SCORES)[background].sum(axis=1)
    most = int(len(background) * (1.0 - min(0.5, 2.0 / max(n_records, 1))))
    kept = background[np.sort(np.argsort(alike, kind="stable")[:most])]
    counts = np.zeros((1, background.shape[1], N_LEVELS))
    _kernels.count_levels(kept, np.ones((len(kept), 1)), counts)
    counts = np.where(_PRESENT, counts[0] + _PRIOR * _STRANGE_SHAPE, 0.0)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _prior_shapes(strangers: Float, same: bool) -> Float:
    """Expected shapes of a class, (F, levels)."""
    if not same:
        return strangers
    shape = np.tile(_SAME_SHAPE, (strangers.shape[0], 1))
    return np.asarray(shape / shape.sum(axis=1, keepdims=True))


def _start(levels: NDArray[np.int8], strangers: Float, n_records: int) -> Float:
    """Shares (m, 2) by the expected shapes: one pair in n of all pairs is the same."""
    ratio = np.zeros_like(strangers)
    shape = _prior_shapes(strangers, True)
    ratio[:, _PRESENT] = np.log(shape[:, _PRESENT] / strangers[:, _PRESENT])
    odds = sum(ratio[f, levels[:, f]] for f in range(levels.shape[1])) - np.log(n_records)
    chance = 1.0 / (1.0 + np.exp(-np.clip(odds, -50, 50)))
    return np.column_stack([chance, 1.0 - chance])


def _start_at_best(share: Float, pairs: NDArray[np.int64], n_records: int) -> Float:
    """Shares (m, 2) where pairs whose two records are most like each other are likely the same.

    However little two files write alike: what they have in common is among these.
    """
    low, high = pairs.T
    partner = find_rivals(n_records, pairs, share[:, 0]).partner
    is_best = (partner[low] == high) & (partner[high] == low)
    chance = np.where(is_best, np.maximum(share[:, 0], _BEST_ARE_SAME), share[:, 0])
    return np.column_stack([chance, 1.0 - chance])


def _run(levels: NDArray[np.int8], share: Float, centres: Float, iterations: int) -> _Fit:
    """EM from the shares; the shapes lean to the centres by `_PRIOR` pairs."""
    share = share.copy()
    last = -np.inf
    for step in range(1, iterations + 1):
        log_weight, log_level = _maximise(levels, share, centres)
        likelihood = _kernels.expect(levels, log_weight, log_level, share)
        if abs(likelihood - last) <= _TOLERANCE * abs(likelihood):
            break
        last = likelihood
        if not keep_going(step, iterations, -likelihood):
            break
    return _Fit(log_weight, log_level, share, centres, likelihood)


def _maximise(levels: NDArray[np.int8], share: Float, centres: Float) -> tuple[Float, Float]:
    counts = np.zeros((share.shape[1], levels.shape[1], N_LEVELS))
    _kernels.count_levels(levels, share, counts)
    counts[:, :, [BOTH_MISSING, ONE_MISSING]] = 0.0
    counts += _PRIOR * (0.98 * centres + 0.02 * _PRESENT / _PRESENT.sum())
    with np.errstate(divide="ignore"):
        log_level = np.log(counts / counts.sum(axis=2, keepdims=True))
    log_level[:, :, ~_PRESENT] = 0.0
    weight = share.sum(axis=0) + 1.0
    return np.log(weight / weight.sum()), log_level


# -- more classes --------------------------------------------------------------------------------
def _grow(levels: NDArray[np.int8], fit: _Fit, strangers: Float) -> _Fit:
    """Split classes while the BIC improves."""
    some = np.linspace(0, len(levels) - 1, min(len(levels), _TRIAL_PAIRS)).astype(np.int64)
    while fit.log_weight.size < _MOST_CLASSES:
        trials = [
            _run(levels[some], *_split(levels[some], fit, some, c, strangers), _TRIAL_ITERATIONS)
            for c in range(fit.log_weight.size)
        ]
        best = max(range(len(trials)), key=lambda c: trials[c].likelihood)
        everything = np.arange(len(levels))
        more = _run(levels, *_split(levels, fit, everything, best, strangers), _ITERATIONS)
        if more.likelihood - fit.likelihood <= _price_of_class(levels, more.share[:, -2:]):
            return fit
        fit = more
    return fit


class _Everything(NamedTuple):
    """All candidates, where classes are learned from some of them."""

    n_records: int
    pairs: NDArray[np.int64]
    levels: NDArray[np.int8]


def _divide_same(
    levels: NDArray[np.int8], fit: _Fit, strangers: Float, all_pairs: _Everything
) -> _Fit:
    """Split classes that are "same" further, where a part makes larger things than the rest.

    They are few of the pairs, so `_grow` is done with other classes before their turn comes; and
    what they are made of decides what is joined. The sizes and the levels must together pay for
    the class. The levels alone do not count: kinds of slips are kinds of pairs too.
    """
    everything = np.arange(len(levels))
    for _ in range(_MOST_DIVISIONS):
        same, _ = label_classes(fit.log_level, strangers)
        for c in np.argsort(-same, kind="stable")[: (same > 0.5).sum()].tolist():
            more = _run(levels, *_split(levels, fit, everything, c, strangers), _ITERATIONS)
            unlike = _unlike_in_size(more, strangers, all_pairs)
            gain = more.likelihood - fit.likelihood + unlike
            if unlike > 0 and gain > _price_of_class(levels, more.share[:, -2:]):
                fit = more
                break
        else:
            return fit
    return fit


def _unlike_in_size(fit: _Fit, strangers: Float, all_pairs: _Everything) -> float:
    """Evidence, in nats, that the last two classes are not of one kind, by the sizes of things."""
    same, _ = label_classes(fit.log_level, strangers)
    sure, other = (-2, -1) if same[-2] > same[-1] else (-1, -2)
    n, pairs, levels = all_pairs
    share = np.empty((len(levels), same.size))
    _kernels.expect(levels, fit.log_weight, fit.log_level, share)
    of_class = share.argmax(axis=1) - same.size
    return max(0.0, -compare_sizes(n, pairs[of_class == sure], pairs[of_class == other]).log_odds)


def _price_of_class(levels: NDArray[np.int8], share: Float) -> float:
    """What the smaller of two new classes, shares (m, 2), must gain, in nats.

    BIC: half the logarithm of its pairs for each of its parameters, which are the levels that it
    has pairs of.
    """
    counts = np.zeros((2, levels.shape[1], N_LEVELS))
    _kernels.count_levels(levels, np.ascontiguousarray(share), counts)
    smaller = int(share.sum(axis=0).argmin())
    used = (counts[smaller][:, _PRESENT] >= 1.0).sum(axis=1)
    n_parameters = 1 + np.maximum(used - 1, 0).sum()
    return float(0.5 * n_parameters * np.log(max(share[:, smaller].sum(), 2.0)))


def _split(
    levels: NDArray[np.int8], fit: _Fit, rows: NDArray[np.int64], c: int, strangers: Float
) -> tuple[Float, Float]:
    """Shares with class c in two, along the direction in which its fields vary together most."""
    share = fit.share[rows]
    weight = share[:, c] / max(share[:, c].sum(), 1e-300)
    score = SCORES[levels]
    held = ~np.isnan(score)
    mean = (weight[:, None] * np.where(held, score, 0.0)).sum(axis=0)
    mean /= np.maximum((weight[:, None] * held).sum(axis=0), 1e-300)
    residual = np.where(held, score - mean, 0.0)
    deviation = np.sqrt((weight[:, None] * residual**2).sum(axis=0))
    residual /= np.maximum(deviation, 1e-9)
    _, vectors = np.linalg.eigh((residual * weight[:, None]).T @ residual)
    along = residual @ vectors[:, -1]
    upper = along > (weight * along).sum()
    parts = np.where(upper, share[:, c], 0.0), np.where(upper, 0.0, share[:, c])
    others = [k for k in range(share.shape[1]) if k != c]
    centre = fit.centres[c]
    return (
        np.column_stack([share[:, others], *parts]),
        np.concatenate([fit.centres[others], [centre, centre]]),
    )


def label_classes(
    log_level: Float, strangers: Float, may_lead: NDArray[np.bool_] | None = None
) -> tuple[Float, NDArray[np.int64]]:
    """Probability that each class is "same", (C,), and the fields that identify, (I,).

    The class that agrees most (of those that `may_lead`, if any) is "same". Another one is
    compared with it and with strangers in every field that identifies (by Kullback-Leibler, at
    least one nat and a tenth of all); its second smallest place between the two says how likely it
    is "same": one field may have changed, two say that these are others.
    """
    agreement = _agreement(np.exp(log_level))  # (C, F)
    base = _agreement(strangers[None])[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(_PRESENT, log_level - np.log(strangers), 0.0)
    knowledge = (np.where(_PRESENT, np.exp(log_level), 0.0) * logs).sum(axis=2)  # KL, (C, F)
    above = np.where(agreement > base, knowledge, 0.0).sum(axis=1)
    if may_lead is not None and may_lead.any():
        above = np.where(may_lead, above, -np.inf)
    top = int(above.argmax())
    information = np.where(agreement[top] > base, knowledge[top], 0.0)
    identifying = information >= max(1.0, 0.1 * information.max(initial=0.0))
    if not identifying.any():
        identifying = information >= information.max(initial=0.0)
    place = (agreement - base) / np.maximum(agreement[top] - base, 1e-9)
    place = np.sort(np.clip(place[:, identifying], 0.0, 1.0), axis=1)
    decisive = place[:, 1] if place.shape[1] > 2 else place[:, 0]
    # In nats; that all fields are strange says more than that two are.
    odds = 8.0 * (decisive - 0.5) - 5.0 * (1.0 - place.mean(axis=1))
    same = 1.0 / (1.0 + np.exp(-odds))
    same = np.clip(same, _LEAST_SAME, 0.99)
    # Of the class that agrees most its look-alikes are what may be different, if there can be any.
    same[top] = 1.0 - _LEAST_SAME if identifying.sum() > 1 else 0.99
    return same, np.flatnonzero(identifying)


def _agreement(shape: Float) -> Float:
    return np.asarray((shape * np.nan_to_num(SCORES)).sum(axis=-1))
