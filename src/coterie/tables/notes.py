"""What a user should know about columns, counted so that stretches of a table can be added."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

__all__ = ["Note", "added"]

_SHOWN = 3  # examples


class Note(str):
    """A text like "town: 2 values not seen in fitting (Rom, Ulm)" that knows its parts.

    Attributes
    ----------
    column : str
    number : int
        0 if nothing is counted.
    words : str
    examples : tuple of str
    """

    column: str
    number: int
    words: str
    examples: tuple[str, ...]

    def __new__(cls, column: str, number: int, words: str, examples: Sequence[str] = ()) -> Self:
        """The text made of its parts."""
        more = ", …" if len(examples) > _SHOWN else ""
        shown = f" ({', '.join(examples[:_SHOWN])}{more})" if examples else ""
        count = f"{number} " if number else ""
        made = super().__new__(cls, f"{column}: {count}{words}{shown}")
        made.column, made.number, made.words = column, number, words
        made.examples = tuple(examples)
        return made

    def __reduce__(self) -> Any:
        """By its parts."""
        return type(self), (self.column, self.number, self.words, self.examples)


def added(notes: Iterable[Note]) -> list[Note]:
    """The notes with those that say the same of one column made into one.

    >>> added([Note("x", 2, "missing"), Note("y", 1, "missing"), Note("x", 3, "missing")])
    ['x: 5 missing', 'y: 1 missing']
    """
    found: dict[tuple[str, str], Note] = {}
    for note in notes:
        key = (note.column, note.words)
        before = found.get(key)
        if before is not None:
            examples = sorted({*before.examples, *note.examples})[: _SHOWN + 1]
            note = Note(note.column, before.number + note.number, note.words, examples)
        found[key] = note
    return list(found.values())
