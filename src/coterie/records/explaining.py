"""Why two records are taken to be the same, or not: what each field adds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.records.comparison import BOTH_MISSING, LEVELS
from coterie.records.learning import Belief

__all__ = ["PairExplanation", "explain_levels", "odds_in_words"]

_LEADS = 0.25  # from here on a pair leads, or another does
_LITTLE, _VERY_MANY = 1.25, 1e6  # times
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
        """What each says, the weightiest first, and at the end what says little.

        "phone the same, and rare: 60 times likelier the same; …".
        """
        order = np.argsort(-np.abs(self.terms), kind="stable")
        said = [(f"{self.names[f]} {self.findings[f]}", float(self.terms[f])) for f in order]
        if self.answers:
            said.append(("what was answered", self.answers))
        parts = [f"{what}: {odds_in_words(term)}" for what, term in said if not _is_little(term)]
        little = [what for what, term in said if _is_little(term)]
        if little:
            parts.append(f"of little weight: {', '.join(little)}")
        return f"{'; '.join(parts)}; before looking: {odds_in_words(self.start)}"

    def __str__(self) -> str:
        return f"{self.probability:.0%} same: {self.in_words()}"


def _is_little(nats: float) -> bool:
    return abs(nats) < np.log(_LITTLE)


def odds_in_words(nats: float) -> str:
    """How much likelier log-odds make one than the other, with two digits at most.

    >>> odds_in_words(4.1), odds_in_words(-0.7), odds_in_words(0.05), odds_in_words(-np.inf)
    ('60 times likelier the same', 'twice as likely different', 'says little', 'surely different')
    """
    which = "the same" if nats > 0 else "different"
    if _is_little(nats):
        return "says little"
    if not np.isfinite(nats):
        return f"surely {which}"
    if abs(nats) >= np.log(_VERY_MANY):
        return f"over a million times likelier {which}"
    times = float(np.exp(abs(nats)))
    digits = 1 - int(np.floor(np.log10(times)))
    times = round(times, min(digits, 1) if times < 10 else digits)  # 1.4, 2, 18, 60, 1,200
    if times == 2:
        return f"twice as likely {which}"
    return (
        f"{times:,.0f} times likelier {which}"
        if times >= 3
        else f"{times:g} times likelier {which}"
    )


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
    """By some of the fields. The others count as missing, which says the same of all classes."""
    at = np.asarray(looked_at, dtype=np.int64)
    seen = np.full((1, levels.size), BOTH_MISSING, dtype=np.int8)
    seen[0, at] = levels[at]
    found = belief.scale * belief.classes.log_odds(seen)[0]
    found += belief.by_class(seen)[0]
    return float(found + belief.of_level[at, levels[at]].sum())
