"""COP-KMeans keeps every pair that can be kept; exact assignment is never worse than ICM."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from coterie import Constraints, COPKMeans, PCKMeans
from coterie.datasets import available, load
from coterie.exceptions import InfeasibleConstraints, UndecidedFeasibility

# Mean degree at which random graphs cease to be K-colourable.
THRESHOLD = {3: 4.69, 4: 8.9, 5: 13.7, 6: 19.0, 7: 24.7, 8: 30.8, 9: 37.0, 10: 43.6}


def random_cannot_links(rng, n, mean_degree, hidden=None):
    """Cannot-links at random, or (with `hidden` clusters) only those that the clusters keep."""
    pairs = np.column_stack(np.triu_indices(n, 1))
    if hidden is not None:
        pairs = pairs[hidden[pairs[:, 0]] != hidden[pairs[:, 1]]]
    return pairs[rng.permutation(len(pairs))[: int(n * mean_degree / 2)]]


def broken(labels, pairs, must):
    return int(((labels[pairs[:, 0]] == labels[pairs[:, 1]]) != must).sum())


def test_the_dead_end_of_the_published_algorithm():
    """1 and 2 take different centres, and none is left for 0, which is apart from both."""
    X = np.array([[5.1], [4.0], [6.0], [0.0], [10.0]])
    known = Constraints(5, cannot_link=[(0, 1), (0, 2)])
    for order in itertools.permutations(range(5)):
        rows = np.array(order)
        back = np.argsort(rows)
        model = COPKMeans(2, init=[[1.0], [9.0]]).fit(X[rows], constraints=known.relabel(back))
        labels = model.labels_[back]
        assert labels[1] == labels[2] != labels[0]


@pytest.mark.parametrize("k", range(3, 11))
@pytest.mark.parametrize("share", [0.95, 1.05])
def test_hidden_clusters_near_the_threshold(k, share):
    rng = np.random.default_rng(100 * k + int(10 * share))
    n = 60 + 6 * k
    hidden = rng.integers(0, k, n)
    pairs = random_cannot_links(rng, n, share * THRESHOLD[k], hidden)
    known = Constraints(n, cannot_link=pairs)
    X = rng.standard_normal((n, 2))
    labels = COPKMeans(k, random_state=0, time_limit=5.0).fit_predict(X, constraints=known)
    assert broken(labels, pairs, False) == 0


@pytest.mark.parametrize(("k", "n"), [(3, 60), (4, 40), (5, 30), (7, 34), (10, 50)])
def test_random_instances_are_solved_or_explained(k, n):
    """Around the threshold half can be met: then they are; else the conflict is minimal."""
    rng = np.random.default_rng(k)
    outcomes = set()
    for share in (0.85, 1.0, 1.2):
        pairs = random_cannot_links(rng, n, share * THRESHOLD[k])
        known = Constraints(n, cannot_link=pairs)
        model = COPKMeans(k, random_state=0, time_limit=20.0)
        X = rng.standard_normal((n, 2))
        try:
            labels = model.fit_predict(X, constraints=known)
        except InfeasibleConstraints as error:
            outcomes.add("infeasible")
            check_minimal(error.conflict, k)
        else:
            outcomes.add("solved")
            assert broken(labels, pairs, False) == 0
    assert "infeasible" in outcomes


def check_minimal(conflict, k):
    """It cannot be met, and can without any one of its pairs."""
    with pytest.raises(InfeasibleConstraints):
        conflict.check_feasible(k)
    for left_out in range(conflict.n_pairs):
        rest = np.delete(conflict.pairs, left_out, axis=0)
        must = np.delete(conflict.kind, left_out) > 0
        Constraints(conflict.n_samples, rest[must], rest[~must]).check_feasible(k)


def test_must_links_count_in_the_conflict():
    known = Constraints(6, must_link=[(0, 3), (3, 4), (1, 5)], cannot_link=[(4, 1), (5, 2), (0, 2)])
    with pytest.raises(InfeasibleConstraints) as caught:
        COPKMeans(2).fit(np.arange(6.0)[:, None], constraints=known)
    assert caught.value.conflict == known.as_hard()
    check_minimal(caught.value.conflict, 2)


def test_undecided_is_said():
    rng = np.random.default_rng(0)
    pairs = random_cannot_links(rng, 200, 1.02 * THRESHOLD[6])
    with pytest.raises(UndecidedFeasibility, match="time_limit"):
        COPKMeans(6, time_limit=0.0).fit(
            rng.standard_normal((200, 2)), constraints=Constraints(200, cannot_link=pairs)
        )


def test_without_pairs_it_is_kmeans():
    X = np.random.default_rng(0).standard_normal((300, 3))
    start = X[:4]
    ours = COPKMeans(4, init=start, tol=0).fit(X)
    theirs = KMeans(4, init=start, n_init=1, tol=0).fit(X)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.objective_ == pytest.approx(theirs.inertia_ / 2)
    assert ours.assignment_proven_


def brute_force(X, centers, constraints, w):
    """Least J over every labelling of the rows."""
    k = len(centers)
    d = ((X[:, None] - centers[None]) ** 2).sum(axis=2) / 2
    best = np.inf
    cost, must = constraints.cost(w), constraints.kind > 0
    for labels in itertools.product(range(k), repeat=len(X)):
        y = np.array(labels)
        same = y[constraints.pairs[:, 0]] == y[constraints.pairs[:, 1]]
        best = min(best, d[np.arange(len(X)), y].sum() + cost[same != must].sum())
    return best


@pytest.mark.parametrize("seed", range(25))
def test_exact_assignment_by_enumeration(seed):
    rng = np.random.default_rng(seed)
    n, k = 7, 3
    X, centers = rng.standard_normal((n, 2)), rng.standard_normal((k, 2))
    pairs = np.column_stack(np.triu_indices(n, 1))
    pairs = pairs[rng.permutation(len(pairs))[:12]]
    kind = rng.random(12) < 0.4
    certainty = rng.choice([0.6, 0.8, 0.95, 1.0], 12, p=[0.3, 0.3, 0.3, 0.1])
    known = Constraints(
        n,
        pairs[kind],
        pairs[~kind],
        must_certainty=certainty[kind],
        cannot_certainty=certainty[~kind],
    )
    model = PCKMeans(k, w=0.5, init=centers, max_iter=1, exact_assignment=True)
    least = brute_force(X, centers, known, 0.5)
    if np.isinf(least):
        with pytest.raises(InfeasibleConstraints):
            model.fit(X, constraints=known)
        return
    model.fit(X, constraints=known)
    assert model.assignment_proven_
    assert model.objective_ == pytest.approx(least)


def test_proof_is_not_claimed_without_time():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    pairs = np.column_stack(np.triu_indices(60, 1))
    kind = rng.random(len(pairs)) < 0.5
    known = Constraints(60, pairs[kind], pairs[~kind])
    settings = {"init": X[:4], "max_iter": 1, "random_state": 0}
    exact = PCKMeans(4, exact_assignment=True, time_limit=0.0, **settings).fit(X, constraints=known)
    assert not exact.assignment_proven_
    assert exact.objective_ == PCKMeans(4, **settings).fit(X, constraints=known).objective_


SMALL = ["pccc/col1/iris", "pccc/col1/wine", "pccc/col1/zoo"]


def pairs_of_some_rows(target, fraction):
    """All pairs among a random share of the rows, as the PCCC study draws them for these sets."""
    rng = np.random.default_rng(0)
    rows = np.sort(rng.permutation(target.size)[: int(np.ceil(fraction * target.size))])
    pairs = rows[np.column_stack(np.triu_indices(rows.size, 1))]
    same = target[pairs[:, 0]] == target[pairs[:, 1]]
    return Constraints(target.size, pairs[same], pairs[~same])


@pytest.mark.shared_data
@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("fraction", [0.05, 0.2])
@pytest.mark.parametrize("hard", [False, True])
def test_exact_step_on_pccc_is_never_worse_than_icm(name, fraction, hard):
    if name not in available():
        pytest.skip("needs the shared data folder (COTERIE_DATA)")
    bunch = load(name)
    X = StandardScaler().fit_transform(bunch.data)
    known = pairs_of_some_rows(bunch.target, fraction)
    k = len(bunch.target_names)
    start = PCKMeans(k, max_iter=1, random_state=0).fit(X, constraints=known).cluster_centers_
    settings = {"init": start, "max_iter": 1, "random_state": 0, "w": np.inf if hard else "auto"}
    fast = PCKMeans(k, **settings).fit(X, constraints=known)
    exact = PCKMeans(k, exact_assignment=True, time_limit=2.0, **settings).fit(X, constraints=known)
    assert exact.objective_ <= fast.objective_ * (1 + 1e-12)
    if hard:
        assert exact.assignment_proven_
        assert not exact.violations_.value.size
