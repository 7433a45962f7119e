"""What the parameters of estimators and transformers may be: one table, read by every `fit`.

A rule says in words what is accepted; names among several (``inference="icm"``) are looked up
where they are used, since registries can grow. What depends on the data (more clusters than rows,
centres of another width) is checked with the data.
"""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from coterie.exceptions import InvalidParameter
from coterie.words import nearest

__all__ = ["PARAMETERS", "Rule", "check_parameters"]

LARGEST = 2**31 - 1  # counts beyond it are a slip, and would never end
_LEARNED = ("labels_", "cluster_centers_", "means_")  # by one of them a fitted model is known
SMALL, LARGE = 1e-100, 1e100  # of scales: beyond, their squares over- or underflow


class Rule(NamedTuple):
    """What a parameter may be, in words and as a test; `options` are the names it may be."""

    words: str
    accepts: Callable[[Any], bool]
    options: tuple[str, ...] = ()

    def __or__(self, other: Rule) -> Rule:
        return Rule(
            f"{self.words}, or {other.words}",
            lambda value: self.accepts(value) or other.accepts(value),
            self.options + other.options,
        )


def names(*options: str) -> Rule:
    """One of a few names."""
    words = " or ".join(map(repr, options))
    return Rule(words, lambda value: isinstance(value, str) and value in options, options)


def whole(least: int = 1, most: int = LARGEST, words: str = "") -> Rule:
    """An integer, but no bool."""
    words = words or f"an integer of at least {least}"

    def accepts(value: Any) -> bool:
        is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        return is_whole and least <= int(value) <= most

    return Rule(words, accepts)


def real(
    least: float = 0.0, most: float = math.inf, *, above: bool = False, infinite: bool = False
) -> Rule:
    """A number from `least` (above it, where asked) to `most`."""
    words = f"a {'' if infinite else 'finite '}number {'above' if above else 'at least'} {least:g}"
    if most < math.inf:
        words += f" and at most {most:g}"

    def accepts(value: Any) -> bool:
        if not isinstance(value, numbers.Real) or isinstance(value, bool):
            return False
        try:
            number = float(value)
        except OverflowError:
            return False
        if not infinite and math.isinf(number):
            return False
        return least < number <= most if above else least <= number <= most

    return Rule(words, accepts)


def _is_pair(value: Any, each: Rule) -> bool:
    one_dimension = isinstance(value, tuple | list) or (
        isinstance(value, np.ndarray) and value.ndim == 1
    )
    return one_dimension and len(value) == 2 and all(map(each.accepts, value))


def _is_array(value: Any, kinds: str) -> bool:
    """Whether `value` is made of numbers, or names: what, and how many, depends on the data."""
    if isinstance(value, str | bytes | Mapping):
        return False
    try:
        table = np.asarray(value)
    except ValueError:  # rows of different lengths
        return False
    return table.ndim > 0 and table.size > 0 and table.dtype.kind in kinds


def _can(*methods: str) -> Callable[[Any], bool]:
    """Whether a value, not a class, has all of the methods."""
    return lambda value: (
        not isinstance(value, type) and all(callable(getattr(value, m, None)) for m in methods)
    )


NONE = Rule("None", lambda value: value is None)
AUTO = names("auto")
FLAG = Rule("True or False", lambda value: isinstance(value, bool | np.bool_))
NAME = Rule("a name", lambda value: isinstance(value, str))
SCALE = real(SMALL, LARGE)
PAIR = Rule("two numbers above 0", lambda value: _is_pair(value, SCALE))
COUNTS = Rule("two integers of at least 1", lambda value: _is_pair(value, whole()))
FIELDS = Rule(
    "a mapping of columns to kinds", lambda value: isinstance(value, Mapping) and len(value) > 0
)
TABLE = Rule("an array of numbers", lambda value: _is_array(value, "biuf"))
LABELS = Rule("an array of labels", lambda value: _is_array(value, "biufUSO"))
MODEL = Rule("a fitted model", lambda value: any(hasattr(value, name) for name in _LEARNED))
SEED = (
    whole(0, 2**32 - 1, f"an integer from 0 to {2**32 - 1}")
    | Rule("a numpy.random.RandomState", lambda value: isinstance(value, np.random.RandomState))
    | NONE
)
DISTORTION = NAME | Rule("a Distortion", _can("product", "center_terms"))
ESTIMATOR = NONE | Rule("an estimator with fit", _can("fit", "get_params"))
TRANSFORMER = NONE | Rule("a transformer with fit and transform", _can("fit", "transform"))

