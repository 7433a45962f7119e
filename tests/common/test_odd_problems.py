"""Wide and odd problems: a right result, a typed error, or a warning that says what was done."""

from __future__ import annotations

import resource
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from odd_fits import odd_fit
from odd_values import at_most
from sklearn.utils.validation import has_fit_parameter

from coterie import (
    PPC,
    Constraints,
    GraphPropagation,
    HMRFKMeans,
    Mosaic,
    PCKMeans,
    SeededKMeans,
)
from coterie.distortions.diameter import farthest_pair
from coterie.estimators import ESTIMATORS, estimator_class
from coterie.exceptions import CoterieError, CoterieWarning, InvalidData

CLASSES = [*map(estimator_class, ESTIMATORS)]
N, Y = 60, np.arange(60) % 3
X = np.random.default_rng(0).normal(size=(N, 3)) + 5 * np.eye(3)[Y]
KNOWN = Constraints(N, must_link=[(0, 3), (1, 4)], cannot_link=[(0, 1), (1, 2)])
SURE = Constraints(
    N,
    must_link=[(0, 3), (3, 6), (1, 4), (0, 4)],
    must_certainty=[0.5, 1, 0.7, 0],
    cannot_link=[(0, 1), (1, 7)],
    cannot_certainty=[1.0, 0],
)


def with_column(values: Any) -> Any:
    made = X.copy()
    made[:, 0] = values
    return made


def read_only() -> Any:
    made = X.copy()
    made.flags.writeable = False
    return made


ROWS: dict[str, Any] = {
    "identical": np.ones((N, 3)),
    "zeros": np.zeros((N, 3)),
    "constant column": with_column(7.0),
    "column of 1e300": with_column(1e300),
    "column times 1e300": with_column(X[:, 0] * 1e300),
    "column times 1e-300": with_column(X[:, 0] * 1e-300),
    "one cell of 1e300": with_column(np.where(np.arange(N) == 5, 1e300, X[:, 0])),
    "float16": X.astype(np.float16),
    "int8": (X * 5).astype(np.int8),
    "bool": X > 2,
    "Fortran order": np.asfortranarray(X),
    "read-only": read_only(),
    "every second row and column": np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "big-endian": X.astype(">f8"),
    "nullable integers": pd.DataFrame((X * 9).astype(int)).astype("Int64"),
    "nullable floats": pd.DataFrame(X).astype("Float64"),
    "objects": X.astype(object),
    "masked": np.ma.masked_array(X, mask=X > 6),
}


def make(cls: type, k: int = 3) -> Any:
    params = cls().get_params(deep=False)
    given = {key: k for key in ("n_clusters", "n_components") if key in params}
    return cls(**given, **({"random_state": 0} if "random_state" in params else {}))


