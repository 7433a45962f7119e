"""The course of a fit, and scores against the number of questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.exceptions import InvalidParameter
from coterie.parameters import check_arguments
from coterie.plot._axes import axes_or_new, plain
from coterie.plot.inputs import history_of
from coterie.validation import check_choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_learning_curve", "plot_objective"]


def plot_objective(model: Any, *, ax: Axes | None = None, label: str | None = None) -> Axes:
    """The objective after each iteration.

    Parameters
    ----------
    model : fitted estimator or array-like of float
        With `objective_history_` or `lower_bounds_`; or the values themselves.
    ax : matplotlib Axes, optional
        A new figure if not given.
    label : str, optional
        For the legend; the class of the model if not given.

    Returns
    -------
    matplotlib Axes
    """
    check_arguments(plot_objective, locals())
    if hasattr(model, "fit"):
        found = history_of(model)
        if found is None:
            raise InvalidParameter(
                f"{type(model).__name__} has no record of its objective: fit it first, or choose "
                "an estimator with objective_history_ or lower_bounds_."
            )
        values, title = found
        label = label or type(model).__name__
    else:
        values, title = np.asarray(model, dtype=np.float64), "objective"
        if values.ndim != 1 or not values.size:
            raise InvalidParameter("give a fitted model or one value for each iteration.")
    ax = axes_or_new(ax)
    ax.plot(
        np.arange(1, values.size + 1),
        values,
        marker=".",
        label=None if label is None else plain(label),
    )
    ax.set(xlabel="iteration", ylabel=title)
    ax.locator_params(axis="x", integer=True)
    if label is not None:
        ax.legend()
    return ax


def plot_learning_curve(curves: Any, *, ax: Axes | None = None, score: str = "ari") -> Axes:
    """Score against the number of questions, with one standard deviation over the folds.

    Parameters
    ----------
    curves : LearningCurve, or sequence or mapping of LearningCurve
        From `coterie.active.learning_curve`; the keys of a mapping are the names shown.
    ax : matplotlib Axes, optional
        A new figure if not given.
    score : str, default="ari"

    Returns
    -------
    matplotlib Axes
    """
    check_arguments(plot_learning_curve, locals())
    many, names = _named(curves)
    tables = [curve.values[check_choice("score", score, curve.values)] for curve in many]
    ax = axes_or_new(ax)
    for curve, name, table in zip(many, names, tables, strict=True):
        mean, spread = table.mean(axis=0), table.std(axis=0)
        (line,) = ax.plot(curve.budgets, mean, marker="o", label=plain(name))
        ax.fill_between(
            curve.budgets, mean - spread, mean + spread, alpha=0.2, color=line.get_color()
        )
    ax.set(xlabel="questions", ylabel=score.upper() if len(score) < 4 else score)
    ax.legend()
    return ax


def _named(curves: Any) -> tuple[list[Any], list[str]]:
    """Curves and what to call them."""
    if isinstance(curves, Mapping):
        many, names = list(curves.values()), [str(name) for name in curves]
    else:
        many = [curves] if hasattr(curves, "budgets") else list(curves)
        names = [getattr(curve, "name", "") for curve in many]
    if not many:
        raise InvalidParameter(
            "curves is empty; give one of coterie.active.learning_curve or more."
        )
    for curve in many:
        if not hasattr(curve, "budgets"):
            raise InvalidParameter(
                f"curves must be of coterie.active.learning_curve, one or several, got a "
                f"{type(curve).__name__}."
            )
    return many, names
