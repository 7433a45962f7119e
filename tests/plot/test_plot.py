"""The pictures: what is on the axes, in which style, and what is left untouched."""

from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import same_color
from matplotlib.figure import Figure

from coterie import PPC, ConstrainedCompleteLink, Constraints, PCKMeans
from coterie.active import LearningCurve
from coterie.exceptions import InvalidConstraints, InvalidData, InvalidParameter, MissingDependency
from coterie.plot import (
    plot_changes,
    plot_clusters,
    plot_confusion,
    plot_constraints,
    plot_learning_curve,
    plot_objective,
)

LABELS = np.array([0, 0, 0, 1, 1, 1])
X = np.array([[0.0, 0], [1, 0], [0, 1], [9, 9], [8, 9], [9, 8]])
KNOWN = Constraints(6, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 4), (4, 5)])


@pytest.fixture(autouse=True)
def agg():
    mpl.use("Agg")


@pytest.fixture
def ax():
    return Figure().subplots()


def groups(ax, kind):
    return {part.get_label(): part for part in ax.collections if isinstance(part, kind)}


def drawn(ax):
    """`ax`, once everything on it was turned into pixels."""
    FigureCanvasAgg(ax.figure).draw()
    return ax


def test_every_row_is_drawn_with_its_cluster(ax):
    assert plot_clusters(LABELS, X, ax=ax) is ax
    dots = groups(drawn(ax), PathCollection)
    assert set(dots) == {"cluster 0 (3)", "cluster 1 (3)"}
    assert np.array_equal(dots["cluster 1 (3)"].get_offsets(), X[3:])


def test_must_links_are_solid_cannot_links_dashed_and_broken_ones_red(ax):
    plot_clusters(LABELS, X, constraints=KNOWN, ax=ax)
    lines = groups(ax, LineCollection)
    assert set(lines) == {"must-link", "cannot-link", "broken must-link", "broken cannot-link"}
    for name, part in lines.items():
        assert same_color(part.get_color()[0], "tab:red") == name.startswith("broken")
        dashes = part.get_linestyle()[0][1]
        assert (dashes is None) == name.endswith("must-link")
    assert np.array_equal(lines["broken must-link"].get_segments(), [X[[2, 3]]])
    assert np.array_equal(lines["cannot-link"].get_segments(), [X[[0, 4]]])


def test_pairs_alone_before_and_after_clustering(ax):
    plot_constraints(KNOWN, X, ax=ax)
    assert set(groups(ax, LineCollection)) == {"must-link", "cannot-link"}
    after = plot_constraints(KNOWN, X, model=LABELS, ax=Figure().subplots())
    assert "broken cannot-link" in groups(after, LineCollection)


def test_the_two_pictures_agree_on_places(ax):
    rows = np.random.default_rng(0).normal(size=(40, 5))
    known = Constraints(40, must_link=[(3, 7)])
    plot_clusters(np.zeros(40, int), rows, constraints=known, ax=ax)
    other = plot_constraints(known, rows, ax=Figure().subplots())
    segments = [groups(a, LineCollection)["must-link"].get_segments() for a in (ax, other)]
    assert np.allclose(*segments)


def test_clusters_look_different_however_many(ax):
    labels = np.arange(60)
    plot_clusters(labels, np.random.default_rng(0).normal(size=(60, 2)), ax=ax)
    looks = {
        (tuple(part.get_facecolor()[0]), part.get_paths()[0].vertices.tobytes())
        for part in groups(ax, PathCollection).values()
    }
    assert len(looks) == 60


def test_red_is_left_to_broken_pairs(ax):
    plot_clusters(np.arange(12), np.random.default_rng(0).normal(size=(12, 2)), ax=ax)
    for part in groups(ax, PathCollection).values():
        assert not same_color(part.get_facecolor()[0], "tab:red")


def test_colours_are_those_of_the_style_in_force():
    with mpl.rc_context({"axes.prop_cycle": mpl.cycler(color=["#123456", "#00ff00"])}):
        found = groups(plot_clusters(LABELS, X, ax=Figure().subplots()), PathCollection)
    assert same_color(found["cluster 0 (3)"].get_facecolor()[0], "#123456")


def test_models_frames_and_sparse_rows_are_taken():
    frame = pd.DataFrame(X, columns=["length", "width"])
    model = PCKMeans(2, random_state=0).fit(X)
    ax = plot_clusters(model, frame, ax=Figure().subplots())
    assert ax.get_xlabel() == "length"
    plot_clusters(model, sp.csr_matrix(X), ax=Figure().subplots())
    kept = PPC(2, random_state=0).fit(X, constraints=KNOWN)
    assert groups(plot_clusters(kept, X, ax=Figure().subplots()), LineCollection)


