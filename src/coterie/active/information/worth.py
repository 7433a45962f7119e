"""What an answer is worth: what is uncertain of a row, and the questions that settle it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.active.strategies.strategy import bits

__all__ = ["Survey", "entropy", "expected_questions", "information"]


class Survey(NamedTuple):
    """All rows of the coordinates.

    Attributes
    ----------
    chance : (P, G + 1) float64
    placed : (R,) int64
    free : (P,) bool
        Rows that may be asked about.
    bits_per_question : (P,) float64
    """

    chance: NDArray[np.float64]
    placed: NDArray[np.int64]
    free: NDArray[np.bool_]
    bits_per_question: NDArray[np.float64]


def information(chance: Any, error_rate: float) -> Any:
    """Bits that an answer tells which is "same" with this probability, and wrong so often."""
    wrong = max(error_rate, 1e-3)
    return bits(chance * (1 - wrong) + (1 - chance) * wrong) - bits(wrong)


def entropy(chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bits that are uncertain of each row, by its chances (b, G + 1)."""
    return -(chance * np.log2(np.maximum(chance, 1e-12))).sum(axis=1)


def expected_questions(chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ_t p_(t) t over groups from the most probable on; the last possibility needs no question."""
    best_first = -np.sort(-chance, axis=1)
    most = max(chance.shape[1] - 1, 1)
    return best_first @ np.minimum(np.arange(1, chance.shape[1] + 1), most)
