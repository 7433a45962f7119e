"""The estimators by their names on the command line, and `--set name=value` for parameters."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, NamedTuple

from coterie.exceptions import InvalidParameter
from coterie.words import nearest

__all__ = ["METHODS", "Method", "build"]


class Method(NamedTuple):
    """An estimator on the command line.

    Attributes
    ----------
    home : str
        "module:Class".
    clusters : str or None
        The parameter `-k` sets; None: the method counts clusters itself and takes no `-k`.
    needs_clusters : bool
    takes_pairs : bool
    counts_by_pairs : bool
        Without `-k` the pairs tell how many clusters there are.
    inner : str or None
        Name of the method an estimator is wrapped around.
    """

    home: str
    clusters: str | None = "n_clusters"
    needs_clusters: bool = True
    takes_pairs: bool = True
    counts_by_pairs: bool = False
    inner: str | None = None


METHODS = {
    "mosaic": Method("coterie.cluster:Mosaic", needs_clusters=False, counts_by_pairs=True),
    "pckmeans": Method("coterie.cluster:PCKMeans"),
    "mpckmeans": Method("coterie.cluster:MPCKMeans"),
    "hmrfkmeans": Method("coterie.cluster:HMRFKMeans"),
    "copkmeans": Method("coterie.cluster:COPKMeans"),
    "lcvqe": Method("coterie.cluster:LCVQE"),
    "seededkmeans": Method("coterie.cluster:SeededKMeans"),
    "constrainedkmeans": Method("coterie.cluster:ConstrainedKMeans"),
    "completelink": Method("coterie.cluster:ConstrainedCompleteLink"),
    "ppc": Method("coterie.mixture:PPC", "n_components"),
    "tvclust": Method("coterie.mixture:TVClust", None, needs_clusters=False),
    "rdpmeans": Method("coterie.cluster:RDPMeans", "n_clusters_hint", needs_clusters=False),
    "dpmeans": Method(
        "coterie.cluster:DPMeans", "n_clusters_hint", needs_clusters=False, takes_pairs=False
    ),
    "gpkmeans": Method("coterie.propagation:GPKMeans", "estimator__n_clusters", inner="mpckmeans"),
    "graphpropagation": Method(
        "coterie.propagation:GraphPropagation", "estimator__n_clusters", inner="mpckmeans"
    ),
}


def build(name: str, clusters: int | None, seed: int | None, settings: Iterable[str] = ()) -> Any:
    """An unfitted estimator.

    Parameters
    ----------
    name : str
        A key of `METHODS`.
    clusters : int or None
        `-k`.
    seed : int or None
        For `random_state`, of the estimator within too; methods without chance ignore it.
    settings : iterable of str
        "name=value", as given to `--set`.
    """
    method = METHODS[name]
    estimator = _make(method.home)
    if method.inner is not None:
        estimator.set_params(estimator=_make(METHODS[method.inner].home))
    known = estimator.get_params()
    given = {key: seed for key in known if key.split("__")[-1] == "random_state"}
    given |= _clusters(name, method, clusters)
    for setting in settings:
        key, value = _split(setting)
        given[key] = _value(estimator, key, value)
    return estimator.set_params(**given)


def _make(home: str) -> Any:
    module, _, cls = home.partition(":")
    return getattr(import_module(module), cls)()


def _clusters(name: str, method: Method, clusters: int | None) -> dict[str, Any]:
    if clusters is None:
        if method.needs_clusters:
            raise InvalidParameter(f"--method {name} needs the number of clusters: give -k.")
        return {} if method.clusters is None else {method.clusters: None}
    if method.clusters is None:
        raise InvalidParameter(
            f"--method {name} counts the clusters itself: leave -k out (--set truncation=20 "
            "says how many there can be at most)."
        )
    return {method.clusters: clusters}


def _split(setting: str) -> tuple[str, str]:
    key, sign, value = setting.partition("=")
    if not sign or not key.strip():
        raise InvalidParameter(f"--set {setting!r} must be NAME=VALUE, for instance max_iter=50.")
    return key.strip(), value.strip()


def _value(estimator: Any, key: str, text: str) -> Any:
    """`text` as the parameter's constructor wants it."""
    known = {
        name
        for name in estimator.get_params()
        if name.split("__")[-1] not in ("callback", "estimator")
    }
    if key not in known:
        raise InvalidParameter(
            f"--set {key}: {type(estimator).__name__} has no such parameter.{nearest(key, known)} "
            f"It has {', '.join(sorted(known))}."
        )
    *path, name = key.split("__")
    owner = estimator
    for step in path:
        owner = getattr(owner, step)
    annotation = str(inspect.signature(type(owner)).parameters[name].annotation)
    options = annotation.split(" | ")
    for option in sorted(options, key=lambda option: option != "None"):  # "none" is text too
        try:
            return _READERS.get(option, _any)(text)
        except ValueError:
            continue
    wanted = " or ".join(_WORDS.get(option, option) for option in options)
    raise InvalidParameter(f"--set {key}={text}: expected {wanted}.")


def _bool(text: str) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if text.lower() not in words:
        raise ValueError(text)
    return words[text.lower()]


def _none(text: str) -> None:
    if text.lower() not in ("none", ""):
        raise ValueError(text)


def _two(text: str) -> tuple[float, float]:
    first, second = text.strip("() ").split(",")
    return float(first), float(second)


def _any(text: str) -> Any:
    """A Python literal (number, list, ...), true, false or none, else the text itself."""
    if text.lower() in ("true", "false", "none"):
        return {"true": True, "false": False, "none": None}[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


_READERS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "bool": _bool,
    "str": str,
    "None": _none,
    "tuple[float, float]": _two,
}
_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "None": "none",
    "tuple[float, float]": "two numbers like 10,1",
}
