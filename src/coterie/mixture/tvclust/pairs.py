"""Side information: how likely an answer is, given whether its two rows share a cluster.

A pair without a certainty of its own has the model of (8),

    P(friend | together) = p,   P(stranger | apart) = q,

with p and q learned; a pair of certainty gamma has p = q = gamma; the weight of a pair multiplies
its log-likelihood. Hard pairs are the limit of certainty 1: must-links are contracted into nodes
before anything else, cannot-links are forbidden. Every unordered pair counts once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaln, digamma

from coterie._typing import FloatArray
from coterie.constraints import Constraints
from coterie.data import Scratch

__all__ = ["AnswerLogs", "Beta", "Known", "PairEvidence", "Trust"]

_HARD = (np.log(0.999), np.log(0.001))  # of an answer that is taken for granted: right, wrong
_ROUNDS = 5  # of an expectation-maximisation of p and q, which settle at once


class Beta(NamedTuple):
    """A Beta distribution."""

    a: float
    b: float

    @property
    def mean(self) -> float:
        """a / (a + b)."""
        return self.a / (self.a + self.b)

    def expected_logs(self) -> tuple[float, float]:
        """E ln x and E ln (1 - x)."""
        both = digamma(self.a + self.b)
        return float(digamma(self.a) - both), float(digamma(self.b) - both)

    def given(self, right: float, wrong: float) -> Beta:
        """The posterior after so many answers that were right and wrong."""
        return Beta(self.a + right, self.b + wrong)

    def log_evidence(self, prior: Any) -> float:
        """ln B(posterior) - ln B(prior): the evidence of the counts that led here."""
        return float(betaln(self.a, self.b) - betaln(prior.a, prior.b))

    def draw(self, rng: np.random.Generator) -> float:
        """A random number of this distribution; never exactly 0 or 1, which would be hard pairs."""
        return float(np.clip(rng.beta(self.a, self.b), 1e-12, 1 - 1e-12))


class Known(NamedTuple):
    """A share that is known: `mean`, whatever the answers; and the answers met."""

    mean: float
    right: float = 0.0
    wrong: float = 0.0

    def expected_logs(self) -> tuple[float, float]:
        """ln x and ln (1 - x)."""
        return float(np.log(self.mean)), float(np.log1p(-self.mean))

    def given(self, right: float, wrong: float) -> Known:
        """As it is; the answers are counted."""
        return Known(self.mean, self.right + right, self.wrong + wrong)

    def log_evidence(self, prior: Any) -> float:
        """The log-likelihood of the answers that led here from `prior`."""
        right, wrong = self.expected_logs()
        return (self.right - prior.right) * right + (self.wrong - prior.wrong) * wrong

    def draw(self, rng: np.random.Generator) -> float:
        """The number itself."""
        return self.mean


Trust = Beta | Known


class AnswerLogs(NamedTuple):
    """(Expected) logarithms of p, 1 - p, q and 1 - q."""

    p: float
    not_p: float
    q: float
    not_q: float

    @classmethod
    def of(cls, p: Trust, q: Trust) -> AnswerLogs:
        """Expectations under the factors of p and q."""
        return cls(*p.expected_logs(), *q.expected_logs())

    @classmethod
    def at(cls, p: float, q: float) -> AnswerLogs:
        """Known p and q."""
        return cls(np.log(p), np.log1p(-p), np.log(q), np.log1p(-q))


class PairEvidence:
    """The user's pairs as evidence about which nodes of the core belong together."""

    def __init__(self, constraints: Constraints) -> None:
        c = constraints
        self.constraints = c
        self.core = c.core()
        self.scratch = Scratch()  # for what every iteration finds for the core's rows
        counts = ~c.is_hard & (c.weight > 0)
        self.friend, self.hard = c.kind > 0, c.is_hard
        self.learned = counts & np.isnan(c.certainty)
        self.given = counts & ~np.isnan(c.certainty)
        self.weight = np.where(counts, c.weight, 0.0)
        gamma = np.where(self.given, c.certainty, 0.5)
        self.log_right, self.log_wrong = np.log(gamma), np.log1p(-gamma)
        edge = self.core.pair_edge
        self.between = counts & (edge >= 0)
        self.edge = edge
        hard = np.zeros(len(self.core.edges), dtype=bool)
        hard[edge[c.is_hard & ~self.friend & (edge >= 0)]] = True
        self.forbidden = hard[self.core.edge_of]
        self.pinned = np.zeros(self.core.n_nodes, dtype=bool)
        self.pinned[self.core.edges[hard].ravel()] = True

    def _each_log(self, logs: AnswerLogs) -> tuple[FloatArray, FloatArray]:
        """`pair_logs` before each is multiplied by its weight."""
        together = np.where(self.friend, logs.p, logs.not_p)
        apart = np.where(self.friend, logs.not_q, logs.q)
        together = np.where(
            self.given, np.where(self.friend, self.log_right, self.log_wrong), together
        )
        apart = np.where(self.given, np.where(self.friend, self.log_wrong, self.log_right), apart)
        return together, apart

    def pair_logs(self, logs: AnswerLogs) -> tuple[FloatArray, FloatArray]:
        """Log-likelihood (m,) of each answer if its rows are together, and if they are apart."""
        together, apart = self._each_log(logs)
        return self.weight * together, self.weight * apart

    def odds(self, logs: AnswerLogs) -> FloatArray:
        """Log-odds (2E,) that each edge's answers give for its ends being together.

        A friend gives ln p - ln (1 - q), a stranger ln (1 - p) - ln q, as in (11).
        """
        together, apart = self.pair_logs(logs)
        its = np.flatnonzero(self.between)
        per_edge = np.zeros(len(self.core.edges))
        np.add.at(per_edge, self.edge[its], (together - apart)[its])
        return per_edge[self.core.edge_of]

    def agreement(self, edge_agreement: FloatArray) -> FloatArray:
        """Probability (m,) that the rows of each pair are together, from that of each edge (E,).

        The ends of a pair inside a node are together whatever happens.
        """
        agreement = np.ones(self.constraints.n_pairs)
        outside = self.edge >= 0
        agreement[outside] = edge_agreement[self.edge[outside]]
        return agreement

    def update(self, agreement: FloatArray, p_prior: Trust, q_prior: Trust) -> tuple[Trust, Trust]:
        """Posteriors of p and q given the probability (m,) that each pair is together."""
        together = np.where(self.learned, self.weight, 0.0) * agreement
        apart = np.where(self.learned, self.weight, 0.0) - together
        friend = self.friend
        p = p_prior.given(together[friend].sum(), together[~friend].sum())
        q = q_prior.given(apart[~friend].sum(), apart[friend].sum())
        return p, q

    def foretold(self, agreement: FloatArray, p_prior: Trust, q_prior: Trust) -> FloatArray:
        """ln p(answer) (m,) where each pair is together with probability agreement (m,).

        The agreement does not know the answers, so a pair's likelihood is a mixture of (8)
        together and apart; p and q are what the answers then say of them. A hard pair is an answer
        of certainty .999 here: the rows alone need not foretell it.
        """
        p, q = p_prior, q_prior
        weight = np.where(self.between, self.weight, self.hard)
        with np.errstate(divide="ignore"):
            log_same, log_apart = np.log(agreement), np.log1p(-agreement)
        for _ in range(_ROUNDS):
            together, apart = self._each_log(AnswerLogs.at(p.mean, q.mean))
            together = np.where(self.hard, np.where(self.friend, *_HARD), together)
            apart = np.where(self.hard, np.where(self.friend, *_HARD[::-1]), apart)
            each = np.logaddexp(log_same + together, log_apart + apart)
            posterior = np.exp(log_same + together - each)
            p, q = self.update(np.where(self.between, posterior, agreement), p_prior, q_prior)
        return weight * each

    def given_log_likelihood(self, agreement: FloatArray) -> float:
        """Expected log-likelihood of the pairs that came with a certainty."""
        together, apart = self.pair_logs(AnswerLogs(0.0, 0.0, 0.0, 0.0))
        expected = agreement * together + (1 - agreement) * apart
        return float(expected[self.given].sum())
