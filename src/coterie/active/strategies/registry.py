"""The strategies by name: what a session takes as text and `coterie ask --strategy` offers."""

from __future__ import annotations

import inspect
from typing import Any

from coterie.active.information.information_gain import InformationGain
from coterie.active.strategies.consolidate import Consolidate, ExploreConsolidate
from coterie.active.strategies.explore import Explore
from coterie.active.strategies.min_max import MinMax
from coterie.active.strategies.npu import NPU
from coterie.active.strategies.random_pairs import RandomPairs
from coterie.active.strategies.record_questions import RecordQuestions
from coterie.active.strategies.strategy import Strategy
from coterie.exceptions import InvalidParameter
from coterie.validation import check_choice

__all__ = ["STRATEGIES", "make_strategy", "register_strategy", "strategy_for"]

#: Name to class. A class says by its constructor whether it wants `n_clusters`, and by
#: `Strategy.clusters` and `Strategy.counts` what it can do.
STRATEGIES: dict[str, type[Strategy]] = {
    "information": InformationGain,
    "explore-consolidate": ExploreConsolidate,
    "explore": Explore,
    "consolidate": Consolidate,
    "min-max": MinMax,
    "npu": NPU,
    "records": RecordQuestions,
    "random": RandomPairs,
}


def register_strategy(name: str, strategy: type[Strategy]) -> None:
    """Offer a strategy by name, in sessions and on the command line.

    Parameters
    ----------
    name : str
        A new one.
    strategy : class
        A `Strategy`; if it needs the number of clusters, a parameter of its constructor is
        called `n_clusters`.
    """
    if name in STRATEGIES:
        raise InvalidParameter(f"a strategy named {name!r} is registered already.")
    if not (isinstance(strategy, type) and issubclass(strategy, Strategy)):
        raise InvalidParameter(f"{strategy!r} is not a class derived from Strategy.")
    STRATEGIES[name] = strategy


def make_strategy(name: str, *, n_clusters: int | None = None, **settings: Any) -> Strategy:
    """The strategy of this name.

    Parameters
    ----------
    name : str
        A key of `STRATEGIES`.
    n_clusters : int, optional
        K; given to strategies that take it, and left out of those that do not.
    **settings
        Other parameters of its constructor.

    Examples
    --------
    >>> from coterie.active import make_strategy
    >>> make_strategy("explore", n_clusters=3)
    Explore(n_clusters=3, density_weighted=False, tries=3)
    """
    made = STRATEGIES[check_choice("strategy", name, STRATEGIES)]
    parameters = inspect.signature(made).parameters
    unknown = sorted(set(settings) - set(parameters))
    if unknown:
        raise InvalidParameter(f"strategy={name!r} has no parameter `{unknown[0]}`.")
    if "n_clusters" in parameters:
        needed = parameters["n_clusters"].default is inspect.Parameter.empty
        if needed and n_clusters is None:
            raise InvalidParameter(f"strategy={name!r} needs the number of clusters, `n_clusters`.")
        settings["n_clusters"] = n_clusters
    return made(**settings)


def strategy_for(strategy: Strategy | str, estimator: Any) -> Strategy:
    """A strategy as it is, or the one of this name for the estimator's number of clusters."""
    if not isinstance(strategy, str):
        return strategy
    params = {} if estimator is None else estimator.get_params(deep=False)
    return make_strategy(strategy, n_clusters=params.get("n_clusters"))
