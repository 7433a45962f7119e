"""What a check is, and how two models are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from coterie.constraints import Constraints, PairTable
from coterie.testing._capabilities import Capabilities

CheckFunction = Callable[[Any, Capabilities], None]


@dataclass(frozen=True)
class Check:
    """One check: call it with an estimator and its capabilities; `AssertionError` if it fails."""

    function: CheckFunction
    needs: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.__name__

    def applies(self, capabilities: Capabilities) -> bool:
        """Whether every capability the check needs is promised."""
        return all(getattr(capabilities, need) for need in self.needs)

    def __call__(self, estimator: Any, capabilities: Capabilities) -> None:
        """Run the check."""
        self.function(estimator, capabilities)


def needs(*capabilities: str) -> Callable[[CheckFunction], Check]:
    """Decorator: the function is a check that needs these capabilities (none: always run)."""

    def wrap(function: CheckFunction) -> Check:
        return Check(function, capabilities)

    return wrap


def require(condition: Any, message: str) -> None:
    """`assert`, also under ``python -O``."""
    if not condition:
        raise AssertionError(message)


def require_same_labels(first: ArrayLike, second: ArrayLike, message: str) -> None:
    """The two label arrays must be equal, number by number."""
    a, b = np.asarray(first), np.asarray(second)
    differ = np.flatnonzero(a != b) if a.shape == b.shape else np.arange(1)
    require(not differ.size, f"{message}; rows {differ[:5].tolist()} differ: {a} and {b}")


def require_same_partition(first: ArrayLike, second: ArrayLike, message: str) -> None:
    """The two label arrays must group the rows alike, by whatever numbers."""
    a, b = np.asarray(first), np.asarray(second)
    require(
        a.shape == b.shape and adjusted_rand_score(a, b) == 1.0, f"{message}: {a} and {b} differ"
    )


def public_state(model: Any) -> dict[str, Any]:
    """The fitted attributes of a model (a parameter may end in "_" too: `lambda_`)."""
    parameters = model.get_params(deep=False)
    return {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_") and name not in parameters
    }


def equal(a: Any, b: Any) -> bool:
    """Deep equality of parameters and fitted attributes; NaN equals NaN."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return bool(a.dtype == b.dtype and _equal_arrays(a, b))
    if sparse.issparse(a):
        parts = ("shape", "data", "indices", "indptr")
        return all(np.array_equal(getattr(a, part), getattr(b, part)) for part in parts)
    if isinstance(a, PairTable):
        return all(_equal_arrays(getattr(a, x), getattr(b, x)) for x in ("i", "j", "kind", "value"))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, np.random.Generator | np.random.RandomState):
        return True  # the state of a generator is not part of a result
    if isinstance(a, float):
        return a == b or (a != a and b != b)
    if hasattr(a, "get_params") and not isinstance(a, type):
        same_params = equal(a.get_params(deep=False), b.get_params(deep=False))
        return same_params and equal(public_state(a), public_state(b))
    return bool(a == b)


def _equal_arrays(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")


def broken(labels: ArrayLike, constraints: Constraints) -> NDArray[np.bool_]:
    """Which pairs (m,) the labels break."""
    given = np.asarray(labels)
    same = given[constraints.pairs[:, 0]] == given[constraints.pairs[:, 1]]
    return np.asarray(same != (constraints.kind > 0))
