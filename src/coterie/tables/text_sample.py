"""Some of many texts: as many as can teach what there is to learn, and no more than fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["TextSample"]

_MOST_TEXTS = 50_000
_MOST_LETTERS = 1 << 28  # of all of them together


class TextSample:
    """The texts of a column, or a sample that each of them has the same chance to be in.

    A text is in by a number that is drawn for its row, so the sample does not depend on the
    stretches in which a column is read. Rows without a text do not count.

    Attributes
    ----------
    n_seen : int
        Texts so far.

    Examples
    --------
    >>> sample = TextSample()
    >>> sample.add(0, ["red fish", "", None])
    >>> sample.add(3, ["blue fish"])
    >>> sample.texts(), sample.n_seen
    (['red fish', 'blue fish'], 2)
    """

    def __init__(self) -> None:
        self.n_seen = 0
        self._limit = (1 << 64) - 1  # higher draws are out
        self._kept: list[tuple[int, int, str]] = []  # draw, row, text
        self._letters = 0

    def add(self, start: int, texts: Sequence[str | None]) -> None:
        """Take in the texts of rows start, start + 1, ..."""
        draws = _draws(start, len(texts))
        self.n_seen += sum(1 for text in texts if text and not text.isspace())
        for at in np.flatnonzero(draws <= np.uint64(self._limit)).tolist():
            text = texts[at]
            if text and not text.isspace():
                self._kept.append((int(draws[at]), start + at, text))
                self._letters += len(text)
            if len(self._kept) > 2 * _MOST_TEXTS or self._letters > 2 * _MOST_LETTERS:
                self._shrink()

    @property
    def is_sample(self) -> bool:
        """Whether some texts are out."""
        self._shrink()
        return len(self._kept) < self.n_seen

    def texts(self) -> list[str]:
        """Those that are in, in the order of their rows."""
        self._shrink()
        return [text for _, _, text in sorted(self._kept, key=lambda kept: kept[1])]

    def _shrink(self) -> None:
        """The lowest draws, as far as there is room: what is out now would be out later, too."""
        self._kept.sort()
        room = np.cumsum([len(text) for _, _, text in self._kept])
        n = min(_MOST_TEXTS, max(1, int(np.searchsorted(room, _MOST_LETTERS, side="right"))))
        if n < len(self._kept):
            self._limit = self._kept[n - 1][0]
            del self._kept[n:]
        self._letters = int(room[len(self._kept) - 1]) if self._kept else 0


def _draws(start: int, n: int) -> Any:
    """A number of 64 bits for each row from `start` on, (n,): the mixing of SplitMix64."""
    mixed = np.arange(start + 1, start + 1 + n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
