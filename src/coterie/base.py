"""The base of every estimator: what `fit` accepts, and what is told about broken pairs."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from coterie.constraints import Constraints, PairTable
from coterie.constraints.exclusive import broken as broken_in_groups
from coterie.constraints.exclusive import written_for
from coterie.data import DaskRows, StoredRows, is_dask
from coterie.exceptions import InvalidData, InvalidParameter
from coterie.progress import announce_compiling
from coterie.stability import renumber
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

    labels_: Any
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

    def renumber_like(self, old: Any, *, ids: Any = None, old_ids: Any = None) -> Self:
        """Give the clusters the numbers of an earlier clustering that they share most rows with.

        Labels, centres and whatever else goes by cluster are put in that order, and nothing else
        changes. Where there are fewer clusters than before, their numbers are still 0..K−1.

        Parameters
        ----------
        old : fitted model, or labels (m,)
        ids, old_ids : sequences, optional
            The id of every row of each fit, where rows came, went or changed places.
        """
        check_is_fitted(self)
        ordered = self._by_cluster()
        if ordered is None:
            raise InvalidParameter(
                f"{type(self).__name__} cannot put its clusters in another order; "
                "coterie.renumber(labels, like=old) does so for labels."
            )
        before = self.labels_
        after = renumber(
            before, getattr(old, "labels_", old), ids=ids, like_ids=old_ids, compact=True
        )
        count = max((len(getattr(self, name)) for name in ordered), default=0)
        number = np.full(max(count, int(before.max()) + 1), -1, dtype=np.int64)
        number[before] = after
        number[number < 0] = np.setdiff1d(np.arange(number.size), after)  # empty clusters
        order = np.argsort(number)
        for name in ordered:
            setattr(self, name, getattr(self, name)[order])
        self.labels_ = after.astype(before.dtype)
        return self

    def _by_cluster(self) -> tuple[str, ...] | None:
        """Attributes that hold one entry for each cluster; None: clusters cannot be reordered."""
        return None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a directory of JSON and .npy files (see `coterie.load`)."""
        from coterie.persistence import save

        save(self, path)
