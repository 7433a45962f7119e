"""Distortions by name."""

from __future__ import annotations

from typing import Any

from coterie.distortions.base import Distortion
from coterie.distortions.bregman import ItakuraSaito
from coterie.distortions.directional import Correlation, Cosine
from coterie.distortions.divergence import IDivergence, KLDivergence
from coterie.distortions.euclidean import SquaredEuclidean
from coterie.distortions.mahalanobis import Mahalanobis
from coterie.exceptions import InvalidParameter
from coterie.validation import check_choice

__all__ = ["DISTORTIONS", "chosen_distortion", "get_distortion"]

DISTORTIONS: dict[str, type[Distortion]] = {
    cls.name: cls
    for cls in (
        SquaredEuclidean,
        Mahalanobis,
        Cosine,
        Correlation,
        KLDivergence,
        IDivergence,
        ItakuraSaito,
    )
}
_ALIASES = {"pearson": "correlation", "spherical": "cosine"}


def get_distortion(value: Any, parameter: str = "distortion") -> Distortion:
    """A distortion from its name or as it is; an unknown name is answered with the nearest one.

    >>> from coterie.distortions import get_distortion
    >>> get_distortion("cosine")
    Cosine()
    """
    if isinstance(value, Distortion):
        return value
    if isinstance(value, str):
        value = _ALIASES.get(value, value)
    return DISTORTIONS[check_choice(parameter, value, DISTORTIONS)]()


def chosen_distortion(distortion: Any, metric: Any) -> Distortion:
    """The distortion asked for by one of its two names; refuses two different ones.

    `metric` None is not given, `distortion` at its default, the first of the table, neither.
    """
    if metric is None:
        return get_distortion(distortion)
    same = isinstance(metric, str) and isinstance(distortion, str) and metric == distortion
    if not (same or (isinstance(distortion, str) and distortion == SquaredEuclidean.name)):
        raise InvalidParameter(
            f"distortion={distortion!r} and metric={metric!r}: these are two names of one "
            "parameter; give one of them."
        )
    return get_distortion(metric, "metric")
