"""A pipeline in the place of a clusterer: transformers that learn from pairs, then a clusterer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from coterie._typing import Array
from coterie.base import broken_pairs
from coterie.constraints import Constraints, PairTable
from coterie.propagation.shape import means_by_label

__all__ = ["PipelineClusterer", "takes_pairs"]


class PipelineClusterer(BaseEstimator):
    """The steps of a pipeline fitted in turn, the pairs given to each step that takes them.

    So propagation can go around RCA and K-Means (Eaton 2005, section 5.4.3): distances in the
    space of the transformers are those of the metric they learned.

    Parameters
    ----------
    pipeline : sklearn Pipeline
        Its last step is a clusterer with `labels_`.
    init : PipelineClusterer, optional
        A fitted one whose clusters the last step starts from: the means of their rows in the new
        space, as transformers learn other directions from other pairs.
    """

    def __init__(self, pipeline: Pipeline, init: Any = None) -> None:
        self.pipeline = pipeline
        self.init = init

    def fit(self, X: Any, y: Any = None, *, constraints: Constraints) -> Self:
        """Fit every step."""
        names, steps = zip(*self.pipeline.steps, strict=True)
        fitted, Z = [], X
        for step in steps[:-1]:
            if step not in ("passthrough", None):
                step = clone(step).fit(Z, **_told(step, constraints))
                Z = step.transform(Z)
            fitted.append(step)
        last = self._start(clone(steps[-1]), Z).fit(Z, **_told(steps[-1], constraints))
        self.pipeline_ = Pipeline(list(zip(names, [*fitted, last], strict=True)))
        self.labels_ = last.labels_
        self.objective_ = float(getattr(last, "objective_", getattr(last, "inertia_", np.nan)))
        self.violations_ = _violations(last, constraints)
        return self

    @property
    def last_step(self) -> Any:
        """The clusterer as fitted."""
        return self.pipeline_.steps[-1][1]

    @property
    def default_certainty(self) -> float:
        """That of the clusterer."""
        return float(getattr(self.pipeline.steps[-1][1], "default_certainty", 0.95))

    def space(self, X: Any) -> Any:
        """The rows as the clusterer saw them, an array or in files."""
        return self.pipeline_[:-1].transform(X)

    def _start(self, last: Any, Z: Array) -> Any:
        """The clusterer with the means of the clusters of `init`, where it can start from them."""
        params = last.get_params(deep=False)
        if self.init is None or "init" not in params:
            return last
        used, labels = np.unique(self.init.labels_, return_inverse=True)
        if len(used) != params.get("n_clusters"):
            return last  # a cluster was left empty: it has no mean
        last.set_params(init=means_by_label(Z, labels))
        return last.set_params(n_init=1) if "n_init" in params else last


def takes_pairs(pipeline: Pipeline) -> bool:
    """Whether any step of it takes constraints in `fit`."""
    return any(has_fit_parameter(step, "constraints") for _, step in pipeline.steps)


def _told(step: Any, constraints: Constraints) -> dict[str, Any]:
    return {"constraints": constraints} if has_fit_parameter(step, "constraints") else {}


def _violations(last: Any, constraints: Constraints) -> PairTable:
    """What the clusterer says of them; one that takes no pairs pays nothing for any."""
    if hasattr(last, "violations_"):
        return last.violations_
    return broken_pairs(last.labels_, constraints, np.zeros(constraints.n_pairs))
