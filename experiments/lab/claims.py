"""Judge what a paper says by the rows: holds, does not hold, not distinguishable, or untestable.

A comparison is decided by a two-sided paired test over draws at p < .05: it *holds* if the numbers
lie significantly inside what the claim allows, *does not hold* if significantly outside, and is
*not distinguishable* from its border otherwise, whichever side the mean is on. A number of one
draw (a count, a published table) is compared as it is.

A claim in `claims.toml`:

    id, source, says      its name, the figure or table, the sentence in words
    where                 the rows it speaks of (see `selection.select`)
    each                  columns: judged on each value by itself, and must hold on all
    need                  or on at least so many of them
    metric                the score compared
    kind                  "greater"   mean of `a` > mean of `b`; with `margin`, by at least that
                          "at_least"  mean of `a` ≥ mean of `b` − `tolerance`
                          "similar"   |mean of a − mean of b| ≤ `tolerance`
                          "comparable"  |mean of a − mean of b| ≤ `share` of what the two gain over
                                      `c` on average
                          "rises"     mean at the largest `x` > mean at the smallest; "falls": <
                          "monotone"  the mean curve over `x` never falls by more than `tolerance`
                          "dips"      it does, somewhere (`tolerance` 0 if not given)
                          "correlated"  Pearson's r of `metric` and `with` over the means of
                                      `points` (columns) ≥ `value`
                          "reaches"   mean of `a` ≥ `value` − `tolerance`
                          "below"     mean of `a` ≤ `value` + `tolerance`
                          "near"      |mean of `a` − `value`| ≤ `tolerance`
    a, b                  further filters for the two sides
    every_draw            "reaches", "below" and "near" must be true of each draw, not of the mean
    least                 draws below which a comparison is undecided (2)
    test                  "t" (default) or "wilcoxon"
    untestable            why it cannot be tested here; nothing else is then needed
    why                   for a miss that has been understood
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lab.selection import Mean, Where, paired, per_draw, probability, select, split

LEVEL = 0.05  # of significance, as the papers use
HOLDS, FAILS, UNTESTABLE = "holds", "does not hold", "cannot be tested"
UNCLEAR = "not distinguishable"
Claim = dict[str, Any]


class Finding(NamedTuple):
    """One group of a claim: the verdict (None: no rows) and the numbers that decided."""

    group: Where
    word: str | None
    numbers: str


class Verdict(NamedTuple):
    """A claim judged."""

    claim: Claim
    word: str
    findings: list[Finding]


def judge(claim: Claim, frame: pd.DataFrame) -> Verdict:
    """One claim by the results."""
    if "untestable" in claim:
        return Verdict(claim, UNTESTABLE, [])
    decide = KINDS[claim["kind"]]
    findings = []
    for group, rows in split(frame, claim.get("where", {}), claim.get("each", [])):
        findings.append(Finding(group, *decide(claim, rows)))
    tested = [finding.word for finding in findings if finding.word is not None]
    if not tested:
        return Verdict(claim, UNTESTABLE, findings)
    need = claim.get("need", len(tested))
    if tested.count(HOLDS) >= need:
        return Verdict(claim, HOLDS, findings)
    open_still = tested.count(HOLDS) + tested.count(UNCLEAR) >= need
    return Verdict(claim, UNCLEAR if open_still else FAILS, findings)


Decision = tuple[str | None, str]
NOT_RUN: Decision = (None, "not run")


class Region(NamedTuple):
    """What a claim allows a number to be."""

    low: float = -np.inf
    high: float = np.inf

    def verdict(self, values: pd.Series, test: str) -> str:
        """Of numbers, one a draw: whether their mean is inside, by a test against each border."""
        from_low, from_high = side(values, self.low, test), side(values, self.high, test)
        if from_low > 0 > from_high:
            return HOLDS
        return FAILS if from_low < 0 or from_high > 0 else UNCLEAR


def side(values: pd.Series, border: float, test: str) -> int:
    """1 if the numbers are significantly above the border, -1 if below, 0 if neither.

    A single number is what it is.
    """
    if np.isinf(border):
        return -1 if border > 0 else 1
    gap = values - border
    if len(gap) == 1:
        return int(np.sign(gap.iloc[0]))
    return int(np.sign(gap.mean())) if probability(gap, test) < LEVEL else 0


def _difference(claim: Claim, rows: pd.DataFrame, region: Region) -> Decision:
    a = per_draw(select(rows, claim["a"]), claim["metric"])
    b = per_draw(select(rows, claim["b"]), claim["metric"])
    return _paired(claim, a, b, region)


def _paired(claim: Claim, a: pd.Series, b: pd.Series, region: Region) -> Decision:
    test = claim.get("test", "t")
    found = paired(a, b, test)
    if found is None:
        return NOT_RUN
    text = f"{found.a} against {found.b}, difference {_signed(found.gap)}, n = {found.gap.n}"
    if found.gap.n < claim.get("least", 2):
        return None, f"{text}, too few draws to tell"
    shown = f"{text}, p {_probability(found.p)}" if found.gap.n > 1 else text
    return region.verdict((a - b).dropna(), test), shown


def _greater(claim: Claim, rows: pd.DataFrame) -> Decision:
    return _difference(claim, rows, Region(low=claim.get("margin", 0.0)))


def _at_least(claim: Claim, rows: pd.DataFrame) -> Decision:
    return _difference(claim, rows, Region(low=-claim["tolerance"]))


def _similar(claim: Claim, rows: pd.DataFrame) -> Decision:
    return _difference(claim, rows, Region(-claim["tolerance"], claim["tolerance"]))


def _comparable(claim: Claim, rows: pd.DataFrame) -> Decision:
    """By two tests, as a difference may be too large in either direction."""
    a, b, c = (per_draw(select(rows, claim[side]), claim["metric"]) for side in "abc")
    _, text = _paired(claim, a, b, Region())
    room = (claim["share"] * ((a + b) / 2 - c)).dropna()
    gap = (a - b).reindex(room.index)
    if room.empty or len(room) < claim.get("least", 2):
        return None, text
    text += f"; allowed ± {Mean.of(room)}"
    test = claim.get("test", "t")
    words = {Region(low=0.0).verdict(room + sign * gap, test) for sign in (1, -1)}
    return FAILS if FAILS in words else UNCLEAR if UNCLEAR in words else HOLDS, text


def _ends(claim: Claim, rows: pd.DataFrame, region: Region) -> Decision:
    rows = select(rows, claim.get("a", {}))
    x: str = claim["x"]
    if rows[x].nunique() < 2:
        return NOT_RUN
    low, high = rows[x].min(), rows[x].max()
    first, last = (per_draw(select(rows, {x: end}), claim["metric"]) for end in (low, high))
    word, text = _paired(claim, last, first, region)
    return word, f"{x} {high:g} against {low:g}: {text}"


def _rises(claim: Claim, rows: pd.DataFrame) -> Decision:
    return _ends(claim, rows, Region(low=0.0))


def _falls(claim: Claim, rows: pd.DataFrame) -> Decision:
    return _ends(claim, rows, Region(high=0.0))


class Fall(NamedTuple):
    """Whether some step of a curve falls by more than is allowed: by its mean, significantly."""

    seen: bool
    sure: bool
    text: str


def _fall(claim: Claim, rows: pd.DataFrame) -> Fall | None:
    """The falls of the mean curve from one x to the next, and the deepest in words."""
    rows = select(rows, claim.get("a", {}))
    x: str = claim["x"]
    metric: str = claim["metric"]
    border = -claim.get("tolerance", 0.0)
    places = sorted(rows.dropna(subset=[x])[x].unique())
    if len(places) < 2:
        return None
    worst, text, sure = 0.0, "no step falls", False
    for low, high in pairwise(places):
        before, after = (per_draw(select(rows, {x: place}), metric) for place in (low, high))
        step = paired(after, before)
        if step is None:
            continue
        if step.gap.mean < worst:
            worst = step.gap.mean
            text = f"deepest fall {_signed(step.gap)} from {x} {low:g} to {high:g}"
        sure |= side((after - before).dropna(), border, "t") < 0
    return Fall(worst < border, sure, f"{text}, n = {rows['draw'].nunique()}")


def _monotone(claim: Claim, rows: pd.DataFrame) -> Decision:
    found = _fall(claim, rows)
    if found is None:
        return NOT_RUN
    return FAILS if found.sure else UNCLEAR if found.seen else HOLDS, found.text


def _dips(claim: Claim, rows: pd.DataFrame) -> Decision:
    found = _fall(claim, rows)
    if found is None:
        return NOT_RUN
    return HOLDS if found.sure else UNCLEAR if found.seen else FAILS, found.text


def _correlated(claim: Claim, rows: pd.DataFrame) -> Decision:
    means = rows.groupby(claim["points"])[[claim["metric"], claim["with"]]].mean().dropna()
    if len(means) < 3:  # two points always lie on a line
        return NOT_RUN
    if (means.std() == 0).any():
        return FAILS, "one of the two does not vary"
    r = float(np.corrcoef(means.T)[0, 1])
    points = f"{len(means)} points, n = {rows['draw'].nunique()}"
    return HOLDS if r >= claim["value"] else FAILS, f"r = {r:.3f} over {points}"


def _level(claim: Claim, rows: pd.DataFrame, region: Region) -> Decision:
    values = per_draw(select(rows, claim.get("a", {})), claim["metric"])
    if not len(values):
        return NOT_RUN
    found = Mean.of(values)
    text = f"{found}, n = {found.n}; the paper: {claim['value']:g}"
    if claim.get("every_draw", False):
        outside = int((~values.between(*region)).sum())
        return FAILS if outside else HOLDS, f"{text}; {outside} draws outside"
    if found.n == 1:
        return HOLDS if region.low <= found.mean <= region.high else FAILS, text
    return region.verdict(values, claim.get("test", "t")), text


def _reaches(claim: Claim, rows: pd.DataFrame) -> Decision:
    return _level(claim, rows, Region(low=claim["value"] - claim.get("tolerance", 0.0)))


def _below(claim: Claim, rows: pd.DataFrame) -> Decision:
    return _level(claim, rows, Region(high=claim["value"] + claim.get("tolerance", 0.0)))


def _near(claim: Claim, rows: pd.DataFrame) -> Decision:
    value, slack = claim["value"], claim["tolerance"]
    return _level(claim, rows, Region(value - slack, value + slack))


KINDS: dict[str, Callable[[Claim, pd.DataFrame], Decision]] = {
    "greater": _greater,
    "at_least": _at_least,
    "similar": _similar,
    "comparable": _comparable,
    "rises": _rises,
    "falls": _falls,
    "monotone": _monotone,
    "dips": _dips,
    "correlated": _correlated,
    "reaches": _reaches,
    "below": _below,
    "near": _near,
}


def _signed(value: Mean) -> str:
    return ("+" if value.mean >= 0 else "") + str(value).replace("-", "−")


def _probability(p: float) -> str:
    return "< .001" if p < 0.001 else "= " + f"{p:.3f}".removeprefix("0")
