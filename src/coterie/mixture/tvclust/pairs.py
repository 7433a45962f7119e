"""Side information: how likely an answer is, given whether its two rows share a cluster.

A pair without a certainty of its own has the model of (8),

    P(friend | together) = p,   P(stranger | apart) = q,

with p and q learned; a pair of certainty gamma has p = q = gamma; the weight of a pair multiplies
its log-likelihood. Hard pairs are the limit of certainty 1: must-links are contracted into nodes
before anything else, cannot-links are forbidden. Every unordered pair counts once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betaln, digamma

from coterie._typing import FloatArray
from coterie.constraints import Constraints

__all__ = ["AnswerLogs", "Beta", "PairEvidence"]


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

    def log_evidence(self, prior: Beta) -> float:
        """ln B(posterior) - ln B(prior): the evidence of the counts that led here."""
        return float(betaln(self.a, self.b) - betaln(prior.a, prior.b))


class AnswerLogs(NamedTuple):
    """(Expected) logarithms of p, 1 - p, q and 1 - q."""

    p: float
    not_p: float
    q: float
    not_q: float

    @classmethod
    def of(cls, p: Beta, q: Beta) -> AnswerLogs:
        """Expectations under Beta factors."""
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
        counts = ~c.is_hard & (c.weight > 0)
        self.friend = c.kind > 0
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

    def pair_logs(self, logs: AnswerLogs) -> tuple[FloatArray, FloatArray]:
        """Log-likelihood (m,) of each answer if its rows are together, and if they are apart."""
        together = np.where(self.friend, logs.p, logs.not_p)
        apart = np.where(self.friend, logs.not_q, logs.q)
        together = np.where(
            self.given, np.where(self.friend, self.log_right, self.log_wrong), together
        )
        apart = np.where(self.given, np.where(self.friend, self.log_wrong, self.log_right), apart)
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

    def update(self, agreement: FloatArray, p_prior: Beta, q_prior: Beta) -> tuple[Beta, Beta]:
        """Posteriors of p and q given the probability (m,) that each pair is together."""
        together = np.where(self.learned, self.weight, 0.0) * agreement
        apart = np.where(self.learned, self.weight, 0.0) - together
        friend = self.friend
        p = Beta(p_prior.a + together[friend].sum(), p_prior.b + together[~friend].sum())
        q = Beta(q_prior.a + apart[~friend].sum(), q_prior.b + apart[friend].sum())
        return p, q

    def given_log_likelihood(self, agreement: FloatArray) -> float:
        """Expected log-likelihood of the pairs that came with a certainty."""
        together, apart = self.pair_logs(AnswerLogs(0.0, 0.0, 0.0, 0.0))
        expected = agreement * together + (1 - agreement) * apart
        return float(expected[self.given].sum())
