"""New rows join fitted clusters, in every estimator that takes them."""

from __future__ import annotations

from copy import deepcopy
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix

from coterie import (
    LCVQE,
    PPC,
    ConstrainedCompleteLink,
    ConstrainedKMeans,
    Constraints,
    COPKMeans,
    DPMeans,
    GPKMeans,
    GraphPropagation,
    HMRFKMeans,
    Mosaic,
    MPCKMeans,
    PCKMeans,
    RDPMeans,
    SeededKMeans,
    TVClust,
)
from coterie.exceptions import InfeasibleConstraints, InvalidConstraints
from coterie.extension import Places, place_rows

GROUPS = np.repeat([0, 1, 2], 20)
SPOTS = 9 * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
X = np.random.default_rng(0).normal(size=(60, 2)) + SPOTS[GROUPS]
NEW = np.random.default_rng(1).normal(size=(6, 2)) + SPOTS[[0, 0, 1, 1, 2, 2]]
KNOWN = Constraints(60, must_link=[(0, 1), (20, 21), (40, 41)], cannot_link=[(0, 20), (20, 40)])
MODELS = [
    PCKMeans(3, random_state=1),
    COPKMeans(3, random_state=1),
    HMRFKMeans(3, random_state=1),
    MPCKMeans(3, random_state=1),
    MPCKMeans(3, random_state=1, metric_form="full"),
    LCVQE(3, random_state=1),
    SeededKMeans(3, random_state=1),
    ConstrainedKMeans(3, random_state=1),
    DPMeans(random_state=1),
    RDPMeans(random_state=1),
    ConstrainedCompleteLink(3),
    Mosaic(3, random_state=1),
    PPC(3, random_state=1),
    PPC(3, random_state=1, covariance_type="tied"),
    TVClust(random_state=1),
    GPKMeans(PCKMeans(3), random_state=1),
    GraphPropagation(MPCKMeans(3), random_state=1),
]
NAMES = [f"{type(m).__name__}-{at}" for at, m in enumerate(MODELS)]
FOUNDING = (PCKMeans, HMRFKMeans, LCVQE, DPMeans, RDPMeans, ConstrainedCompleteLink)


@pytest.fixture(scope="module", params=range(len(MODELS)), ids=NAMES)
def fitted(request):
    model = MODELS[request.param]
    pairs = Constraints.from_labels(np.where(np.arange(60) % 20 < 2, GROUPS, -1))
    seeded = isinstance(model, SeededKMeans)
    if isinstance(model, DPMeans):
        return model.fit(X)
    return model.fit(X, constraints=pairs if seeded else KNOWN)


def again(model):
    """A copy of a fitted model."""
    return deepcopy(model)


@pytest.fixture
def keeping(fitted):
    """A copy of a fitted model that keeps hard pairs."""
    if isinstance(fitted, LCVQE):
        with pytest.raises(InvalidConstraints, match="LCVQE may break any pair"):
            fitted.extend(NEW, constraints=Constraints(66, must_link=[(0, 60)]).as_hard())
        pytest.skip("LCVQE refuses hard pairs")
    return deepcopy(fitted)


def test_rows_join_the_nearest_cluster_and_nothing_else_changes(fitted):
    model = again(fitted)
    before, predicted = model.labels_.copy(), model.predict(NEW)
    added = model.extend(NEW)
    assert np.array_equal(model.labels_[:60], before)
    assert np.array_equal(added, predicted)
    assert np.array_equal(model.labels_[60:], added)
    assert added.dtype == before.dtype
    assert np.array_equal(model.predict(X), fitted.predict(X))
    if hasattr(model, "resp_"):
        assert model.resp_.shape == (66, 3)


def test_pairs_with_old_rows_and_among_new_ones_decide(keeping):
    model = keeping
    # Row 60 lies in the first group and is told to belong to the second; 61 must be with 62.
    pairs = Constraints(66, must_link=[(60, 25), (61, 62)], cannot_link=[(61, 0)]).as_hard()
    added = model.extend(NEW, constraints=pairs)
    assert added[0] == model.labels_[25]
    assert added[1] == added[2] != model.labels_[0]
    assert all(pair.i < 60 and pair.j < 60 for pair in model.violations_)


def test_a_row_apart_from_all_founds_a_cluster_or_the_error_says_what_to_do(keeping):
    model = keeping
    pairs = Constraints(66, cannot_link=[(60, 0), (60, 20), (60, 40), (61, 60)]).as_hard()
    if isinstance(model, FOUNDING) or isinstance(getattr(model, "estimator_", None), FOUNDING):
        added = model.extend(NEW, constraints=pairs)
        assert added[0] == 3
        assert added[1] != 3
        assert model.predict([[50.0, 0.0]]).max() <= 3
        twice = model.extend(NEW[:1], constraints=Constraints(67, must_link=[(66, 60)]).as_hard())
        assert twice[0] == 3  # a later row joins it
    else:
        before = model.labels_
        with pytest.raises(InfeasibleConstraints, match="call fit on all rows") as raised:
            model.extend(NEW, constraints=pairs)
        assert raised.value.conflict.n_pairs == 4
        assert model.labels_ is before


def test_numbers_stay_over_refits_in_every_estimator(fitted):
    for order in ([2, 0, 1], [1, 0, 2]):
        model = again(fitted)
        old = np.array(order)[fitted.labels_]
        model.renumber_like(old)
        assert np.array_equal(model.labels_, old)
        assert np.array_equal(model.predict(X), np.array(order)[fitted.predict(X)])
        if hasattr(model, "predict_proba"):
            assert np.array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))
        if hasattr(model, "means_"):
            assert np.abs(model.means_[model.labels_] - X).max() < 5
        if hasattr(model, "estimator_"):
            assert np.array_equal(model.estimator_.labels_, old)


