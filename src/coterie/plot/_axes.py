"""The only place that asks for matplotlib: axes to draw on, and how clusters look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.exceptions import MissingDependency

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
BROKEN = "tab:red"
_RED_HUE = 0.03  # of the colour wheel, on either side of pure red


def axes_or_new(ax: Axes | None) -> Axes:
    """`ax`, or the axes of a new pyplot figure, so that `plt.show()` shows it."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingDependency(
            "coterie.plot needs matplotlib: pip install 'coterie[plot]'."
        ) from error
    return plt.subplots(layout="constrained")[1]  # with room for a legend beside the axes


def plain(text: Any) -> str:
    """User text as it is: two dollar signs in it must not start a formula."""
    return str(text).replace("$", r"\$")


def _cycle() -> list[Any]:
    """Colours of the property cycle in force, without reds: those are for broken pairs."""
    from matplotlib import rcParams
    from matplotlib.colors import rgb_to_hsv, to_rgb

    colors = list(rcParams["axes.prop_cycle"].by_key().get("color", ["C0"]))
    hsv = rgb_to_hsv([to_rgb(color) for color in colors])
    red = (np.minimum(hsv[:, 0], 1 - hsv[:, 0]) < _RED_HUE) & (hsv[:, 1] > 0.5)
    return [color for color, bad in zip(colors, red, strict=True) if not bad] or colors


def first_color() -> tuple[float, float, float]:
    """The first colour of the cycle as RGB."""
    from matplotlib.colors import to_rgb

    return to_rgb(_cycle()[0])


def cluster_styles(count: int) -> list[dict[str, Any]]:
    """Colour and marker of each cluster.

    Colours are those of the property cycle in force; once they are used up they come again with
    the next marker, so that as many clusters as colours × 10 markers can be told apart.
    """
    colors = _cycle()
    return [
        {"color": colors[k % len(colors)], "marker": MARKERS[k // len(colors) % len(MARKERS)]}
        for k in range(count)
    ]
