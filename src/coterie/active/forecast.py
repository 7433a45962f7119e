"""When to stop: how good the clustering is now, and what more answers would bring."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

__all__ = ["Forecast", "foretell"]

_SLOPE = 0.12  # agreement gained while answers grow by a factor of e, if nothing else is known
_CERTAINTY = 100.0  # answers' worth of faith in it
_HALF_LIFE = 2.0  # estimates from when there were e² times fewer answers hardly count


class Forecast(NamedTuple):
    """An estimate of the agreement with the truth, now and later.

    Attributes
    ----------
    now, then : float
        Adjusted Rand index of `ActiveSession.labels` with the truth, estimated from rows that were
        asked about, each left out in turn.
    answers : int
        How many more answers lie between.
    """

    now: float
    then: float
    answers: int

    @property
    def gain(self) -> float:
        """What the answers would bring."""
        return self.then - self.now

    def __str__(self) -> str:
        return (
            f"Between 0 (chance) and 1 (all right) the clusters are at about {self.now:.2f}; "
            f"{self.answers} more answers: about {self.then:.2f}"
        )


def foretell(estimates: Sequence[tuple[int, float]], more: int) -> Forecast:
    """Go on from estimates of the past: agreement grows with the logarithm of the answers.

    The slope is that of a regression on log t, weighed by t (an estimate from more rows varies
    less), towards `_SLOPE`; nothing grows beyond 1.

    Parameters
    ----------
    estimates : sequence of (answers, agreement)
        In order; the last is that of now.
    more : int
    """
    answers, agreement = (
        np.array(column, dtype=np.float64) for column in zip(*estimates, strict=True)
    )
    answers = np.maximum(answers, 1.0)
    now = float(np.clip(agreement[-1], 0.0, 1.0))
    age = np.log(answers / answers[-1])
    weight = answers * np.exp2(age / _HALF_LIFE)
    age = age - np.average(age, weights=weight)
    spread = float((weight * age**2).sum())
    slope = (float((weight * age * agreement).sum()) + _CERTAINTY * _SLOPE) / (spread + _CERTAINTY)
    gain = max(slope, 0.0) * float(np.log1p(more / answers[-1]))
    return Forecast(now, now + (1 - now) * (1 - np.exp(-gain / max(1 - now, 1e-9))), more)
