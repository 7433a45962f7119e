"""Random pairs drawn from true labels, for experiments. Never enumerates all pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from coterie._typing import BoolArray, FloatArray, IntArray
from coterie.constraints.constraints import Constraints
from coterie.exceptions import InvalidParameter

TRIES = 100  # for disjoint pairs of both kinds, where a choice of must-links can leave too few rows


def sample_pairs(
    labels: ArrayLike,
    n_pairs: int,
    *,
    rows: ArrayLike | None = None,
    replace: bool = False,
    overlap: bool = True,
    must_fraction: float | None = None,
    noise: ArrayLike = 0.0,
    give_certainty: bool = False,
    weight: float = 1.0,
    random_state: int | np.random.Generator | None = None,
) -> Constraints:
    """Draw random pairs of rows and let the labels say which kind each is.

    Parameters
    ----------
    labels : array-like (n,)
        True classes; rows labelled −1 are never drawn.
    n_pairs : int
    rows : array-like of int or mask, optional
        Draw only among these rows (for instance a training fold).
    replace : bool, default False
        Whether the same pair may be drawn again.
    overlap : bool, default True
        If False, a row is in at most one pair.
    must_fraction : float in [0, 1], optional
        Fraction of pairs with equal labels; by default as chance has it. 0.5 balances the kinds.
    noise : float or array-like (n_pairs,) in [0, 1], default 0
        Probability that a pair is given as the opposite kind.
    give_certainty : bool, default False
        Whether each pair carries the matching certainty, 1 − noise. (Noise above ½ then means the
        opposite kind, and no noise a hard pair.)
    weight : float, default 1
        Weight of every pair.
    random_state : int, Generator or None

    Returns
    -------
    Constraints
        Over all n rows.
    """
    rng = np.random.default_rng(random_state)
    drawn = _draw(labels, n_pairs, rows, replace, overlap, must_fraction, rng)
    told, certainty = _flip(drawn, noise, rng)
    return _first(n_pairs, told, certainty if give_certainty else None, weight)


class LearningCurveSplit(NamedTuple):
    """One fold: rows to draw pairs from, rows to score on, and nested sets of growing size."""

    train: IntArray
    test: IntArray
    constraints: list[Constraints]


def learning_curve_pairs(
    labels: ArrayLike,
    sizes: Sequence[int],
    *,
    n_splits: int = 5,
    replace: bool = False,
    must_fraction: float | None = None,
    noise: float = 0.0,
    give_certainty: bool = False,
    weight: float = 1.0,
    random_state: int | np.random.Generator | None = None,
) -> Iterator[LearningCurveSplit]:
    """Pairs for learning curves: drawn from the training folds, scored on the test fold.

    For each of `n_splits` folds one long list of pairs is drawn among the training rows, and the
    set of each size is a prefix of it, so curves differ by what was added only (a fixed
    `must_fraction` then holds exactly for the largest and on average for the others). All sets
    speak of all n rows: cluster everything, score `labels_[test]` (Basu et al. 2004 and 2006).
    """
    rng = np.random.default_rng(random_state)
    n = np.asarray(labels).shape[0]
    if not 2 <= n_splits <= n:
        raise InvalidParameter(f"n_splits={n_splits} must lie between 2 and the {n} rows")
    largest = max(sizes, default=0)
    folds = np.array_split(rng.permutation(n), n_splits)
    for fold in folds:
        test = np.sort(fold)
        train = np.setdiff1d(np.arange(n), test, assume_unique=True)
        drawn = _draw(labels, largest, train, replace, True, must_fraction, rng)
        told, certainty = _flip(drawn, noise, rng)
        sure = certainty if give_certainty else None
        nested = [_first(size, told, sure, weight) for size in sizes]
        yield LearningCurveSplit(train, test, nested)


class _Drawn(NamedTuple):
    n_samples: int
    pairs: IntArray  # (m, 2)
    same: BoolArray  # (m,) whether the labels agree


def _draw(
    labels: ArrayLike,
    n_pairs: int,
    rows: ArrayLike | None,
    replace: bool,
    overlap: bool,
    must_fraction: float | None,
    rng: np.random.Generator,
) -> _Drawn:
    y = np.asarray(labels)
    if y.ndim != 1:
        raise InvalidParameter(f"labels has shape {y.shape}; give one label a row, (n,)")
    if n_pairs < 0:
        raise InvalidParameter(f"n_pairs={n_pairs} is negative")
    if must_fraction is not None and not 0 <= must_fraction <= 1:
        raise InvalidParameter(f"must_fraction={must_fraction} must lie in [0, 1]")
    if not overlap and replace:
        raise InvalidParameter("overlap=False draws no row twice, so replace must be False")
    chosen = np.arange(y.size) if rows is None else np.arange(y.size)[np.asarray(rows)]
    chosen = rng.permutation(chosen[y[chosen] != -1])
    # Sorted by class, shuffled within: ranges of positions are then pairs of one kind.
    codes = np.unique(y[chosen], return_inverse=True)[1]
    by_class = np.argsort(codes, kind="stable")
    chosen, codes = chosen[by_class], codes[by_class]
    draw = _overlapping if overlap else _disjoint
    positions = draw(codes, n_pairs, replace, must_fraction, rng)
    positions = rng.permutation(positions, axis=0)
    same = codes[positions[:, 0]] == codes[positions[:, 1]]
    return _Drawn(y.size, chosen[positions], same)


def _overlapping(
    codes: IntArray,
    n_pairs: int,
    replace: bool,
    must_fraction: float | None,
    rng: np.random.Generator,
) -> IntArray:
    """Uniform pairs of positions, each position p pairing with a range of later ones."""
    p = np.arange(codes.size)
    class_end = np.searchsorted(codes, codes, side="right")
    everyone = np.full(codes.size, codes.size)
    if must_fraction is None:
        return _from_ranges(p + 1, everyone, n_pairs, replace, "", rng)
    n_must = round(must_fraction * n_pairs)
    must = _from_ranges(p + 1, class_end, n_must, replace, "must-link ", rng)
    cannot = _from_ranges(class_end, everyone, n_pairs - n_must, replace, "cannot-link ", rng)
    return np.concatenate([must, cannot])


def _from_ranges(
    low: IntArray, high: IntArray, count: int, replace: bool, word: str, rng: np.random.Generator
) -> IntArray:
    """Pairs (p, q) with low[p] ≤ q < high[p], uniform: number them all, draw numbers, decode."""
    ends = np.cumsum(high - low)
    total = int(ends[-1]) if ends.size else 0
    if count > 0 and (total == 0 or (not replace and count > total)):
        raise InvalidParameter(
            f"{count} {word}pairs were asked for but the rows offer only {total}; ask for fewer"
            + ("" if replace or total == 0 else " or set replace=True")
        )
    if count == 0:
        return np.empty((0, 2), dtype=np.int64)
    keys = rng.integers(total, size=count) if replace else _distinct(total, count, rng)
    p = np.searchsorted(ends, keys, side="right")
    return np.column_stack([p, high[p] - (ends[p] - keys)])


def _distinct(total: int, count: int, rng: np.random.Generator) -> IntArray:
    """`count` distinct numbers below `total`, uniform, in memory proportional to `count`."""
    if 2 * count > total:
        return rng.permutation(total)[:count]
    # Fewer than half are taken, so each new draw is new with probability over ½.
    keys = np.empty(0, dtype=np.int64)
    while keys.size < count:
        fresh = rng.integers(total, size=2 * (count - keys.size) + 16)
        seen = np.concatenate([keys, fresh])
        first = np.sort(np.unique(seen, return_index=True)[1])
        keys = seen[first]  # in the order drawn, so that cutting the end leaves it uniform
    return keys[:count]


def _disjoint(
    codes: IntArray,
    n_pairs: int,
    replace: bool,
    must_fraction: float | None,
    rng: np.random.Generator,
) -> IntArray:
    """Pairs of positions that share none: a random matching, or one of each kind."""
    if must_fraction is None:
        if 2 * n_pairs > codes.size:
            raise _too_few(n_pairs, "", codes.size // 2)
        return rng.permutation(codes.size)[: 2 * n_pairs].reshape(-1, 2)
    n_must = round(must_fraction * n_pairs)
    # Rows are shuffled within their class: consecutive ones of even rank pair up at random.
    even = np.flatnonzero(_rank_in_class(codes) % 2 == 0)
    even = even[even + 1 < codes.size]
    candidates = even[codes[even] == codes[even + 1]]
    if n_must > candidates.size:
        raise _too_few(n_must, "must-link ", candidates.size)
    for _ in range(TRIES):
        left = rng.choice(candidates, size=n_must, replace=False)
        must = np.column_stack([left, left + 1])
        free = np.setdiff1d(np.arange(codes.size), must.ravel(), assume_unique=True)
        cannot = _disjoint_cannot(codes, free, n_pairs - n_must, rng)
        if cannot is not None:
            return np.concatenate([must, cannot])
    raise InvalidParameter(
        f"no {n_must} must-links and {n_pairs - n_must} cannot-links that share no row were found "
        f"in {TRIES} random tries; ask for fewer or set overlap=True"
    )


def _disjoint_cannot(
    codes: IntArray, free: IntArray, count: int, rng: np.random.Generator
) -> IntArray | None:
    """Disjoint pairs of different classes among `free`; None if there are too few.

    With 2·count rows sorted by class and no class above `count`, rows t and t + count differ.
    """
    free = free[_rank_in_class(codes[free]) < count]
    if 2 * count > free.size:
        return None
    taken = np.sort(rng.choice(free, size=2 * count, replace=False))
    return np.column_stack([taken[:count], taken[count:]])


def _rank_in_class(codes: IntArray) -> IntArray:
    """Position of each entry within its run of the sorted codes."""
    return np.arange(codes.size) - np.searchsorted(codes, codes, side="left")


def _too_few(count: int, word: str, offered: int) -> InvalidParameter:
    return InvalidParameter(
        f"{count} {word}pairs that share no row were asked for but the rows offer only {offered}; "
        "ask for fewer or set overlap=True"
    )


def _flip(drawn: _Drawn, noise: ArrayLike, rng: np.random.Generator) -> tuple[_Drawn, FloatArray]:
    """Tell each pair wrong with its probability; and the certainty (m,) that it is told right."""
    m = drawn.same.size
    rate = np.asarray(noise, dtype=np.float64)
    if rate.shape not in ((), (m,)) or not ((rate >= 0) & (rate <= 1)).all():
        raise InvalidParameter(
            f"noise must be a probability in [0, 1], or one for each of the {m} pairs"
        )
    wrong = rng.random(m) < rate
    return drawn._replace(same=drawn.same ^ wrong), np.broadcast_to(1.0 - rate, (m,))


def _first(size: int, told: _Drawn, certainty: FloatArray | None, weight: float) -> Constraints:
    """The first `size` pairs as constraints."""
    sure = None if certainty is None else certainty[:size]
    return Constraints.from_arrays(
        told.n_samples, told.pairs[:size], told.same[:size], weight=weight, certainty=sure
    )
