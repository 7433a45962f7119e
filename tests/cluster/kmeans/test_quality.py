"""Pairs help, and so does learning the metric: means over 20 draws with fixed seeds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler, normalize

from coterie import HMRFKMeans, PCKMeans, datasets
from coterie.constraints import sample_pairs
from coterie.exceptions import MissingData

SIZES = (0, 100, 200, 400)
SETS = ["iris", "wine", "letters_ijl", "pendigits_389"]


def load(name):
    try:
        bunch = datasets.load(name)
    except MissingData as missing:
        pytest.skip(str(missing))
    return bunch.data, bunch.target


def mean_nmi(make, X, y, n_pairs, draws=20):
    scores = []
    for draw in range(draws):
        known = sample_pairs(y, n_pairs, random_state=draw)
        model = make(draw).fit(X, constraints=known)
        scores.append(normalized_mutual_info_score(y, model.labels_))
    return float(np.mean(scores))


@pytest.mark.parametrize("name", SETS)
def test_more_pairs_bring_pckmeans_closer_to_the_truth(name):
    X, y = load(name)
    X = StandardScaler().fit_transform(X)
    curve = [mean_nmi(lambda seed: PCKMeans(3, random_state=seed), X, y, m) for m in SIZES]
    assert all(b > a for a, b in pairwise(curve)), curve
    assert curve[-1] > curve[0] + 0.1, curve


@pytest.mark.parametrize("name", SETS)
def test_a_learned_metric_is_no_worse_than_a_fixed_one(name):
    X, y = load(name)
    X = StandardScaler().fit_transform(X)
    for n_pairs in (200, 400):
        fixed = mean_nmi(
            lambda seed: HMRFKMeans(3, learn_metric=False, random_state=seed), X, y, n_pairs
        )
        learned = mean_nmi(
            lambda seed: HMRFKMeans(3, metric_form="full", random_state=seed), X, y, n_pairs
        )
        assert learned >= fixed, (n_pairs, learned, fixed)


@pytest.mark.parametrize("name", ["news_different_3", "news_similar_3"])
def test_pairs_beat_plain_spherical_kmeans_on_text(name):
    X, y = load(name)
    X = normalize(X)
    plain = np.mean(
        [
            normalized_mutual_info_score(y, KMeans(3, n_init=1, random_state=s).fit(X).labels_)
            for s in range(20)
        ]
    )
    for make in (
        lambda seed: PCKMeans(3, metric="cosine", random_state=seed),
        lambda seed: HMRFKMeans(3, distortion="cosine", random_state=seed),
    ):
        assert mean_nmi(make, X, y, 300, draws=10) > plain + 0.05
