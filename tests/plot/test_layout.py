"""Where rows go on a map and which of them are kept; no matplotlib needed."""

from __future__ import annotations

import subprocess
import sys
import types

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA

from coterie import Constraints
from coterie.exceptions import InvalidData, InvalidParameter, MissingDependency
from coterie.plot import layout
from coterie.plot.layout import keep_first, lay_out, project

RNG = np.random.default_rng(5)


def all_coordinates(X, **options):
    return project(X, **options).coordinates(np.arange(X.shape[0]))


def test_principal_components_are_those_of_scikit_learn():
    X = RNG.normal(size=(60, 5)) * [5, 3, 1, 1, 1]
    assert np.allclose(all_coordinates(X, projection="pca"), PCA(2).fit_transform(X))


def test_csr_rows_get_the_same_places_as_dense_ones():
    X = RNG.normal(size=(60, 6)) * (RNG.random((60, 6)) < 0.5) * [9, 5, 1, 1, 1, 1]
    dense = all_coordinates(X, projection="pca")
    sparse = all_coordinates(sp.csr_matrix(X), projection="pca")
    assert np.allclose(dense, sparse, atol=1e-8) or np.allclose(np.abs(dense), np.abs(sparse))


def test_two_columns_are_shown_as_they_are():
    X = RNG.normal(size=(7, 2))
    flat = project(X, feature_names=["length", "width"])
    assert flat.axes == ("length", "width")
    assert np.array_equal(flat.coordinates(np.array([3, 1])), X[[3, 1]])


@pytest.mark.parametrize("shape", [(1, 4), (2, 4), (3, 4), (5, 1), (1, 1), (2, 2), (4, 3)])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_tiny_data_have_places(shape, make):
    X = make(np.arange(float(np.prod(shape))).reshape(shape))
    assert np.isfinite(all_coordinates(X)).all()


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("value", [0.0, 0.1])
def test_equal_rows_lie_on_one_place(make, value):
    assert np.allclose(all_coordinates(make(np.full((9, 4), value))), 0)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_rows_on_a_line_lie_on_a_line(make):
    X = np.outer(np.arange(9.0), [1.0, 2.0, 0.0, 3.0])
    places = all_coordinates(make(X), projection="pca")
    assert np.allclose(np.abs(np.diff(places[:, 0])), np.sqrt(14))
    assert np.allclose(places[:, 1], 0, atol=1e-6)


def test_given_coordinates_are_used_and_checked():
    plane = RNG.normal(size=(9, 2))
    X = RNG.normal(size=(9, 4))
    assert np.array_equal(all_coordinates(X, projection=plane), plane)
    with pytest.raises(InvalidData, match=r"\(9, 2\)"):
        project(X, plane[:8])
    with pytest.raises(InvalidParameter, match="Did you mean 'pca'"):
        project(X, "pcaa")


def test_places_do_not_depend_on_which_rows_are_asked_for():
    X = RNG.normal(size=(200, 5))
    flat = project(X)
    some = np.array([3, 150, 42])
    assert np.allclose(flat.coordinates(np.arange(200))[some], flat.coordinates(some))


def test_axes_of_large_data_are_fitted_on_a_sample(monkeypatch):
    X = RNG.normal(size=(500, 4)) * [9, 5, 1, 1]
    whole = all_coordinates(X, projection="pca")
    monkeypatch.setattr(layout, "PCA_ROWS", 250)
    part = all_coordinates(X, projection="pca")
    assert not np.allclose(whole, part)
    for axis in (0, 1):
        assert abs(np.corrcoef(whole[:, axis], part[:, axis])[0, 1]) > 0.98
    assert np.array_equal(part, all_coordinates(X, projection="pca"))


class FakeUMAP:
    """Stands for umap-learn, which is no dependency: twice the first two columns, plus 7."""

    def __init__(self, **options):
        assert options["random_state"] == 0

    def fit(self, rows):
        rows = rows.toarray() if sp.issparse(rows) else rows
        self.embedding_ = 2 * rows[:, :2] + 7
        return self


@pytest.fixture
def umap(monkeypatch):
    fake = types.ModuleType("umap")
    fake.UMAP = FakeUMAP
    fake.__spec__ = types.SimpleNamespace()
    monkeypatch.setitem(sys.modules, "umap", fake)


