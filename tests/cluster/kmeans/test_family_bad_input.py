"""What the K-Means family refuses, and what it says."""

from __future__ import annotations

import numpy as np
import pytest

from coterie import Constraints, HMRFKMeans, PCKMeans, SeededKMeans
from coterie.exceptions import InvalidConstraints, InvalidData, InvalidParameter


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda X, c: PCKMeans(99).fit(X), InvalidParameter, "fewer rows than clusters"),
        (lambda X, c: PCKMeans(0).fit(X), InvalidParameter, "n_clusters=0"),
        (lambda X, c: PCKMeans(2, w=-1).fit(X), InvalidParameter, "w=-1"),
        (lambda X, c: PCKMeans(2, w=np.nan).fit(X), InvalidParameter, "w=nan"),
        (lambda X, c: PCKMeans(2, metric="cosin").fit(X), InvalidParameter, "mean 'cosine'"),
        (lambda X, c: PCKMeans(2, inference="icn").fit(X), InvalidParameter, "mean 'icm'"),
        (
            lambda X, c: PCKMeans(2, init="kmeans++").fit(X),
            InvalidParameter,
            "mean 'k-means\\+\\+'",
        ),
        (
            lambda X, c: PCKMeans(2, init=np.zeros((3, 2))).fit(X),
            InvalidParameter,
            "shape \\(2, 2\\)",
        ),
        (lambda X, c: PCKMeans(2, max_iter=0).fit(X), InvalidParameter, "max_iter=0"),
        (lambda X, c: PCKMeans(2).fit(X, constraints=[(0, 1)]), InvalidConstraints, "got list"),
        (lambda X, c: PCKMeans(2).fit(X[:5], constraints=c), InvalidConstraints, "subset"),
        (lambda X, c: PCKMeans(2, metric="kl").fit(X), InvalidData, "row 0, column"),
        (lambda X, c: PCKMeans(2, metric="cosine").fit(X * 0), InvalidData, "row 0 is all zeros"),
        (lambda X, c: PCKMeans(2).fit(X * 1e300), InvalidData, "overflow"),
        (lambda X, c: PCKMeans(2).fit(X, sample_weight=-np.ones(10)), InvalidData, "negative"),
        (lambda X, c: HMRFKMeans(2, metric_form="ful").fit(X), InvalidParameter, "mean 'full'"),
        (
            lambda X, c: HMRFKMeans(2, distortion="correlation").fit(X),
            InvalidParameter,
            "cannot learn a diagonal metric",
        ),
        (
            lambda X, c: HMRFKMeans(2, distortion="cosine", per_cluster=True).fit(X),
            InvalidParameter,
            "per_cluster=True is for sqeuclidean",
        ),
        (lambda X, c: HMRFKMeans(2, prior_width=0).fit(X), InvalidParameter, "prior_width=0"),
        (lambda X, c: SeededKMeans(2).fit(X, seeds=np.arange(10)), InvalidConstraints, "10 labels"),
        (lambda X, c: SeededKMeans(2).fit(X, seeds=[0.5] * 10), InvalidConstraints, "integers"),
    ],
)
def test_bad_input_is_refused_with_a_remedy(call, error, words):
    X = np.random.default_rng(0).normal(size=(10, 2))
    known = Constraints(10, must_link=[(0, 1)])
    with pytest.raises(error, match=words):
        call(X, known)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_missing_values_are_refused(bad):
    X = np.ones((5, 2))
    X[3, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        PCKMeans(2).fit(X)