#: Name, or "Class.name" where a class means something else by it, to rule.
PARAMETERS: dict[str, Rule] = {
    "alpha": SCALE | PAIR,
    "GraphPropagation.alpha": real(0, 1, above=True),
    "approximate": FLAG | AUTO,
    "burn_in": whole(0),
    "candidates": NONE | TABLE,
    "components_per_cluster": whole(),
    "concentration_prior": SCALE,
    "covariance_prior": SCALE,
    "covariance_type": NAME,
    "default_certainty": real(0.5, 1, above=True),
    "degrees_of_freedom_prior": NONE | SCALE,
    "distortion": DISTORTION,
    "divergence": DISTORTION,
    "error_rate": names("estimate") | real(0, 0.5),
    "estimator": ESTIMATOR,
    "eta": AUTO | SCALE,
    "exact_assignment": FLAG,
    "exclusive": NONE | NAME | LABELS,
    "family": NAME,
    "fields": NONE | FIELDS,
    "hard_weight": real(0, LARGE),
    "inference": NAME,
    "init": NAME | TABLE | MODEL,
    "PricedMeans.init": NAME | LABELS | MODEL,
    "TVClust.init": names("kmeans") | LABELS | MODEL,
    "lambda_": NAME | SCALE,
    "learn_metric": FLAG,
    "max_clusters": NONE | whole(),
    "max_dimensions": whole(),
    "max_iter": whole(),
    "max_pairs": whole(),
    "mean_precision_prior": SCALE,
    "metric": NONE | DISTORTION,
    "GraphPropagation.metric": NAME,
    "ConstrainedCompleteLink.metric": NAME,
    "metric_form": names("diagonal", "full"),
    "n_chains": whole(),
    "n_clusters": whole(),
    "Mosaic.n_clusters": NONE | whole(),
    "n_clusters_hint": NONE | whole(),
    "n_components": whole(),
    "RCA.n_components": NONE | whole(),
    "n_init": whole(),
    "PairwiseKMeans.n_init": AUTO | whole(),
    "n_neighbors": whole(),
    "n_prototypes": AUTO | whole(),
    "n_rounds": whole(),
    "n_sweeps": whole(),
    "noise": NONE | names("estimate") | real(0, 1),
    "order": names("random", "natural"),
    "p": NONE | real(0, 1, above=True),
    "p_prior": PAIR,
    "passes": AUTO | whole() | COUNTS,
    "patience": whole(),
    "per_cluster": FLAG,
    "phi_max": names("tight", "paper") | real(0, LARGE),
    "prior": names("rayleigh") | NONE,
    "prior_rows": AUTO | real(0, LARGE),
    "prior_width": AUTO | SCALE,
    "q": NONE | real(0, 1, above=True),
    "q_prior": PAIR,
    "radius": NAME,
    "random_state": SEED,
    "reduce": NAME,
    "reduce_dim": TRANSFORMER,
    "refine": FLAG,
    "reg_covar": real(0, LARGE),
    "sampling": NAME,
    "scale": NAME,
    "share_ends": FLAG,
    "shrinkage": AUTO | real(0, 1),
    "smoothness": SCALE,
    "standardize": FLAG,
    "start": names("model", "centers"),
    "thin": whole(),
    "threshold": AUTO | real(0, 1, above=True),
    "time_limit": real(0, infinite=True),
    "tol": real(0, LARGE),
    "truncation": whole(),
    "w": AUTO | real(0, infinite=True),
    "warm_start": FLAG,
    "weights_update": NAME,
    "xi0": AUTO | real(0, LARGE),
    "xi_max": NONE | AUTO | real(0, LARGE),
    "xi_rate": real(1, LARGE),
    "xi_ratio": real(0, LARGE),
}


def check_parameters(estimator: Any) -> None:
    """Refuse a parameter of `estimator` that is of a kind or size it cannot be.

    Parameters that a class of somebody else adds are that class's to check.
    """
    cls: type = type(estimator)
    for name, rule in _rules(cls).items():
        value = getattr(estimator, name)
        if not rule.accepts(value):
            hint = nearest(value, rule.options) if isinstance(value, str) else ""
            raise InvalidParameter(f"{name}={_shown(value)} must be {rule.words}.{hint}")


@cache
def _rules(cls: type) -> dict[str, Rule]:
    """The rule of every parameter that a class of ours takes."""
    ours = next((c for c in cls.__mro__ if c.__module__.partition(".")[0] == "coterie"), None)
    if ours is None:
        return {}
    found = {}
    for name in inspect.signature(ours).parameters:
        own = (PARAMETERS.get(f"{c.__name__}.{name}") for c in ours.__mro__)
        rule = next((r for r in own if r is not None), PARAMETERS.get(name))
        if rule is not None:
            found[name] = rule
    return found


def _shown(value: Any) -> str:
    words = repr(value)
    return words if len(words) <= 60 else f"{words[:50]}… (a {type(value).__name__})"
