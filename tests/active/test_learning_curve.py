"""The protocol: questions from training rows, scores on the test fold."""

from __future__ import annotations

import numpy as np
import pytest
from problems_active import blobs

from coterie import PCKMeans
from coterie.active import ExploreConsolidate, InformationGain, RandomPairs, learning_curve
from coterie.active import learning_curve as module_function
from coterie.exceptions import InvalidParameter

X, Y = blobs(3, 15, spread=4.0, gap=4.0)
BUDGETS = (0, 5, 20)


def curve(**options):
    given = {"folds": 3, "random_state": 1} | options
    return learning_curve(ExploreConsolidate(3), PCKMeans(3), X, Y, BUDGETS, **given)


def test_shape_frame_and_area():
    pandas = pytest.importorskip("pandas")
    found = curve(scores=("nmi", "ari", "f"))
    frame = found.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.columns.tolist() == ["name", "fold", "budget", "nmi", "ari", "f"]
    assert len(frame) == 3 * len(BUDGETS)
    means = frame.groupby("budget").ari.mean().to_numpy()
    assert np.allclose(found.mean("ari"), means)
    by_hand = (5 * (means[0] + means[1]) / 2 + 15 * (means[1] + means[2]) / 2) / 20
    assert np.isclose(found.area("ari"), by_hand)


def test_same_result_in_parallel_and_again():
    assert np.array_equal(curve().values["ari"], curve(n_jobs=2).values["ari"])


def test_progress_is_told():
    seen = []
    curve(progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_test_rows_are_never_asked_about(monkeypatch):
    """Labels of test rows may be anything: the answers do not depend on them."""
    import importlib

    home = importlib.import_module("coterie.active.learning_curve")
    asked = []
    real = home.answer_all

    def spy(session, oracle, **options):
        result = real(session, oracle, **options)
        asked.append({row for a in session.history for row in a.rows})
        return result

    monkeypatch.setattr(home, "answer_all", spy)
    folds = home._splits(Y.size, 3, 1, 1)
    curve()
    for number, (train, test) in enumerate(folds):
        rows = asked[(number + 1) * len(BUDGETS) - 1]
        assert rows
        assert rows <= set(train.tolist())
        assert not rows & set(test.tolist())


def test_without_folds_and_without_estimator():
    found = learning_curve(
        InformationGain(), None, X, Y, (5, 30), folds=None, repeats=2, scores=["ari"]
    )
    assert found.values["ari"].shape == (2, 2)
    assert found.mean()[1] >= found.mean()[0]


def test_plot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = curve().plot(score="nmi")
    assert axes.get_xlabel() == "questions"
    assert axes.get_ylabel() == "NMI"


@pytest.mark.parametrize("budgets", [(), (5, 5), (10, 5), (-1, 3)])
def test_bad_budgets(budgets):
    with pytest.raises(InvalidParameter, match="rising"):
        module_function(RandomPairs(), PCKMeans(3), X, Y, budgets)


def test_bad_score_is_named():
    with pytest.raises(InvalidParameter, match="Did you mean 'nmi'"):
        curve(scores=["nmii"])
