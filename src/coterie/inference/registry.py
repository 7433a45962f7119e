"""Engines by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from coterie.exceptions import InvalidParameter
from coterie.inference._random import RandomState
from coterie.inference.auto import auto
from coterie.inference.belief_propagation import belief_propagation
from coterie.inference.elimination import eliminate
from coterie.inference.gibbs import gibbs
from coterie.inference.icm import icm
from coterie.inference.least_energy import least_energy
from coterie.inference.linear_program import linear_program
from coterie.inference.mean_field import mean_field
from coterie.inference.model import Inference, PairwiseModel
from coterie.validation import check_choice

__all__ = ["ENGINES", "infer"]

ENGINES: dict[str, Callable[..., Inference]] = {
    "icm": icm,
    "mean_field": mean_field,
    "gibbs": gibbs,
    "belief_propagation": belief_propagation,
    "exact": eliminate,
    "least_energy": least_energy,
    "linear_program": linear_program,
    "auto": auto,
}


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
    known = inspect.signature(engine).parameters
    unknown = sorted(set(options) - set(known))
    if unknown:
        own = ", ".join(sorted(set(known) - {"model", "labels", "random_state"}))
        raise InvalidParameter(f"Engine {method!r} has no option {unknown[0]!r}; it has: {own}.")
    shared = {"labels": labels, "random_state": random_state}
    return engine(model, **{k: v for k, v in shared.items() if k in known}, **options)
