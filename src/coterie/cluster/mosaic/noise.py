"""How often pairs are wrong, and who says so."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

__all__ = ["DEFAULT_NOISE", "MOST_NOISE", "Noise", "check_noise", "log_odds"]

DEFAULT_NOISE = 0.05  # the library's certainty of a plain pair is 0.95

MOST_NOISE = 0.45  # a rate at which pairs still say something


class Noise(NamedTuple):
    """The share of plain pairs that is wrong.

    Attributes
    ----------
    rate : float
    origin : "given", "chosen" or "estimated"
        Given by the user: it stays as it is. Chosen by pairs that were held out: beliefs are
        formed at this rate, and the share of wrong pairs is estimated from them in the end.
        Estimated: a rate to begin with, estimated from the beliefs as they form.
    """

    rate: float
    origin: Literal["given", "chosen", "estimated"]

    @property
    def odds(self) -> float:
        """log-odds that a plain pair is right: what breaking one costs, in nats."""
        return log_odds(self.rate)


def log_odds(rate: float) -> float:
    """log((1 - rate) / rate)."""
    return float(np.log((1.0 - rate) / rate))


def check_noise(value: Any) -> Noise:
    """The parameter `noise` of `Mosaic`; "estimate" is the default rate until there are pairs."""
    if isinstance(value, str):
        return Noise(DEFAULT_NOISE, "estimated")
    if value is None:
        return Noise(DEFAULT_NOISE, "given")
    return Noise(float(value), "given")
