"""Judge what a paper says by the rows: holds, does not hold, or cannot be tested.

A claim in `claims.toml`:

    id, source, says      its name, the figure or table, the sentence in words
    where                 the rows it speaks of (see `selection.select`)
    each                  columns: judged on each value by itself, and must hold on all
    need                  or on at least so many of them
    metric                the score compared
    kind                  "greater"   mean of `a` > mean of `b`; with `margin`, by at least that
                          "at_least"  mean of `a` ≥ mean of `b` − `tolerance`
                          "similar"   |mean of a − mean of b| ≤ `tolerance`
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
    significant           also ask for p < .05 in a two-sided paired test over draws
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

from lab.selection import Mean, Where, paired, per_draw, select, split

LEVEL = 0.05  # of significance, as the papers use
HOLDS, FAILS, UNTESTABLE = "holds", "does not hold", "cannot be tested"
Claim = dict[str, Any]


class Finding(NamedTuple):
    """One group of a claim: whether it holds (None: no rows) and the numbers that decided."""

    group: Where
    holds: bool | None
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
        holds, numbers = decide(claim, rows)
        findings.append(Finding(group, holds, numbers))
    tested = [finding.holds for finding in findings if finding.holds is not None]
    if not tested:
        return Verdict(claim, UNTESTABLE, findings)
    enough = sum(tested) >= claim.get("need", len(tested))
    return Verdict(claim, HOLDS if enough else FAILS, findings)


Decision = tuple[bool | None, str]
NOT_RUN: Decision = (None, "not run")


def _difference(claim: Claim, rows: pd.DataFrame, ok: Callable[[float], bool]) -> Decision:
    a = per_draw(select(rows, claim["a"]), claim["metric"])
    b = per_draw(select(rows, claim["b"]), claim["metric"])
    return _paired(claim, a, b, ok)


def _paired(claim: Claim, a: pd.Series, b: pd.Series, ok: Callable[[float], bool]) -> Decision:
    found = paired(a, b, claim.get("test", "t"))
    if found is None:
        return NOT_RUN
    holds = ok(found.gap.mean)
    text = f"{found.a} against {found.b}, difference {_signed(found.gap)}, n = {found.gap.n}"
    if found.gap.n < claim.get("least", 2):
        return None, f"{text}, too few draws to tell"
    if not claim.get("significant", False):
        return holds, text
    return holds and found.p < LEVEL, f"{text}, p {_probability(found.p)}"


def _greater(claim: Claim, rows: pd.DataFrame) -> Decision:
    return _difference(claim, rows, lambda gap: gap > 0 and gap >= claim.get("margin", 0.0))


def _at_least(claim: Claim, rows: pd.DataFrame) -> Decision:
    return _difference(claim, rows, lambda gap: gap >= -claim["tolerance"])


def _similar(claim: Claim, rows: pd.DataFrame) -> Decision:
    return _difference(claim, rows, lambda gap: abs(gap) <= claim["tolerance"])


def _ends(claim: Claim, rows: pd.DataFrame, ok: Callable[[float], bool]) -> Decision:
    rows = select(rows, claim.get("a", {}))
    x: str = claim["x"]
    if rows[x].nunique() < 2:
        return NOT_RUN
    low, high = rows[x].min(), rows[x].max()
    first, last = (per_draw(select(rows, {x: end}), claim["metric"]) for end in (low, high))
    holds, text = _paired(claim, last, first, ok)
    return holds, f"{x} {high:g} against {low:g}: {text}"


def _rises(claim: Claim, rows: pd.DataFrame) -> Decision:
    return _ends(claim, rows, lambda gap: gap > 0)


def _falls(claim: Claim, rows: pd.DataFrame) -> Decision:
    return _ends(claim, rows, lambda gap: gap < 0)


def _steps(claim: Claim, rows: pd.DataFrame) -> tuple[float, str] | None:
    """The deepest fall of the mean curve from one x to the next (0 if none), in words too."""
    rows = select(rows, claim.get("a", {}))
    x: str = claim["x"]
    metric: str = claim["metric"]
    places = sorted(rows.dropna(subset=[x])[x].unique())
    if len(places) < 2:
        return None
    worst, text = 0.0, "no step falls"
    for low, high in pairwise(places):
        before, after = (per_draw(select(rows, {x: place}), metric) for place in (low, high))
        step = paired(after, before)
        if step is not None and step.gap.mean < worst:
            worst = step.gap.mean
            text = f"deepest fall {_signed(step.gap)} from {x} {low:g} to {high:g}"
    return worst, f"{text}, n = {rows['draw'].nunique()}"


def _monotone(claim: Claim, rows: pd.DataFrame) -> Decision:
    found = _steps(claim, rows)
    return NOT_RUN if found is None else (found[0] >= -claim["tolerance"], found[1])


def _dips(claim: Claim, rows: pd.DataFrame) -> Decision:
    found = _steps(claim, rows)
    return NOT_RUN if found is None else (found[0] < -claim.get("tolerance", 0.0), found[1])


def _correlated(claim: Claim, rows: pd.DataFrame) -> Decision:
    means = rows.groupby(claim["points"])[[claim["metric"], claim["with"]]].mean().dropna()
    if len(means) < 3:  # two points always lie on a line
        return NOT_RUN
    if (means.std() == 0).any():
        return False, "one of the two does not vary"
    r = float(np.corrcoef(means.T)[0, 1])
    points = f"{len(means)} points, n = {rows['draw'].nunique()}"
    return r >= claim["value"], f"r = {r:.3f} over {points}"


def _level(claim: Claim, rows: pd.DataFrame, ok: Callable[[float], bool]) -> Decision:
    values = per_draw(select(rows, claim.get("a", {})), claim["metric"])
    if not len(values):
        return NOT_RUN
    found = Mean.of(values)
    text = f"{found}, n = {found.n}; the paper: {claim['value']:g}"
    if claim.get("every_draw", False):
        outside = sum(not ok(value) for value in values)
        return outside == 0, f"{text}; {outside} draws outside"
    return ok(found.mean), text


def _reaches(claim: Claim, rows: pd.DataFrame) -> Decision:
    slack = claim.get("tolerance", 0.0)
    return _level(claim, rows, lambda mean: mean >= claim["value"] - slack)


def _below(claim: Claim, rows: pd.DataFrame) -> Decision:
    slack = claim.get("tolerance", 0.0)
    return _level(claim, rows, lambda mean: mean <= claim["value"] + slack)


def _near(claim: Claim, rows: pd.DataFrame) -> Decision:
    return _level(claim, rows, lambda mean: abs(mean - claim["value"]) <= claim["tolerance"])


KINDS: dict[str, Callable[[Claim, pd.DataFrame], Decision]] = {
    "greater": _greater,
    "at_least": _at_least,
    "similar": _similar,
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
