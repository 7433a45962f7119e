"""The bound in the cost of a broken cannot-link: tight, as printed, or a number that grows."""

from __future__ import annotations

import numpy as np
import pytest

from coterie import Constraints, HMRFKMeans
from coterie.distortions import IDivergence, get_distortion
from coterie.exceptions import InvalidParameter


def problem(seed: int, *, positive: bool = False) -> tuple[np.ndarray, Constraints]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    pairs = rng.integers(40, size=(30, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    known = Constraints(40, must_link=pairs[::2], cannot_link=pairs[1::2])
    return 3 * np.abs(X) + 0.05 if positive else X, known


@pytest.mark.parametrize("phi_max", ["paper", 0.0, 0.5, 20.0])
@pytest.mark.parametrize("prior", ["rayleigh", None])
@pytest.mark.parametrize(
    ("distortion", "settings"),
    [
        ("cosine", {}),
        ("i-divergence", {}),
        ("kl", {}),
        ("sqeuclidean", {"per_cluster": True}),
        ("sqeuclidean", {"metric_form": "full", "per_cluster": True}),
        ("mahalanobis", {"metric_form": "full"}),
    ],
)
def test_the_objective_never_rises(distortion, settings, prior, phi_max):
    for seed in range(5):
        X, known = problem(seed, positive=get_distortion(distortion).positive_only)
        model = HMRFKMeans(
            3, distortion=distortion, prior=prior, phi_max=phi_max, w=2.0, tol=0.0, max_iter=30,
            random_state=seed, **settings,
        )  # fmt: skip
        history = model.fit(X, constraints=known).objective_history_
        assert (np.diff(history) <= 1e-9 * np.abs(history[:-1])).all(), history


@pytest.mark.parametrize("phi_max", ["paper", 0.3, 1.7])
def test_the_objective_is_the_one_with_the_bound_that_grew(phi_max):
    """(3.18), with max(phi_max, the farthest cannot-linked pair) for phi_max."""
    grew = 0
    for seed in range(8):
        X, known = problem(seed)
        model = HMRFKMeans(3, distortion="cosine", phi_max=phi_max, prior=None, random_state=seed)
        model.fit(X, constraints=known)
        a, labels = model.distortion_params_, model.labels_

        def distance(x, y, a=a):
            return 1 - (a * x) @ y / np.sqrt(((a * x) @ x) * ((a * y) @ y))

        total = sum(distance(x, model.cluster_centers_[k]) for x, k in zip(X, labels, strict=True))
        gaps = [distance(X[i], X[j]) for i, j in known.cannot_link]
        bound = max(1.0 if phi_max == "paper" else phi_max, *gaps)
        grew += bound == max(gaps)
        total += sum(distance(X[i], X[j]) for i, j in known.must_link if labels[i] != labels[j])
        total += sum(
            bound - gap
            for gap, (i, j) in zip(gaps, known.cannot_link, strict=True)
            if labels[i] == labels[j]
        )
        assert model.objective_ == pytest.approx(total)
    assert grew > 0


def test_a_large_number_is_a_constant_and_a_small_one_the_farthest_pair():
    X, known = problem(0)
    distortion = get_distortion("sqeuclidean")
    far = distortion.between(X, *known.cannot_link.T).max()
    for phi_max, bound in ((far + 7, far + 7), (0.0, far)):
        model = HMRFKMeans(1, phi_max=phi_max, learn_metric=False).fit(X, constraints=known)
        gaps = distortion.between(X, *known.cannot_link.T)
        np.testing.assert_allclose(
            np.sort(model.violations_.value)[::-1], np.sort(bound - gaps)[::-1]
        )


def test_rows_that_the_printed_bound_does_not_bound():
    X, known = problem(1, positive=True)
    kind = IDivergence(smoothing=0.01)
    printed = kind.paper_bound(X, *known.cannot_link.T).value(np.full(3, 1e-3))
    assert printed == kind.between(X, *known.cannot_link.T, np.full(3, 1e-3)).max() > 3e-3


@pytest.mark.parametrize(
    ("value", "words"), [("tigth", "Did you mean 'tight'"), (-1, "phi_max=-1"), (None, "phi_max")]
)
def test_other_values_are_refused(value, words):
    X, known = problem(0)
    with pytest.raises(InvalidParameter, match=words):
        HMRFKMeans(3, phi_max=value).fit(X, constraints=known)
