"""How well a clustering foretells the pairs, and whether one does so clearly better than another.

A clustering says of every pair whether its rows are together. What that is worth is learned from
the pairs themselves, as two shares: of must-links among the pairs that it puts together (p), and
among those that it keeps apart (q). So pairs of which many are wrong, or clusters of which some
are, make a clustering less telling but not absurd, and two clusterings can be compared without
knowing how often pairs are wrong.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from coterie._typing import Array
from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.passes import shares

__all__ = [
    "Shares",
    "Telling",
    "Trial",
    "clear_lead",
    "log_chances",
    "shares_of",
    "telling_sharpness",
    "trial_of",
]


_SHARE_STEPS = 30
_MUST_LINKS_A_CANNOT_LINK = 4  # beyond, random pairs stand beside cannot-links
_BARE_MENTION = 0.5 * np.log(10.0)  # nats: see `clear_lead`
_LEAST_SHARPNESS = 1.0 / 1024.0


class Trial(NamedTuple):
    """The pairs that clusterings are judged by.

    Attributes
    ----------
    pairs : (m, 2)
    must, plain : (m,) bool
        Which are must-links, and which may be wrong at a rate that is not known.
    weight : (m,)
        What each counts.
    """

    pairs: Array
    must: Array
    plain: Array
    weight: Array

    def sample(self, most: int, rng: np.random.Generator) -> Trial:
        """At most so many of the pairs."""
        if self.must.size <= most:
            return self
        chosen = np.sort(rng.permutation(self.must.size)[:most])
        return Trial(*(part[chosen] for part in self))

    def together(self, labels: Array) -> NDArray[np.float64]:
        """1 for the pairs (m,) that clusters (n,) put together, 0 for the others."""
        return np.asarray(labels[self.pairs[:, 0]] == labels[self.pairs[:, 1]], dtype=float)


class Shares(NamedTuple):
    """The share of must-links among pairs put together (p) and among those kept apart (q)."""

    together: float
    apart: float

    @property
    def most_noise(self) -> float:
        """No more pairs can be wrong than this: clusters that are wrong only add to it."""
        return min(self.apart, 1.0 - self.together)


def trial_of(evidence: Evidence, rng: np.random.Generator, *, plain_only: bool = False) -> Trial:
    """The pairs of `evidence`, each two rows and kind once; or those alone that may be wrong.

    Pairs of one kind alone say nothing by their kind: they are compared with as many random pairs,
    which are what a pair would be that nobody chose. Must-links beside a few cannot-links say
    hardly more, so random pairs fill up there: three true cannot-links more must not be worse.
    """
    pairs, must, plain, weight = evidence.distinct()
    if plain_only:
        pairs, must, weight, plain = pairs[plain], must[plain], weight[plain], plain[plain]
    count = _unchosen(must)
    if count:
        n, other_kind = evidence.constraints.n_samples, np.full(count, not must.any())
        first = rng.integers(n, size=count)
        second = (first + rng.integers(1, n, size=count)) % n
        pairs = np.concatenate([pairs, np.column_stack([first, second])])
        must = np.concatenate([must, other_kind])
        plain = np.concatenate([plain, np.zeros(count, dtype=bool)])
        weight = np.concatenate([weight, np.resize(weight, count)])
    return Trial(pairs, must, plain, weight)


def _unchosen(must: Array) -> int:
    """How many random pairs are compared with pairs that are must-links or not, (m,) bool."""
    together = int(must.sum())
    apart = must.size - together
    return apart if not together else max(0, together - _MUST_LINKS_A_CANNOT_LINK * apart)


def shares_of(trial: Trial, together: Array) -> Shares:
    """The most probable shares p and q if pairs are together with probability `together` (m,).

    P(must-link) = p t + q (1 - t), by expectation and maximisation, with half a pair of either
    kind added to both sides. Where pairs put together are must-links less often than others, the
    clustering tells nothing, and p = q.
    """
    must, weight = trial.must, trial.weight
    base = float((weight[must].sum() + 0.5) / (weight.sum() + 1.0))
    p = q = base
    hard = bool(((together == 0.0) | (together == 1.0)).all())
    near = together  # how probably the pair is together, its kind known
    for _ in range(1 if hard else _SHARE_STEPS):
        p, q = (
            float((weight[must] @ side[must] + 0.5) / (weight @ side + 1.0))
            for side in (near, 1.0 - near)
        )
        if p <= q:
            return Shares(base, base)
        inside = np.where(must, p, 1.0 - p) * together
        outside = np.where(must, q, 1.0 - q) * (1.0 - together)
        near = inside / (inside + outside)
    return Shares(p, q)


def log_chances(trial: Trial, together: Array) -> NDArray[np.float64]:
    """Weighted log-probability (m,) of the kind of each pair, from how probably it is together."""
    p, q = shares_of(trial, together)
    chance = p * together + q * (1.0 - together)
    return np.asarray(trial.weight * np.log(np.where(trial.must, chance, 1.0 - chance)))


def clear_lead(pairs: Array, lead: Array, confidence: float) -> bool:
    """Whether leads (m,) of pairs (m, 2) add up to more than chance makes of them.

    Two things are asked. Student's test: would other pairs like these say the same? And the odds:
    leads are log-likelihood ratios, and a sum below half of log 10 is "not worth more than a bare
    mention" (Jeffreys 1961). Where nearly all pairs are foretold alike, a few that differ a little,
    all in one way, would else pass for a proof.

    Pairs with a row in common are not independent: the variance of the sum is that of sums over
    rows, V = Σ_i (Σ_j d_ij)² - Σ_ij d_ij², with d the leads less their mean. For pairs that share
    no row it is Σ d². Most pairs are foretold alike by any clustering: as many count as
    independent as really differ, (Σ d²)² / Σ d⁴.
    """
    if not lead.sum() > _BARE_MENTION:
        return False
    gaps = lead - lead.mean()
    alone, fourth = float((gaps**2).sum()), float((gaps**4).sum())
    if not fourth > 0.0:
        return False
    freedom = alone**2 / fourth - 1.0
    if freedom < 1.0:
        return False
    rows, ends = np.unique(pairs, return_inverse=True)
    by_row = np.bincount(ends.reshape(-1), np.repeat(gaps, 2), minlength=rows.size)
    error = np.sqrt(max(float((by_row**2).sum()) - alone, alone))
    return bool(lead.sum() > stdtrit(freedom, confidence) * error)


class Telling(NamedTuple):
    """How sharply to read values, how probably pairs (m,) are together then, and log P(pairs)."""

    sharpness: float
    together: Array
    score: float


def telling_sharpness(
    trial: Trial, values: Array, *, first: float, most: float, doubt: bool = False
) -> Telling:
    """The sharpness at which softmax(sharpness · values) foretells the pairs best.

    Found by steps of a factor of two, up to `most` and down to 1 / 1024.

    Pairs that contradict a clustering are as well explained by rows that are hardly sure of their
    cluster as by pairs that are wrong. With `doubt` it is some of both: sharper readings count by
    how probable they make the pairs, and the one in the middle, by steps, is taken.

    Parameters
    ----------
    trial : Trial
    values : (n, K)
        Of every row.
    first : float
        Where to begin.
    doubt : bool
        Whether pairs may be wrong rather than rows unsure.
    """
    rows, ends = np.unique(trial.pairs, return_inverse=True)
    ends, values = ends.reshape(-1, 2), values[rows]

    def read(sharpness: float) -> Telling:
        chance = shares(values, sharpness)
        together = np.einsum("ij,ij->i", chance[ends[:, 0]], chance[ends[:, 1]])
        return Telling(sharpness, together, float(log_chances(trial, together).sum()))

    best = read(first)
    for factor in (2.0, 0.5):
        while _LEAST_SHARPNESS < best.sharpness * factor <= most:
            other = read(best.sharpness * factor)
            if other.score <= best.score:
                break
            best = other
    levels = [best]
    while doubt and levels[-1].sharpness * 2.0 <= most:
        levels.append(read(levels[-1].sharpness * 2.0))
    weights = np.exp([level.score - best.score for level in levels])
    return levels[round(float(np.average(np.arange(len(levels)), weights=weights)))]
