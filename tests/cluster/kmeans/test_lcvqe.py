"""LCVQE against a plain Python twin, and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from coterie import LCVQE, Constraints
from coterie.exceptions import InvalidConstraints
from reference import lcvqe as naive


def problem(seed):
    """Rows, centres, and contradictory pairs of random weights."""
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(6, 40)), int(rng.integers(1, 4)), int(rng.integers(1, 5))
    X = rng.standard_normal((n, d)) + 3 * rng.integers(0, k, n)[:, None]
    pairs = np.column_stack(np.triu_indices(n, 1))
    pairs = pairs[rng.permutation(len(pairs))[: int(rng.integers(1, 2 * n))]]
    kind = rng.random(len(pairs)) < 0.5
    weight = rng.choice([0.5, 1.0, 3.0], len(pairs))
    must = {tuple(p): w for p, w in zip(pairs[kind].tolist(), weight[kind], strict=True)}
    cannot = {tuple(p): w for p, w in zip(pairs[~kind].tolist(), weight[~kind], strict=True)}
    constraints = Constraints(
        n, pairs[kind], pairs[~kind], must_weight=weight[kind], cannot_weight=weight[~kind]
    )
    return X, X[rng.choice(n, k, replace=False)], must, cannot, constraints


# In problem 12 a cluster is emptied, which the twin does not mend.
@pytest.mark.parametrize("seed", sorted({*range(41)} - {12}))
def test_equals_the_naive_twin(seed):
    X, centers, must, cannot, constraints = problem(seed)
    expected = naive.fit(X, centers, must, cannot)
    assert expected is not None
    labels, final, history = expected
    model = LCVQE(len(centers), init=centers, max_iter=100).fit(X, constraints=constraints)
    np.testing.assert_allclose(model.objective_history_, history, rtol=1e-9)
    assert model.labels_.tolist() == labels
    np.testing.assert_allclose(model.cluster_centers_, final, atol=1e-9)


def test_costs_of_broken_pairs_are_the_pulls():
    X, centers, must, cannot, constraints = problem(3)
    model = LCVQE(len(centers), init=centers).fit(X, constraints=constraints)
    d = naive.squares(X, model.cluster_centers_)
    own = sum(d[i, y] for i, y in enumerate(model.labels_)) / 2
    assert len(model.violations_.value) > 0
    assert model.objective_ == pytest.approx(own + model.violations_.value.sum())
    assert model.objective_ == pytest.approx(
        naive.objective(d, model.labels_.tolist(), must, cannot)
    )


def test_broken_must_link_pulls_each_end_by_half():
    # Centres 0 and 10: bringing 1 to 10, or 9 to 0, costs 41; leaving them costs 41.5. At weight
    # 0.5 leaving them costs 21.25, and each pulls the other's centre with mass 1/4.
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    pair = Constraints(4, must_link=[(1, 2)], must_weight=0.5)
    model = LCVQE(2, init=[[0.0], [10.0]], max_iter=2).fit(X, constraints=pair)
    assert model.labels_.tolist() == [0, 0, 1, 1]
    left = (0 + 1 + 0.25 * 9) / 2.25
    np.testing.assert_allclose(model.cluster_centers_.ravel(), [left, 10 - left])


def test_hard_pairs_are_refused_by_name():
    X = np.arange(6.0)[:, None]
    hard = Constraints(6, must_link=[(2, 4)], must_weight=np.inf)
    with pytest.raises(InvalidConstraints, match=r"rows 2 and 4.*COPKMeans"):
        LCVQE(2).fit(X, constraints=hard)


def test_one_cluster_leaves_cannot_links_broken_at_no_cost():
    model = LCVQE(1).fit(np.arange(3.0)[:, None], constraints=Constraints(3, cannot_link=[(0, 2)]))
    assert model.violations_.value.tolist() == [0.0]
    assert model.cluster_centers_.ravel().tolist() == [1.0]


def test_weights_of_two_double_the_objective():
    X, centers, must, cannot, _ = problem(5)
    once = Constraints(
        len(X),
        list(must),
        list(cannot),
        must_weight=list(must.values()),
        cannot_weight=list(cannot.values()),
    )
    plain = LCVQE(len(centers), init=centers).fit(X, constraints=once)
    heavy = LCVQE(len(centers), init=centers).fit(
        X, constraints=once, sample_weight=np.full(len(X), 2.0)
    )
    np.testing.assert_array_equal(plain.labels_, heavy.labels_)
    assert heavy.objective_ == pytest.approx(2 * plain.objective_)
