"""What a pair is worth: one scale for weights and certainties."""

from __future__ import annotations

import numpy as np

from coterie._typing import BoolArray, FloatArray
from coterie.exceptions import InvalidParameter

PLAIN_CERTAINTY = 0.95  # a pair of this certainty and weight 1 costs exactly w


def strength(
    weight: FloatArray, certainty: FloatArray, is_hard: BoolArray, default_certainty: float
) -> FloatArray:
    """weight · log(γ / (1 − γ)) nats (m,), per unordered pair; inf if hard, 0 if the weight is 0.

    Equation 2.15 of Lu and Leen (2007) prints ½ log: its sum runs over ordered pairs.
    """
    if not 0.5 < default_certainty < 1:
        raise InvalidParameter(
            f"default_certainty={default_certainty!r} must lie between 0.5 and 1; "
            "use as_hard() for pairs that must never be broken"
        )
    gamma = np.where(np.isnan(certainty), default_certainty, certainty)
    out = np.where(is_hard, np.inf, 0.0)
    # γ = 1 or an infinite weight makes a pair hard, unless its weight is 0: it counts zero times.
    finite = ~is_hard & (weight > 0)
    out[finite] = weight[finite] * np.log(gamma[finite] / (1.0 - gamma[finite]))
    return out


def cost(strength: FloatArray, w: float) -> FloatArray:
    """w · strength / log(.95 / .05) (m,), so that a plain pair costs exactly w; inf if hard."""
    plain = np.log(PLAIN_CERTAINTY / (1.0 - PLAIN_CERTAINTY))
    hard = np.isinf(strength)
    return np.where(hard, np.inf, w * (np.where(hard, 0.0, strength) / plain))
