"""The base of every estimator: what `fit` accepts, and what is told about broken pairs."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin

from coterie.constraints import Constraints, PairTable
from coterie.constraints.exclusive import broken as broken_in_groups
from coterie.constraints.exclusive import written_for
from coterie.data import DaskRows, StoredRows, is_dask
from coterie.exceptions import InvalidData
from coterie.progress import announce_compiling
from coterie.validation import (
    check_constraints,
    check_rows,
    check_sample_weight,
    refuse_constraints_as_y,
)

__all__ = ["ConstrainedClusterer", "broken_pairs"]


def broken_pairs(
    labels: NDArray[Any], constraints: Constraints, cost: NDArray[np.float64], scale: float = 1.0
) -> PairTable:
    """The user's pairs that `labels` (n,) break, each with its cost (m,), worst first.

    Those of exclusive groups too, where a plain pair costs `scale`.
    """
    same = labels[constraints.pairs[:, 0]] == labels[constraints.pairs[:, 1]]
    broken = np.flatnonzero(same != (constraints.kind > 0))
    grouped, group_cost = broken_in_groups(constraints.exclusive, labels)
    pairs = np.concatenate([constraints.pairs[broken], grouped])
    kind = np.concatenate([constraints.kind[broken], np.full(len(grouped), -1, dtype=np.int8)])
    value = np.concatenate([cost[broken], scale * group_cost])
    return PairTable(pairs[:, 0], pairs[:, 1], kind, value)


class ConstrainedClusterer(ClusterMixin, BaseEstimator):
    """A clusterer that takes `constraints` in `fit`.

    Subclasses call `_check_fit_input` first and publish attributes ending in `_` last, so a fit
    that fails leaves an earlier fit as it was.
    """

    # With scikit-learn's metadata routing, constraints go to every clusterer that takes them.
    __metadata_request__fit = {"constraints": True}  # noqa: RUF012
    __metadata_request__fit_predict = {"constraints": True}  # noqa: RUF012

    _keeps_groups = False  # whether exclusive groups need not be written out as pairs
    _reads_stored_rows = False  # whether rows in files are read by passes and never gathered

    def _check_fit_input(
        self, X: Any, y: Any, constraints: Any, sample_weight: Any = None
    ) -> tuple[Any, Constraints, NDArray[np.float64] | None]:
        """Rows (float32/64, dense or CSR, or in files), constraints for them, weights or None.

        `y` is ignored, unless it is a `Constraints`: a slip that would cost the user every pair.
        """
        refuse_constraints_as_y(self, y)
        announce_compiling()
        X = self._check_rows(X, reset=True)
        pairs = check_constraints(constraints, X.shape[0])
        if not self._keeps_groups:
            pairs = written_for(pairs, type(self).__name__)
        return X, pairs, check_sample_weight(sample_weight, X.shape[0])

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[Any]:
        """Fit and return `labels_`, (n_samples,); arguments as in `fit`."""
        # scikit-learn's own drops y before `fit` could look at it.
        refuse_constraints_as_y(self, y, "fit_predict")
        labels: NDArray[Any] = super().fit_predict(X, y, **kwargs)
        return labels

    def _check_new_rows(self, X: Any) -> Any:
        """Rows for `predict` and `transform`, with the columns seen in `fit`."""
        return self._check_rows(X, reset=False)

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        sparse = self.__sklearn_tags__().input_tags.sparse
        if is_dask(X):
            X = DaskRows(X)
        if not isinstance(X, StoredRows):
            return check_rows(self, X, reset=reset, sparse=sparse)
        if not self._reads_stored_rows:
            raise InvalidData(
                f"{type(self).__name__} works on rows in memory; read them (rows.read(0, rows.n)) "
                "if they fit, or use one that reads rows in files: PCKMeans and its family."
            )
        if not X.n:
            raise InvalidData("there is no row.")
        # Width and names of the columns by one row; values are checked as they are read.
        check_rows(self, X.head(), reset=reset, sparse=sparse)
        return X

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a directory of JSON and .npy files (see `coterie.load`)."""
        from coterie.persistence import save

        save(self, path)
