"""Clusters against true classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from coterie.exceptions import InvalidData
from coterie.parameters import check_arguments
from coterie.plot._axes import axes_or_new, first_color, plain
from coterie.plot.inputs import labels_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Confusion", "confusion_of", "plot_confusion"]

_DARKEST = 0.6  # opacity of a class that is all in one cluster
_MOST_NUMBERS = 900  # cells beyond which numbers would be too small to read
MOST = 60  # classes and clusters in a picture: the rest are counted together


class Confusion(NamedTuple):
    """Rows counted by class and cluster."""

    classes: NDArray[Any]  # (C,)
    clusters: NDArray[Any]  # (K,) those matched to the classes first, in their order
    counts: NDArray[np.int64]  # (C, K)


def confusion_of(model: Any, truth: Any, most: int = MOST) -> Confusion:
    """Count rows by true class and cluster; each cluster stands under the class it matches best.

    Of more than `most` classes or clusters the largest are kept and the others counted as one,
    whose name says how many they are.
    """
    if np.asarray(truth).ndim != 1:
        raise InvalidData("truth must be one class for each row.")
    classes, of_row = _largest(*np.unique(np.asarray(truth), return_inverse=True), most)
    clusters, label = _largest(*np.unique(labels_of(model, of_row.size), return_inverse=True), most)
    counts = contingency_matrix(of_row, label, dtype=np.int64)
    _, matched = linear_sum_assignment(-counts)
    rest = np.setdiff1d(np.arange(clusters.size), matched)
    order = np.r_[matched, rest]
    return Confusion(classes, clusters[order], counts[:, order])


def _largest(
    names: NDArray[Any], number: NDArray[np.int64], most: int
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The names of the `most` largest groups and one for the rest; each row's group (n,) anew."""
    if names.size <= most:
        return names, number
    sizes = np.bincount(number, minlength=names.size)
    kept = np.sort(np.argsort(-sizes, kind="stable")[:most])
    place = np.full(names.size, most)
    place[kept] = np.arange(most)
    others = f"{names.size - most:,} others"
    return np.array([*names[kept].tolist(), others], dtype=object), place[number]


def plot_confusion(model: Any, truth: Any, *, ax: Axes | None = None) -> Axes:
    """How many rows of each true class are in each cluster.

    Parameters
    ----------
    model : fitted estimator or array-like of shape (n,)
        Or labels.
    truth : array-like of shape (n,)
        True classes.
    ax : matplotlib Axes, optional
        A new figure if not given.

    Returns
    -------
    matplotlib Axes
        Shades are shares of the class, numbers are rows. Of more than 60 classes or clusters the
        largest are shown and the others counted together.
    """
    check_arguments(plot_confusion, locals())
    table = confusion_of(model, truth)
    ax = axes_or_new(ax)
    share = table.counts / table.counts.sum(axis=1, keepdims=True)
    # Shades are degrees of transparency of the style's first colour, so that numbers in its text
    # colour can be read on every one of them.
    shades = np.empty((*share.shape, 4))
    shades[..., :3] = first_color()
    shades[..., 3] = _DARKEST * share
    ax.imshow(shades, aspect="auto")
    if table.counts.size <= _MOST_NUMBERS:
        for (row, column), count in np.ndenumerate(table.counts):
            ax.text(column, row, str(count), ha="center", va="center")
    ax.set_xticks(range(table.clusters.size), [plain(name) for name in table.clusters])
    ax.set_yticks(range(table.classes.size), [plain(name) for name in table.classes])
    ax.set(xlabel="cluster", ylabel="true class")
    return ax
