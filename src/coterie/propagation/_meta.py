"""What estimators that propagate pairs before they hand them on have in common."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from coterie._typing import Array
from coterie.base import ConstrainedClusterer, as_source, broken_pairs
from coterie.cluster import ConstrainedCompleteLink, COPKMeans, MPCKMeans, SeededKMeans
from coterie.constraints import Constraints, PairTable
from coterie.data import StoredRows
from coterie.exceptions import InvalidParameter
from coterie.extension import ExtensibleClusterer, Placed, Places
from coterie.propagation.diagnose import Diagnosis, diagnose, is_new, pair_keys
from coterie.propagation.pipeline import PipelineClusterer, takes_pairs
from coterie.propagation.spreading import read_sources

__all__ = ["PropagatingClusterer"]

# Weights mean nothing to them: every pair is kept, or joins rows for the start.
_KEEPING = (COPKMeans, ConstrainedCompleteLink, SeededKMeans)


def _inner_has(name: str) -> Any:
    """For `available_if`: the estimator inside has the method."""

    def check(self: PropagatingClusterer) -> bool:
        inner = getattr(self, "estimator_", None) or self._inner()
        getattr(inner, name)  # its AttributeError is the message
        return True

    return check


class PropagatingClusterer(ExtensibleClusterer):
    """A clusterer around another one, which it gives more pairs than it was told.

    A subclass has the parameters `estimator`, `reduce_dim` and `random_state`.
    """

    estimator: Any
    reduce_dim: Any
    random_state: Any

    # -- the estimator inside ------------------------------------------------------------------
    def _inner(self) -> Any:
        """The estimator, MPCKMeans by default."""
        return MPCKMeans() if self.estimator is None else self.estimator

    def _fresh_inner(self, rng: np.random.RandomState, sample_weight: Any) -> Any:
        """An unfitted copy of it, seeded from `random_state` where that is given."""
        inner = self._inner()
        if isinstance(inner, Pipeline) and takes_pairs(inner):
            inner = PipelineClusterer(inner)
        if not (hasattr(inner, "get_params") and has_fit_parameter(inner, "constraints")):
            raise InvalidParameter(
                f"estimator={inner!r} takes no constraints in fit; give a clusterer of Coterie, or "
                "a pipeline with a step that takes them, as RCA does."
            )
        if sample_weight is not None and not has_fit_parameter(inner, "sample_weight"):
            raise InvalidParameter(
                f"sample_weight was given, but {type(inner).__name__} takes none."
            )
        _refuse_if_every_pair_is_kept(inner)
        copy = clone(inner)
        if self.random_state is not None:
            whole = isinstance(self.random_state, numbers.Integral)
            seed = self.random_state if whole else int(rng.randint(2**31 - 1))
            seeded = [name for name in copy.get_params() if name.split("__")[-1] == "random_state"]
            copy.set_params(**dict.fromkeys(seeded, seed))
        return copy

    def _rng(self) -> np.random.RandomState:
        return check_random_state(self.random_state)

    def _default_certainty(self, inner: Any) -> float:
        return float(getattr(inner, "default_certainty", 0.95))

    def _space(self, X: Any, known: Constraints) -> Any:
        """The rows in the space that `reduce_dim` finds, or as they are where it is None."""
        if self.reduce_dim is None:
            return X
        reducer = clone(self.reduce_dim)
        told = {"constraints": known} if has_fit_parameter(reducer, "constraints") else {}
        return reducer.fit(X, **told).transform(X)

    # -- what every fit publishes --------------------------------------------------------------
    def _publish(self, inner: Any, source: Constraints, propagated: Constraints) -> None:
        self.estimator_ = inner.pipeline_ if isinstance(inner, PipelineClusterer) else inner
        self.labels_ = inner.labels_
        self.constraints_ = source
        self.propagated_constraints_ = propagated
        self.n_propagated_ = int(is_new(propagated, source).sum())
        self.violations_ = own_violations(inner, source, self._default_certainty(inner))

    def diagnose(self, y: Any) -> Diagnosis:
        """Precision of the propagated pairs of the last fit, given true classes (n,)."""
        check_is_fitted(self)
        return diagnose(self.propagated_constraints_, self.constraints_, y)

    # -- cluster numbers, and rows that join: by the estimator inside ----------------------------
    @property
    def _clusterer(self) -> Any:
        """The clusterer inside, last of a pipeline."""
        inner = self.estimator_
        return inner.steps[-1][1] if isinstance(inner, Pipeline) else inner

    def _count_clusters(self) -> int | None:
        inner = self._clusterer
        return inner._count_clusters() if isinstance(inner, ConstrainedClusterer) else None

    def _put_in_order(self, order: NDArray[np.int64]) -> None:
        inner = self._clusterer
        number = np.argsort(order)
        inner._put_in_order(order)
        before = inner.labels_
        inner.labels_ = np.where(before >= 0, number[before], before).astype(before.dtype)

    def _check_new_rows(self, X: Any) -> Any:
        """Rows in files are left to the estimator inside, which reads them or says why not."""
        X = as_source(X)
        return X if isinstance(X, StoredRows) else super()._check_new_rows(X)

    def _places(self, X: Any) -> Places:
        inner = self.estimator_
        if not isinstance(inner, ExtensibleClusterer):
            raise InvalidParameter(
                f"{type(inner).__name__} inside {type(self).__name__} takes no new rows after a "
                "fit; call fit on all rows, then renumber_like(old) for the old numbers."
            )
        return inner._places(X)

    def _pairs_of_new_rows(self, pairs: Constraints) -> Constraints:
        return self._clusterer._pairs_of_new_rows(pairs)

    def _admit(self, X: Any, placed: Placed) -> None:
        inner = self.estimator_
        inner._admit(X, placed)
        inner.labels_ = np.append(inner.labels_, placed.labels.astype(inner.labels_.dtype))

    # -- new rows: what the estimator inside offers ----------------------------------------------
    @available_if(_inner_has("predict"))
    def predict(self, X: Any) -> Array:
        """The cluster of each row, (n,), by the estimator inside."""
        check_is_fitted(self)
        return self.estimator_.predict(self._check_new_rows(X))

    @available_if(_inner_has("predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """Posterior of each row's cluster, (n, K), by the estimator inside."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(self._check_new_rows(X))

    @available_if(_inner_has("score"))
    def score(self, X: Any, y: Any = None) -> float:
        """Score of the estimator inside."""
        check_is_fitted(self)
        return float(self.estimator_.score(self._check_new_rows(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = self._inner()
        if hasattr(inner, "__sklearn_tags__"):
            tags.input_tags.sparse = get_tags(inner).input_tags.sparse
        return tags


def _refuse_if_every_pair_is_kept(inner: Any) -> None:
    """Propagated pairs are guesses, some of them wrong, and must be able to give way."""
    if isinstance(inner, PipelineClusterer):
        inner = inner.pipeline.steps[-1][1]
    if isinstance(inner, _KEEPING) or getattr(inner, "w", None) == np.inf:
        how = " with w=inf" if not isinstance(inner, _KEEPING) else ""
        raise InvalidParameter(
            f"{type(inner).__name__}{how} takes every pair for certain, but propagated pairs are "
            "guesses: put an estimator inside that weighs its pairs, such as PCKMeans. Pairs of "
            "yours that must be kept can be hard (constraints.as_hard()); they stay so, and hand "
            "on soft ones."
        )


def own_violations(inner: Any, source: Constraints, default_certainty: float) -> PairTable:
    """The user's own broken pairs, each with its share of what the fit paid for the two rows.

    The estimator inside was given each pair once, merged with its repetitions and with what was
    propagated onto it; costs are in proportion to weights.
    """
    paid = inner.violations_
    keys = 2 * (paid.i * source.n_samples + paid.j) + (paid.kind > 0)
    order = np.argsort(keys, kind="stable")
    keys, cost = keys[order], paid.value[order]
    at = np.searchsorted(keys, pair_keys(source))
    found = np.zeros(source.n_pairs, dtype=bool)
    inside = at < keys.size
    found[inside] = keys[at[inside]] == pair_keys(source)[inside]
    value = np.zeros(source.n_pairs)
    value[found] = cost[at[found]] * _share_of_merged(source, default_certainty)[found]
    return broken_pairs(inner.labels_, source, value)


def _share_of_merged(source: Constraints, default_certainty: float) -> NDArray[np.float64]:
    """Weight of each pair (m,) divided by that of all its repetitions; hard pairs count whole."""
    merged = read_sources(source, default_certainty)
    merged_keys = 2 * (merged.pairs[:, 0] * source.n_samples + merged.pairs[:, 1])
    merged_keys = merged_keys + (merged.kind > 0)
    strength = source.strength(default_certainty)
    plain = np.log(default_certainty / (1 - default_certainty))
    whole = np.ones(source.n_pairs)
    told = (strength > 0) & np.isfinite(strength)
    total = merged.weight[np.searchsorted(merged_keys, pair_keys(source)[told])]
    whole[told] = strength[told] / plain / total
    return whole
