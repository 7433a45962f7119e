"""However many clusters there are, a report stays a page and says what it left out."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from coterie import Constraints
from coterie.plot.confusion import confusion_of
from coterie.report import build_report
from coterie.report.facts import gather

MOST_BYTES = 1_000_000


class Labelled(BaseEstimator):
    """A model that has nothing but labels."""

    def fit(self, labels: object) -> Labelled:
        self.labels_ = labels
        return self


def test_a_thousand_clusters_of_records_and_their_truth():
    rng = np.random.default_rng(0)
    n = 2500
    X, labels, truth = rng.normal(size=(n, 4)), np.arange(n) % 1000, rng.integers(900, size=n)
    records = {"name": [f"record number {i} " * 20 for i in range(n)]}
    known = Constraints(n, must_link=rng.integers(n, size=(300, 2)) % [1250, 1250] + [0, 1250])
    page = build_report(Labelled().fit(labels), X, constraints=known, truth=truth, records=records)
    assert len(page.encode()) < MOST_BYTES
    assert f"{np.unique(truth).size - 25} others" in page  # classes
    assert "975 others" in page  # clusters
    assert "900 smaller" in page
    assert "and 960 more clusters" in page


def test_names_as_long_as_texts():
    """Columns, rows, classes and clusters may be called anything: a category is often a text."""
    rng = np.random.default_rng(0)
    n, long = 240, "very long " * 2000
    X, labels = rng.normal(size=(n, 30)) + np.arange(n)[:, None] % 60, np.arange(n) % 60
    columns = [f"{j} {long}" for j in range(30)]
    page = build_report(
        Labelled().fit(np.array([f"{k} {long}" for k in labels])),
        X,
        feature_names=columns,
        ids=[f"{i} {long}" for i in range(n)],
        truth=np.array([f"{k} {long}" for k in labels]),
        records={name: [f"{i} {long}" for i in range(n)] for name in columns[:3]},
    )
    assert len(page.encode()) < MOST_BYTES
    assert max(map(len, page.partition("</style>")[2].split("<"))) < 1000  # no cell is a text
    assert "very long" in page


def test_metrics_of_many_clusters():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(240, 40)), np.arange(240) % 60
    model = Labelled().fit(labels)
    model.metrics_ = rng.random((60, 40))
    page = build_report(model, X)
    assert len(page.encode()) < MOST_BYTES
    assert "The first 20 of 60 metrics." in page


def test_counting_the_rest_together_loses_no_row():
    rng = np.random.default_rng(0)
    labels, truth = rng.integers(30, size=500) ** 2, rng.integers(8, size=500)
    whole, part = confusion_of(labels, truth), confusion_of(labels, truth, most=5)
    assert part.counts.shape == (6, 6)
    assert part.counts.sum() == whole.counts.sum() == 500
    assert set(part.classes) == {*np.argsort(-np.bincount(truth), kind="stable")[:5], "3 others"}
    for name in part.clusters:
        if not isinstance(name, str):
            assert part.counts[:, part.clusters == name].sum() == np.sum(labels == name)


def test_documents_by_their_words_and_not_by_their_shortness():
    words = ["note:the", "note:river", "note:boat", "note:bank", "note:money", "note:typo"]
    counts = np.array(
        [
            [9, 3, 2, 1, 0, 0],
            [9, 2, 3, 1, 0, 0],
            [8, 4, 2, 0, 0, 1],
            [0, 0, 0, 0, 0, 0],  # empty
            [9, 0, 0, 2, 4, 0],
            [9, 0, 0, 1, 3, 0],
            [8, 0, 0, 2, 3, 0],
        ]
    )
    labels = np.array([0, 0, 0, 0, 1, 1, 1])
    facts = gather(Labelled().fit(labels), sp.csr_matrix(counts, dtype=float), feature_names=words)
    one, two = facts.clusters
    assert [feature.name for feature in one.typical[:2]] == ["river", "boat"]
    assert next(iter(two.typical)).name == "money"
    assert "the" not in {feature.name for feature in one.typical[:3]}
    assert 3 not in one.nearest[:3]
    assert one.nearest[-1] == 3


def test_names_keep_their_column_where_there_are_several():
    X = sp.csr_matrix(np.eye(4))
    names = ["note:a", "note:b", "title:a", "title:c"]
    facts = gather(Labelled().fit(np.array([0, 0, 1, 1])), X, feature_names=names)
    assert {f.name for c in facts.clusters for f in c.typical} == set(names)