def try_fit(cls: type, rows: Any, known: Constraints = KNOWN, k: int = 3, **rest: Any) -> Any:
    """The model, or None where a typed error said why not."""
    pairs = {"constraints": known} if has_fit_parameter(cls, "constraints") else {}
    before = megabytes()
    with warnings.catch_warnings(), at_most(60):
        warnings.simplefilter("ignore")
        try:
            model = make(cls, k).fit(rows, **pairs, **rest)
        except CoterieError:
            return None
    assert megabytes() - before < 500
    assert model.labels_.shape == (known.n_samples,)
    assert model.labels_.min() >= 0
    assert np.isfinite(getattr(model, "objective_", 0.0))
    hard = known.is_hard
    same = model.labels_[known.pairs[hard, 0]] == model.labels_[known.pairs[hard, 1]]
    assert np.array_equal(same, known.kind[hard] > 0) or not pairs
    return model


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_odd_rows(cls, record_property):
    record_property("tried", len(ROWS))
    found = {name: try_fit(cls, rows) for name, rows in ROWS.items()}
    for name in ("constant column", "float16", "Fortran order", "read-only", "nullable floats"):
        assert found[name] is not None, name
    same = found["Fortran order"].labels_
    for name in ("read-only", "every second row and column", "big-endian", "nullable floats"):
        assert np.array_equal(found[name].labels_, same), name


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_odd_weights_certainties_and_numbers(cls, record_property):
    record_property("tried", 4)
    weights = np.repeat([0.0, 1e25, 1e-100], N // 3)
    if has_fit_parameter(cls, "sample_weight"):
        try_fit(cls, X, sample_weight=weights)
        assert try_fit(cls, X, sample_weight=weights * 1e60) is None
    try_fit(cls, X, SURE)
    try_fit(cls, X, Constraints(N), k=N)


def test_masked_cells_are_missing_cells():
    masked = np.ma.masked_array(X, mask=X > 6)
    with pytest.raises(InvalidData, match="NaN"):
        PCKMeans(3).fit(masked)
    filled = PPC(3, random_state=0).fit(masked.filled(np.nan), constraints=KNOWN)
    assert np.array_equal(
        filled.labels_, PPC(3, random_state=0).fit(masked, constraints=KNOWN).labels_
    )
    assert PCKMeans(3).fit(np.ma.masked_array(X)).labels_.shape == (N,)


def test_distances_that_overflow_are_said():
    with pytest.raises(InvalidData, match="overflow"):
        GraphPropagation(Mosaic(3)).fit(ROWS["one cell of 1e300"], constraints=KNOWN)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_a_memory_map(cls, tmp_path):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.array_equal(try_fit(cls, X).labels_, try_fit(cls, mapped).labels_)


def test_certainties_of_nothing_and_of_one_half():
    """Surely not is the opposite for sure; one half says nothing, and that is said."""
    with pytest.warns(CoterieWarning, match="say nothing and were dropped"):
        known = Constraints(N, must_link=[(0, 3), (0, 2)], must_certainty=[0, 0.5])
    assert (known.pairs.tolist(), known.kind.tolist()) == ([[0, 3]], [-1])
    assert known.is_hard.all()
    labels = PCKMeans(2, random_state=0).fit(X, constraints=known).labels_
    assert labels[0] != labels[3]


@pytest.mark.parametrize("seed", range(0, 240, 24))
def test_extreme_numbers_weights_and_pairs(seed, record_property):
    """Rows of 1e-300 to 1e308, weights from 0 to 1e25, pairs of every weight, K = 1 and n."""
    record_property("tried", 24)
    for number in range(seed, seed + 24):
        with warnings.catch_warnings(), at_most(60):
            warnings.simplefilter("ignore")
            try:
                model, rows, known, weights = odd_fit(number)
                given = {} if weights is None else {"sample_weight": weights}
                model.fit(rows, constraints=known, **given)
            except CoterieError:
                continue
            labels, k = model.labels_, model.n_clusters
            assert labels.shape == (known.n_samples,), number
            assert 0 <= labels.min() <= labels.max() < k, number
            assert np.isfinite(model.objective_), number
            found = model.predict(rows)
            assert 0 <= found.min() <= found.max() < k, number


def test_mosaic_of_one_cluster_hears_soft_cannot_links():
    """Beliefs in one cluster leave nothing to say: messages were divided by 0."""
    known = Constraints(N, must_link=[(0, 3)], cannot_link=[(0, 1), (1, 2), (2, 3), (5, 9)] * 40)
    model = Mosaic(1, random_state=0).fit(X, constraints=known)
    assert not model.labels_.any()
    assert len(model.violations_) == 160


def test_mosaic_hears_pairs_that_weigh_all():
    known = Constraints(
        N, must_link=[(0, 3), (1, 4)], cannot_link=[(0, 1), (1, 2)], must_weight=1e300
    )
    labels = Mosaic(3, random_state=0).fit(X, constraints=known).labels_
    assert labels[0] == labels[3]
    assert labels[1] == labels[4]


@pytest.mark.parametrize("known", [Constraints(N), KNOWN], ids=["no pairs", "pairs"])
def test_mosaic_of_rows_that_hardly_count(known):
    """Rows that weigh nothing beside one lay infinitely far away in units of those that count."""
    for least in (0.0, 1e-100):
        weights = np.full(N, least)
        weights[:3] = 1.0
        assert try_fit(Mosaic, X, known, sample_weight=weights) is not None
    alike = try_fit(Mosaic, X, known, sample_weight=np.full(N, 1e-100))
    assert alike is not None


def test_mosaic_refuses_rows_whose_distances_overflow():
    with pytest.raises(InvalidData, match="overflow"):
        Mosaic(3).fit(ROWS["one cell of 1e300"], constraints=KNOWN)


def test_a_learned_metric_of_huge_columns_has_an_objective():
    """Weights near 1e-300 were squared before they were set against the width of their prior."""
    found = HMRFKMeans(3, random_state=0).fit(X * 1e150)
    assert np.isfinite(found.objective_)
    assert np.array_equal(found.labels_, HMRFKMeans(3, random_state=0).fit(X).labels_)


def test_objectives_that_overflow_are_said():
    rows, weights = X / np.abs(X).max() * 1e152, np.full(N, 1e25)
    with np.errstate(all="ignore"), pytest.raises(InvalidData, match="overflows float64"):
        SeededKMeans(3).fit(rows, constraints=KNOWN, sample_weight=weights)


def test_the_farthest_pair_of_nan_is_any():
    with at_most(10), np.errstate(all="ignore"):
        assert farthest_pair(np.full((4, 2), np.nan)) == (0, 0)


# -- wide ---------------------------------------------------------------------------------------
def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def chain(n: int) -> tuple[Any, Constraints]:
    rows = np.random.default_rng(0).normal(size=(n, 2))
    links = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    return rows, Constraints(n, must_link=links, must_weight=np.inf)


def test_a_chain_of_must_links():
    rows, known = chain(20_000)
    with at_most(60):
        assert np.unique(PCKMeans(1, random_state=0).fit(rows, constraints=known).labels_).size == 1
    with pytest.raises(CoterieError, match="n_clusters"):
        PCKMeans(2).fit(rows, constraints=known)


def clique(n: int) -> tuple[Any, Constraints]:
    rows = np.random.default_rng(0).normal(size=(n, 2))
    links = np.column_stack(np.triu_indices(n, 1))
    return rows, Constraints(n, cannot_link=links, cannot_weight=np.inf)


def test_a_clique_of_cannot_links():
    rows, known = clique(150)
    with at_most(60), pytest.raises(CoterieError):
        PCKMeans(3).fit(rows, constraints=known)
    with at_most(60):
        fit = PCKMeans(150, random_state=0, n_init=1).fit(rows, constraints=known)
    assert np.unique(fit.labels_).size == 150


def test_all_rows_in_pairs_and_many_sparse_columns():
    rows = sp.random(300, 20_000, density=0.001, format="csr", random_state=0)
    links = np.column_stack([np.arange(0, 300, 2), np.arange(1, 300, 2)])
    known = Constraints(300, must_link=links[:75], cannot_link=links[75:])
    before = megabytes()
    with at_most(60):
        fit = PCKMeans(5, random_state=0, n_init=1).fit(rows, constraints=known)
    assert fit.labels_.shape == (300,)
    assert megabytes() - before < 200


@pytest.mark.slow
@pytest.mark.parametrize("cls", [PCKMeans, Mosaic], ids=lambda cls: cls.__name__)
def test_a_million_rows_in_one_chain(cls):
    rows, known = chain(1_000_000)
    with at_most(600):
        model = cls(1, random_state=0).fit(rows, constraints=known)
    assert np.unique(model.labels_).size == 1
    assert megabytes() < 6000


@pytest.mark.slow
def test_a_clique_of_three_thousand():
    rows, known = clique(3000)
    with at_most(600), pytest.raises(CoterieError):
        PCKMeans(10).fit(rows, constraints=known)
    assert megabytes() < 6000


@pytest.mark.slow
@pytest.mark.parametrize("cls", [PCKMeans, Mosaic, PPC], ids=lambda cls: cls.__name__)
def test_a_million_pairs_on_a_thousand_rows(cls):
    rng = np.random.default_rng(0)
    y = np.arange(1000) % 5
    rows = rng.normal(size=(1000, 4)) + 6 * np.eye(5, 4)[y]
    pairs = rng.integers(1000, size=(1_000_000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    known = Constraints(1000, must_link=pairs[same], cannot_link=pairs[~same])
    with at_most(600), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert cls(5, random_state=0).fit(rows, constraints=known).labels_.shape == (1000,)
    assert megabytes() < 6000


@pytest.mark.slow
def test_five_hundred_clusters():
    rows = np.random.default_rng(0).normal(size=(20_000, 8))
    with at_most(600):
        assert np.unique(PCKMeans(500, n_init=1, random_state=0).fit(rows).labels_).size == 500
    assert megabytes() < 6000
