"""Checks of what constraints mean, which is one thing for every estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.constraints import Constraints
from coterie.exceptions import InfeasibleConstraints, InvalidConstraints
from coterie.testing._capabilities import Capabilities
from coterie.testing._check import (
    broken,
    needs,
    require,
    require_same_labels,
    require_same_partition,
)
from coterie.testing._problems import blobs, crossed, noisy, pulled_row


@needs("constraints", "binding")
def check_constraints_matter(estimator: Any, can: Capabilities) -> None:
    """Where pairs contradict the data and weigh more, the labels follow the pairs."""
    problem = crossed()
    X = can.prepare(problem.X)
    without = 1 - broken(can.fit(estimator, X).labels_, problem.constraints).mean()
    told = (
        1 - broken(can.fit(estimator, X, problem.constraints).labels_, problem.constraints).mean()
    )
    require(
        told >= 0.9 and told > without,
        f"{told:.0%} of 80 heavy pairs are kept with them given, {without:.0%} without",
    )


@needs("constraints")
def check_order_and_orientation(estimator: Any, can: Capabilities) -> None:
    """The order of the pairs, and of the two rows of a pair, changes nothing."""
    problem = crossed(seed=1)
    X, pairs = can.prepare(problem.X), problem.constraints
    rng = np.random.default_rng(0)
    must, cannot = rng.permutation(pairs.must_link), rng.permutation(pairs.cannot_link)
    shuffled = Constraints(
        pairs.n_samples,
        must_link=must[:, ::-1],
        cannot_link=cannot[:, ::-1],
        must_weight=1000.0,
        cannot_weight=1000.0,
    )
    require_same_labels(
        can.fit(estimator, X, pairs).labels_,
        can.fit(estimator, X, shuffled).labels_,
        "the order of pairs and of the rows in a pair must not matter",
    )


@needs("constraints", "binding")
def check_numbering_of_rows(estimator: Any, can: Capabilities) -> None:
    """The same rows and pairs under other row numbers give the same groups.

    Renumbering also reverses and reorders the stored pairs, which a sequential treatment of the
    pair list would show.
    """
    problem = pulled_row()
    X, n = can.prepare(problem.X), problem.groups.size
    orders = [np.roll(np.arange(n), shift) for shift in (0, -3, 8)]  # the tied row: 3, first, 11
    orders += [np.arange(n)[::-1], np.random.default_rng(1).permutation(n)]
    for order in orders:
        number = np.empty(n, dtype=np.int64)
        number[order] = np.arange(n)  # row i becomes row number[i]
        labels = can.fit(estimator, X[order], problem.constraints.relabel(number)).labels_[number]
        require(
            not broken(labels, problem.constraints).any(),
            f"heavy pairs that can all be kept are broken when the rows are renumbered: {labels}",
        )
        if can.n_clusters is not None:
            require_same_partition(labels, problem.groups, "row numbers must not matter")


@needs("constraints", "soft")
def check_weight_is_multiplicity(estimator: Any, can: Capabilities) -> None:
    """A pair of weight 2 is the pair given twice; of weight 0, not given."""
    for seed in range(3):
        problem = noisy(seed)
        X, c = can.prepare(problem.X), problem.constraints
        double, twice = (
            can.fit(estimator, X, pairs, k=3) for pairs in (_reweighted(c, 2.0), c + c)
        )
        require_same_labels(double.labels_, twice.labels_, "weight 2 must equal the pair twice")
        zero, none = (can.fit(estimator, X, pairs, k=3) for pairs in (_reweighted(c, 0.0), None))
        require_same_labels(zero.labels_, none.labels_, "weight 0 must equal no pair")


def _reweighted(c: Constraints, factor: float) -> Constraints:
    return Constraints.from_arrays(c.n_samples, c.pairs, c.kind, weight=factor * c.weight)


@needs("constraints", "binding", "hard")
def check_hard_pairs_are_kept(estimator: Any, can: Capabilities) -> None:
    """No hard pair is broken, however strongly the data and soft pairs speak against it."""
    for seed in range(3):
        problem = crossed(seed)
        X, hard = can.prepare(problem.X), problem.constraints.as_hard()
        labels = can.fit(estimator, X, hard).labels_
        n_broken = int(broken(labels, hard).sum())
        require(not n_broken, f"{n_broken} of {hard.n_pairs} hard pairs are broken")
    problem = pulled_row(weight=np.inf)
    X = can.prepare(problem.X)
    against = Constraints(len(X), cannot_link=[(3, 14)], cannot_weight=100.0)
    pairs = problem.constraints + against if can.soft else problem.constraints
    labels = can.fit(estimator, X, pairs).labels_
    require(
        not broken(labels, problem.constraints).any(),
        "a hard must-link is broken for a soft cannot-link",
    )


@needs("constraints", "binding", "hard")
def check_infeasible_is_named(estimator: Any, can: Capabilities) -> None:
    """Hard pairs that cannot be kept raise InfeasibleConstraints with the pairs that clash."""
    X = can.prepare(blobs().X)
    n = len(X)
    path = Constraints(
        n, [(0, 1), (1, 2), (8, 9)], [(0, 2), (8, 20)], must_weight=np.inf, cannot_weight=np.inf
    )
    _require_infeasible(can.fresh(estimator), X, path, 3, "a must-link path and a cannot-link")
    if can.n_clusters is not None:
        triangle = Constraints(
            n, cannot_link=[(0, 1), (1, 2), (0, 2), (5, 6)], cannot_weight=np.inf
        )
        _require_infeasible(
            can.fresh(estimator, k=2), X, triangle, 3, "three rows apart in two clusters"
        )


def _require_infeasible(model: Any, X: Any, pairs: Constraints, size: int, what: str) -> None:
    try:
        model.fit(X, constraints=pairs)
    except InfeasibleConstraints as error:
        conflict = error.conflict
        require(conflict is not None, f"{what}: InfeasibleConstraints must carry .conflict")
        require(
            conflict is not None and conflict.n_pairs == size,
            f"{what}: .conflict must be the {size} pairs that clash, got {conflict!r}",
        )
        return
    raise AssertionError(f"{what} must raise InfeasibleConstraints; labels are {model.labels_}")


@needs("refuses_hard")
def check_hard_pairs_are_refused(estimator: Any, can: Capabilities) -> None:
    """An estimator that cannot keep hard pairs says so."""
    problem = crossed()
    X = can.prepare(problem.X)
    try:
        can.fit(estimator, X, problem.constraints.as_hard())
    except InvalidConstraints:
        return
    raise AssertionError("hard pairs must be refused by an estimator that does not keep them")


@needs("constraints")
def check_self_and_repeated_pairs(estimator: Any, can: Capabilities) -> None:
    """A must-link of a row with itself says nothing; repeating a hard pair neither."""
    problem = blobs()
    X, c = can.prepare(problem.X), can.pairs(problem.constraints)
    with_self = c + Constraints(c.n_samples, must_link=[(5, 5), (0, 0)])
    plain = can.fit(estimator, X, c).labels_
    require_same_labels(
        plain, can.fit(estimator, X, with_self).labels_, "a self must-link must change nothing"
    )
    if can.hard:
        hard = c.as_hard()
        require_same_labels(
            can.fit(estimator, X, hard).labels_,
            can.fit(estimator, X, hard + hard).labels_,
            "a hard pair given twice must be the pair given once",
        )


@needs("constraints", "soft")
def check_violations(estimator: Any, can: Capabilities) -> None:
    """`violations_` lists exactly the pairs that `labels_` break, worst first."""
    problem = noisy(seed=3)
    X, c = can.prepare(problem.X), problem.constraints
    # Both kinds for one pair: exactly one of them is broken.
    c = c + Constraints(c.n_samples, must_link=[(0, 1)], cannot_link=[(0, 1)])
    model = can.fit(estimator, X, c, k=3)
    table, wrong = model.violations_, broken(model.labels_, c)
    told = sorted(zip(table.i.tolist(), table.j.tolist(), table.kind.tolist(), strict=True))
    truth = sorted(
        (i, j, kind)
        for (i, j), kind in zip(c.pairs[wrong].tolist(), c.kind[wrong].tolist(), strict=True)
    )
    require(told == truth, f"violations_ lists {told}, broken are {truth}")
    value = np.asarray(table.value)
    require(not np.isnan(value).any() and (value >= 0).all(), f"costs must be >= 0: {value}")
    require((np.diff(value) <= 0).all(), f"the worst violation must come first: {value}")
    require(len(told) > 0, "one of two opposite pairs is always broken")


@needs("constraints")
def check_subset(estimator: Any, can: Capabilities) -> None:
    """`constraints.subset(rows)` with `X[rows]` is the problem posed about those rows alone."""
    problem = crossed(seed=2)
    X = can.prepare(problem.X)
    rows = np.arange(len(X))[4:]
    part = problem.constraints.subset(rows)
    inside = (problem.constraints.pairs >= 4).all(axis=1)
    by_hand = Constraints(
        len(rows),
        must_link=problem.constraints.pairs[inside & (problem.constraints.kind > 0)] - 4,
        cannot_link=problem.constraints.pairs[inside & (problem.constraints.kind < 0)] - 4,
        must_weight=1000.0,
        cannot_weight=1000.0,
    )
    one, other = (can.fit(estimator, X[rows], c).labels_ for c in (part, by_hand))
    require_same_labels(one, other, "a subset must be the constraints written for those rows")


CHECKS = (
    check_constraints_matter,
    check_order_and_orientation,
    check_numbering_of_rows,
    check_weight_is_multiplicity,
    check_hard_pairs_are_kept,
    check_infeasible_is_named,
    check_hard_pairs_are_refused,
    check_self_and_repeated_pairs,
    check_violations,
    check_subset,
)