def test_clashes_are_told_and_change_nothing(keeping):
    model = keeping
    both = Constraints(66, must_link=[(60, 0), (60, 20)]).as_hard()
    with pytest.raises(InfeasibleConstraints, match="row 60") as raised:
        model.extend(NEW, constraints=both)
    assert raised.value.conflict.n_pairs == 2
    with pytest.raises(InfeasibleConstraints, match="rows 0 and 20"):
        model.extend(NEW, constraints=Constraints(66, must_link=[(0, 20)]).as_hard())
    with pytest.raises(InvalidConstraints, match="66 rows, the 60 of the fit"):
        model.extend(NEW, constraints=Constraints(6))
    assert model.labels_.size == 60


def test_soft_pairs_are_weighed_and_broken_ones_listed():
    model = PCKMeans(3, w=1e6, random_state=1).fit(X)
    pairs = Constraints(66, must_link=[(60, 25), (61, 60), (61, 0)], must_weight=[5, 1, 1])
    added = model.extend(NEW, constraints=pairs)
    assert added[0] == model.labels_[25]
    assert len(model.violations_) == 1
    light = PCKMeans(3, w=1e-6, random_state=1).fit(X)
    assert np.array_equal(light.extend(NEW, constraints=pairs), light.predict(NEW))


def test_far_rows_found_clusters_where_those_have_a_price():
    model = DPMeans(lambda_=30.0, random_state=0).fit(X)
    far = np.array([[60.0, 60.0], [60.5, 60.0], [-60.0, 0.0], [0.0, 0.0]])
    added = model.extend(far)
    k = len(np.unique(model.labels_[:60]))
    assert added.tolist() == [k, k, k + 1, model.predict(far[3:])[0]]
    assert model.cluster_centers_.shape == (k + 2, 2)
    assert np.array_equal(model.predict(far), added)


@pytest.mark.parametrize("seed", range(40))
def test_places_are_the_least_of_all_labellings(seed):
    """On tiny problems, where ICM from two starts finds the least."""
    rng = np.random.default_rng(seed)
    m, k, n = int(rng.integers(1, 6)), 3, 6
    costs, old = rng.normal(size=(m, k)), np.arange(n) % k
    ends = [(i, j) for i in range(n + m) for j in range(max(i + 1, n), n + m)]
    chosen = [ends[at] for at in rng.choice(len(ends), min(4, len(ends)), replace=False)]
    kind = rng.choice([-1, 1], len(chosen))
    weight = rng.uniform(0.1, 2, len(chosen))
    pairs = Constraints.from_arrays(n + m, chosen, kind, weight=weight)
    found = place_rows(Places(costs, 0.5), pairs, old).labels

    def energy(labels):
        every = np.append(old, labels)
        same = every[pairs.pairs[:, 0]] == every[pairs.pairs[:, 1]]
        broken = same != (pairs.kind > 0)
        return costs[np.arange(m), labels].sum() + 0.5 * pairs.cost()[broken].sum()

    least = min(energy(np.array(labels)) for labels in product(range(k), repeat=m))
    assert energy(found) == pytest.approx(least)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("distortion", ["sqeuclidean", "cosine"])
def test_partial_fit_has_the_centres_of_all_rows_so_far(sparse, distortion):
    data = np.abs(np.concatenate([X, NEW])) + 0.1
    given = csr_matrix(data) if sparse else data
    model = PCKMeans(3, distortion=distortion, random_state=0).partial_fit(given[:40])
    model.partial_fit(given[40:50]).partial_fit(given[50:])
    assert model.labels_.size == 66
    unit = data / np.linalg.norm(data, axis=1, keepdims=True) if distortion == "cosine" else data
    for k in range(3):
        mean = unit[model.labels_ == k].mean(axis=0)
        if distortion == "cosine":
            mean /= np.linalg.norm(mean)
        assert model.cluster_centers_[k] == pytest.approx(mean)


def test_partial_fit_in_one_part_is_fit_and_weights_are_repetitions():
    one = PCKMeans(3, random_state=0).partial_fit(X)
    assert np.array_equal(one.labels_, PCKMeans(3, random_state=0).fit(X).labels_)
    twice = PCKMeans(3, random_state=0).fit(X).partial_fit(np.repeat(NEW, 2, axis=0))
    weighed = PCKMeans(3, random_state=0).fit(X).partial_fit(NEW, sample_weight=np.full(6, 2.0))
    assert weighed.cluster_centers_ == pytest.approx(twice.cluster_centers_)


def test_a_saved_model_goes_on(tmp_path):
    from coterie import load

    model = PCKMeans(3, random_state=0).fit(X)
    model.save(tmp_path / "model")
    other = load(tmp_path / "model").partial_fit(NEW)
    assert np.array_equal(other.cluster_centers_, model.partial_fit(NEW).cluster_centers_)


class Stream:
    """What has nothing but Arrow's stream, and a shape as DuckDB's relations have."""

    def __init__(self, rows):
        self.table = pa.table({"a": rows[:, 0], "b": rows[:, 1]})
        self.shape = rows.shape

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "model", [PCKMeans(3, random_state=0), ConstrainedCompleteLink(3), Mosaic(3, random_state=0)]
)
def test_streams_are_fitted_to_and_join_without_a_warning(model, recwarn):
    plain = deepcopy(model).fit(X)
    model.fit(Stream(X))
    assert np.array_equal(model.labels_, plain.labels_)
    assert np.array_equal(model.extend(Stream(NEW)), plain.extend(NEW))
    assert not recwarn.list
