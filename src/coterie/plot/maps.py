"""Rows and pairs on a flat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.constraints import Constraints
from coterie.parameters import check_arguments
from coterie.plot._axes import BROKEN, axes_or_new, cluster_styles, plain
from coterie.plot.inputs import constraints_of, labels_of
from coterie.plot.layout import MAX_PAIRS, MAX_POINTS, FlatMap, lay_out, project
from coterie.validation import check_constraints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_clusters", "plot_constraints"]

_LEGEND_ROWS = 20  # entries in one column of the legend
_BELOW_LABELS = 0.55  # inches, for the numbers and the name of an axis


def plot_clusters(
    model: Any,
    X: Any,
    *,
    constraints: Constraints | None = None,
    ax: Axes | None = None,
    projection: Any = "auto",
    feature_names: Any = None,
    max_points: int = MAX_POINTS,
    max_pairs: int = MAX_PAIRS,
) -> Axes:
    """Rows on a map, coloured by cluster, with the pairs between them.

    Must-links are solid lines, cannot-links dashed ones, and broken pairs red.

    Parameters
    ----------
    model : fitted estimator or array-like of shape (n,)
        Or labels.
    X : array-like, frame or CSR matrix of shape (n, d)
        The rows the model was fitted on.
    constraints : Constraints, optional
        Pairs to draw; those the model keeps (`constraints_`) if it does.
    ax : matplotlib Axes, optional
        A new figure if not given.
    projection : {"auto", "pca", "tsne", "umap"} or array of shape (n, 2), default="auto"
        How rows get onto the plane. Two columns are drawn as they are. Otherwise "auto" is the
        first two principal components (also of CSR rows) if they hold half of the variance; if
        not, UMAP where umap-learn is installed.
    feature_names : sequence of str, optional
    max_points, max_pairs : int
        Larger data are thinned with a fixed seed: rows of drawn pairs and broken pairs come first.

    Returns
    -------
    matplotlib Axes
    """
    check_arguments(plot_clusters, locals())
    plane = project(X, projection, feature_names)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    labels = labels_of(model, n)
    pairs = constraints_of(model, constraints, n)
    flat = lay_out(plane, pairs, labels, max_points=max_points, max_pairs=max_pairs)
    ax = axes_or_new(ax)
    names, sizes = np.unique(labels, return_counts=True)
    shown = labels[flat.rows]
    for name, size, style in zip(names, sizes, cluster_styles(len(names)), strict=True):
        points = flat.points[shown == name]
        label = plain(f"cluster {name} ({size})")
        ax.scatter(points[:, 0], points[:, 1], s=16, linewidths=0, label=label, zorder=2, **style)
    _draw_pairs(ax, flat, pairs)
    _legend_outside(ax)
    return ax


def _legend_outside(ax: Axes) -> None:
    """Names of colours and lines: beside the axes, below them where other axes are beside them."""
    from matplotlib.transforms import ScaledTranslation

    n_entries = len(ax.get_legend_handles_labels()[0])
    place, figure = ax.get_subplotspec(), ax.get_figure()
    if place is None or place.get_gridspec().ncols == 1 or figure is None:
        columns = -(-n_entries // _LEGEND_ROWS)
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), ncols=columns)
        return
    below = ax.transAxes + ScaledTranslation(0.0, -_BELOW_LABELS, figure.dpi_scale_trans)
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=below,
        ncols=max(2, -(-n_entries // _LEGEND_ROWS)),
        fontsize="small",
    )


def plot_constraints(
    constraints: Constraints,
    X: Any,
    *,
    model: Any = None,
    ax: Axes | None = None,
    projection: Any = "auto",
    feature_names: Any = None,
    max_pairs: int = MAX_PAIRS,
) -> Axes:
    """The pairs alone, before or after clustering.

    Must-links are solid lines, cannot-links dashed ones; with a model, pairs it broke are red.

    Parameters
    ----------
    constraints : Constraints
    X : array-like, frame or CSR matrix of shape (n, d)
    model : fitted estimator or array-like of shape (n,), optional
        Or labels.
    ax, projection, feature_names, max_pairs
        As in `plot_clusters`.

    Returns
    -------
    matplotlib Axes
    """
    check_arguments(plot_constraints, locals())
    plane = project(X, projection, feature_names)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    labels = None if model is None else labels_of(model, n)
    pairs = check_constraints(constraints, n)
    flat = lay_out(plane, pairs, labels, max_pairs=max_pairs)
    ax = axes_or_new(ax)
    ends = flat.segments.reshape(-1, 2)
    ax.scatter(ends[:, 0], ends[:, 1], s=12, linewidths=0, color=_foreground(), zorder=2)
    _draw_pairs(ax, flat, pairs)
    if ax.get_legend_handles_labels()[0]:
        ax.legend()
    return ax


def _foreground() -> Any:
    """The colour of axis labels in the style in force: visible on its background."""
    from matplotlib import rcParams

    return rcParams["axes.labelcolor"]


def _draw_pairs(ax: Axes, flat: FlatMap, constraints: Constraints) -> None:
    """Lines in four groups, each with its own entry in the legend; axes are named."""
    from matplotlib.collections import LineCollection

    kind = constraints.kind[flat.pairs]
    for word, sign, style in (("must-link", 1, "solid"), ("cannot-link", -1, "dashed")):
        for broken in (False, True):
            chosen = (kind == sign) & (flat.broken == broken)
            if not chosen.any():
                continue
            lines = LineCollection(
                list(flat.segments[chosen]),
                linestyles=style,
                linewidths=1.4 if broken else 0.7,
                colors=BROKEN if broken else _foreground(),
                alpha=1.0 if broken else 0.35,
                label=f"broken {word}" if broken else word,
                zorder=3 if broken else 1,
            )
            ax.add_collection(lines)
    ax.autoscale_view()
    ax.set(xlabel=plain(flat.projection.axes[0]), ylabel=plain(flat.projection.axes[1]))
