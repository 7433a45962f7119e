"""What a session asks, and what it is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

from coterie.exceptions import InvalidParameter
from coterie.parameters import check_arguments
from coterie.validation import check_choice

__all__ = ["ANSWERS", "KNOWN", "OF_CLUSTERS", "Answer", "Query", "SetQuery"]

#: What can be said about a pair. "unknown": nobody can tell, do not ask again; "later": not now.
ANSWERS = ("same", "different", "unknown", "later")
#: The phase of what was known before the first question (`ActiveSession(constraints=...)`).
KNOWN = "known"
#: The phases of answers about clusters of the moment (`ActiveSession.merge`, `split`, ...).
OF_CLUSTERS = ("merge", "split", "move", "pin", "reject")
_SIGN = {"same": 1, "different": -1, "unknown": 0, "later": 0}


@dataclass(frozen=True)
class Query:
    """A question: do these two rows belong together?

    Attributes
    ----------
    rows : (int, int)
        The row to be placed, and the row it is compared with.
    phase : str
        What the strategy is doing ("explore", "consolidate", ...).
    why : str
        The reason for this question, in words.
    expected_gain : float or None
        Bits that the answer is expected to tell about the rows' clusters; None where the strategy
        keeps no probabilities.
    """

    rows: tuple[int, int]
    phase: str
    why: str
    expected_gain: float | None = None


@dataclass(frozen=True)
class SetQuery:
    """A question about several rows: which of them belong together?

    The answer is piles of rows; those in no pile nobody can tell about.

    Attributes
    ----------
    rows : tuple of int
    phase : str
        "set".
    why : str
    expected_gain : float or None
        Bits that the answers about the pairs it was made of are expected to tell, added up.
    """

    rows: tuple[int, ...]
    phase: str
    why: str
    expected_gain: float | None = None


@dataclass(frozen=True)
class Answer:
    """One answer that was taken.

    Attributes
    ----------
    number : int
        1 for the first answer of the session; never used twice.
    rows : (int, int)
        As in the question.
    answer : {"same", "different", "unknown", "later"}
    certainty : float or None
        How sure the annotator was that it is right, 0.5 to 1; None: not said.
    annotator : str or None
    time : str
        When it was taken (UTC, ISO 8601).
    phase : str
        Of the question; "volunteered" for a pair nobody asked about, "known" for one that the
        session was given at its start.
    step : int or None
        Number of the first answer that was given at the same time, in answer to one question about
        a set or about clusters; they are undone together. None: given alone.
    """

    number: int
    rows: tuple[int, int]
    answer: str
    certainty: float | None = None
    annotator: str | None = None
    time: str = ""
    phase: str = "volunteered"
    step: int | None = None

    @property
    def sign(self) -> int:
        """+1 same, −1 different, 0 neither."""
        return _SIGN[self.answer]

    @property
    def pair(self) -> tuple[int, int]:
        """The rows, smaller first."""
        return ordered(*self.rows)

    @property
    def said(self) -> tuple[tuple[int, int], int, float | None]:
        """Rows in the order of the question, sign and certainty: all that a belief is made of."""
        return self.rows, self.sign, self.certainty


def free_of(questions: Iterable[Query], held: Sequence[Query | SetQuery]) -> Iterator[Query]:
    """Those that no question which somebody has tells, and that place none of the same rows."""
    places = {other.rows[0] for other in held if isinstance(other, Query)}
    pairs = {ordered(*other.rows) for other in held if isinstance(other, Query)}
    sets = [frozenset(other.rows) for other in held if isinstance(other, SetQuery)]
    for query in questions:
        told = ordered(*query.rows) in pairs or any(rows.issuperset(query.rows) for rows in sets)
        if not told and query.rows[0] not in places:
            yield query


def ordered(i: int, j: int) -> tuple[int, int]:
    """The pair with its smaller row first."""
    return (i, j) if i < j else (j, i)


def check_pair(query: Any, n_samples: int) -> tuple[int, int]:
    """The two rows of a `Query` or of a plain pair of row numbers."""
    rows = query.rows if isinstance(query, Query) else query
    try:
        i, j = map(index, rows)
    except (TypeError, ValueError):
        raise InvalidParameter(
            f"tell({query!r}): give the question that was asked, or two row numbers."
        ) from None
    for row in (i, j):
        if not 0 <= row < n_samples:
            raise InvalidParameter(f"row {row} is not one of the rows 0 to {n_samples - 1}.")
    if i == j:
        raise InvalidParameter(f"row {i} with itself: a question is about two different rows.")
    return i, j


def check_answer(answer: Any) -> str:
    """The answer in one of the words of `ANSWERS`; the nearest word is named if it is not."""
    return check_choice("answer", answer, ANSWERS)


def check_certainty(certainty: float | None) -> float | None:
    """A certainty of 0.5 to 1, or None."""
    if certainty is None:
        return None
    check_arguments(check_certainty, locals())
    return float(certainty)
