"""The estimators by their names on the command line, and `--set name=value` for parameters."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from coterie.estimators import ESTIMATORS, estimator_class
from coterie.exceptions import InvalidParameter
from coterie.words import nearest

__all__ = ["METHODS", "Method", "build"]


_INNER = "mpckmeans"  # what an estimator around another one is put around


class Method(NamedTuple):
    """An estimator on the command line, as its signature tells.

    Attributes
    ----------
    clusters : str or None
        The parameter `-k` sets; None: the method counts clusters itself and takes no `-k`.
    needs_clusters : bool
    takes_pairs : bool
    counts_by_pairs : bool
        Without `-k` the pairs tell how many clusters there are.
    inner : str or None
        Name of the method an estimator is wrapped around.
    """

    clusters: str | None
    needs_clusters: bool
    takes_pairs: bool
    counts_by_pairs: bool
    inner: str | None

    @classmethod
    def of(cls, name: str) -> Method:
        """The method of this name."""
        made = estimator_class(name)
        takes_pairs = "constraints" in inspect.signature(made.fit).parameters
        parameters = inspect.signature(made).parameters
        if "estimator" in parameters:
            within = cls.of(_INNER)
            clusters = None if within.clusters is None else f"estimator__{within.clusters}"
            return cls(clusters, within.needs_clusters, takes_pairs, False, _INNER)
        clusters = next((name for name in _CLUSTERS if name in parameters), None)
        optional = clusters is None or "None" in str(parameters[clusters].annotation)
        # A hint is about the data alone; a number that may be left out is counted by the pairs.
        counts_by_pairs = optional and clusters == "n_clusters" and takes_pairs
        return cls(clusters, not optional, takes_pairs, counts_by_pairs, None)


_CLUSTERS = ("n_clusters", "n_components", "n_clusters_hint")


class _Methods(Mapping[str, Method]):
    """The registered estimators at this moment; a class is loaded when its method is looked at."""

    def __getitem__(self, name: str) -> Method:
        if name not in ESTIMATORS:
            raise KeyError(name)
        return Method.of(name)

    def __iter__(self) -> Iterator[str]:
        return iter(ESTIMATORS)

    def __len__(self) -> int:
        return len(ESTIMATORS)


METHODS = _Methods()


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
    estimator = estimator_class(name)()
    if method.inner is not None:
        estimator.set_params(estimator=estimator_class(method.inner)())
    known = estimator.get_params()
    given = {key: seed for key in known if key.split("__")[-1] == "random_state"}
    given |= _clusters(name, method, clusters)
    for setting in settings:
        key, value = _split(setting)
        given[key] = _value(estimator, key, value)
    return estimator.set_params(**given)


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
