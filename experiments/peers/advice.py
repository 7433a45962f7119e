"""From results to advice: how far every estimator is from the best of each setting."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

SETTING = ["shape", "size", "per_100", "noise"]
VISIBLE = ["size", "per_100"]  # what a program can see without being told
CLOSE = 0.02  # ARI: about the standard error of a mean here


def filled(frame: pd.DataFrame) -> pd.DataFrame:
    """A fit without labels tells nothing: ARI 0."""
    return frame.assign(ari=frame.ari.fillna(0.0))


def averaged(ours: pd.DataFrame) -> pd.DataFrame:
    """Mean ARI by setting (rows) and method (columns)."""
    return ours.pivot_table("ari", SETTING, "method")


def gaps(ours: pd.DataFrame) -> pd.DataFrame:
    """How far below the best of its setting each method is."""
    table = averaged(ours)
    return table.rsub(table.max(axis=1), axis=0)


def summary(ours: pd.DataFrame) -> pd.DataFrame:
    """By method: mean ARI, mean and largest gap, share of settings where it is close."""
    gap = gaps(ours)
    return pd.DataFrame(
        {
            "ari": averaged(ours).mean(),
            "gap": gap.mean(),
            "worst": gap.max(),
            "close": (gap <= CLOSE).mean(),
        }
    ).sort_values("gap")


def best_of(setting: pd.DataFrame) -> str:
    """The best with its ARI, then those that are close to it."""
    if not len(setting):
        return "–"
    order = setting.groupby("method").ari.mean().sort_values(ascending=False)
    best = order.iloc[0]
    others = [str(name) for name, value in order.iloc[1:].items() if value >= best - CLOSE]
    more = f", {', '.join(others[:2])}" + (", …" if len(others) > 2 else "") if others else ""
    return f"**{order.index[0]}** {best:.2f}{more}"


class Choice(NamedTuple):
    """A way to choose: mean gap on draws it has not seen, and what it chose."""

    gap: float
    methods: list[str]


def choices(ours: pd.DataFrame) -> dict[str, Choice]:
    """Ways to choose an estimator by what is known, each judged on draws left out."""
    found = {"one for everything": judged(ours, [])}
    for known in (VISIBLE, ["noise"], ["shape"], SETTING):
        found["by " + " and ".join(known)] = judged(ours, known)
    return found


def judged(ours: pd.DataFrame, known: list[str]) -> Choice:
    """Choose on all draws but one the method of least mean gap, judge on that one, in turn."""
    many = ours[ours.groupby(SETTING).draw.transform("nunique") > 1]
    total, count = 0.0, 0
    chosen: dict[str, int] = {}
    for draw in sorted(many.draw.unique()):
        rest, left = many[many.draw != draw], many[many.draw == draw]
        gap_rest, gap_left = gaps(rest), gaps(left)
        groups = gap_rest.groupby(level=known).mean() if known else gap_rest.mean().to_frame().T
        pick = groups.idxmin(axis=1)
        for setting, row in gap_left.iterrows():
            at = dict(zip(SETTING, setting, strict=True))
            key = tuple(at[column] for column in known)
            method = pick.iloc[0] if not known else pick.get(key[0] if len(key) == 1 else key)
            if method is None:
                continue
            chosen[method] = chosen.get(method, 0) + 1
            total, count = total + float(row[method]), count + 1
    names = sorted(chosen, key=lambda name: -chosen[name])
    return Choice(total / max(count, 1), names)
