"""The base of every estimator: what `fit` accepts, and what is told about broken pairs."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from coterie.constraints import Constraints, PairTable
from coterie.constraints.exclusive import broken as broken_in_groups
from coterie.constraints.exclusive import written_for
from coterie.data import DaskRows, StoredRows, is_dask, is_stream, spooled
from coterie.exceptions import InvalidData, InvalidParameter, UnknownParameter
from coterie.loaded import guard_uses
from coterie.parameters import check_parameters
from coterie.progress import announce_compiling
from coterie.stability import renumber
from coterie.validation import (
    check_constraints,
    check_rows,
    check_sample_weight,
    refuse_constraints_as_y,
)
from coterie.words import nearest

__all__ = [
    "ConstrainedClusterer",
    "as_source",
    "broken_pairs",
    "check_source",
    "refuse_stored_rows",
]

_READERS = (
    "PCKMeans and its family, Mosaic, DPMeans, RDPMeans, PPC, RCA and "
    "TVClust(inference='variational') read rows in files."
)


def as_source(X: Any) -> Any:
    """X, or its rows as `StoredRows` where they are Dask's or come as a stream."""
    if is_dask(X):
        return DaskRows(X)
    return spooled(X) if is_stream(X) else X


def check_source(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Rows in memory as `check_rows` returns them, others as `StoredRows` of the right width.

    An estimator that needs them in memory (`_reads_stored_rows` is False) refuses others, and says
    in `_instead` what to use.
    """
    tags = get_tags(estimator).input_tags
    if isinstance(X, np.ndarray):
        return check_rows(estimator, X, tags, reset=reset)
    if estimator._reads_stored_rows or not is_stream(X):  # else a stream is read into memory
        X = as_source(X)
    if not isinstance(X, StoredRows):
        return check_rows(estimator, X, tags, reset=reset)
    if not estimator._reads_stored_rows:
        refuse_stored_rows(type(estimator).__name__, estimator._instead)
    if X.is_sparse and not tags.sparse:
        raise InvalidData(
            f"{type(estimator).__name__} takes dense rows, and these are sparse; write them as "
            "columns of Parquet files, or use PCKMeans."
        )
    if not X.n:
        raise InvalidData("there is no row.")
    # Width and names of the columns by one row; values are checked as they are read.
    check_rows(estimator, X.head(), tags, reset=reset)
    return X


def refuse_stored_rows(name: str, instead: str) -> None:
    """Say that rows are needed in memory, and what to do."""
    raise InvalidData(
        f"{name} works on rows in memory; read them (rows.read(0, rows.n)) if they fit. "
        f"{instead or _READERS}"
    )


def in_memory(X: Any) -> Any:
    """Rows, read whole if they are in files."""
    return X.read(0, X.n) if isinstance(X, StoredRows) else X


def broken_pairs(
    labels: NDArray[Any], constraints: Constraints, cost: NDArray[np.float64], scale: float = 1.0
) -> PairTable:
    """The user's pairs that `labels` (n,) break, each with its cost (m,), worst first.

    Those of exclusive groups too, where a plain pair costs `scale`.
    """
    same = labels[constraints.pairs[:, 0]] == labels[constraints.pairs[:, 1]]
    broken = np.flatnonzero(same != (constraints.kind > 0))
    pairs, kind, value = constraints.pairs[broken], constraints.kind[broken], cost[broken]
    if constraints.exclusive.rows.size:
        grouped, group_cost = broken_in_groups(constraints.exclusive, labels)
        pairs = np.concatenate([pairs, grouped])
        kind = np.concatenate([kind, np.full(len(grouped), -1, dtype=np.int8)])
        value = np.concatenate([value, scale * group_cost])
    return PairTable(pairs[:, 0], pairs[:, 1], kind, value)


def _with_names_meant(init: Callable[..., None]) -> Callable[..., None]:
    """`init`, refusing a parameter that it does not have with the name that was meant."""
    taken = inspect.signature(init).parameters
    known = [*taken][1:]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values()):
        return init

    @functools.wraps(init)
    def checked(self: Any, *args: Any, **parameters: Any) -> None:
        _refuse_unknown(self, parameters, known)
        init(self, *args, **parameters)

    return checked


def _refuse_unknown(estimator: Any, names: Iterable[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            hint = nearest(name, known) or f" It has {', '.join(known)}."
            raise UnknownParameter(f"{type(estimator).__name__} has no parameter {name!r}.{hint}")


class ConstrainedClusterer(ClusterMixin, BaseEstimator):
    """A clusterer that takes `constraints` in `fit`.

    Subclasses call `_check_fit_input` first and publish attributes ending in `_` last, so a fit
    that fails leaves an earlier fit as it was.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        if "fit" in vars(cls) and "constraints" in inspect.signature(cls.fit).parameters:
            # With scikit-learn's metadata routing, constraints go to whoever takes them.
            for method in ("fit", "fit_predict"):
                setattr(cls, f"__metadata_request__{method}", {"constraints": True})
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            cls.__init__ = _with_names_meant(cls.__init__)  # type: ignore[method-assign]
        guard_uses(cls)

    labels_: Any
    _keeps_groups = False  # whether exclusive groups need not be written out as pairs
    _reads_stored_rows = False  # whether rows in files are read by passes and never gathered
    _instead = ""  # why not and what to do, in sentences; "": the estimators that do

    def _check_fit_input(
        self, X: Any, y: Any, constraints: Any, sample_weight: Any = None
    ) -> tuple[Any, Constraints, NDArray[np.float64] | None]:
        """Rows (float32/64, dense or CSR, or in files), constraints for them, weights or None.

        `y` is ignored, unless it is a `Constraints`: a slip that would cost the user every pair.
        """
        refuse_constraints_as_y(self, y)
        check_parameters(self)
        announce_compiling()
        X = self._check_rows(X, reset=True)
        pairs = check_constraints(constraints, X.shape[0])
        if pairs.exclusive.rows.size and not self._keeps_groups:
            pairs = written_for(pairs, type(self).__name__)
        return X, pairs, check_sample_weight(sample_weight, X.shape[0])

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; those of a part of it as part__name."""
        names = [name.partition("__")[0] for name in params]
        _refuse_unknown(self, names, list(self.get_params(deep=False)))
        super().set_params(**params)
        return self

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
        return check_source(self, X, reset=reset)

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
        count = self._count_clusters()
        if count is None:
            raise InvalidParameter(
                f"{type(self).__name__} cannot put its clusters in another order; "
                "coterie.renumber(labels, like=old) does so for labels."
            )
        before = self.labels_
        after = renumber(
            before, getattr(old, "labels_", old), ids=ids, like_ids=old_ids, compact=True
        )
        number = np.full(max(count, int(before.max()) + 1), -1, dtype=np.int64)
        inside = before >= 0
        number[before[inside]] = after[inside]
        number[number < 0] = np.setdiff1d(np.arange(number.size), after)  # empty clusters
        self._put_in_order(np.argsort(number))
        self.labels_ = after.astype(before.dtype)
        return self

    def _count_clusters(self) -> int | None:
        """How many clusters there are, empty ones too; None: they cannot be reordered."""
        names = self._by_cluster()
        if names is None:
            return None
        return max((len(getattr(self, name)) for name in names), default=0)

    def _put_in_order(self, order: NDArray[np.int64]) -> None:
        """Let cluster `order[k]` be cluster k, in all that goes by cluster but `labels_`."""
        for name in self._by_cluster() or ():
            setattr(self, name, getattr(self, name)[order])

    def _by_cluster(self) -> tuple[str, ...] | None:
        """Attributes that hold one entry for each cluster; None: clusters cannot be reordered."""
        return None

    def map(
        self,
        X: Any,
        *,
        records: Any = None,
        ids: Any = None,
        fields: Sequence[str] = (),
        constraints: Constraints | None = None,
    ) -> Any:
        """All rows in the colours of their clusters, to zoom and hover in a notebook's cell.

        Needs the extra `widget`; it only shows, and `ActiveSession.widget` also takes answers.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows that the model was fitted to.
        records : data frame or dict of columns, optional
            What is shown of each row; the features if not given.
        ids : sequence of str, optional
        fields : sequence of str
            Columns that are shown; the first 12 if not given.
        constraints : Constraints, optional
            Pairs to draw as lines, red where the labels break them.
        """
        # The studio stands above estimators, so it is fetched by name when somebody asks for it.
        above = import_module("coterie.studio.widget")
        return above.model_map(self, X, records, ids, fields, constraints)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a directory of JSON and .npy files (see `coterie.load`)."""
        from coterie.persistence import save

        save(self, path)
