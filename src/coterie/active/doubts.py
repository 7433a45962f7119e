"""Answers that are probably wrong: by what others say, and by what the clustering says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from coterie.active.annotators.rates import AnnotatorTable, estimate_annotators
from coterie.active.query import Answer
from coterie.parameters import check_arguments

__all__ = ["SuspectAnswer", "broken_answers", "suspect_answers"]


class SuspectAnswer(NamedTuple):
    """An answer, and the probability that it is wrong."""

    answer: Answer
    p_wrong: float


def suspect_answers(
    answers: Sequence[Answer],
    labels: NDArray[Any] | None,
    table: AnnotatorTable | None = None,
    *,
    at_least: float = 0.2,
) -> list[SuspectAnswer]:
    """Answers that are wrong with some probability, worst first.

    All that was said about a pair is weighed by how often those who said it are wrong, the
    clustering included (Dawid and Skene 1979): log-odds that its rows belong together are the sum
    of what each vote says.

    Parameters
    ----------
    answers : sequence of Answer
        In force.
    labels : (n,) or None
        The clustering.
    table : AnnotatorTable, optional
        `estimate_annotators(answers, labels)` if not given.
    at_least : float, default=0.2
    """
    check_arguments(suspect_answers, locals())
    table = estimate_annotators(answers, labels) if table is None else table
    told = [answer for answer in answers if answer.sign]
    odds: dict[tuple[int, int], float] = {}
    for answer in told:
        says = table.log_odds(answer.annotator, answer.sign)
        odds[answer.pair] = odds.get(answer.pair, 0.0) + says
    if labels is not None:
        for i, j in odds:
            odds[i, j] += table.log_odds("(clustering)", 1 if labels[i] == labels[j] else -1)
    found = [SuspectAnswer(a, float(expit(-a.sign * odds[a.pair]))) for a in told]
    found = [suspect for suspect in found if suspect.p_wrong >= at_least]
    return sorted(found, key=lambda suspect: (-suspect.p_wrong, suspect.answer.number))


def broken_answers(answers: Sequence[Answer], labels: NDArray[Any]) -> list[Answer]:
    """The answers that the clustering does not keep, newest first; of each pair the last counts."""
    check_arguments(broken_answers, locals())
    last = {answer.pair: answer for answer in answers if answer.sign}
    broken = [
        a for a in last.values() if bool(labels[a.rows[0]] == labels[a.rows[1]]) != (a.sign > 0)
    ]
    order = np.argsort([-answer.number for answer in broken], kind="stable")
    return [broken[at] for at in order]