def test_umap_is_named_if_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(MissingDependency, match="umap-learn"):
        project(RNG.normal(size=(30, 4)), "umap")


def test_umap_is_used_where_principal_components_show_too_little(umap):
    X = np.random.default_rng(0).normal(size=(100, 8))
    assert project(X).method == "UMAP"
    assert project(X, "pca").method == "principal components"
    assert project(X * [20, 20, 1, 1, 1, 1, 1, 1]).method == "principal components"


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_rows_outside_the_sample_lie_between_their_neighbours(umap, monkeypatch, make):
    monkeypatch.setattr(layout, "UMAP_ROWS", 200)
    X = np.random.default_rng(0).random((400, 3))
    X[300] = X[301] = X[302]  # equal rows, in the sample or not, have one place
    flat = project(make(X), "umap")
    places = flat.coordinates(np.arange(400))
    inside = layout._sample(400, 200)
    assert np.allclose(places[inside], 2 * X[inside, :2] + 7)
    assert np.allclose(places[300], places[302])
    assert np.isfinite(places).all()
    assert np.abs(places - (2 * X[:, :2] + 7)).max() < 0.5  # neighbours are near
    assert np.allclose(flat.coordinates(np.array([5, 399])), places[[5, 399]])


def test_broken_pairs_and_their_rows_are_kept_when_data_are_thinned():
    n = 3000
    X = RNG.normal(size=(n, 2))
    labels = (np.arange(n) >= n // 2).astype(int)
    kept = np.column_stack([np.arange(400), np.arange(400) + 400])
    broken = np.column_stack([np.arange(5), n - 1 - np.arange(5)])
    known = Constraints(n, must_link=np.r_[kept, broken])
    flat = lay_out(project(X), known, labels, max_points=100, max_pairs=40)
    assert flat.rows.size == 100
    assert flat.pairs.size == 40
    assert flat.broken.sum() == 5
    ends = known.pairs[flat.pairs]
    assert np.isin(ends, flat.rows).all()
    assert np.array_equal(flat.segments, X[ends])
    assert np.array_equal(flat.points, X[flat.rows])
    again = lay_out(project(X), known, labels, max_points=100, max_pairs=40)
    assert np.array_equal(flat.rows, again.rows)


@pytest.mark.parametrize(("first", "n", "limit"), [(4, 10, 6), (8, 10, 6), (0, 10, 6), (4, 5, 6)])
def test_keep_first_keeps_the_first(first, n, limit):
    wanted = np.sort(np.random.default_rng(1).choice(n, first, replace=False))
    found = keep_first(wanted, n, limit)
    assert found.size == min(n, limit)
    assert (np.diff(found) > 0).all()
    assert np.isin(wanted, found).all() or np.isin(found, wanted).all()


def test_data_without_pairs_have_a_map():
    flat = lay_out(project(RNG.normal(size=(6, 4))), Constraints(6), np.zeros(6, int))
    assert flat.points.shape == (6, 2)
    assert flat.segments.shape == (0, 2, 2)


def test_without_labels_nothing_is_broken():
    known = Constraints(4, must_link=[(0, 1)], cannot_link=[(2, 3)])
    assert not lay_out(project(np.eye(4)), known, None).broken.any()


def test_importing_does_not_load_matplotlib():
    code = "import coterie.plot, sys; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_tsne_keeps_clusters_apart_and_is_the_same_each_time(monkeypatch):
    monkeypatch.setattr("coterie.plot.layout.UMAP_ROWS", 60)  # the others go between neighbours
    rng = np.random.default_rng(3)
    which = np.repeat([0, 1], 50)
    X = rng.normal(size=(100, 5)) + 30 * which[:, None]
    plane = project(X, "tsne")
    assert plane.method == "t-SNE"
    places = plane.coordinates(np.arange(100))
    assert np.array_equal(places, project(X, "tsne").coordinates(np.arange(100)))
    middles = [places[which == k].mean(axis=0) for k in (0, 1)]
    spread = max(np.linalg.norm(places[which == k] - middles[k], axis=1).max() for k in (0, 1))
    assert np.linalg.norm(middles[0] - middles[1]) > spread
    assert project(sp.csr_matrix(X), "tsne").coordinates(np.arange(3)).shape == (3, 2)
    assert project(X[:3], "tsne").method == "principal components"  # too few for it