def test_user_text_is_no_formula(ax):
    names = ["$a_{$", "b$^^$"]
    plot_clusters(["$x_{$", "y$"] * 3, X, feature_names=names, ax=ax)
    assert drawn(ax).get_xlabel().replace("\\", "") == names[0]
    drawn(plot_confusion(LABELS, ["$x_{$", "y$_$"] * 3, ax=Figure().subplots()))


def test_nothing_global_is_changed_and_pyplot_is_left_alone(ax):
    import matplotlib.pyplot as plt

    plt.close("all")
    before = dict(mpl.rcParams)
    model = PCKMeans(2, random_state=0).fit(X, constraints=KNOWN)
    plot_clusters(model, X, constraints=KNOWN, ax=ax)
    plot_objective(model, ax=ax)
    plot_confusion(model, LABELS, ax=ax)
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == []
    plot_clusters(model, X)
    assert len(plt.get_fignums()) == 1  # a new figure, and plt.show() would show it
    plt.close("all")


def test_objective_of_models_and_of_values(ax):
    model = PCKMeans(2, random_state=0).fit(X, constraints=KNOWN)
    plot_objective(model, ax=ax)
    x, y = ax.lines[0].get_data()
    assert np.array_equal(y, model.objective_history_)
    assert x[0] == 1
    mixture = PPC(2, random_state=0).fit(X)
    assert "log-likelihood" in plot_objective(mixture, ax=Figure().subplots()).get_ylabel()
    plot_objective([3.0, 2.0, 1.0], ax=ax)
    assert np.array_equal(ax.lines[1].get_ydata(), [3, 2, 1])


@pytest.mark.parametrize("bad", [[], [[1.0]], ConstrainedCompleteLink(2)])
def test_an_objective_that_is_not_there_is_refused(bad):
    with pytest.raises(InvalidParameter, match="fit"):
        plot_objective(bad)


def test_learning_curves_by_name(ax):
    curve = LearningCurve("its own", np.array([5, 10]), {"ari": np.array([[0.1, 0.5]])})
    plot_learning_curve({"one": curve, "two": curve}, ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two"]
    with pytest.raises(InvalidParameter, match=r"curves must be of .*learning_curve, .* got a str"):
        plot_learning_curve(["its own"])


def test_learning_curves_share_axes(ax):
    curves = [
        LearningCurve(name, np.array([1, 2]), {"ari": np.array([[0.0, 1.0], [0.2, 0.8]])})
        for name in ("one", "two")
    ]
    plot_learning_curve(curves, ax=ax)
    assert [line.get_label() for line in ax.lines] == ["one", "two"]
    assert np.allclose(ax.lines[0].get_ydata(), [0.1, 0.9])
    with pytest.raises(InvalidParameter, match="score"):
        plot_learning_curve(curves[0], score="nmi")


def test_confusion_puts_matching_clusters_on_the_diagonal(ax):
    truth = np.array(["b", "b", "b", "a", "a", "c"])
    labels = np.array([2, 2, 0, 5, 5, 0])
    plot_confusion(labels, truth, ax=ax)
    numbers = {tuple(map(int, t.get_position())): t.get_text() for t in ax.texts}
    assert [t.get_text() for t in ax.get_xticklabels()] == ["5", "2", "0"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b", "c"]
    assert numbers[(0, 0)] == "2"
    assert numbers[(2, 1)] == "1"


def test_wrong_input_is_named():
    with pytest.raises(InvalidData, match=r"model\.predict"):
        plot_clusters(LABELS[:3], X)
    with pytest.raises(InvalidConstraints, match="speak of 5 rows"):
        plot_clusters(LABELS, X, constraints=Constraints(5, must_link=[(0, 1)]))
    with pytest.raises(InvalidParameter, match="feature_names has 1"):
        plot_clusters(LABELS, X, feature_names=["only"])


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingDependency, match=r"coterie\[plot\]"):
        plot_clusters(LABELS, X)


def test_changes_are_bands_between_bars():
    old, new = np.repeat([0, 1], [6, 4]), np.repeat([0, 2, 1], [3, 3, 4])
    ax = plot_changes(old, new)
    assert len(ax.collections) == 3  # 0 → 0, 0 → 2, 1 → 1
    assert sum(patch.get_height() for patch in ax.patches) == 20
    words = {text.get_text() for text in ax.texts}
    assert {"before", "after", "0 (6)", "1 (4)", "0 (3)", "2 (3)"} <= words


def test_rows_that_came_and_went_and_many_clusters_are_shown():
    ax = plot_changes([0, 0, 1], [0, 1, 1], ids="bcd", old_ids="abc")
    words = {text.get_text() for text in ax.texts}
    assert {"new (1)", "gone (1)"} <= words
    many = np.arange(200)
    ax = plot_changes(many, many)
    assert len(ax.patches) == 60
    assert "others (171)" in {text.get_text() for text in ax.texts}


def test_no_learning_curve_is_nothing_to_draw():
    for nothing in ({}, []):
        with pytest.raises(InvalidParameter, match="curves is empty"):
            plot_learning_curve(nothing)
