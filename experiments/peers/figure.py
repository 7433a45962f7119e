"""ARI against CPU seconds of everyone on the same draws: docs/images/peers.png."""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib as mpl
import pandas as pd

from lab.figures import save

mpl.use("Agg")
from matplotlib import pyplot as plt

COLOURS = {"ours": "C0", "peer": "C3", "floor": "0.45"}
REFUSED = "refused: pairs contradict"
TICK = 1e-3  # seconds: the clock of CPU time is no finer
NAMES = {"ours": "Coterie", "peer": "other packages", "floor": "without pairs"}


def same_draws(frame: pd.DataFrame) -> pd.DataFrame:
    """300 rows with 300 pairs, on the shapes, shares and draws that the other packages ran too."""
    key = ["shape", "noise", "draw"]
    theirs = frame[frame.part == "peers"][key].drop_duplicates()
    every = frame[frame.part.isin(["small", "peers"]) & (frame.per_100 == 100)]
    return every.merge(theirs, on=key)


def score(some: pd.DataFrame) -> str:
    """Mean ARI, or what happened instead; how many fits finished if not all."""
    finished = some.dropna(subset=["ari"])
    if not len(finished):
        return REFUSED if some.status.str.contains("Infeasible|Inconsistent").any() else "time-out"
    note = "" if len(finished) == len(some) else f" ({len(finished)} of {len(some)} fits)"
    return f"{finished.ari.mean():.2f}{note}"


def draw(frame: pd.DataFrame, path: Path) -> None:
    """A panel a share of wrong answers, a point a method."""
    same = same_draws(frame)
    noises = sorted(same.noise.unique())
    canvas, axes = plt.subplots(
        1, len(noises), figsize=(4.6 * len(noises), 5.0), sharey=True, sharex=True, squeeze=False
    )
    canvas.set_layout_engine("constrained")
    for axis, noise in zip(axes[0], noises, strict=True):
        some = same[same.noise == noise]
        points = some.groupby(["group", "method"])[["seconds", "ari"]].mean().dropna().reset_index()
        points["seconds"] = points.seconds.clip(lower=TICK)
        for group, colour in COLOURS.items():
            those = points[points.group == group]
            axis.scatter(those.seconds, those.ari, s=16, color=colour, label=NAMES[group])
        for point, height in zip(points.itertuples(), heights(points), strict=True):
            place = (1.12 * point.seconds, height)
            axis.text(*place, point.method, fontsize=6, va="center", color=COLOURS[point.group])
        axis.set(xscale="log", xlabel="CPU seconds of a fit", xlim=(3e-4, 300))
        axis.set_title(f"{100 * noise:.0f} % of the answers wrong", fontsize=9)
        axis.grid(alpha=0.3, linewidth=0.5)
    axes[0, 0].set_ylabel("ARI, mean over five shapes")
    axes[0, 0].legend(fontsize=7, loc="lower right")
    save(canvas, path)


def heights(points: pd.DataFrame) -> list[float]:
    """Where names stand: at their points, pushed up where one would cover another."""
    placed: list[tuple[float, float]] = []
    found = {}
    for point in points.sort_values("ari").itertuples():
        near = [at for x, at in placed if abs(math.log10(x / point.seconds)) < 1.3]
        found[point.Index] = max(
            [point.ari, *(at + 0.022 for at in near if at > point.ari - 0.022)]
        )
        placed.append((point.seconds, found[point.Index]))
    return [found[index] for index in points.index]
