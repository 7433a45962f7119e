"""`Dossier`: records of the same thing, thousands of small clusters, their number unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from coterie.base import ConstrainedClusterer, broken_pairs
from coterie.constraints import Constraints, PairTable
from coterie.constraints.exclusive import written_for
from coterie.data import one_blas_thread
from coterie.exceptions import InvalidData, InvalidParameter
from coterie.extension import check_extension, refuse_broken
from coterie.parameters import check_parameters
from coterie.progress import announce_compiling
from coterie.records.candidates import given_pairs, most_alike, places, unique_pairs
from coterie.records.comparison import Comparison, compared_names
from coterie.records.estimates import expected_precision, expected_recall
from coterie.records.explaining import PairExplanation, explain_levels
from coterie.records.fields import Field, read_fields
from coterie.records.inputs import (
    as_objects,
    check_hard,
    columns_of,
    group_numbers,
    only_numbers,
)
from coterie.records.newcomers import Known, joined_clusters, nearest_clusters
from coterie.records.partition import Graph, objective
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
from coterie.words import warn

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
    threshold : float or "auto", default="auto"
        Probability from which two records alone are joined. Higher: fewer wrong joins, more that
        are missed; see `precision_` and `recall_`. "auto" is 0.5 without answers, and then the one
        of the best expected F1, which is lower where much is in doubt.
    exclusive : str or array-like of shape (n_samples,), optional
        Column (or values) of groups that hold a thing at most once, for instance the source of
        each record when two clean files are linked: records of one group are never joined.
        Missing values are in no group.
    error_rate : float or "estimate", default="estimate"
        How often answers without a certainty are wrong.
    candidates : array-like of shape (m, 2), str or list of str, optional
        Further pairs of rows to compare; or columns: records that share a value in one of them
        are compared, where they are at most 100.

    Attributes
    ----------
    labels_ : (n,) int64
        Numbered in the order of the rows.
    n_clusters_ : int
    precision_, recall_ : float
        Estimated share of the joined pairs that are right, and of the right pairs that are joined.
    threshold_ : float
        That was used.
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
    rivals_ : Rivals
        The records most like each record.
    exclusive_, groups_ : (n,) int64, list of str
        The exclusive group of every record by number, −1 for none, and what the groups are called.
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
        threshold: float | str = "auto",
        exclusive: str | ArrayLike | None = None,
        error_rate: float | str = "estimate",
        candidates: ArrayLike | str | Sequence[str] | None = None,
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
        threshold, error_rate = self._rates()
        fields, exclusive, names = self._read(X, reset=True)
        n = len(fields[0].values)
        given = written_for(check_constraints(constraints, n), type(self).__name__)
        check_hard(given, exclusive)
        with one_blas_thread():
            problem = pose(fields, exclusive, given_pairs(self.candidates, columns_of(X), n))
            solution = solve(problem, given, error_rate=error_rate, threshold=threshold)
        self._publish(fields, problem, solution, given)
        self.groups_ = names
        _warn_of_large_clusters(self.labels_)
        return self

    def _rates(self) -> tuple[float | None, float | None]:
        """Threshold and error rate; None where they are to be found."""
        threshold = None if isinstance(self.threshold, str) else float(self.threshold)
        estimate = isinstance(self.error_rate, str)
        return threshold, None if estimate else float(max(self.error_rate, 1e-3))

    def _read(self, X: Any, *, reset: bool) -> tuple[list[Field], Int, list[str]]:
        """The fields, the exclusive group of every record (−1: none), and the groups."""
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
        kinds = self.fields
        if not reset and columns is not None:  # few new values may look like another kind
            kinds = {f.name: f.kind for f in self.fields_ if f.name in columns}
        found = self.fields is None
        fields = read_fields(X if columns is None else columns, kinds, found=found)
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
        return fields, *group_numbers(groups, n, () if reset else self.groups_)

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

    def _publish(
        self, fields: list[Field], problem: RecordProblem, solution: Solution, given: Constraints
    ) -> None:
        labels = solution.labels
        at = places(given.must_link, problem.pairs, problem.n)
        held = np.append(problem.pairs, [[-1, -1]], axis=0)[at]
        hits = (held == given.must_link).all(axis=1)
        self.labels_ = labels
        self.n_clusters_ = int(labels.max()) + 1
        self.precision_ = expected_precision(solution)
        self.recall_ = expected_recall(solution, problem.exclusive)
        self.candidate_recall_ = float(hits.mean()) if hits.size else float("nan")
        self.threshold_ = solution.threshold
        self.error_rate_ = solution.belief.error_rate
        self.pairs_ = solution.pairs
        self.log_odds_ = solution.log_odds
        self.separation_ = problem.classes.separation
        self.fields_ = fields
        self.belief_ = solution.belief
        self.constraints_ = given
        self.exclusive_ = problem.exclusive
        self.rivals_ = problem.rivals
        self.violations_ = self._broken(labels, given)
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
        said = told(every, self.constraints_, self.belief_, n)
        at = places(np.sort(rows, axis=1), every, n)
        own = rows[:, 0] == rows[:, 1]
        answers = np.where(own, np.inf, said[np.where(own, 0, at)] if every.size else 0.0)
        return self.belief_.log_odds(levels, rows, self.rivals_) + answers, levels

    def explain(self, i: int, j: int) -> PairExplanation:
        """Why records i and j are taken to be the same or not, by field."""
        rows = self._check_pairs([(i, j)])
        total, levels = self._pair_log_odds(rows)
        names = compared_names(self.fields_)
        answers = float(total[0] - self.belief_.log_odds(levels, rows, self.rivals_)[0])
        lead = self.rivals_.lead(rows, self.belief_.classes.log_odds(levels))
        return explain_levels(self.belief_, names, levels[0], float(lead[0]), answers)

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
        new, groups, _ = self._read(X, reset=False)
        return nearest_clusters(self._known(), new, groups)

    def extend(self, X: Any, *, constraints: Any = None) -> Int:
        """Add new records to the model: each joins a cluster or founds one; their labels, (n,).

        Clusters that were there stay as they are and keep their numbers. Nothing is learned from
        the new records or the answers about them.

        Parameters
        ----------
        X : as for `fit`
        constraints : Constraints, optional
            Further answers, of all records so far and then the new ones. Hard ones are kept;
            answers about two old records change nothing, and are broken or not.
        """
        check_is_fitted(self)
        new, groups, names = self._read(X, reset=False)
        n, m = self.labels_.size, groups.size
        given = written_for(check_extension(constraints, n, m), type(self).__name__)
        refuse_broken(given, self.labels_)
        added, rivals = joined_clusters(self._known(), new, groups, given)
        self.fields_ = [old.joined(f) for old, f in zip(self.fields_, new, strict=True)]
        self.labels_ = np.concatenate([self.labels_, added])
        self.n_clusters_ = np.unique(self.labels_).size
        self.exclusive_ = np.concatenate([self.exclusive_, groups])
        self.groups_ = names
        self.rivals_ = rivals
        self.constraints_ = self.constraints_.relabel(np.arange(n), n + m) + given
        self.violations_ = self._broken(self.labels_, self.constraints_)
        return added

    def _broken(self, labels: Int, given: Constraints) -> PairTable:
        strength = given.strength(1.0 - min(self.error_rate_, 0.49))
        return broken_pairs(labels, given, strength)

    def _by_cluster(self) -> tuple[str, ...]:
        return ()  # only labels go by cluster

    def _known(self) -> Known:
        return Known(
            self.fields_,
            self.labels_,
            self.exclusive_,
            self.belief_,
            self.rivals_,
            self.threshold_,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags


def pose_records(
    X: Any, *, fields: Any = None, exclusive: Any = None, candidates: Any = None
) -> RecordProblem:
    """Candidates and kinds of pairs of these records, for `solve` with answers as they come.

    Parameters are those of `Dossier`.
    """
    read, groups, _ = Dossier(fields, exclusive=exclusive)._read(X, reset=True)
    with one_blas_thread():
        problem = pose(read, groups, given_pairs(candidates, columns_of(X), groups.size))
        return problem._replace(twins=most_alike(read, groups))


def _warn_of_large_clusters(labels: Int) -> None:
    sizes = np.bincount(labels)
    if np.median(sizes[labels]) >= _LARGE:
        warn(
            f"half of the records are in clusters of {_LARGE} and more. Dossier is made for small "
            "clusters; Mosaic or PCKMeans is the better choice here.",
        )
