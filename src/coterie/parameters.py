"""Parameters and arguments are checked by one table (`coterie.parameter_table`).

Those of estimators and transformers by every `fit`; those of strategies, sessions, oracles,
programs, folds and distortions when they are made; those of functions when they are called.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from coterie.exceptions import InvalidParameter
from coterie.parameter_table import PARAMETERS
from coterie.rules import Rule
from coterie.words import nearest

__all__ = ["check_arguments", "check_parameters"]


def check_parameters(made: Any) -> None:
    """Refuse a parameter of an estimator, or a like object, of a kind or size it cannot be.

    Parameters that a class of somebody else adds are that class's to check.
    """
    cls: type = type(made)
    rules = _rules(cls)
    _check(rules, {name: getattr(made, name) for name in rules})


def check_arguments(taker: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """Refuse an argument of a class or function of ours that it cannot be.

    `given` may hold more than its arguments, as ``locals()`` at its beginning does.
    """
    rules = _rules(taker)
    _check(rules, {name: given[name] for name in rules})


def _check(rules: Mapping[str, Rule], given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        rule = rules[name]
        if not rule.accepts(value):
            hint = nearest(value, rule.options) if isinstance(value, str) else ""
            raise InvalidParameter(
                f"{name}={_shown(value)} must be {rule.words}.{hint}{rule.remedy}"
            )


@cache
def _rules(taker: Callable[..., Any]) -> dict[str, Rule]:
    """The rule of every parameter that a class or function of ours takes."""
    family = taker.__mro__ if isinstance(taker, type) else (taker,)
    ours = next((c for c in family if c.__module__.partition(".")[0] == "coterie"), None)
    if ours is None:
        return {}
    owners = [c.__name__ for c in (ours.__mro__ if isinstance(ours, type) else (ours,))]
    found = {}
    for name in inspect.signature(ours).parameters:
        own = (PARAMETERS.get(f"{owner}.{name}") for owner in owners)
        rule = next((r for r in own if r is not None), PARAMETERS.get(name))
        if rule is not None:
            found[name] = rule
    return found


def _shown(value: Any) -> str:
    try:
        words = repr(value)
    except Exception:  # of an integer of 5,000 digits, or of somebody's class
        return f"a {type(value).__name__} that cannot be shown"
    return words if len(words) <= 60 else f"{words[:50]}… (a {type(value).__name__})"
