"""How often answers are wrong, by all that was said about the rows and by where they lie."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.active.information.tally import log_odds

__all__ = ["FIRST_GUESS", "estimate_rate"]

Float = NDArray[np.float64]

_RATES = np.array([0.002, 0.005, 0.01, 0.02, 0.035, 0.055, 0.08, 0.11, 0.15, 0.2, 0.26, 0.33])
#: Beta(1, 19) by the logarithm: people are careful as a rule, and nobody is surprised by 10 %.
_LOG_PRIOR = 19.0 * np.log1p(-_RATES)
FIRST_GUESS = 0.02


def estimate_rate(prior: Float, net: Float, votes: Float, certain: Float) -> float:
    r"""Posterior mean of the error rate, with the rows' places summed out.

    A row is in group z with probability :math:`p_z` by what all other rows say; then each answer
    agrees with z with probability 1 − ε. The likelihood of ε is
    :math:`\prod_x \sum_z p_z ε^{wrong(z)} (1 − ε)^{right(z)}`: answers that contradict each other
    speak for errors, and so do answers that contradict where the row lies, as far as that is clear.

    Parameters
    ----------
    prior : (R, G + 1)
        Of the groups and of a new one.
    net, votes, certain : (R, G)
        Of answers in which the row was to be placed, as in `Tally`.
    """
    with np.errstate(divide="ignore"):
        places = np.log(prior)
    # An answer with group g is right for z = g if it is "same", for all other z if "different".
    # Relative to "all said different rightly", z = g changes net[g] answers.
    said_same = (votes + net) / 2
    total = votes.sum(axis=1)
    wrong_if_new = said_same.sum(axis=1)
    found = np.empty(_RATES.size)
    for t, rate in enumerate(_RATES):
        odds = log_odds(rate)
        score = places.copy()
        score[:, :-1] += odds * net + certain
        top = score.max(axis=1)
        per_row = top + np.log(np.exp(score - top[:, np.newaxis]).sum(axis=1))
        found[t] = (per_row + total * np.log1p(-rate) - wrong_if_new * odds).sum()
    found += _LOG_PRIOR
    weight = np.exp(found - found.max())
    return float(weight @ _RATES / weight.sum())
