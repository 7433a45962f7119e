"""What an estimator promises, so that checks can ask for exactly that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from coterie.constraints import Constraints


def _as_is(X: NDArray[np.float64]) -> NDArray[np.float64]:
    return X


@dataclass(frozen=True)
class Capabilities:
    """What an estimator promises beyond `fit(X, y=None, *, constraints=None)` and `labels_`.

    One that promises `constraints=False` is not given any, and is left out of the checks of what
    constraints mean; instead it must refuse them. Every other check it passes like the rest.

    `Capabilities.of(estimator)` reads off what the estimator itself declares; say the rest.
    A check that needs a promise is run if the promise is made, and left out if not: checks never
    guess by trying.
    """

    constraints: bool = True
    """`fit` takes pairs. False: it clusters the rows alone, and refuses pairs (`DPMeans`)."""
    soft: bool = True
    """Soft pairs may be broken at the cost of their weight. False: every pair is kept."""
    binding: bool = True
    """Labels follow the pairs. False: pairs only place the start (`SeededKMeans`)."""
    hard: bool = True
    """Hard pairs are never broken. False: they are refused with `InvalidConstraints`."""
    n_clusters: str | None = "n_clusters"
    """The parameter that sets the number of clusters; None: the estimator finds it."""
    sparse: bool = False
    """CSR input gives the labels that dense input gives."""
    float32: bool = True
    """float32 input gives the labels that float64 input gives, on well separated rows."""
    predicts: bool = False
    """`predict` of the training rows after a fit without pairs gives `labels_`."""
    transforms: bool = False
    """There is a `transform`, with names of its columns."""
    objective: Literal["falls", "rises"] | None = None
    """Which way `objective_history_` goes; None: there is none, or it may go both ways."""
    translation: bool = True
    """Adding a constant to every row changes nothing (not so for cosine or KL)."""
    scaling: bool = True
    """Multiplying every row by a constant changes nothing (not so for absolute thresholds)."""
    sample_weight: bool = False
    """`fit` takes `sample_weight`."""
    starts: bool = False
    """`init` takes centres (k, d) to start from: a fit with no random draw in it."""
    one_row: bool = True
    """A single row is a cluster."""
    prepare: Callable[[NDArray[np.float64]], Any] = _as_is
    """Turns positive rows (n, d) of the check problems into rows the estimator is meant for."""

    @classmethod
    def of(cls, estimator: Any, **promises: Any) -> Capabilities:
        """What `estimator` declares by its tags, parameters and methods, changed by `promises`."""
        params = estimator.get_params()
        named = [name for name in ("n_clusters", "n_components") if name in params]
        declared: dict[str, Any] = {
            "n_clusters": named[0] if named else None,
            "sparse": bool(get_tags(estimator).input_tags.sparse),
            "predicts": hasattr(estimator, "predict"),
            "transforms": hasattr(estimator, "transform"),
            "starts": "init" in params,
            "sample_weight": has_fit_parameter(estimator, "sample_weight"),
        }
        return cls(**{**declared, **promises})

    @property
    def refuses_hard(self) -> bool:
        """Hard pairs are refused."""
        return self.constraints and self.binding and not self.hard

    @property
    def refuses_constraints(self) -> bool:
        """`fit` has no parameter for pairs."""
        return not self.constraints

    def pairs(self, constraints: Constraints) -> Constraints:
        """Pairs of a form the estimator accepts: hard ones made heavy where it refuses them."""
        return constraints if self.hard else constraints.as_soft(1000.0)

    def fit(
        self,
        estimator: Any,
        X: Any,
        constraints: Constraints | None = None,
        *,
        k: int = 2,
        y: Any = None,
        **params: Any,
    ) -> Any:
        """A clone of `estimator` with `k` clusters (where it is told) and a fixed seed, fitted."""
        return self.fresh(estimator, k=k, **params).fit(X, y, **self.given(constraints))

    def given(self, constraints: Any) -> dict[str, Any]:
        """The pairs as an argument of `fit`; nothing for an estimator that takes none."""
        return {"constraints": constraints} if self.constraints else {}

    def fresh(self, estimator: Any, *, k: int = 2, **params: Any) -> Any:
        """An unfitted clone with `k` clusters (where it is told) and a fixed seed."""
        model = clone(estimator)
        if self.n_clusters is not None:
            params[self.n_clusters] = k
        if "random_state" in model.get_params():
            params.setdefault("random_state", 0)
        return model.set_params(**params)
