"""Distortions by name."""

from __future__ import annotations

from typing import Any

from coterie.distortions.base import Distortion
from coterie.distortions.bregman import ItakuraSaito
from coterie.distortions.directional import Correlation, Cosine
from coterie.distortions.divergence import IDivergence, KLDivergence
from coterie.distortions.euclidean import SquaredEuclidean
from coterie.distortions.mahalanobis import Mahalanobis
from coterie.validation import check_choice

__all__ = ["DISTORTIONS", "get_distortion"]

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
