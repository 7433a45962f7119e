"""What each field adds to the log-odds that two records are the same, bar after bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.exceptions import InvalidParameter
from coterie.parameters import check_arguments
from coterie.plot._axes import axes_or_new, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_explanation"]


def plot_explanation(explanation: Any, *, ax: Axes | None = None) -> Axes:
    """A waterfall: where any pair begins, what each field adds, and where this pair ends.

    Parameters
    ----------
    explanation : PairExplanation
        From `Dossier.explain`.
    ax : matplotlib Axes, optional
        A new figure if not given.

    Returns
    -------
    matplotlib Axes
    """
    check_arguments(plot_explanation, locals())
    if not hasattr(explanation, "terms"):
        raise InvalidParameter("give an explanation of a pair, as Dossier.explain(i, j) does.")
    order = np.argsort(-np.abs(explanation.terms), kind="stable")
    names = ["any pair"]
    names += [f"{explanation.names[f]}: {explanation.findings[f]}" for f in order]
    steps = [explanation.start, *explanation.terms[order]]
    if explanation.answers:
        names.append("answers")
        steps.append(float(np.clip(explanation.answers, -20, 20)))
    ends = np.cumsum(steps)
    ax = axes_or_new(ax)
    at = np.arange(len(steps))
    colors = ["C0" if step > 0 else "C1" for step in steps]
    ax.barh(at, steps, left=ends - steps, color=colors)
    ax.set_yticks(at, [plain(name) for name in names])
    ax.invert_yaxis()
    ax.axvline(0.0, color="0.5", linewidth=0.8)
    ax.set(
        xlabel="log-odds of “same” (2.3 more: ten times likelier)",
        title=f"{explanation.probability:.0%} the same",
    )
    return ax
