"""How each column was used, in one line."""

from __future__ import annotations

from collections import Counter

from coterie.tables.recipe import Recipe
from coterie.tables.text_parts import TopicsPart
from coterie.words import counted

__all__ = ["columns_used"]

_SHOWN = 5  # columns that are named
_PLURALS = {"category": "categories"}
_KINDS = {"topics": "text", "matrix": "array"}


def columns_used(recipe: Recipe) -> str:
    """What the columns of a table were used as, and which were not.

    >>> from coterie.tables.parts import NumberPart
    >>> columns_used(Recipe("key", (NumberPart("x"), NumberPart("y")), {"note": "all different"}))
    '2 numbers, 1 id; dropped: note (all different)'
    """
    counts = Counter(_KINDS.get(part.kind, part.kind) for part in recipe.parts)
    said = [counted(n, kind, _PLURALS.get(kind)) for kind, n in counts.items()]
    topics = [
        f"{part.column}: {part.what}" for part in recipe.parts if isinstance(part, TopicsPart)
    ]
    if topics:
        said[list(counts).index("text")] += f" ({'; '.join(topics)})"
    said += [] if recipe.id_column is None else ["1 id"]
    left_out = [f"{name} ({why})" for name, why in recipe.left_out.items()]
    more = len(left_out) - _SHOWN
    dropped = ", ".join(left_out[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
    return ", ".join(said) + (f"; dropped: {dropped}" if dropped else "")
