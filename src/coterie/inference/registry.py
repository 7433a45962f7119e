"""Engines by name, with what each can do.

An engine that is registered is offered by every estimator that asks for what it can do: their
lists of names are made by `engines`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from coterie.exceptions import InvalidParameter
from coterie.inference._kernels import RandomState
from coterie.inference.auto import auto
from coterie.inference.belief_propagation import belief_propagation
from coterie.inference.elimination import eliminate
from coterie.inference.gibbs import gibbs
from coterie.inference.icm import icm
from coterie.inference.least_energy import least_energy
from coterie.inference.linear_program import linear_program
from coterie.inference.mean_field import mean_field
from coterie.inference.model import Inference, PairwiseModel
from coterie.inference.plain_icm import plain_icm
from coterie.inference.structured import structured_mean_field
from coterie.validation import check_choice

__all__ = ["ENGINES", "Engine", "engines", "infer"]

_SHARED = ("labels", "random_state")  # what `infer` hands to every engine that takes it


@dataclass(frozen=True)
class Engine:
    """A way to work on a `PairwiseModel`.

    Attributes
    ----------
    run : callable
        ``run(model, ...) -> Inference``.
    labels : bool
        Whether it looks for a labelling of low energy (every engine of ours does).
    marginals : bool
        Whether it gives P(y_i = k) and P(y_i = y_j).
    proof : bool
        Whether its labels are of least energy when it says that it converged.
    """

    run: Callable[..., Inference]
    labels: bool = True
    marginals: bool = False
    proof: bool = False

    @property
    def takes(self) -> tuple[str, ...]:
        """Which of `labels` (a start) and `random_state` it takes."""
        return tuple(name for name in _SHARED if name in self._parameters)

    @property
    def options(self) -> tuple[str, ...]:
        """Names of its own options."""
        return tuple(name for name in self._parameters[1:] if name not in _SHARED)

    @property
    def _parameters(self) -> list[str]:
        return list(inspect.signature(self.run).parameters)


ENGINES: dict[str, Engine] = {
    "icm": Engine(icm),
    "plain_icm": Engine(plain_icm),
    "mean_field": Engine(mean_field, marginals=True),
    "structured_mean_field": Engine(structured_mean_field, marginals=True),
    "gibbs": Engine(gibbs, marginals=True),
    "belief_propagation": Engine(belief_propagation, marginals=True),
    "exact": Engine(eliminate, marginals=True, proof=True),
    "least_energy": Engine(least_energy, proof=True),
    "linear_program": Engine(linear_program),
    "auto": Engine(auto, marginals=True),
}


def engines(*, labels: bool = False, marginals: bool = False, proof: bool = False) -> list[str]:
    """Names of the engines that can do all that is asked for.

    >>> from coterie.inference import engines
    >>> engines(proof=True)
    ['exact', 'least_energy']
    """
    return [
        name
        for name, engine in ENGINES.items()
        if engine.labels >= labels and engine.marginals >= marginals and engine.proof >= proof
    ]


def infer(
    model: PairwiseModel,
    method: str,
    *,
    labels: ArrayLike | None = None,
    random_state: RandomState = None,
    **options: Any,
) -> Inference:
    """Run the engine called `method` (a key of `ENGINES`).

    `labels` and `random_state` are passed on to the engines that take them ("exact" needs neither);
    `options` are the engine's own, and an unknown one is refused.
    """
    check_choice("method", method, tuple(ENGINES))
    engine = ENGINES[method]
    unknown = sorted(set(options) - set(engine.options))
    if unknown:
        own = ", ".join(sorted(engine.options))
        raise InvalidParameter(f"Engine {method!r} has no option {unknown[0]!r}; it has: {own}.")
    shared = {"labels": labels, "random_state": random_state}
    return engine.run(model, **{name: shared[name] for name in engine.takes}, **options)
