"""The numbers a report is written from, against naive computations."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from coterie import PPC, Constraints, HMRFKMeans, Mosaic, MPCKMeans, PCKMeans
from coterie.constraints import sample_pairs
from coterie.exceptions import InvalidConstraints, InvalidData, InvalidParameter
from coterie.report.clusters import NEAREST, TOP_FEATURES
from coterie.report.facts import LEAST_DOUBT, MOST_PAIRS, gather
from coterie.report.shown import Records, number, on_scale, shorten

IRIS = load_iris()
KNOWN = sample_pairs(IRIS.target, 40, random_state=0)


@pytest.fixture(scope="module")
def model():
    return PCKMeans(3, random_state=0).fit(IRIS.data, constraints=KNOWN)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_typical_columns_and_nearest_rows_by_their_definition(model, make):
    facts = gather(model, make(IRIS.data), constraints=KNOWN)
    for k, cluster in enumerate(facts.clusters):
        members = [row for row in range(150) if model.labels_[row] == k]
        assert cluster.size == len(members)
        assert cluster.share == len(members) / 150
        here = IRIS.data[members].mean(axis=0)
        z = (here - IRIS.data.mean(axis=0)) / IRIS.data.std(axis=0)
        wanted = sorted(range(4), key=lambda j: -abs(z[j]))[:TOP_FEATURES]
        if make is sp.csr_matrix:  # only what it has more of
            p, q = here / here.sum(), IRIS.data.mean(axis=0) / IRIS.data.mean() / 4
            worth = p * np.log(p / q)
            wanted = [j for j in sorted(range(4), key=lambda j: -worth[j]) if worth[j] > 0]
        assert [t.column for t in cluster.typical] == wanted
        assert np.allclose([t.difference for t in cluster.typical], z[wanted])
        assert np.allclose([t.here for t in cluster.typical], here[wanted])
        distance = {row: ((IRIS.data[row] - here) ** 2).sum() for row in members}
        if make is sp.csr_matrix:  # by the cosine
            lengths = np.linalg.norm(IRIS.data, axis=1)
            distance = {row: -(IRIS.data[row] @ here) / lengths[row] for row in members}
        ordered = sorted(distance.values())[:NEAREST]
        assert np.allclose([distance[row] for row in cluster.nearest], ordered)


def test_moments_do_not_depend_on_the_blocks(model, monkeypatch):
    whole = gather(model, IRIS.data).clusters
    monkeypatch.setattr("coterie.report.clusters._BLOCK", 7)
    parts = gather(model, IRIS.data).clusters
    for a, b in zip(whole, parts, strict=True):
        assert np.allclose([t.spread for t in a.typical], [t.spread for t in b.typical])


def test_scaled_columns_are_shown_in_their_own_units(model):
    center, spread = IRIS.data.mean(axis=0), IRIS.data.std(axis=0)
    scaled = (IRIS.data - center) / spread
    facts = gather(model, scaled, units=(center, spread))
    for k, cluster in enumerate(facts.clusters):
        here = IRIS.data[model.labels_ == k].mean(axis=0)
        for t in cluster.typical:
            assert np.allclose([t.here, t.overall], [here[t.column], center[t.column]])
            assert np.isclose(t.difference, (t.here - t.overall) / t.spread)
    assert facts.records.fields(7, [1]) == [("column 1", number(IRIS.data[7, 1]))]


def test_constant_columns_are_not_typical_of_anything():
    X = np.column_stack([np.r_[np.zeros(5), np.ones(5)], np.full(10, 0.1)])
    facts = gather(PCKMeans(2, random_state=0).fit(X), X)
    assert [[t.column for t in c.typical] for c in facts.clusters] == [[0], [0]]


def test_only_the_largest_clusters_are_described(monkeypatch):
    monkeypatch.setattr("coterie.report.facts.MOST_DETAILED", 2)
    X = np.r_[np.zeros(5), np.full(2, 50.0), np.full(4, 100.0)][:, None]
    facts = gather(PCKMeans(3, random_state=0).fit(X), X)
    assert sorted(c.size for c in facts.clusters if c.nearest) == [4, 5]


def test_pairs_are_given_kept_or_only_those_broken():
    X, n = IRIS.data, 150
    must = [(0, 149), (1, 140)]
    impossible = Constraints(n, must_link=must, must_weight=1e-9)
    plain = PCKMeans(3, random_state=0).fit(X, constraints=impossible)
    assert len(plain.violations_) == 2
    told = gather(plain, X, constraints=impossible)
    assert (told.constraints.n_pairs, told.all_pairs_known) == (2, True)
    untold = gather(plain, X)
    assert (untold.constraints.n_pairs, untold.all_pairs_known) == (2, False)
    assert untold.broken.all()
    kept = PPC(3, random_state=0).fit(X, constraints=KNOWN)
    assert gather(kept, X).constraints == KNOWN
    assert gather(kept, X).all_pairs_known


def test_suspects_come_before_broken_pairs():
    noisy = sample_pairs(IRIS.target, 100, noise=0.15, random_state=0)
    model = Mosaic(3, random_state=0).fit(IRIS.data, constraints=noisy)
    facts = gather(model, IRIS.data, constraints=noisy)
    assert facts.pairs_are_suspects
    assert 0 < len(facts.pairs) <= MOST_PAIRS
    assert (facts.pairs.value >= LEAST_DOUBT).all()
    clean = Mosaic(3, random_state=0).fit(IRIS.data)
    assert not gather(clean, IRIS.data, constraints=noisy).pairs_are_suspects


@pytest.mark.parametrize(
    ("estimator", "shape", "full"),
    [
        (MPCKMeans(3, random_state=0), (3, 4), False),
        (MPCKMeans(3, metric_form="full", random_state=0), (3, 4), True),
        (MPCKMeans(3, per_cluster=False, random_state=0), (1, 4), False),
        (HMRFKMeans(3, random_state=0), (1, 4), False),
        (HMRFKMeans(3, metric_form="full", random_state=0), (1, 4), True),
    ],
)
def test_learned_metrics(estimator, shape, full):
    model = estimator.fit(IRIS.data, constraints=KNOWN)
    facts = gather(model, IRIS.data)
    assert facts.metric.shape == shape
    assert facts.metric_is_full is full
    A = np.asarray(model.distortion_params_)
    expected = np.diagonal(A, axis1=1, axis2=2) if A.ndim == 3 else np.atleast_2d(A)
    assert np.array_equal(facts.metric, expected[: shape[0]])


def test_no_metric_where_none_was_learned(model):
    assert gather(model, IRIS.data).metric is None


def test_truth(model):
    facts = gather(model, IRIS.data, truth=IRIS.target_names[IRIS.target])
    assert facts.truth.confusion.counts.sum() == 150
    assert 0.5 < facts.truth.ari <= 1


def test_records_of_all_kinds():
    import pandas as pd
    import polars as pl

    columns = {"name": ["a", "b"], "n": [1.5, float("nan")]}
    X = np.zeros((2, 3))
    for records in (columns, pd.DataFrame(columns), pl.DataFrame(columns)):
        table = Records(records, X, ["x", "y", "z"])
        assert table.fields(0) == [("name", "a"), ("n", "1.5")]
        assert table.fields(1) == [("name", "b"), ("n", "")]
    named = Records({"a": ["p", "q"], "z": [1, 2]}, X, ["x", "y", "z"])
    assert named.fields(1, [2, 0]) == [("z", "2"), ("a", "q")]  # what matters first
    wide = Records({f"c{i}": [i, i] for i in range(50)}, X, ["x", "c40", "z"])
    assert [name for name, _ in wide.fields(0, [1])] == ["c40", *(f"c{i}" for i in range(7))]
    assert Records(["long  text\n", "b"], X, []).fields(0) == [("text", "long text")]
    assert Records(None, X, ["x", "y", "z"]).fields(1, [2, 0]) == [("z", "0"), ("x", "0")]
    words = sp.csr_matrix([[0.0, 2.0, 1.0], [0.0, 0.0, 0.0]])
    assert Records(None, words, ["x", "y", "z"]).fields(0) == [("heaviest columns", "y, z")]
    assert Records(None, words, ["x", "y", "z"]).fields(1) == [("heaviest columns", "")]


@pytest.mark.parametrize(
    ("value", "text"),
    [(3.0, "3"), (-1234.0, "−1,234"), (0.12345, "0.123"), (-0.0, "0"), (float("inf"), "∞")],
)
def test_numbers(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "spread", "text"),
    [
        (7.8e-15, 1.0, "0.00"),
        (-7.8e-15, 1.0, "0.00"),
        (-0.8287, 0.999, "−0.83"),
        (12345.678, 300.0, "12,346"),
        (12345.678, 1e5, "12,000"),
        (3e-9, 1e-8, "3e−09"),
        (5.0, 1e300, "0"),
    ],
)
def test_numbers_on_a_scale(value, spread, text):
    assert on_scale(value, spread) == text


def test_shorten():
    assert shorten("a" * 300, 10) == "aaaaaaaaa…"
    assert shorten(" a \n b ") == "a b"


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"ids": ["a"]}, InvalidParameter, "ids has 1"),
        ({"records": {"a": [1]}}, InvalidParameter, "'a' has 1 values"),
        ({"records": 5}, InvalidParameter, "data frame"),
        ({"truth": [1, 2]}, InvalidData, "truth has shape"),
        ({"feature_names": ["a"]}, InvalidParameter, "feature_names has 1"),
        ({"constraints": Constraints(4, must_link=[(0, 1)])}, InvalidConstraints, "4 rows"),
        ({"units": ([0], [1])}, InvalidParameter, "each of the 4 columns"),
        ({"units": ([0] * 4, [0] * 4)}, InvalidParameter, "above 0"),
        ({"projection": "pcaa"}, InvalidParameter, "pca"),
    ],
)
def test_bad_input_is_named(model, options, error, words):
    with pytest.raises(error, match=words):
        gather(model, IRIS.data, **options)


def test_other_rows_than_those_of_the_fit_are_refused(model):
    with pytest.raises(InvalidData, match="fitted on"):
        gather(model, IRIS.data[:100])
