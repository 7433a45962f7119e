"""Pairs as answers, and answers as pairs: what is known at the start, what comes out."""

from __future__ import annotations

import numpy as np

from coterie.active.query import KNOWN, Answer
from coterie.constraints import Constraints
from coterie.exceptions import InvalidConstraints

__all__ = ["known_answers", "make_constraints"]


def known_answers(
    constraints: Constraints,
    first_number: int,
    time: str,
    taken: set[tuple[tuple[int, int], str]],
) -> list[Answer]:
    """One answer for each pair that says something and was not taken in before.

    A plain pair (weight 1, no certainty) is an answer without a certainty; another one has the
    certainty γ that its strength s means, s = log(γ / (1 − γ)); a hard one has 1.
    """
    constraints = constraints.expanded()  # a session's answers are about pairs
    _refuse_both_kinds(constraints)
    plain = (constraints.weight == 1) & np.isnan(constraints.certainty)
    # A soft pair stays soft, however strong it is.
    sure = np.minimum(1 / (1 + np.exp(-constraints.strength())), np.nextafter(1, 0))
    sure[constraints.is_hard] = 1.0
    found: dict[tuple[tuple[int, int], str], float | None] = {}
    for at in np.flatnonzero(constraints.weight > 0).tolist():
        i, j = constraints.pairs[at].tolist()
        said = (i, j), "same" if constraints.kind[at] > 0 else "different"
        if said not in taken:  # of a pair given twice, the stronger one
            found[said] = _stronger(found, said, None if plain[at] else float(sure[at]))
    return [
        Answer(first_number + t, pair, word, certainty, None, time, KNOWN)
        for t, ((pair, word), certainty) in enumerate(found.items())
    ]


def _stronger(
    found: dict[tuple[tuple[int, int], str], float | None],
    said: tuple[tuple[int, int], str],
    certainty: float | None,
) -> float | None:
    if said not in found:
        return certainty
    given = [sure for sure in (found[said], certainty) if sure is not None]
    return max(given, default=None)


def _refuse_both_kinds(constraints: Constraints) -> None:
    """A pair said to be both: a session keeps one answer for each pair, and cannot choose."""
    counts = constraints.weight > 0
    pairs, kind = constraints.pairs[counts], constraints.kind[counts]
    both = np.flatnonzero((kind[1:] != kind[:-1]) & (pairs[1:] == pairs[:-1]).all(axis=1))
    if both.size:
        i, j = pairs[both[0]].tolist()
        raise InvalidConstraints(
            f"constraints: rows {i} and {j} are both a must-link and a cannot-link; a session "
            "keeps one answer for each pair, so remove one of them."
        )


def make_constraints(
    n_samples: int, pairs: list[tuple[tuple[int, int], int, float | None]]
) -> Constraints:
    """Constraints from (pair, sign, certainty); a guess (0.5) says nothing and is left out."""
    kept = [(pair, sign, sure) for pair, sign, sure in pairs if sure != 0.5]
    return Constraints.from_arrays(
        n_samples,
        [pair for pair, _, _ in kept],
        [sign for _, sign, _ in kept],
        certainty=np.array([np.nan if sure is None else sure for _, _, sure in kept]),
    )
