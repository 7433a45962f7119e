"""Why two records are taken to be the same, or not: what each field adds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.records.comparison import LEVELS
from coterie.records.learning import Belief

__all__ = ["PairExplanation", "explain_levels"]

_LEADS = 0.25  # from here on a pair leads, or another does
_ORDERS = 32  # in which fields are looked at, and each of them backwards


class PairExplanation(NamedTuple):
    """The log-odds of a pair, by what they come from; `terms` and `start` sum to `log_odds`.

    Attributes
    ----------
    names : tuple of str
        Fields; and "other records", once answers tell what it means that others are more alike.
    findings : tuple of str
        What was found in each, in words.
    terms : (F,) or (F + 1,)
        What each adds to the log-odds, in nats.
    start : float
        The log-odds before any field is looked at.
    answers : float
        What answers about this very pair add.
    log_odds : float
        Of "same", all together.
    """

    names: tuple[str, ...]
    findings: tuple[str, ...]
    terms: NDArray[np.float64]
    start: float
    answers: float
    log_odds: float

    @property
    def probability(self) -> float:
        """Of "same"."""
        return float(1.0 / (1.0 + np.exp(-np.clip(self.log_odds, -700, 700))))

    def in_words(self) -> str:
        """What each adds, the weightiest first: "phone the same, and rare +4.1, …"."""
        order = np.argsort(-np.abs(self.terms), kind="stable")
        parts = [f"{self.names[f]} {self.findings[f]} {self.terms[f]:+.1f}" for f in order]
        if self.answers:
            parts.append(f"answers {self.answers:+.1f}")
        return f"{', '.join(parts)}; any pair {self.start:+.1f}"

    def __str__(self) -> str:
        return f"{self.probability:.0%} same: {self.in_words()}"


def explain_levels(
    belief: Belief, names: list[str], levels: NDArray[np.int8], lead: float, answers: float
) -> PairExplanation:
    """The explanation of a pair with these levels (F,) and this lead before other pairs.

    Log-odds are no sum over fields where there are more than two classes of pairs. A term is what
    a field adds on average over orders in which the fields are looked at (Shapley's value, by 64
    orders), so that the terms sum to the whole.
    """
    n_fields = levels.size
    rng = np.random.default_rng(0)
    orders = [rng.permutation(n_fields) for _ in range(_ORDERS)]
    orders += [order[::-1] for order in orders]
    terms = np.zeros(n_fields)
    for order in orders:
        value = _log_odds(belief, levels, [])
        for place, f in enumerate(order):
            after = _log_odds(belief, levels, order[: place + 1])
            terms[f] += (after - value) / len(orders)
            value = after
    start = _log_odds(belief, levels, [])
    total = _log_odds(belief, levels, np.arange(n_fields))
    findings = [LEVELS[level] for level in levels]
    if belief.of_lead:
        names, findings = [*names, "other records"], [*findings, _words_of(lead)]
        terms = np.append(terms, belief.of_lead * lead)
        total += belief.of_lead * lead
    return PairExplanation(tuple(names), tuple(findings), terms, start, answers, total + answers)


def _words_of(lead: float) -> str:
    if abs(lead) < _LEADS:
        return "one is as alike"
    return "none is as alike" if lead > 0 else "one is more alike"


def _log_odds(belief: Belief, levels: NDArray[np.int8], looked_at: Any) -> float:
    """By some of the fields."""
    at = np.asarray(looked_at, dtype=np.int64)
    joint = belief.classes.log_weight.copy()
    for f in at:
        joint += belief.classes.log_level[:, f, levels[f]]
    share = np.exp(joint - np.logaddexp.reduce(joint))
    same = belief.classes.same
    odds = np.log(max(share @ same, 1e-300)) - np.log(max(share @ (1 - same), 1e-300))
    found = belief.scale * odds + share @ belief.of_class
    return float(found + belief.of_level[at, levels[at]].sum())
