"""From TVClust's parameters to its families and priors."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.mixture.tvclust.families import (
    AxisGaussian,
    Bernoulli,
    Family,
    Gaussian,
    Multinomial,
    Poisson,
    TiedGaussian,
)
from coterie.mixture.tvclust.pairs import Beta, Known, Trust
from coterie.mixture.tvclust.start import Measure
from coterie.mixture.tvclust.variational import Alpha, Priors
from coterie.validation import check_choice, check_real

__all__ = [
    "COUNTS",
    "FAMILIES",
    "covariance_type_of",
    "covariance_types",
    "model_family",
    "model_priors",
    "round_family",
]

COUNTS = ("multinomial", "bernoulli", "poisson")
FAMILIES = ("gaussian", *COUNTS)
_COVARIANCES = ("full", "tied", "diag", "spherical")
_ALIASES = {"diagonal": "diag"}


def covariance_types(model: Any) -> list[str]:
    """The covariance types that a fit compares: the one given, or all; one "" for counts."""
    if model.family != "gaussian":
        return [""]
    wanted = _ALIASES.get(model.covariance_type, model.covariance_type)
    wanted = check_choice("covariance_type", wanted, ("auto", *_COVARIANCES))
    return list(_COVARIANCES) if wanted == "auto" else [wanted]


def covariance_type_of(family: Family) -> str:
    """The name of a Gaussian family's covariance type; "" for counts."""
    if isinstance(family, AxisGaussian):
        return "spherical" if family.shared else "diag"
    return {Gaussian: "full", TiedGaussian: "tied"}.get(type(family), "")


def model_family(model: Any, measure: Measure, covariance_type: str) -> Family:
    """The family that the parameters of a `TVClust` describe."""
    if model.family != "gaussian":
        c = float(model.concentration_prior)
        if model.family == "poisson":
            return Poisson(measure.variance, c)
        make = Multinomial if model.family == "multinomial" else Bernoulli
        return make(len(measure.origin), c)
    kappa0 = float(model.mean_precision_prior)
    expected = float(model.covariance_prior)
    full = covariance_type in ("full", "tied")
    d = len(measure.variance) if full else 1
    nu0 = model.degrees_of_freedom_prior
    nu0 = d + 2.0 if nu0 is None else nu0
    nu0 = check_real("degrees_of_freedom_prior", nu0, least=d + 1.0, strict=True)
    if full:
        gaussian = Gaussian if covariance_type == "full" else TiedGaussian
        return gaussian(measure.variance * (expected * (nu0 - d - 1)), kappa0, nu0, measure.blur)
    shared = covariance_type == "spherical"
    return AxisGaussian(measure.variance, expected, kappa0, nu0, shared=shared, blur=measure.blur)


def round_family(family: Family, measure: Measure) -> Family:
    """What draws a start towards the pairs: round clusters, or the family of counts itself."""
    if not measure.blur.size:
        return family
    return AxisGaussian(measure.variance, 1.0, 1.0, 3.0, shared=True, blur=measure.blur)


def model_priors(model: Any) -> Priors:
    """Priors of p, q and alpha."""
    alpha = Alpha(*(float(value) for value in np.atleast_1d(model.alpha)))
    return Priors(_trust(model, "p"), _trust(model, "q"), alpha)


def _trust(model: Any, name: str) -> Trust:
    value = getattr(model, name)
    if value is None:
        first, second = getattr(model, f"{name}_prior")
        return Beta(float(first), float(second))
    return Known(float(value))
