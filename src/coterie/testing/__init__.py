"""Checks that every constrained clusterer is held to, yours too.

`check_constrained_clusterer(estimator)` runs them all; `checks_for(estimator)` lists them, one
function each, for pytest to parametrise. What an estimator promises beyond the common contract is
said in a `Capabilities`.
"""

from __future__ import annotations

from typing import Any

from coterie.testing import _contract, _ecosystem, _meaning, _numerics
from coterie.testing._capabilities import Capabilities
from coterie.testing._check import Check, equal

__all__ = [
    "CHECKS",
    "Capabilities",
    "Check",
    "check_constrained_clusterer",
    "checks_for",
    "equal",
]

CHECKS: tuple[Check, ...] = (
    *_contract.CHECKS,
    *_meaning.CHECKS,
    *_numerics.CHECKS,
    *_ecosystem.CHECKS,
)


def checks_for(capabilities: Capabilities) -> list[Check]:
    """The checks that apply to an estimator with these capabilities."""
    return [check for check in CHECKS if check.applies(capabilities)]


def check_constrained_clusterer(estimator: Any, capabilities: Capabilities | None = None) -> None:
    """Hold a constrained clusterer to everything it promises.

    Parameters
    ----------
    estimator : estimator
        Unfitted; it is cloned, never fitted itself.
    capabilities : Capabilities, optional
        What it promises; by default what it declares (`Capabilities.of`).

    Raises
    ------
    AssertionError
        The first check that fails, with the reason.
    """
    promised = Capabilities.of(estimator) if capabilities is None else capabilities
    for check in checks_for(promised):
        check(estimator, promised)
