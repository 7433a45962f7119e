"""Classes of pairs by expectation and maximisation, and how many there are.

Two to begin with, "same" and strangers, of expected shapes; more while that explains the pairs
better (BIC), and where a part of the pairs that seem the same ties more records together than the
rest does.
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

__all__ = [
    "AllPairs",
    "ClassFit",
    "divide_same",
    "expected_shapes",
    "grow",
    "label_classes",
    "maximise",
    "run",
    "shape_of",
    "start_at_best",
    "start_shares",
]

Float = NDArray[np.float64]

_MOST_CLASSES = 6
_MOST_DIVISIONS = 3  # of classes that are "same", beyond those
ITERATIONS = 60
_TRIAL_ITERATIONS = 8
_TRIAL_PAIRS = 5_000  # pairs that decide which class is split
PRIOR = 5.0  # pairs that the expected shape of a class counts for, in each field
LEAST_SAME = 1e-4  # probability that a class is "same", however strange it is
_BEST_ARE_SAME = 0.5  # of pairs of two linked files most like each other, to begin with
_TOLERANCE = 1e-6  # relative change of the log-likelihood
# Levels of a field in pairs of the same record, before any is seen: mostly equal, seldom strange.
_SAME_SHAPE = np.array(
    [0, 0, 0.05, 0.02, 0.02, 0.02, 0.02, 0.03, 0.04, 0.05, 0.07, 0.08, 0.2, 0.2, 0.2]
)
_STRANGE_SHAPE = np.array(
    [0, 0, 0.4, 0.2, 0.15, 0.08, 0.05, 0.03, 0.02, 0.01, 0.005, 0.005, 0.03, 0.01, 0.01]
)
PRESENT = SCORES == SCORES


class ClassFit(NamedTuple):
    """Where EM ended: weights (C,), levels (C, F, levels), shares (m, C) of the pairs."""

    log_weight: Float
    log_level: Float
    share: Float
    centres: Float  # (C, F, levels) shapes that the classes lean to
    likelihood: float


def shape_of(background: NDArray[np.int8], n_records: int) -> Float:
    """How often each level occurs in each field of strangers, (F, levels), missing values aside.

    Of few records some random pairs are the same: the most alike, about two in n, are left out.
    """
    with np.errstate(invalid="ignore"):
        alike = np.nan_to_num(SCORES)[background].sum(axis=1)
    most = int(len(background) * (1.0 - min(0.5, 2.0 / max(n_records, 1))))
    kept = background[np.sort(np.argsort(alike, kind="stable")[:most])]
    counts = np.zeros((1, background.shape[1], N_LEVELS))
    _kernels.count_levels(kept, np.ones((len(kept), 1)), counts)
    counts = np.where(PRESENT, counts[0] + PRIOR * _STRANGE_SHAPE, 0.0)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def expected_shapes(strangers: Float, same: bool) -> Float:
    """Expected shapes of a class, (F, levels)."""
    if not same:
        return strangers
    shape = np.tile(_SAME_SHAPE, (strangers.shape[0], 1))
    return np.asarray(shape / shape.sum(axis=1, keepdims=True))


def start_shares(levels: NDArray[np.int8], strangers: Float, n_records: int) -> Float:
    """Shares (m, 2) by the expected shapes: one pair in n of all pairs is the same."""
    ratio = np.zeros_like(strangers)
    shape = expected_shapes(strangers, True)
    ratio[:, PRESENT] = np.log(shape[:, PRESENT] / strangers[:, PRESENT])
    odds = sum(ratio[f, levels[:, f]] for f in range(levels.shape[1])) - np.log(n_records)
    chance = 1.0 / (1.0 + np.exp(-np.clip(odds, -50, 50)))
    return np.column_stack([chance, 1.0 - chance])


def start_at_best(share: Float, pairs: NDArray[np.int64], n_records: int) -> Float:
    """Shares (m, 2) where pairs whose two records are most like each other are likely the same.

    However little two files write alike: what they have in common is among these.
    """
    low, high = pairs.T
    partner = find_rivals(n_records, pairs, share[:, 0]).partner
    is_best = (partner[low] == high) & (partner[high] == low)
    chance = np.where(is_best, np.maximum(share[:, 0], _BEST_ARE_SAME), share[:, 0])
    return np.column_stack([chance, 1.0 - chance])


def run(levels: NDArray[np.int8], share: Float, centres: Float, iterations: int) -> ClassFit:
    """EM from the shares; the shapes lean to the centres by `PRIOR` pairs."""
    share = share.copy()
    last = -np.inf
    for step in range(1, iterations + 1):
        log_weight, log_level = maximise(levels, share, centres)
        likelihood = _kernels.expect(levels, log_weight, log_level, share)
        if abs(likelihood - last) <= _TOLERANCE * abs(likelihood):
            break
        last = likelihood
        if not keep_going(step, iterations, -likelihood):
            break
    return ClassFit(log_weight, log_level, share, centres, likelihood)


def maximise(levels: NDArray[np.int8], share: Float, centres: Float) -> tuple[Float, Float]:
    counts = np.zeros((share.shape[1], levels.shape[1], N_LEVELS))
    _kernels.count_levels(levels, share, counts)
    counts[:, :, [BOTH_MISSING, ONE_MISSING]] = 0.0
    counts += PRIOR * (0.98 * centres + 0.02 * PRESENT / PRESENT.sum())
    with np.errstate(divide="ignore"):
        log_level = np.log(counts / counts.sum(axis=2, keepdims=True))
    log_level[:, :, ~PRESENT] = 0.0
    weight = share.sum(axis=0) + 1.0
    return np.log(weight / weight.sum()), log_level


# -- more classes --------------------------------------------------------------------------------
def grow(levels: NDArray[np.int8], fit: ClassFit, strangers: Float) -> ClassFit:
    """Split classes while the BIC improves."""
    some = np.linspace(0, len(levels) - 1, min(len(levels), _TRIAL_PAIRS)).astype(np.int64)
    while fit.log_weight.size < _MOST_CLASSES:
        trials = [
            run(levels[some], *_split(levels[some], fit, some, c, strangers), _TRIAL_ITERATIONS)
            for c in range(fit.log_weight.size)
        ]
        best = max(range(len(trials)), key=lambda c: trials[c].likelihood)
        everything = np.arange(len(levels))
        more = run(levels, *_split(levels, fit, everything, best, strangers), ITERATIONS)
        if more.likelihood - fit.likelihood <= _price_of_class(levels, more.share[:, -2:]):
            return fit
        fit = more
    return fit


class AllPairs(NamedTuple):
    """All candidates, where classes are learned from some of them."""

    n_records: int
    pairs: NDArray[np.int64]
    levels: NDArray[np.int8]


def divide_same(
    levels: NDArray[np.int8], fit: ClassFit, strangers: Float, all_pairs: AllPairs
) -> ClassFit:
    """Split classes that are "same" further, where a part makes larger things than the rest.

    They are few of the pairs, so `grow` is done with other classes before their turn comes; and
    what they are made of decides what is joined. The sizes and the levels must together pay for
    the class. The levels alone do not count: kinds of slips are kinds of pairs too.
    """
    everything = np.arange(len(levels))
    for _ in range(_MOST_DIVISIONS):
        same, _ = label_classes(fit.log_level, strangers)
        for c in np.argsort(-same, kind="stable")[: (same > 0.5).sum()].tolist():
            more = run(levels, *_split(levels, fit, everything, c, strangers), ITERATIONS)
            unlike = _unlike_in_size(more, strangers, all_pairs)
            gain = more.likelihood - fit.likelihood + unlike
            if unlike > 0 and gain > _price_of_class(levels, more.share[:, -2:]):
                fit = more
                break
        else:
            return fit
    return fit


def _unlike_in_size(fit: ClassFit, strangers: Float, all_pairs: AllPairs) -> float:
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
    used = (counts[smaller][:, PRESENT] >= 1.0).sum(axis=1)
    n_parameters = 1 + np.maximum(used - 1, 0).sum()
    return float(0.5 * n_parameters * np.log(max(share[:, smaller].sum(), 2.0)))


def _split(
    levels: NDArray[np.int8], fit: ClassFit, rows: NDArray[np.int64], c: int, strangers: Float
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
        logs = np.where(PRESENT, log_level - np.log(strangers), 0.0)
    knowledge = (np.where(PRESENT, np.exp(log_level), 0.0) * logs).sum(axis=2)  # KL, (C, F)
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
    same = np.clip(same, LEAST_SAME, 0.99)
    # Of the class that agrees most its look-alikes are what may be different, if there can be any.
    same[top] = 1.0 - LEAST_SAME if identifying.sum() > 1 else 0.99
    return same, np.flatnonzero(identifying)


def _agreement(shape: Float) -> Float:
    return np.asarray((shape * np.nan_to_num(SCORES)).sum(axis=-1))
