"""Answers about several rows at once, as answers about pairs: stars, and their centres apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

from coterie.active.knowledge import Knowledge
from coterie.active.query import Query, SetQuery, ordered
from coterie.exceptions import InvalidParameter

__all__ = ["Said", "check_piles", "said_about_set", "said_by_piles", "set_question"]

#: Two rows and what is said about them.
Said = tuple[tuple[int, int], str]


def check_piles(piles: Any, rows: Sequence[int]) -> list[list[int]]:
    """Piles of some of the rows, none in two of them; empty ones are left out."""
    if isinstance(piles, str):
        words: dict[str, list[list[int]]] = {
            "same": [list(rows)],
            "different": [[row] for row in rows],
            "unknown": [],
        }
        if piles not in words:
            raise InvalidParameter(
                f"answer={piles!r} to a question about a set: give piles of rows, as in "
                f"[[{rows[0]}, {rows[1]}], [{rows[-1]}]], or same, different, unknown or later."
            )
        return words[piles]
    try:
        checked = [[int(row) for row in pile] for pile in piles]
    except (TypeError, ValueError):
        raise InvalidParameter(
            f"piles={piles!r}: give a list of piles, each a list of row numbers."
        ) from None
    seen: set[int] = set()
    for row in (row for pile in checked for row in pile):
        if row not in rows:
            raise InvalidParameter(f"row {row} was not in the question; its rows are {list(rows)}.")
        if row in seen:
            raise InvalidParameter(f"row {row} is in two piles, or twice in one.")
        seen.add(row)
    return [pile for pile in checked if pile]


def said_by_piles(
    piles: Sequence[Sequence[int]], undecided: Iterable[int], knowledge: Knowledge
) -> list[Said]:
    """What piles say: each a star of "same", their centres "different", undecided rows "unknown".

    The centre is the row of the pile that most is known of, so that the others join its group.
    """
    centres = [max(pile, key=lambda row: len(knowledge.members(row))) for pile in piles]
    said: list[Said] = []
    for pile, centre in zip(piles, centres, strict=True):
        said += [((row, centre), "same") for row in pile if row != centre]
    for a, b in combinations(centres, 2):
        known = knowledge.of_pair.get(ordered(a, b))  # said again, it is the same answer
        said.append(((b, a) if known is None else known.rows, "different"))
    left = list(undecided)
    against = centres or left[:1]
    said += [((row, centre), "unknown") for row in left for centre in against if row != centre]
    return said


def said_about_set(question: SetQuery, answer: Any, knowledge: Knowledge) -> list[Said]:
    """An answer to a question about a set, as answers about pairs; "later" puts all rows off."""
    first, *others = question.rows
    if isinstance(answer, str) and answer == "later":
        return [((row, first), "later") for row in others]
    piles = check_piles(answer, question.rows)
    undecided = set(question.rows) - {row for pile in piles for row in pile}
    return said_by_piles(piles, sorted(undecided), knowledge)


def set_question(pairs: Sequence[Query], size: int) -> SetQuery | None:
    """The rows of the first questions, in their order, up to `size`; None if there are not two.

    Questions that can be answered independently are about rows that settle most, each beside the
    row that it most likely belongs with: their union tells about all of them, and of them among
    each other.
    """
    rows: list[int] = []
    used: list[Query] = []
    for query in pairs:
        fresh = [row for row in query.rows if row not in rows][: size - len(rows)]
        if not fresh:
            continue
        rows += fresh  # where one place is left, the row that is to be placed
        used.append(query)
    if len(rows) < 2:
        return None
    gains = [query.expected_gain for query in used if query.expected_gain is not None]
    why = f"{len(rows)} rows of the {len(used)} questions that tell most."
    return SetQuery(tuple(rows), "set", why, float(sum(gains)) if gains else None)
