"""What the user's pairs say to Mosaic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie._typing import Array
from coterie.cluster.mosaic.noise import DEFAULT_NOISE, MOST_NOISE, Noise, log_odds
from coterie.cluster.mosaic.tuning import Tuning
from coterie.constraints import Constraints, PairTable
from coterie.inference.messages import (
    Messages,
    PairFactors,
    edge_posterior,
    equal_ends,
    pair_graph,
)

__all__ = ["Evidence", "pair_costs"]


_LEAST_NOISE = 1e-6  # a rate at which odds are not infinite
_HARD_STRENGTH = 20.0  # nats: among beliefs, a hard pair is a pair of this strength
_MOST_SUSPECTS = 1000


def pair_costs(constraints: Constraints, rate: float) -> NDArray[np.float64]:
    """What breaking each pair (m,) costs, in nats, if plain ones are wrong at `rate`."""
    c = constraints
    plain = np.isnan(c.certainty) & ~c.is_hard
    soft = np.where(plain, log_odds(rate) * c.weight, c.strength())
    return np.where(c.is_hard, np.inf, soft)


class Evidence:
    """The pairs on the graph of the core, as costs that follow the noise rate.

    A pair without a certainty is wrong with probability `rate`: breaking it costs its weight times
    log((1 - rate) / rate) nats, the log-odds of TVClust's p = q = 1 - rate. One rate serves both
    kinds: with two, many clusters and few must-links, clusters that are still wrong are explained
    by "must-links are mostly false" and never mended.
    """

    def __init__(self, constraints: Constraints, tuning: Tuning) -> None:
        self.constraints, self.tuning = constraints, tuning
        self.core = constraints.core()
        self.graph = pair_graph(self.core.indptr, self.core.indices, self.core.edge_of)
        self.is_plain = np.isnan(constraints.certainty) & ~constraints.is_hard
        self.plain = np.flatnonzero(self.is_plain & (constraints.weight > 0))
        # The same two rows asked about twice are one subject: 0, 1, ... for each plain pair.
        ends = constraints.pairs[self.plain]
        subjects, self.subject = np.unique(
            ends[:, 0] * constraints.n_samples + ends[:, 1], return_inverse=True
        )
        self.n_subjects = subjects.size
        self.plain_weight = float(constraints.weight[self.is_plain].sum())
        self._plain_costs = self.core.costs(np.where(self.is_plain, constraints.weight, 0.0))
        given = np.where(self.is_plain, 0.0, constraints.strength())
        self._given_costs = self.core.costs(given)
        # Strength of the must-links where there are no cannot-links: pairs of one kind are no
        # random sample of pairs, see `beliefs.judge_field`.
        only_must = not ((constraints.weight > 0) & (constraints.kind < 0)).any()
        self.lone_must_weight = float(self._vote_sizes().sum()) if only_must else 0.0

    # -- at a noise rate -----------------------------------------------------------------------
    def costs(self, rate: float) -> tuple[Array, Array]:
        """Cost of equal and of different labels, (2E, 1) each, in nats."""
        odds = log_odds(rate)
        same, differ = (
            odds * plain + given
            for plain, given in zip(self._plain_costs, self._given_costs, strict=True)
        )
        return same, differ

    def factors(self, rate: float) -> PairFactors:
        """e^-cost with the cost capped: among beliefs a hard pair is a strong one."""
        most = _HARD_STRENGTH
        return PairFactors(*(np.exp(-np.minimum(c[:, 0], most)) for c in self.costs(rate)))

    # -- the noise rate ------------------------------------------------------------------------
    def first_noise(self) -> Noise:
        """A noise rate to start from: the first of the ladder, less where one kind of pair is rare.

        Wrong pairs are of the other kind than the right ones: if one pair in 26 is a must-link, a
        rate of 0.04 would say that none of them is to be believed.
        """
        c = self.constraints
        of_kinds = (
            float(c.weight[self.is_plain & kind].sum()) for kind in (c.kind > 0, c.kind < 0)
        )
        rarer = (min(of_kinds) + 0.5) / (self.plain_weight + 1.0)  # above 0 however large the other
        return Noise(2.0 * self.tuning.ladder[0] * rarer, "estimated")

    def noise_rate(self, rate: float, messages: Messages, posterior: Array) -> float:
        """Posterior mean of the share of plain pairs that are wrong, given beliefs at `rate`.

        The first rate is worth one pair.
        """
        equal = edge_posterior(self.graph, self.factors(rate), messages, posterior)
        cannot, must = (cost[self.graph.entries[:, 0], 0] for cost in self._plain_costs)
        kept = float(must @ equal + cannot @ (1.0 - equal))
        whole = float(must.sum() + cannot.sum())
        new = (whole - kept + self.first_noise().rate) / (whole + 1.0)
        return float(np.clip(new, _LEAST_NOISE, MOST_NOISE))

    # -- what fields predict -------------------------------------------------------------------
    def log_likelihoods(self, chance: Array, factors: PairFactors) -> NDArray[np.float64]:
        """log P(pairs of each edge) (E,) if each node took its cluster by `chance` (s, K).

        No pair of its own is heard: this is what `chance` predicts.
        """
        equal, entry = equal_ends(self.graph, chance), self.graph.entries[:, 0]
        return np.log(factors.together[entry] * equal + factors.apart[entry] * (1.0 - equal))

    # -- votes ---------------------------------------------------------------------------------
    def votes(self) -> NDArray[np.float64]:
        """Signed vote (m,) of each pair that its rows belong together, centred.

        A must-link votes 1 - share and a cannot-link -share times its strength: the mean vote is
        0, so pairs that say what any random pair would say have no say.
        """
        size, must = self._vote_sizes(), self.constraints.kind > 0
        share = float(size[must].sum() / size.sum())
        if share in (0.0, 1.0):
            share = 0.5  # pairs of one kind alone are not centred: they are what there is
        return np.where(must, (1.0 - share) * size, -share * size)

    def must_links(self) -> tuple[Array, Array]:
        """The must-links (·, 2) that count, and how many plain pairs each is worth."""
        chosen = (self.constraints.kind > 0) & (self.constraints.weight > 0)
        return self.constraints.pairs[chosen], self._vote_sizes()[chosen] / log_odds(DEFAULT_NOISE)

    def distinct(self) -> tuple[Array, Array, Array, Array]:
        """Every two rows and kind once: pairs (m, 2), which are must-links, which are plain, worth.

        A pair is worth its strength in plain pairs, but never more than one: insisting does not
        make it a sample.
        """
        c = self.constraints
        said = np.flatnonzero(c.weight > 0)
        code = 2 * (c.pairs[said, 0] * c.n_samples + c.pairs[said, 1]) + (c.kind[said] > 0)
        distinct, which = np.unique(code, return_inverse=True)
        worth = np.bincount(which, self._vote_sizes()[said] / log_odds(DEFAULT_NOISE))
        plain = np.bincount(which, self.is_plain[said]) > 0
        pairs = np.column_stack([distinct // 2 // c.n_samples, distinct // 2 % c.n_samples])
        return pairs, distinct % 2 == 1, plain, np.minimum(worth, 1.0)

    def _vote_sizes(self) -> NDArray[np.float64]:
        return np.minimum(self.constraints.strength(), _HARD_STRENGTH)

    def between(self, near: Array, count: int, votes: Array) -> NDArray[np.float64]:
        """Votes summed between prototypes, (M, M) symmetric."""
        i, j = near[self.constraints.pairs[:, 0]], near[self.constraints.pairs[:, 1]]
        summed = np.bincount(i * count + j, weights=votes, minlength=count * count)
        table = summed.reshape(count, count)
        return np.asarray(table + table.T)

    # -- suspects ------------------------------------------------------------------------------
    def suspects(self, together: Array) -> PairTable:
        """The soft pairs most probably wrong, most suspect first.

        `together` (E,) is how probably the ends of each edge belong together; rows that hard
        must-links tie do.
        """
        c = self.constraints
        soft = np.flatnonzero(~c.is_hard & (c.weight > 0))
        equal = np.append(together, 1.0)[self.core.pair_edge[soft]]  # -1 inside a node
        wrong = np.where(c.kind[soft] > 0, 1.0 - equal, equal)
        if wrong.size > _MOST_SUSPECTS:
            top = np.sort(np.argpartition(-wrong, _MOST_SUSPECTS)[:_MOST_SUSPECTS])
            soft, wrong = soft[top], wrong[top]
        return PairTable(c.pairs[soft, 0], c.pairs[soft, 1], c.kind[soft], wrong, name="p_wrong")
