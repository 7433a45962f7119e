"""What the user's pairs say to Mosaic, and how often they are wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.cluster.mosaic import _kernels as kernels
from coterie.constraints import Constraints, PairTable
from coterie.data import Rows

Array = NDArray[Any]

FIRST_NOISE = 0.01  # trust first: a high rate explains wrong clusters away, and they stay
DEFAULT_NOISE = 0.05  # the library's certainty of a plain pair is 0.95
_PRIOR_PAIRS = 4.0  # pairs' worth of belief in the first rate when the rate is estimated
_LEAST_NOISE, _MOST_NOISE = 1e-6, 0.45
CAP = 20.0  # nats: in the soft stage a hard pair is a pair of this strength
_MOST_SUSPECTS = 1000


class Evidence:
    """The pairs on the graph of the core, as costs that follow the noise rate.

    A pair without a certainty is wrong with probability `rate`: breaking it costs its weight times
    log((1 - rate) / rate) nats, the log-odds of TVClust's p = q = 1 - rate. One rate serves both
    kinds: with two, many clusters and few must-links, clusters that are still wrong are explained
    by "must-links are mostly false" and never mended.
    """

    def __init__(self, constraints: Constraints) -> None:
        self.constraints = constraints
        self.core = constraints.core()
        self.is_plain = np.isnan(constraints.certainty) & ~constraints.is_hard
        self._plain = self.core.costs(np.where(self.is_plain, constraints.weight, 0.0))
        self._given = None
        if not self.is_plain.all():
            given = np.where(self.is_plain, 0.0, constraints.strength())
            self._given = self.core.costs(given)
        self._no_chances = np.empty(0), np.empty(0)
        self.plain_weight = float(constraints.weight[self.is_plain].sum())
        counted = constraints.weight > 0
        only_must = not (counted & (constraints.kind < 0)).any()
        # Pairs of one kind are no random sample of pairs: see SoftStage._background.
        self.lone_must_weight = float(self._votes_size().sum()) if only_must else 0.0
        self.twin = np.empty(self.core.indices.size, dtype=np.int64)
        kernels.twin_entries(self.core.edge_of, self.core.edges.shape[0], self.twin)

    def costs(self, rate: float) -> tuple[Array, Array]:
        """Cost of equal and of different labels, (2E, 1) each, in nats."""
        odds = np.log((1.0 - rate) / rate)
        same, differ = (odds * unit for unit in self._plain)
        if self._given is not None:
            same += self._given[0]
            differ += self._given[1]
        return same, differ

    def chances(self, rate: float) -> tuple[Array, Array]:
        """How probable each edge's pairs are if its ends are equal, and if not, (2E,) each.

        e^-cost with the cost capped: in the soft stage a hard pair is a strong one.
        """
        together, apart = (np.exp(-np.minimum(c[:, 0], CAP)) for c in self.costs(rate))
        return together, apart

    def pull(self, rate: float) -> Array:
        """What agreeing along an edge saves, in nats (2E,), each cost capped."""
        same, differ = (np.minimum(c[:, 0], CAP) for c in self.costs(rate))
        return np.asarray(differ - same)

    def pair_cost(self, rate: float) -> NDArray[np.float64]:
        """What breaking each of the user's pairs costs, (m,)."""
        odds = np.log((1.0 - rate) / rate)
        c = self.constraints
        out = np.full(c.n_pairs, np.inf)
        soft = ~c.is_hard
        out[soft] = np.where(self.is_plain[soft], odds * c.weight[soft], c.strength()[soft])
        return out

    def first_rate(self) -> float:
        """A noise rate to start from: 0.01, less where one kind of pair is rare.

        Wrong pairs are of the other kind than the right ones: if one pair in 26 is a must-link, a
        rate of 0.04 would say that none of them is to be believed.
        """
        c = self.constraints
        must = float(c.weight[self.is_plain & (c.kind > 0)].sum())
        share = (must + _PRIOR_PAIRS / 2) / (self.plain_weight + _PRIOR_PAIRS)
        return 2.0 * FIRST_NOISE * min(share, 1.0 - share)

    def noise_rate(self, rate: float, messages: Array, beliefs: Array) -> float:
        """Posterior mean of the share of plain pairs that are wrong, given beliefs at `rate`."""
        core = self.core
        chances = self.chances(rate) if len(messages) else self._no_chances
        arrays = (core.indptr, core.indices, self.twin, *chances, *self._plain, messages, beliefs)
        kept, whole = Rows(beliefs).map_reduce(
            lambda first, last: kernels.agreement(first, last, *arrays),
            lambda a, b: (a[0] + b[0], a[1] + b[1]),
        )
        new = (whole - kept + _PRIOR_PAIRS * self.first_rate()) / (whole + _PRIOR_PAIRS)
        return float(np.clip(new, _LEAST_NOISE, _MOST_NOISE))

    def votes(self) -> NDArray[np.float64]:
        """Signed vote (m,) of each pair that its rows belong together, centred.

        A must-link votes 1 - share and a cannot-link -share times its strength: the mean vote is
        0, so pairs that say what any random pair would say have no say.
        """
        c = self.constraints
        size = self._votes_size()
        must = c.kind > 0
        share = float(size[must].sum() / size.sum())
        # One kind alone still speaks, if softly: it is what there is.
        used = min(max(share, 0.02), 0.98)
        return np.where(must, (1.0 - used) * size, -used * size)

    def must_links(self) -> tuple[Array, Array]:
        """The must-links (·, 2) that count, and how many plain pairs each is worth."""
        chosen = (self.constraints.kind > 0) & (self.constraints.weight > 0)
        plain = np.log((1.0 - DEFAULT_NOISE) / DEFAULT_NOISE)
        return self.constraints.pairs[chosen], self._votes_size()[chosen] / plain

    def _votes_size(self) -> NDArray[np.float64]:
        return np.minimum(self.constraints.strength(1.0 - DEFAULT_NOISE), CAP)

    def between(self, near: Array, count: int, votes: Array) -> NDArray[np.float64]:
        """Votes summed between prototypes, (M, M) symmetric."""
        i, j = near[self.constraints.pairs[:, 0]], near[self.constraints.pairs[:, 1]]
        summed = np.bincount(i * count + j, weights=votes, minlength=count * count)
        table = summed.reshape(count, count)
        return np.asarray(table + table.T)

    def log_likelihood(self, chance: Array, chances: tuple[Array, Array]) -> float:
        """log P(pairs) if each node took its cluster by `chance` (s, K), no pair of its own heard.

        `chances` are those of `chances`.
        """
        arrays = (chance, self.core.indptr, self.core.indices, *chances)
        return Rows(chance).map_reduce(
            lambda first, last: float(kernels.log_likelihood(first, last, *arrays)),
            lambda a, b: a + b,
        )

    def lead_error(self, chance: Array, other: Array, chances: tuple[Array, Array]) -> float:
        """Standard error of how much better `chance` than `other` (s, K) predicts the pairs."""
        arrays = (chance, other, self.core.indptr, self.core.indices, *chances)
        total, squares = Rows(chance).map_reduce(
            lambda first, last: kernels.lead(first, last, *arrays),
            lambda a, b: (a[0] + b[0], a[1] + b[1]),
        )
        count = max(self.core.edges.shape[0], 1)
        return float(np.sqrt(max(squares - total * total / count, 0.0)))

    def suspects(self, beliefs: Array) -> PairTable:
        """The soft pairs most probably wrong under row beliefs (n, K), most suspect first."""
        c = self.constraints
        soft = np.flatnonzero(~c.is_hard & (c.weight > 0))
        together = np.empty(soft.size)
        for lo in range(0, soft.size, 1 << 16):
            part = soft[lo : lo + (1 << 16)]
            left, right = beliefs[c.pairs[part, 0]], beliefs[c.pairs[part, 1]]
            together[lo : lo + part.size] = np.einsum("ij,ij->i", left, right)
        wrong = np.where(c.kind[soft] > 0, 1.0 - together, together)
        if wrong.size > _MOST_SUSPECTS:
            top = np.sort(np.argpartition(-wrong, _MOST_SUSPECTS)[:_MOST_SUSPECTS])
            soft, wrong = soft[top], wrong[top]
        return PairTable(c.pairs[soft, 0], c.pairs[soft, 1], c.kind[soft], wrong, name="p_wrong")
