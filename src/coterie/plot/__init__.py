"""Pictures of data, clusters and pairs as functions that return matplotlib Axes.

They change no global setting: colours come from the property cycle in force, and an `ax` that is
given is all they touch. Needs the extra `coterie[plot]`.
"""

from __future__ import annotations

from coterie.plot.changes import plot_changes
from coterie.plot.confusion import plot_confusion
from coterie.plot.curves import plot_learning_curve, plot_objective
from coterie.plot.maps import plot_clusters, plot_constraints
from coterie.plot.waterfall import plot_explanation

__all__ = [
    "plot_changes",
    "plot_clusters",
    "plot_confusion",
    "plot_constraints",
    "plot_explanation",
    "plot_learning_curve",
    "plot_objective",
]
