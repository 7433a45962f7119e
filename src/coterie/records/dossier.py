"""`Dossier`: records of the same thing, thousands of small clusters, their number unknown."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from coterie.base import ConstrainedClusterer, broken_pairs
from coterie.constraints import Constraints, PairTable
from coterie.constraints.exclusive import written_for
from coterie.data import one_blas_thread
from coterie.exceptions import CoterieWarning, InvalidData, InvalidParameter
from coterie.parameters import check_parameters
from coterie.progress import announce_compiling
from coterie.records.candidates import find_candidates, unique_pairs
from coterie.records.comparison import Comparison
from coterie.records.explaining import PairExplanation, explain_levels
from coterie.records.fields import Field, read_fields
from coterie.records.inputs import (
    as_objects,
    check_hard,
    columns_of,
    group_numbers,
    only_numbers,
)
from coterie.records.partition import Graph, objective, partition
from coterie.records.problem import (
    PENALTY,
    RecordProblem,
    Solution,
    logistic,
    pose,
    solve,
    told,
)
from coterie.validation import check_constraints, refuse_constraints_as_y

__all__ = ["Dossier", "pose_records"]

Int = NDArray[np.int64]

_LARGE = 50  # rows of a cluster: from here on other estimators do better


class Dossier(ConstrainedClusterer):
    """Which records are about the same person, place or product.

    For many small clusters, of one to a few dozen records each, whose number nobody knows. Records
    are compared field by field; nothing needs to be told, and every answer ("these two are the
    same") helps.

    1. Candidate pairs: nearest neighbours by character n-grams and records that share rare values,
       a fixed number a record.
    2. Levels of likeness in every field; a missing value is a level of its own, and equality of a
       rare value counts for more than of a common one.
    3. P(same): a mixture of classes of pairs by EM (Fellegi and Sunter 1969), which looks for more
       than two kinds of pairs, and a regularised logistic regression around it as answers come.
    4. Clusters by correlation clustering of the log-odds.

    Parameters
    ----------
    fields : mapping of str, optional
        Column to kind: "text", "date", "number", "category", "set" (members parted by ; | or ,) or
        "vector". Only these are compared. None: every column, its kind by its values. Of an array
        of numbers, name to the slice or list of its columns; None: all are one vector.
    threshold : float, default=0.5
        Probability from which two records alone are joined. Higher: fewer wrong joins, more that
        are missed; see `precision_` and `recall_`.
    exclusive : str or array-like of shape (n_samples,), optional
        Column (or values) of groups that hold a thing at most once, for instance the source of
        each record when two clean files are linked: records of one group are never joined.
        Missing values are in no group.
    error_rate : float or "estimate", default="estimate"
        How often answers without a certainty are wrong.
    candidates : array-like of shape (m, 2), optional
        Further pairs of rows to compare.

    Attributes
    ----------
    labels_ : (n,) int64
        Numbered in the order of the rows.
    n_clusters_ : int
    precision_, recall_ : float
        Estimated share of the joined pairs that are right, and of the right pairs that are joined.
    objective_ : float
        Sum of log-odds within clusters, in nats.
    violations_ : PairTable
        Answers that the clusters break, with their costs.
    candidate_recall_ : float
        Share of the answers "same" that were among the candidates; NaN without any.
    error_rate_ : float
        Of the answers.
    pairs_ : (m, 2) int64
        Pairs that were compared.
    log_odds_ : (m,)
        Of "same", by fields and answers, in nats.
    separation_ : float
        How clear-cut the classes of pairs are, up to 1. Low: answers are worth most.
    fields_ : list of Field
        The records, as they are compared.
    belief_ : Belief
    constraints_ : Constraints

    Examples
    --------
    >>> from coterie.records import Dossier
    >>> people = {"name": ["Ann Lee", "Anne Lee", "Bob Ray", "Cid Orr"],
    ...           "phone": ["228-0199", "228 0199", "907-4432", "613-5077"],
    ...           "town": ["Bern", "Bern", "Bern", "Basel"]}
    >>> Dossier().fit(people).labels_.tolist()
    [0, 0, 1, 2]
    """

    def __init__(
        self,
        fields: Mapping[str, Any] | None = None,
        *,
        threshold: float = 0.5,
        exclusive: str | ArrayLike | None = None,
        error_rate: float | str = "estimate",
        candidates: ArrayLike | None = None,
    ) -> None:
        self.fields = fields
        self.threshold = threshold
        self.exclusive = exclusive
        self.error_rate = error_rate
        self.candidates = candidates

    # -- fitting -----------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> Self:
        """Find the records that are the same.

        Parameters
        ----------
        X : data frame, dict of columns, or array (n_samples, n_features)
        y : ignored
        constraints : Constraints, optional
            Answers. Hard ones are never broken.
        """
        refuse_constraints_as_y(self, y)
        check_parameters(self)
        announce_compiling()
        threshold, error_rate = self._check_parameters()
        fields, exclusive = self._read(X, reset=True)
        n = len(fields[0].values)
        given = written_for(check_constraints(constraints, n), type(self).__name__)
        check_hard(given, exclusive)
        with one_blas_thread():
            problem = pose(fields, exclusive, self._extra(n))
            solution = solve(problem, given, error_rate=error_rate, threshold=threshold)
        self._publish(fields, problem, solution, given)
        _warn_of_large_clusters(self.labels_)
        return self

    def _check_parameters(self) -> tuple[float, float | None]:
        threshold = self.threshold
        if not isinstance(threshold, int | float) or not 0 < threshold < 1:
            raise InvalidParameter(f"threshold={threshold!r} must lie between 0 and 1.")
        if self.error_rate == "estimate":
            return float(threshold), None
        if isinstance(self.error_rate, str) or not 0 <= self.error_rate < 0.5:
            raise InvalidParameter(
                f"error_rate={self.error_rate!r} must be 'estimate', or at least 0 and below 0.5: "
                "answers that are wrong half of the time say nothing."
            )
        return float(threshold), float(max(self.error_rate, 1e-3))

    def _read(self, X: Any, *, reset: bool) -> tuple[list[Field], Int]:
        """The fields and the exclusive group of every record (−1: none)."""
        columns = columns_of(X)
        if columns is None or (
            self.fields is None and self.exclusive is None and only_numbers(columns)
        ):
            X, columns = self._as_array(X, reset=reset), None
        groups: Any = self.exclusive
        if isinstance(groups, str):
            if columns is None or groups not in columns:
                known = "" if columns is None else f" The columns are {', '.join(columns)}."
                raise InvalidParameter(f"exclusive={groups!r} is no column of X.{known}")
            groups = columns[groups]
            columns = {name: column for name, column in columns.items() if name != self.exclusive}
        fields = read_fields(X if columns is None else columns, self.fields)
        n = len(fields[0].values)
        if not n:
            raise InvalidData("there is no row.")
        if reset and columns is not None:
            self.n_features_in_ = len(columns)
            self.feature_names_in_ = np.array(list(columns), dtype=object)
        if not reset:
            fields = self._in_order(fields)
            if not isinstance(self.exclusive, str):
                groups = None  # those that were given are of the fitted records
        return fields, group_numbers(groups, n)

    def _as_array(self, X: Any, *, reset: bool) -> Any:
        """Numbers as every estimator takes them; texts as an array of objects (n, d)."""
        texts = None if sparse.issparse(X) or hasattr(X, "columns") else as_objects(X)
        if texts is not None and any(isinstance(value, str) for value in texts.flat):
            if reset:
                self.n_features_in_ = texts.shape[1]
            return texts
        return self._check_rows(X, reset=reset)

    def _in_order(self, fields: list[Field]) -> list[Field]:
        """New records with the fields of the fitted ones."""
        found = {field.name: field for field in fields}
        lost = [field.name for field in self.fields_ if field.name not in found]
        if lost:
            raise InvalidData(
                f"the new records have no field {lost[0]!r}; the model compares "
                f"{', '.join(field.name for field in self.fields_)}."
            )
        same_kind = [found[field.name] for field in self.fields_]
        for new, old in zip(same_kind, self.fields_, strict=True):
            if new.kind != old.kind:
                raise InvalidData(
                    f"the field {new.name!r} holds {new.kind} in the new records and {old.kind} in "
                    "the fitted ones; name the kinds by `fields`."
                )
        return same_kind

    def _extra(self, n: int) -> Int:
        if self.candidates is None:
            return np.empty((0, 2), dtype=np.int64)
        pairs = np.asarray(self.candidates)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise InvalidParameter("candidates must be row numbers of shape (m, 2).")
        if pairs.size and not (pairs.min() >= 0 and pairs.max() < n):
            raise InvalidParameter(f"candidates name rows beyond 0 to {n - 1}.")
        return unique_pairs(pairs.astype(np.int64), n)

    def _publish(
        self, fields: list[Field], problem: RecordProblem, solution: Solution, given: Constraints
    ) -> None:
        labels = solution.labels
        i, j = solution.pairs.T
        chance = logistic(solution.log_odds)
        joined = labels[i] == labels[j]
        sure = chance[joined].sum()
        hits = np.isin(given.must_link @ [problem.n, 1], problem.pairs @ [problem.n, 1])
        self.labels_ = labels
        self.n_clusters_ = int(labels.max()) + 1
        self.precision_ = float(sure / joined.sum()) if joined.any() else 1.0
        self.recall_ = float(sure / chance.sum()) if chance.sum() > 0 else 1.0
        self.candidate_recall_ = float(hits.mean()) if hits.size else float("nan")
        self.error_rate_ = solution.belief.error_rate
        self.pairs_ = solution.pairs
        self.log_odds_ = solution.log_odds
        self.separation_ = problem.classes.separation
        self.fields_ = fields
        self.belief_ = solution.belief
        self.constraints_ = given
        self.exclusive_ = problem.exclusive
        strength = given.strength(1.0 - min(self.error_rate_, 0.49))
        self.violations_ = broken_pairs(labels, given, strength)
        finite = np.where(np.isfinite(solution.log_odds), solution.log_odds, 0.0)
        none = np.empty((0, 2), dtype=np.int64)
        graph = Graph(
            problem.n, solution.pairs, finite, PENALTY, none, none, problem.exclusive[:, None]
        )
        self.objective_ = objective(graph, labels)

    # -- looking at pairs --------------------------------------------------------------------------
    def pair_proba(self, pairs: ArrayLike) -> NDArray[np.float64]:
        """Probability that the two records of each pair (m, 2) are the same, (m,)."""
        return logistic(self._pair_log_odds(self._check_pairs(pairs))[0])

    def _check_pairs(self, pairs: ArrayLike) -> Int:
        check_is_fitted(self)
        rows = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        n = self.labels_.size
        if rows.size and not (rows.min() >= 0 and rows.max() < n):
            raise InvalidParameter(f"pairs name rows beyond 0 to {n - 1}.")
        return rows

    def _pair_log_odds(self, rows: Int) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Log-odds by fields and answers, and the levels."""
        levels = Comparison(self.fields_).levels(rows)
        n = self.labels_.size
        every = unique_pairs(np.concatenate([rows, self.constraints_.pairs]), n)
        said = told(every, self.constraints_, self.error_rate_, n)
        keys = rows.min(axis=1, initial=n) * n + rows.max(axis=1, initial=0)
        at = np.searchsorted(every @ [n, 1], keys)
        own = rows[:, 0] == rows[:, 1]
        answers = np.where(own, np.inf, said[np.where(own, 0, at)] if every.size else 0.0)
        return self.belief_.log_odds(levels) + answers, levels

    def explain(self, i: int, j: int) -> PairExplanation:
        """Why records i and j are taken to be the same or not, by field."""
        rows = self._check_pairs([(i, j)])
        total, levels = self._pair_log_odds(rows)
        names = [field.name for field in self.fields_]
        answers = float(total[0] - self.belief_.log_odds(levels)[0])
        return explain_levels(self.belief_, names, levels[0], answers)

    def suspect_pairs(self, k: int | None = 10) -> PairTable:
        """The `k` soft answers most likely wrong (None: all), each with that probability."""
        check_is_fitted(self)
        given = self.constraints_
        soft = np.flatnonzero(~given.is_hard & (given.weight > 0))
        same = self.pair_proba(given.pairs[soft])
        kind = given.kind[soft]
        i, j = given.pairs[soft].T
        return PairTable(i, j, kind, np.where(kind > 0, 1.0 - same, same), name="p_wrong")[:k]

    # -- new records -------------------------------------------------------------------------------
    def predict(self, X: Any) -> Int:
        """The cluster of each new record, (n,); −1 for one that is like none of the fitted.

        Each is compared with the fitted records alone; `extend` compares new ones with each other
        too, and gives new clusters numbers.
        """
        check_is_fitted(self)
        new, groups = self._read(X, reset=False)
        n = self.labels_.size
        pairs, weight, _ = self._compare_new(new, groups, among_new=False)
        found = np.full(len(new[0].values), -1, dtype=np.int64)
        if not len(pairs):
            return found
        # Sum of the log-odds with each cluster; members that are no candidates count against it.
        keys, back = np.unique(
            (pairs[:, 1] - n) * self.n_clusters_ + self.labels_[pairs[:, 0]], return_inverse=True
        )
        row, cluster = np.divmod(keys, self.n_clusters_)
        unlisted = np.bincount(self.labels_)[cluster] - np.bincount(back)
        total = np.asarray(np.bincount(back, weight) - PENALTY * unlisted)
        order = np.lexsort((-cluster, total))  # the best comes last, and stays
        order = order[total[order] > 0]
        found[row[order]] = cluster[order]
        return found

    def extend(self, X: Any) -> Int:
        """Add new records to the model: each joins a cluster or founds one; their labels, (n,).

        Clusters that were there stay as they are. Nothing is learned from the new records.
        """
        check_is_fitted(self)
        new, groups = self._read(X, reset=False)
        n, m = self.labels_.size, len(new[0].values)
        pairs, weight, exclusive = self._compare_new(new, groups, among_new=True)
        known = np.where(np.arange(n + m) < n, 0, -1)  # two known clusters are never joined
        _, first, back = np.unique(self.labels_, return_index=True, return_inverse=True)
        together = np.column_stack([first[back], np.arange(n)])
        none = np.empty((0, 2), dtype=np.int64)
        groups_of = np.column_stack([exclusive, known])
        graph = Graph(n + m, pairs, weight, PENALTY, together, none, groups_of)
        labels = partition(graph)
        number = dict(zip(labels[:n].tolist(), self.labels_.tolist(), strict=True))
        for label in labels[n:].tolist():
            number.setdefault(label, len(number))
        added = np.array([number[label] for label in labels[n:].tolist()], dtype=np.int64)
        self.fields_ = [old.joined(f) for old, f in zip(self.fields_, new, strict=True)]
        self.labels_ = np.concatenate([self.labels_, added])
        self.n_clusters_ = len(number)
        self.exclusive_ = exclusive
        self.constraints_ = self.constraints_.relabel(np.arange(n), n + m)
        return added

    def _compare_new(
        self, new: list[Field], groups: Int, *, among_new: bool
    ) -> tuple[Int, NDArray[np.float64], Int]:
        """Candidate pairs of new records, what it is worth to join them, and exclusive groups."""
        n = self.labels_.size
        fields = [old.joined(field) for old, field in zip(self.fields_, new, strict=True)]
        exclusive = np.concatenate([self.exclusive_, groups])
        pairs = find_candidates(fields, n_known=n, exclusive=exclusive)
        if among_new:
            own = find_candidates(new, exclusive=groups) + n
            pairs = unique_pairs(np.concatenate([pairs, own]), n + len(groups))
        # A record that is like one of a cluster is compared with all of it.
        mates = _cluster_mates(pairs[pairs[:, 0] < n], self.labels_)
        pairs = unique_pairs(np.concatenate([pairs, mates]), n + len(groups))
        apart = (exclusive[pairs[:, 0]] >= 0) & (exclusive[pairs[:, 0]] == exclusive[pairs[:, 1]])
        log_odds = self.belief_.log_odds(Comparison(fields, n).levels(pairs))
        log_odds -= np.log(self.threshold / (1 - self.threshold))
        return pairs, np.where(apart, -1e7, log_odds), exclusive

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags


def pose_records(X: Any, *, fields: Any = None, exclusive: Any = None) -> RecordProblem:
    """Candidates and kinds of pairs of these records, for `solve` with answers as they come.

    Parameters are those of `Dossier`.
    """
    read, groups = Dossier(fields, exclusive=exclusive)._read(X, reset=True)
    with one_blas_thread():
        return pose(read, groups, np.empty((0, 2), dtype=np.int64))


def _cluster_mates(pairs: Int, labels: Int) -> Int:
    """The new record of each pair (known, new) with every known one of the same cluster."""
    if not len(pairs):
        return pairs
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    asked = np.unique(np.column_stack([labels[pairs[:, 0]], pairs[:, 1]]), axis=0)
    many = np.minimum(sizes[asked[:, 0]], _LARGE)
    new = np.repeat(asked[:, 1], many)
    offset = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    return np.column_stack([order[np.repeat(starts[asked[:, 0]], many) + offset], new])


def _warn_of_large_clusters(labels: Int) -> None:
    sizes = np.bincount(labels)
    if np.median(sizes[labels]) >= _LARGE:
        warnings.warn(
            f"half of the records are in clusters of {_LARGE} and more. Dossier is made for small "
            "clusters; Mosaic or PCKMeans is the better choice here.",
            CoterieWarning,
            stacklevel=3,
        )
