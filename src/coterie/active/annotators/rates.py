"""Who is how often wrong, and in which way: Dawid and Skene (1979) over pairs of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import beta

from coterie.active.query import Answer

__all__ = ["AnnotatorTable", "WeighedPair", "estimate_annotators", "weighed_pairs"]

Float = NDArray[np.float64]
#: Two rows, +1 same or −1 different, and the certainty of that (None: not said).
WeighedPair = tuple[tuple[int, int], int, float | None]

_CLUSTERING = "(clustering)"
_RIGHT, _WRONG = 9.0, 1.0  # answers that everybody is taken to have given before the first
_ROUNDS = 500
_SETTLED = 1e-9
_EVEN = 1e-9  # log-odds that are 0 but for rounding


class AnnotatorTable(NamedTuple):
    """Everybody who answered, and how often each is wrong.

    Attributes
    ----------
    annotator : (A,) str
        "" for answers without a name; the last one is "(clustering)" where one was given.
    n_same, n_different : (A,) int64
        Answers of each kind.
    agreement : (A,) float64
        Share of the answers that are right, as far as can be told.
    wrong_same : (A,) float64
        How often two rows that differ are called the same; `wrong_different`: how often two that
        belong together are called different.
    wrong_same_low, wrong_same_high, wrong_different_low, wrong_different_high : (A,) float64
        Where the rates lie with probability 95 %.
    """

    annotator: NDArray[np.str_]
    n_same: NDArray[np.int64]
    n_different: NDArray[np.int64]
    agreement: Float
    wrong_same: Float
    wrong_same_low: Float
    wrong_same_high: Float
    wrong_different: Float
    wrong_different_low: Float
    wrong_different_high: Float

    def log_odds(self, annotator: str | None, sign: int) -> float:
        """What an answer of theirs says: log P(answer | same) / P(answer | different).

        Of somebody who is not in the table, what is taken of everybody before the first answer.
        """
        a = b = _WRONG / (_WRONG + _RIGHT)
        found = np.flatnonzero(self.annotator == (annotator or ""))
        if found.size:
            a, b = self.wrong_different[found[0]], self.wrong_same[found[0]]
        return float(np.log((1 - a) / b) if sign > 0 else np.log(a / (1 - b)))

    def to_frame(self, backend: str = "pandas") -> Any:
        """One annotator a row, as a pandas, polars or pyarrow frame."""
        from coterie.constraints.frames import make_frame

        return make_frame(self._asdict(), backend)


def estimate_annotators(
    answers: Sequence[Answer],
    labels: NDArray[Any] | Callable[[list[WeighedPair]], NDArray[Any] | None] | None = None,
) -> AnnotatorTable:
    """Error rates of each annotator and kind, from answers about the same pairs and a clustering.

    Whether the rows of a pair belong together is not known; given the rates it has a probability,
    and given the probabilities the rates are shares (Dawid and Skene 1979). The two are found in
    turn, by expectation maximisation. The clustering is one more annotator, who has answered
    about every pair. Everybody begins with ten answers of each kind, one of them wrong, so that a
    few answers make nobody perfect, and nobody's opposite is believed.

    Parameters
    ----------
    answers : sequence of Answer
        "unknown" and "later" are left out.
    labels : (n,) or callable, optional
        A clustering of all rows, or a function that makes one (or None) of the pairs as they
        count by the answers alone.
    """
    if callable(labels):
        alone = estimate_annotators(answers)
        made = labels(weighed_pairs(answers, alone))
        return alone if made is None else estimate_annotators(answers, made)
    told = [answer for answer in answers if answer.sign]
    names = sorted({answer.annotator or "" for answer in told})
    pairs = sorted({answer.pair for answer in told})
    at = {pair: t for t, pair in enumerate(pairs)}
    votes = [(names.index(a.annotator or ""), at[a.pair], a.sign > 0) for a in told]
    if labels is not None and pairs:
        votes += [(len(names), t, bool(labels[i] == labels[j])) for t, (i, j) in enumerate(pairs)]
        names = [*names, _CLUSTERING]
    who, pair, same = (np.array(column) for column in zip(*votes, strict=True)) if votes else (
        np.empty(0, dtype=int), np.empty(0, dtype=int), np.empty(0, dtype=bool)
    )  # fmt: skip
    truth, counts = _alternate(who, pair, same, len(names), len(pairs))
    return _table(names, who, same, np.where(same, truth[pair], 1 - truth[pair]), counts)


def _alternate(
    who: NDArray[Any], pair: NDArray[Any], same: NDArray[Any], n_who: int, n_pairs: int
) -> tuple[Float, Float]:
    """P(same) of each pair (m,), and counts (A, 2, 2): of pairs that differ / belong together,
    called different / same, what everybody begins with included.
    """
    begin = np.array([[_RIGHT, _WRONG], [_WRONG, _RIGHT]])
    truth = np.bincount(pair, same, minlength=n_pairs) / np.maximum(
        np.bincount(pair, minlength=n_pairs), 1
    )
    counts = np.tile(begin, (n_who, 1, 1))
    for _ in range(_ROUNDS):
        counts = np.tile(begin, (n_who, 1, 1))
        for kind, chance in enumerate((1 - truth[pair], truth[pair])):
            for said in (False, True):
                told = same == said
                counts[:, kind, int(said)] += np.bincount(who[told], chance[told], minlength=n_who)
        rate = counts / counts.sum(axis=2, keepdims=True)
        share = (truth.sum() + 1) / (n_pairs + 2)
        says = np.log(rate[who, 1, same.astype(int)] / rate[who, 0, same.astype(int)])
        odds = np.log(share / (1 - share)) + np.bincount(pair, says, minlength=n_pairs)
        before, truth = truth, expit(odds)
        if np.abs(truth - before).max(initial=0.0) < _SETTLED:
            break
    return truth, counts


def _table(
    names: list[str], who: NDArray[Any], same: NDArray[Any], right: Float, counts: Float
) -> AnnotatorTable:
    n = len(names)
    total = np.bincount(who, minlength=n)
    says_same = np.bincount(who, same, minlength=n).astype(np.int64)
    columns: list[Float] = []
    for truth, said in ((0, 1), (1, 0)):  # called the same although different, and the reverse
        wrong, rest = counts[:, truth, said], counts[:, truth, 1 - said]
        low, high = beta.ppf([[0.025], [0.975]], wrong, rest)
        columns += [wrong / (wrong + rest), low, high]
    agreement = np.bincount(who, right, minlength=n) / np.maximum(total, 1)
    return AnnotatorTable(
        np.array(names, dtype=np.str_), says_same, total - says_same, agreement, *columns
    )


def weighed_pairs(answers: Sequence[Answer], table: AnnotatorTable) -> list[WeighedPair]:
    """Each pair once, with what all that was said about it adds up to: (pair, sign, certainty).

    An answer whose certainty was given keeps it. Pairs that come out even say nothing.
    """
    odds: dict[tuple[int, int], float] = {}
    for answer in answers:
        if not answer.sign:
            continue
        if answer.certainty is None:
            says = table.log_odds(answer.annotator, answer.sign)
        else:
            sure = answer.certainty
            says = answer.sign * (np.inf if sure == 1 else float(np.log(sure / (1 - sure))))
        odds[answer.pair] = odds.get(answer.pair, 0.0) + says
    found: list[WeighedPair] = []
    for pair, value in odds.items():
        if abs(value) > _EVEN:  # no NaN either: certain of both says nothing
            sure = float(expit(abs(value)))
            # Only a pair that somebody was certain of is hard.
            sure = sure if np.isinf(value) else min(sure, float(np.nextafter(1, 0)))
            found.append((pair, 1 if value > 0 else -1, sure))
    return found
