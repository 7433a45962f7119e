"""Figures like the papers': a panel a set, a line a method, error bars of one standard error.

A figure in `config.toml`:

    name, caption         of the file, and under the picture
    where                 the rows it shows
    x, y                  columns
    lines, panels         columns whose values become lines and panels, in the order `where` lists
                          them
    titles                of panels, for instance which figure of the paper it stands for
    x_label, y_label, x_scale, y_scale
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from PIL import Image

from lab.selection import Mean, per_draw, select

mpl.use("Agg")
from matplotlib import pyplot as plt

COLUMNS = 3  # panels side by side
#: By number of columns: width of a panel in inches, and columns of the legend below; a panel that
#: stands alone is larger and has it beside.
LAYOUT = {1: (5.6, 1), 2: (3.1, 3), 3: (3.1, 5)}
STYLES = ("o-", "s--", "^-.", "D:", "v-", "P--", "X-.", "*:")
LARGEST = 100_000  # bytes of a picture: they are committed


def values_of(frame: pd.DataFrame, column: str, where: dict[str, Any]) -> list[Any]:
    """Values of a column in the order `where` lists them, otherwise as they first appear."""
    present = list(dict.fromkeys(frame[column].dropna()))
    wanted = where.get(column)
    return [value for value in wanted if value in present] if isinstance(wanted, list) else present


def draw(figure: dict[str, Any], frame: pd.DataFrame, path: Path) -> bool:
    """Draw one figure; False if there is nothing to show."""
    where = figure.get("where", {})
    rows = select(frame, where)
    panels = values_of(rows, figure["panels"], where) if len(rows) else []
    if not panels:
        return False
    width = min(COLUMNS, len(panels))
    height = -(-len(panels) // width)
    inches, legend_columns = LAYOUT[width]
    # Constrained layout leaves room for the legend whatever the number of methods.
    canvas, grid = plt.subplots(
        height,
        width,
        figsize=(inches * width, 2.5 * height + 0.5),
        squeeze=False,
        layout="constrained",
    )
    lines = values_of(rows, figure["lines"], where)
    for axis, panel in zip(grid.flat, panels, strict=False):
        _panel(axis, figure, select(rows, {figure["panels"]: panel}), lines)
        axis.set_title(figure.get("titles", {}).get(str(panel), str(panel)), fontsize=9)
    for axis in grid.flat[len(panels) :]:
        axis.set_visible(False)
    for axis in grid[:, 0]:
        axis.set_ylabel(figure.get("y_label", figure["y"]), fontsize=8)
    for axis in grid.flat[max(0, len(panels) - width) : len(panels)]:
        axis.set_xlabel(figure.get("x_label", figure["x"]), fontsize=8)
    handles = {
        label: handle
        for axis in grid.flat
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    shown = [str(line) for line in lines if str(line) in handles]
    canvas.legend(
        [handles[label] for label in shown],
        shown,
        loc="outside right center" if len(panels) == 1 else "outside lower center",
        ncols=min(len(shown), legend_columns),
        fontsize=8,
        frameon=False,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    save(canvas, path)
    if path.stat().st_size > LARGEST:
        raise ValueError(f"{path} is over {LARGEST} bytes: show fewer panels")
    return True


def save(canvas: Any, path: Path) -> None:
    """Few colours, so that it is small; no date or version, so that the same rows give it again."""
    buffer = io.BytesIO()
    canvas.savefig(buffer, dpi=90, metadata={"Software": None})
    plt.close(canvas)
    Image.open(buffer).convert("RGB").quantize(48).save(path, optimize=True)


def _panel(axis: Any, figure: dict[str, Any], rows: pd.DataFrame, lines: list[Any]) -> None:
    x, y = figure["x"], figure["y"]
    for number, line in enumerate(lines):
        part = select(rows, {figure["lines"]: line}).dropna(subset=[y])
        if not len(part):
            continue
        places = sorted(part[x].unique())
        means = [Mean.of(per_draw(select(part, {x: place}), y)) for place in places]
        axis.errorbar(
            places,
            [mean.mean for mean in means],
            yerr=[0.0 if pd.isna(mean.error) else mean.error for mean in means],
            fmt=STYLES[number % len(STYLES)],
            color=f"C{number}",
            label=str(line),
            markersize=3,
            linewidth=1,
            elinewidth=0.7,
            capsize=1.5,
        )
    for scale, set_scale in (("x_scale", axis.set_xscale), ("y_scale", axis.set_yscale)):
        if scale in figure:  # "linear" would also take away the names of an axis of names
            set_scale(figure[scale])
    axis.tick_params(labelsize=7)
    axis.grid(alpha=0.3, linewidth=0.5)
