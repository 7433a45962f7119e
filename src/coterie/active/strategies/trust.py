"""What a strategy is told where answers count by who gave them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from coterie.active.annotators.rates import AnnotatorTable, estimate_annotators, weighed_pairs
from coterie.active.knowledge import Knowledge
from coterie.active.milestones import milestones
from coterie.active.query import Answer

__all__ = ["Trust"]


class Trust:
    """Answers about each pair added up to one, by how often their authors are wrong.

    Rates are estimated at 16, 20, 25, … answers, from those and from the clustering that the rates
    before lead to: a function of the answers alone, that changes seldom.

    Parameters
    ----------
    labels : callable
        The strategy's clustering by what it is told, (n,), or None if it has none.
    """

    def __init__(self, labels: Callable[[Knowledge], NDArray[Any] | None]) -> None:
        self._labels = labels
        self._tables: list[tuple[list[int], AnnotatorTable]] = []

    def knowledge(self, answers: Sequence[Answer]) -> Knowledge:
        """What a strategy is to be told of these answers."""
        return Knowledge(summed(answers, self.table(answers)))

    def table(self, answers: Sequence[Answer]) -> AnnotatorTable:
        """The rates by which these answers count."""
        told = [answer for answer in answers if answer.sign]
        found = estimate_annotators(())
        for level, size in enumerate(milestones(len(told))):
            part = told[:size]
            numbers = [answer.number for answer in part]
            if level == len(self._tables) or self._tables[level][0] != numbers:
                before = Knowledge(summed(part, found))
                del self._tables[level:]
                made = estimate_annotators(part, self._labels(before))
                self._tables.append((numbers, made))
            found = self._tables[level][1]
        return found


def summed(answers: Sequence[Answer], table: AnnotatorTable) -> list[Answer]:
    """One answer for each pair, in the order in which pairs were first asked about.

    It has the number of the last one about the pair. Where somebody said something, it says what
    all of them add up to; pairs that come out even are unknown.
    """
    last: dict[tuple[int, int], Answer] = {}
    for answer in answers:
        last[answer.pair] = answer
    heard = {answer.pair for answer in answers if answer.sign}
    worth = {pair: (sign, sure) for pair, sign, sure in weighed_pairs(answers, table)}
    found: list[Answer] = []
    for pair, answer in last.items():
        if pair not in heard:
            found.append(answer)
        elif pair in worth:
            sign, sure = worth[pair]
            word = "same" if sign > 0 else "different"
            found.append(replace(answer, answer=word, certainty=sure))
        else:
            found.append(replace(answer, answer="unknown", certainty=None))
    return found
