"""ARI against CPU seconds of everyone on the same draws: docs/images/peers.png."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lab.figures import save

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox

COLOURS = {"ours": "C0", "peer": "C3", "floor": "0.45"}
REFUSED = "refused: pairs contradict"
TICK = 1e-3  # seconds: the clock of CPU time is no finer
_DISTANCES = (4, 10, 16, 22, 28, 36, 44)  # of a name from its point, in points of print
_SIDES = ((1, 0), (-1, 0), (1, 0.7), (1, -0.7), (-1, 0.7), (-1, -0.7), (0.3, 1), (0.3, -1))
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
    panels = []
    for axis, noise in zip(axes[0], noises, strict=True):
        some = same[same.noise == noise]
        points = some.groupby(["group", "method"])[["seconds", "ari"]].mean().dropna().reset_index()
        points["seconds"] = points.seconds.clip(lower=TICK)
        panels.append(points)
        for group, colour in COLOURS.items():
            those = points[points.group == group]
            axis.scatter(those.seconds, those.ari, s=16, color=colour, label=NAMES[group])
        axis.set(xscale="log", xlabel="CPU seconds of a fit", xlim=(3e-4, 300))
        axis.set_title(f"{100 * noise:.0f} % of the answers wrong", fontsize=9)
        axis.grid(alpha=0.3, linewidth=0.5)
    axes[0, 0].set_ylabel("ARI, mean over five shapes")
    axes[0, 0].legend(fontsize=7, loc="lower right")
    canvas.draw_without_rendering()  # from here on places are known
    canvas.set_layout_engine("none")
    for axis, points in zip(axes[0], panels, strict=True):
        write_names(
            axis,
            points[["seconds", "ari"]].to_numpy(),
            points.method.tolist(),
            [COLOURS[group] for group in points.group],
        )
    save(canvas, path)


def write_names(
    axis: Axes, points: NDArray[Any], names: Sequence[str], colours: Sequence[str]
) -> list[Bbox]:
    """A name beside each point (n, 2), where it covers no other name and no point.

    The nearest free place is taken; one that is not right beside its point has a line to it.
    Returns the boxes of the names, in pixels.
    """
    dots = [Bbox.from_bounds(x - 3, y - 3, 6, 6) for x, y in axis.transData.transform(points)]
    legend = axis.get_legend()
    taken = [] if legend is None else [legend.get_window_extent()]
    renderer = axis.figure.canvas.get_renderer()
    boxes = {}
    for at in np.argsort(-points[:, 1]):
        free_of = [*dots[:at], *dots[at + 1 :], *taken]
        for place in itertools.product(_DISTANCES, _SIDES):
            name = _beside(axis, points[at], names[at], colours[at], *place)
            name.update_positions(renderer)
            box = Text.get_window_extent(name)  # without the line
            inside = axis.bbox.contains(box.x0, box.y0) and axis.bbox.contains(box.x1, box.y1)
            if inside and not box.count_overlaps(free_of):
                break
            name.remove()
        else:
            raise ValueError(f"no room for the name {names[at]!r}: make the figure larger")
        boxes[at] = box
        taken.append(box)
    return [boxes[at] for at in range(len(points))]


def _beside(
    axis: Axes,
    point: NDArray[Any],
    name: str,
    colour: str,
    distance: int,
    side: tuple[float, float],
) -> Annotation:
    right, up = side
    line = {"arrowstyle": "-", "color": colour, "linewidth": 0.4, "shrinkB": 2}
    return axis.annotate(
        name,
        point,
        (distance * right, distance * up),
        textcoords="offset points",
        fontsize=6,
        color=colour,
        va="center",
        ha="left" if right > 0 else "right",
        arrowprops=line if distance > _DISTANCES[0] else None,
    )
