"""GPK-Means and graph propagation around estimators: rounds, meaning of pairs, company."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie import Constraints
from coterie.cluster import (
    ConstrainedCompleteLink,
    ConstrainedKMeans,
    COPKMeans,
    HMRFKMeans,
    Mosaic,
    MPCKMeans,
    PCKMeans,
    RDPMeans,
)
from coterie.constraints import sample_pairs
from coterie.exceptions import (
    CoterieWarning,
    InfeasibleConstraints,
    InvalidData,
    InvalidParameter,
)
from coterie.mixture import PPC
from coterie.propagation import (
    GPKMeans,
    GraphPropagation,
    diagnose,
    neighbor_graph,
    propagate_gaussian,
    propagate_graph,
)
from coterie.propagation.shape import cluster_shape
from coterie.testing import Capabilities, checks_for
from coterie.transform import RCA

X, Y = load_iris(return_X_y=True)
X, FIRST = np.unique(X, axis=0, return_index=True)  # no duplicate rows
Y = Y[FIRST]
PAIRS = sample_pairs(Y, 30, random_state=0)

INNER = {
    "PCKMeans": PCKMeans(3, random_state=0),
    "MPCKMeans": MPCKMeans(3, random_state=0),
    "MPCKMeans single": MPCKMeans(3, per_cluster=False, random_state=0),
    "MPCKMeans full": MPCKMeans(3, metric_form="full", random_state=0),
    "HMRFKMeans": HMRFKMeans(3, random_state=0),
    "PPC": PPC(3, random_state=0),
    "RDPMeans": RDPMeans(n_clusters_hint=3, random_state=0),
    "Mosaic": Mosaic(3, random_state=0),
}


@pytest.mark.parametrize("name", INNER)
@pytest.mark.parametrize("meta", [GPKMeans, GraphPropagation])
def test_around_every_estimator(name, meta):
    before = repr(INNER[name])
    model = meta(INNER[name], threshold=0.3).fit(X, constraints=PAIRS)
    assert model.n_propagated_ > 0
    assert model.propagated_constraints_.n_pairs >= PAIRS.n_pairs
    assert np.array_equal(model.labels_, model.estimator_.labels_)
    assert repr(model.estimator_) == before == repr(INNER[name])  # parameters as they were
    assert model.predict(X).shape == (len(X),)
    assert model.diagnose(Y).precision > 0.6


FAMILY = ["PCKMeans", "MPCKMeans", "MPCKMeans single", "MPCKMeans full", "HMRFKMeans"]


@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize("start", ["model", "centers"])
def test_threshold_one_is_two_runs(name, start):
    for seed in range(3):
        pairs = sample_pairs(Y, 25, random_state=seed)
        model = GPKMeans(INNER[name], threshold=1.0, n_rounds=1, start=start)
        model.fit(X, constraints=pairs)
        first = clone(INNER[name]).fit(X, constraints=pairs)
        again = clone(INNER[name])
        again.set_params(init=first if start == "model" else first.cluster_centers_)
        again.fit(X, constraints=pairs)
        assert model.propagated_constraints_ == pairs
        assert model.n_propagated_ == 0
        assert np.array_equal(model.labels_, again.labels_)
        assert model.objective_ == again.objective_
        assert model.objective_history_[0] == first.objective_


@pytest.mark.parametrize("name", FAMILY)
def test_a_round_from_the_last_model_raises_no_objective_on_the_same_pairs(name):
    rises = dict.fromkeys(("model", "centers"), 0)
    for seed in range(12):
        pairs = sample_pairs(Y, 25, noise=0.1, random_state=seed)
        for start in rises:
            model = GPKMeans(INNER[name], threshold=1.0, n_rounds=1, start=start)
            before, after = model.fit(X, constraints=pairs).objective_history_
            rises[start] += after > before + 1e-9 * abs(before)
    assert rises["model"] == 0
    if name.startswith("MPCKMeans"):  # from the centres alone it does, now and then
        assert rises["centers"] > 0


@pytest.mark.parametrize("start", ["model", "centers"])
def test_rounds_by_hand(start):
    model = GPKMeans(MPCKMeans(3, random_state=0), threshold=0.4, n_rounds=2, tol=0.0, start=start)
    model.fit(X, constraints=PAIRS)
    inner = MPCKMeans(3, random_state=0).fit(X, constraints=PAIRS)
    for _ in range(model.n_rounds_):
        given = propagate_gaussian(X, *cluster_shape(inner, X), PAIRS, 0.4)
        last = inner if start == "model" else inner.cluster_centers_
        inner = MPCKMeans(3, random_state=0, init=last).fit(X, constraints=given)
    assert given == model.propagated_constraints_
    assert np.array_equal(inner.labels_, model.labels_)
    assert len(model.objective_history_) == model.n_rounds_ + 1


def test_rounds_end_when_labels_repeat_or_never():
    model = GPKMeans(MPCKMeans(3, random_state=0)).fit(X, constraints=PAIRS)
    assert model.converged_
    assert 1 <= model.n_rounds_ < 10
    none = GPKMeans(MPCKMeans(3, random_state=0)).fit(X)
    assert none.n_rounds_ == 0
    assert none.n_propagated_ == 0
    assert np.array_equal(none.labels_, MPCKMeans(3, random_state=0).fit(X).labels_)


def test_an_estimator_without_init_starts_by_itself_from_the_propagated_pairs():
    model = GPKMeans(Mosaic(3, random_state=0), n_rounds=1).fit(X, constraints=PAIRS)
    again = Mosaic(3, random_state=0).fit(X, constraints=model.propagated_constraints_)
    assert model.n_propagated_ > 0
    assert np.array_equal(model.labels_, again.labels_)


def test_around_rca_and_k_means_by_hand():
    wide = np.hstack([X, 2 * np.random.default_rng(0).standard_normal((len(X), 3))])
    inner = make_pipeline(RCA(), KMeans(3, n_init=3, random_state=0))
    model = GPKMeans(inner, n_rounds=1, threshold=0.2).fit(wide, constraints=PAIRS)
    rca = RCA().fit(wide, constraints=PAIRS)
    labels = clone(inner[-1]).fit_predict(rca.transform(wide))
    # The metric of RCA in the space of the rows is Euclidean distance in its own.
    centers = np.array([wide[labels == h].mean(axis=0) for h in range(3)])
    Z = rca.transform(wide)
    means = np.array([Z[labels == h].mean(axis=0) for h in range(3)])
    given = propagate_gaussian(Z, labels, means, None, PAIRS, 0.2)
    found = model.propagated_constraints_
    assert np.array_equal(found.pairs, given.pairs)
    np.testing.assert_allclose(found.weight, given.weight, rtol=1e-9)
    under = propagate_gaussian(
        wide, labels, centers, rca.metric_[None], PAIRS, 0.2, radius="mahalanobis"
    )
    assert np.array_equal(under.pairs, given.pairs)
    again = RCA().fit(wide, constraints=given)  # weighs the propagated must-links
    Z = again.transform(wide)
    start = np.array([Z[labels == h].mean(axis=0) for h in range(3)])
    wanted = KMeans(3, init=start, n_init=1, random_state=0).fit(Z)
    assert np.array_equal(model.labels_, wanted.labels_)
    assert np.array_equal(model.predict(wide), wanted.labels_)
    np.testing.assert_allclose(model.estimator_[0].metric_, again.metric_)
    same = model.labels_[PAIRS.pairs[:, 0]] == model.labels_[PAIRS.pairs[:, 1]]
    assert len(model.violations_) == int((same != (PAIRS.kind > 0)).sum())


@pytest.mark.parametrize("meta", [GPKMeans, GraphPropagation])
def test_pipelines_take_pairs_where_their_steps_do(meta):
    inner = make_pipeline(RCA(2), PCKMeans(3, random_state=0))
    model = meta(inner).fit(X, constraints=PAIRS)
    assert model.n_propagated_ > 0
    again = RCA(2).fit(X, constraints=model.propagated_constraints_)
    np.testing.assert_allclose(model.estimator_[0].components_, again.components_)
    with pytest.raises(InvalidParameter, match="pipeline with a step that takes them"):
        meta(make_pipeline(PCA(2), KMeans(3))).fit(X, constraints=PAIRS)
    with pytest.raises(InvalidParameter, match="COPKMeans takes every pair for certain"):
        meta(make_pipeline(RCA(2), COPKMeans(3))).fit(X, constraints=PAIRS)


@pytest.mark.parametrize("meta", [GPKMeans, GraphPropagation])
@pytest.mark.parametrize(
    "inner",
    [ConstrainedKMeans(3), COPKMeans(3), ConstrainedCompleteLink(3), PCKMeans(3, w=np.inf)],
    ids=repr,
)
def test_guesses_are_not_handed_to_what_keeps_every_pair(meta, inner):
    with pytest.raises(InvalidParameter, match="takes every pair for certain") as error:
        meta(inner).fit(X, constraints=PAIRS)
    assert type(inner).__name__ in str(error.value)
    assert "as_hard" in str(error.value)  # the remedy


def test_nothing_propagated_is_said_with_what_to_do():
    rows, digit = load_digits(return_X_y=True)
    rows, known = rows[:400], sample_pairs(digit[:400], 30, random_state=0)
    inner = PCKMeans(10, random_state=0)
    with pytest.warns(CoterieWarning, match="none of the 30 pairs was propagated") as said:
        model = GPKMeans(inner, threshold=0.5).fit(rows, constraints=known)
    assert model.n_propagated_ == 0
    assert len(said) == 1
    for remedy in ('threshold="auto"', "reduce_dim=PCA", "GraphPropagation"):
        assert remedy in str(said[0].message)
    with pytest.warns(CoterieWarning, match="Lower it, or raise alpha"):
        GraphPropagation(inner, threshold=0.999).fit(rows, constraints=known)


@pytest.mark.filterwarnings("error::coterie.exceptions.CoterieWarning")
def test_nothing_propagated_is_not_said_where_nothing_was_asked_for():
    GPKMeans(PCKMeans(3, random_state=0), threshold=1.0).fit(X, constraints=PAIRS)
    GPKMeans(PCKMeans(3, random_state=0)).fit(X)
    GraphPropagation(PCKMeans(3, random_state=0)).fit(X)
    assert GPKMeans(PCKMeans(3, random_state=0)).fit(X, constraints=PAIRS).n_propagated_ > 0


@pytest.mark.parametrize(("n_pairs", "noise"), [(100, 0.0), (1000, 0.2)])
def test_a_thousand_noisy_rows_get_a_bounded_number_of_pairs(n_pairs, noise):
    # At .5 the 100 pairs become a quarter of a million, and a fit takes minutes.
    rows, classes = make_blobs(1000, 2, centers=4, cluster_std=3, random_state=0)
    known = sample_pairs(classes, n_pairs, noise=noise, random_state=0)
    model = GPKMeans(MPCKMeans(4, random_state=0)).fit(rows, constraints=known)
    assert n_pairs < model.n_propagated_ <= 4 * n_pairs
    assert 0.5 < model.threshold_ < 1


def test_a_threshold_that_is_given_is_the_one_used():
    assert GPKMeans(MPCKMeans(3), threshold=0.6).fit(X, constraints=PAIRS).threshold_ == 0.6


def test_cluster_shape_reads_metrics_and_covariances():
    single = MPCKMeans(3, per_cluster=False, random_state=0).fit(X)
    labels, centers, A = cluster_shape(single, X)
    assert A.shape == (4,)
    for h in range(3):
        np.testing.assert_allclose(centers[h], X[labels == h].mean(axis=0))
    assert cluster_shape(PCKMeans(3, random_state=0).fit(X), X)[2] is None
    assert cluster_shape(HMRFKMeans(3, distortion="cosine", random_state=0).fit(X), X)[2] is None
    for kind, wanted in {"full": (3, 4, 4), "diag": (3, 4), "spherical": (3,)}.items():
        mixture = GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
        mixture.labels_ = mixture.predict(X)
        assert mixture.precisions_.shape == wanted
        A = cluster_shape(mixture, X)[2]
        precision = mixture.precisions_.reshape(3, -1)
        expected = (
            precision.reshape(3, 4, 4) if kind == "full" else precision[:, :, None] * np.eye(4)
        )
        np.testing.assert_allclose(A, expected, rtol=1e-6)


def test_covariance_of_a_cluster_of_several_components():
    model = PPC(2, components_per_cluster=2, random_state=0).fit(X)
    A = cluster_shape(model, X)[2]
    drawn, labels = model.sample(200_000)
    used = np.unique(model.labels_)
    for h in used:
        np.testing.assert_allclose(
            np.linalg.inv(A[h]), np.cov(drawn[labels == h].T), atol=0.03 * np.trace(np.cov(X.T))
        )


@pytest.mark.parametrize("reducer", [PCA(2), RCA(2)])
def test_reduce_dim_is_for_propagation_only(reducer):
    wide = np.hstack([X, np.random.default_rng(0).standard_normal((len(X), 40))])
    plain = GPKMeans(PCKMeans(3, random_state=0), n_rounds=1).fit(wide, constraints=PAIRS)
    model = GPKMeans(PCKMeans(3, random_state=0), n_rounds=1, reduce_dim=reducer)
    model.fit(wide, constraints=PAIRS)
    assert model.n_propagated_ > plain.n_propagated_
    told = {"constraints": PAIRS} if isinstance(reducer, RCA) else {}
    Z = clone(reducer).fit(wide, **told).transform(wide)
    first = PCKMeans(3, random_state=0).fit(wide, constraints=PAIRS)
    labels, centers, _ = cluster_shape(first, Z)
    given = propagate_gaussian(Z, labels, centers, None, PAIRS, "auto")
    assert model.propagated_constraints_ == given
    assert model.n_features_in_ == 44


def test_sparse_rows_need_a_space_to_propagate_in():
    rows = sparse.csr_array(X)
    with pytest.raises(InvalidData, match="reduce_dim"):
        GPKMeans(PCKMeans(3)).fit(rows, constraints=PAIRS)
    model = GPKMeans(PCKMeans(3, random_state=0), reduce_dim=TruncatedSVD(2, random_state=0))
    assert model.fit(rows, constraints=PAIRS).n_propagated_ > 0


def test_graph_propagation_by_hand():
    model = GraphPropagation(PCKMeans(3, random_state=0), n_neighbors=7, alpha=0.7, threshold=0.05)
    model.fit(X, constraints=PAIRS)
    given = propagate_graph(neighbor_graph(X, 7), PAIRS, 0.05, alpha=0.7)
    assert model.propagated_constraints_ == given
    inner = PCKMeans(3, random_state=0).fit(X, constraints=given)
    assert np.array_equal(model.labels_, inner.labels_)


@pytest.mark.parametrize("reducer", [PCA(2), RCA(2)])
def test_graph_propagation_in_fewer_dimensions(reducer):
    wide = np.hstack([X, 3 * np.random.default_rng(0).standard_normal((len(X), 40))])
    model = GraphPropagation(PCKMeans(3, random_state=0), reduce_dim=reducer)
    model.fit(wide, constraints=PAIRS)
    told = {"constraints": PAIRS} if isinstance(reducer, RCA) else {}
    Z = clone(reducer).fit(wide, **told).transform(wide)
    given = propagate_graph(neighbor_graph(Z, 10), PAIRS)
    assert model.propagated_constraints_ == given
    assert given != propagate_graph(neighbor_graph(wide, 10), PAIRS)
    inner = PCKMeans(3, random_state=0).fit(wide, constraints=given)  # clusters all dimensions
    assert np.array_equal(model.labels_, inner.labels_)
    assert model.n_features_in_ == 44


@pytest.mark.parametrize("meta", [GPKMeans, GraphPropagation])
def test_hard_pairs_stay_hard_and_only_they(meta):
    hard = PAIRS.as_hard()
    model = meta(MPCKMeans(3, random_state=0), threshold=0.2, hard_weight=0.7)
    model.fit(X, constraints=hard)
    given = model.propagated_constraints_
    assert given.is_hard.sum() == hard.n_pairs
    assert given.weight[~given.is_hard].max() <= 0.7
    assert given.n_pairs > hard.n_pairs
    assert len(model.violations_) == 0
    clash = Constraints(
        len(X), [(0, 1), (1, 2)], [(0, 2)], must_weight=np.inf, cannot_weight=np.inf
    )
    with pytest.raises(InfeasibleConstraints) as error:
        model.fit(X, constraints=clash)
    assert error.value.conflict.n_pairs == 3


def test_violations_are_of_own_pairs_at_what_the_fit_paid():
    wrong = sample_pairs(Y, 40, noise=0.3, random_state=1)
    wrong = wrong + wrong.only("must")  # given twice: each pays half
    model = GPKMeans(PCKMeans(3, w=0.3, random_state=0), threshold=0.8, n_rounds=1)
    model.fit(X, constraints=wrong)
    table = model.violations_
    labels = model.labels_
    same = labels[wrong.pairs[:, 0]] == labels[wrong.pairs[:, 1]]
    assert len(table) == int((same != (wrong.kind > 0)).sum()) > 0
    np.testing.assert_allclose(table.value, 0.3)  # each pair costs w; repeated or not
    assert len(model.estimator_.violations_) != len(table)


def test_random_state_seeds_the_estimator():
    one, two = (
        GPKMeans(PCKMeans(5, init="random"), random_state=3).fit(X, constraints=PAIRS)
        for _ in range(2)
    )
    assert np.array_equal(one.labels_, two.labels_)
    assert one.estimator_.random_state == 3
    drawn = GPKMeans(PCKMeans(5), random_state=np.random.RandomState(3)).fit(X)
    assert isinstance(drawn.estimator_.random_state, int)
    assert GPKMeans(PCKMeans(5, random_state=4)).fit(X).estimator_.random_state == 4


def test_nested_parameters():
    model = GPKMeans(MPCKMeans(3)).set_params(estimator__n_clusters=4, threshold=0.7)
    assert model.get_params()["estimator__n_clusters"] == 4
    copy = clone(model)
    assert copy.estimator is not model.estimator
    assert copy.get_params()["estimator__n_clusters"] == 4


def test_sample_weight_is_passed_on():
    weight = np.where(Y == 0, 5.0, 1.0)
    model = GPKMeans(PCKMeans(3, random_state=0), threshold=1.0, n_rounds=1)
    model.fit(X, sample_weight=weight)
    wanted = PCKMeans(3, random_state=0).fit(X, sample_weight=weight)
    assert model.objective_ == wanted.objective_
    with pytest.raises(InvalidParameter, match="ConstrainedCompleteLink takes none"):
        GPKMeans(ConstrainedCompleteLink(2)).fit(X, sample_weight=weight)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (GPKMeans(PCA()), "takes no constraints"),
        (GraphPropagation("PCKMeans"), "must be None, or an estimator with fit"),
        (GPKMeans(threshold=2), "threshold"),
        (GPKMeans(n_rounds=0), "n_rounds"),
        (GPKMeans(scale="no"), "scale"),
        (GPKMeans(start="labels"), "start"),
        (GPKMeans(PPC(3), start="centers"), "PPC does not start from centres"),
        (GPKMeans(INNER["RDPMeans"], start="centers"), "start='model'"),
        (GraphPropagation(alpha=1), "alpha"),
        (GraphPropagation(n_neighbors=0), "n_neighbors"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_bad_parameters_are_refused(model, words):
    with pytest.raises(InvalidParameter, match=words):
        model.fit(X, constraints=PAIRS)


def test_diagnose():
    sources = Constraints(6, must_link=[(0, 1)], cannot_link=[(0, 5)])
    given = sources + Constraints(
        6, [(1, 2), (2, 3)], [(0, 1), (1, 5), (4, 5)], must_weight=[0.5, 0.25]
    )
    found = diagnose(given, sources, [0, 0, 0, 1, -1, 1])
    assert found[:4] == (2, 2, 0.5, 0.5)  # (0, 1) as a cannot-link is new, and wrong
    assert found.precision == 0.5
    assert found.weighted_precision == (0.5 + 1) / (0.5 + 0.25 + 1 + 1)
    assert np.isnan(diagnose(sources, sources, np.zeros(6)).precision)
    with pytest.raises(InvalidData, match="one class a row"):
        diagnose(given, sources, [0, 1])


# At the default thresholds a tie of an odd row is handed on to its neighbours, and pairs against
# the data to rows around them; so these two checks, which ask that only the named rows follow, run
# at threshold 0.9 (tests/common).
NOT_FOR_PROPAGATION = ("check_numbering_of_rows", "check_constraints_matter")


@pytest.mark.parametrize(
    ("model", "check"),
    [
        pytest.param(model, check, id=f"{type(model).__name__}-{check.name}")
        for model in (
            GPKMeans(MPCKMeans(random_state=0)),
            GraphPropagation(MPCKMeans(random_state=0)),
        )
        for check in checks_for(Capabilities.of(model, n_clusters="estimator__n_clusters"))
        if check.name not in NOT_FOR_PROPAGATION
    ],
)
def test_harness_while_pairs_do_propagate(model, check):
    check(model, Capabilities.of(model, n_clusters="estimator__n_clusters"))


@parametrize_with_checks(
    [GPKMeans(), GraphPropagation()],
    expected_failed_checks=lambda _: {
        f"check_sample_weight_equivalence_on_{kind}_data": "the random start depends on the weights"
        for kind in ("dense", "sparse")
    },
)
def test_scikit_learn_with_the_default_estimator(estimator, check):
    check(estimator)
