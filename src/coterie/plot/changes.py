"""Two clusterings side by side, and which rows went where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.parameters import check_arguments
from coterie.plot._axes import axes_or_new, cluster_styles
from coterie.stability import shared_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_changes"]

_ELSEWHERE = np.iinfo(np.int64).max  # rows that only one clustering has: drawn below the others
_OTHERS = _ELSEWHERE - 1
_MOST = 30  # clusters on a side: the rest are drawn as one
_GAP = 0.02  # between two clusters, as a share of all rows
_WIDTH = 0.06  # of a bar
_GREY = "0.75"


class _Side(NamedTuple):
    """The clusters of one clustering, top to bottom."""

    labels: NDArray[np.int64]  # (K,)
    top: NDArray[np.float64]  # (K,)
    size: NDArray[np.int64]  # (K,)


def plot_changes(
    old: Any, new: Any, *, ids: Any = None, old_ids: Any = None, ax: Axes | None = None
) -> Axes:
    """Clusters before and after as bars, and bands for the rows that went from one to the other.

    A cluster that split has bands to several on the right, one that was merged shares its bar
    there. Bands have the colour of the cluster that the rows come from; new and gone rows are grey.
    Of more than 30 clusters on a side the largest are shown and the others as one.

    Parameters
    ----------
    old, new, ids, old_ids
        As in `coterie.diff`.
    ax : matplotlib Axes, optional
        A new figure if not given.

    Returns
    -------
    matplotlib Axes
    """
    check_arguments(plot_changes, locals())
    before, after = _flows(old, new, ids, old_ids)
    ax = axes_or_new(ax)
    table, left, right = _table(before, after)
    colors = _colors(left.labels)
    for side, x, right_side in ((left, 0.0, False), (right, 1.0, True)):
        _draw_bars(ax, side, x, None if right_side else colors)
        _name_bars(ax, side, x, right_side)
    done = [np.zeros(left.size.size), np.zeros(right.size.size)]
    for i, j in np.argwhere(table > 0):
        n = table[i, j]
        ends = left.top[i] - done[0][i], right.top[j] - done[1][j]
        _draw_band(ax, ends, n, colors[i])
        done[0][i] += n
        done[1][j] += n
    ax.set_axis_off()
    ax.set_xlim(-0.25, 1.25)
    for x, word in ((0.0, "before"), (1.0, "after")):
        ax.text(x, 1.03 * max(left.top[0], right.top[0]), word, ha="center", va="bottom")
    return ax


def _flows(
    old: Any, new: Any, ids: Any, old_ids: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cluster before and after of every row that either has; elsewhere, if only one does."""
    then = np.asarray(getattr(old, "labels_", old), dtype=np.int64)
    now = np.asarray(getattr(new, "labels_", new), dtype=np.int64)
    a, b = shared_rows(now.size, then.size, ids, old_ids)
    fresh, lost = np.setdiff1d(np.arange(now.size), a), np.setdiff1d(np.arange(then.size), b)
    before = np.concatenate([then[b], np.full(fresh.size, _ELSEWHERE), then[lost]])
    after = np.concatenate([now[a], now[fresh], np.full(lost.size, _ELSEWHERE)])
    return _largest(before), _largest(after)


def _largest(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Labels with all but the largest clusters as one."""
    values, counts = np.unique(labels, return_counts=True)
    if values.size <= _MOST:
        return labels
    kept = values[np.argsort(-counts, kind="stable")[: _MOST - 1]]
    return np.where(np.isin(labels, kept), labels, _OTHERS)


def _table(
    before: NDArray[np.int64], after: NDArray[np.int64]
) -> tuple[NDArray[np.int64], _Side, _Side]:
    """Rows by cluster before and after, and where the bars of both sides are."""
    olds, o = np.unique(before, return_inverse=True)
    news, n = np.unique(after, return_inverse=True)
    table = np.zeros((olds.size, news.size), dtype=np.int64)
    np.add.at(table, (o, n), 1)
    return table, _side(olds, table.sum(axis=1)), _side(news, table.sum(axis=0))


def _side(labels: NDArray[np.int64], size: NDArray[np.int64]) -> _Side:
    gap = _GAP * size.sum()
    bottom = np.cumsum(size + gap)
    return _Side(labels, bottom[-1] - bottom + size, size)


def _colors(labels: NDArray[np.int64]) -> list[Any]:
    """A colour for each cluster, by its number; grey for what is none."""
    real = [label for label in labels.tolist() if 0 <= label < _OTHERS]
    styles = cluster_styles(max(real, default=0) + 1)
    return [styles[k]["color"] if 0 <= k < _OTHERS else _GREY for k in labels.tolist()]


def _draw_bars(ax: Axes, side: _Side, x: float, colors: list[Any] | None) -> None:
    shown = _colors(side.labels) if colors is None else colors
    visible = side.labels != _ELSEWHERE
    paint = [color for color, seen in zip(shown, visible, strict=True) if seen]
    ax.bar(
        np.full(visible.sum(), x),
        side.size[visible],
        width=_WIDTH,
        bottom=(side.top - side.size)[visible],
        color=paint,
    )


def _name_bars(ax: Axes, side: _Side, x: float, right: bool) -> None:
    for label, top, size in zip(side.labels.tolist(), side.top, side.size, strict=True):
        word = {_ELSEWHERE: "gone" if right else "new", _OTHERS: "others"}.get(label, str(label))
        text = f"{word} ({size})"
        shift, place = (_WIDTH, "left") if right else (-_WIDTH, "right")
        ax.text(x + shift, top - size / 2, text, ha=place, va="center")


def _draw_band(ax: Axes, ends: tuple[float, float], n: int, color: Any) -> None:
    """A band of n rows that goes down or up smoothly between two bars."""
    t = np.linspace(0.0, 1.0, 40)
    x = _WIDTH / 2 + t * (1.0 - _WIDTH)
    y = ends[0] + (ends[1] - ends[0]) * (3 * t**2 - 2 * t**3)
    ax.fill_between(x, y - n, y, color=color, alpha=0.45, linewidth=0)
