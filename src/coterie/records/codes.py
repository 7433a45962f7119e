"""Numbers among the words of texts: house numbers, volts, and codes that things are known by."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["among_words", "are_codes", "numbers_of", "rare_up_to", "without_numbers"]

_NUMBER = re.compile(r"\d[^\W_]*")
_WORD_WITH_NUMBER = re.compile(r"\S*\d\S*")
_WORD = re.compile(r"(?<!\w)[^\W\d_]{2,}")  # two letters on
_WITH_NUMBERS, _AMONG_WORDS = 0.2, 0.8  # of the texts hold numbers; of those, words besides
_LETTERS_FIRST = re.compile(r"(?<!\w)[^\W\d_]+-?\d")  # w120 or W-120, and not 12b, 3rd or 40w
_RARE_UP_TO = 5, 0.001  # records, or share of them
_RARE_IN, _LETTERS_IN = 0.5, 0.2  # of the texts with numbers


def numbers_of(text: str) -> list[str]:
    """The words of a tidied text with digits, from the first digit on.

    >>> numbers_of("dsc w120 3x"), numbers_of("dscw120")
    (['120', '3x'], ['120'])
    """
    return _NUMBER.findall(text)


def without_numbers(values: NDArray[Any]) -> NDArray[np.object_]:
    """Tidied texts (n,) without the words that have digits."""
    out = np.empty(len(values), dtype=object)
    out[:] = [" ".join(_WORD_WITH_NUMBER.sub(" ", text).split()) for text in values.tolist()]
    return out


def among_words(texts: Sequence[str], numbers: Sequence[list[str]]) -> bool:
    """Whether numbers, those of each text, stand among other words."""
    held = sum(map(bool, numbers))
    among = sum(bool(found and _WORD.search(t)) for t, found in zip(texts, numbers, strict=True))
    return among >= max(_WITH_NUMBERS * len(texts), 1) and among >= _AMONG_WORDS * held


def are_codes(values: NDArray[Any], written: Sequence[str]) -> bool:
    """Whether numbers among the words of texts, tidied and as `written`, are names of things.

    Then most texts that hold numbers hold one that few others have, and in many one follows letters
    in a word, as in the name of a model. House numbers may be rare too, but they go with their
    street: who moves has another of both, which are not two differences.
    """
    texts = [text for text in values.tolist() if text]
    numbers = [numbers_of(text) for text in texts]
    if not among_words(texts, numbers):
        return False
    held = [set(found) for found in numbers if found]
    counts = Counter(chain.from_iterable(held))
    n_rare = sum(min(map(counts.__getitem__, found)) <= rare_up_to(len(values)) for found in held)
    n_named = sum(map(bool, map(_LETTERS_FIRST.search, written)))
    return n_rare >= _RARE_IN * len(held) and n_named >= _LETTERS_IN * len(held)


def rare_up_to(n: int) -> float:
    """In how many of n records a value may be to count as rare."""
    return max(_RARE_UP_TO[0], _RARE_UP_TO[1] * n)
