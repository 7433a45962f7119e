"""The comparison: limits that end a fit, and advice that follows from numbers."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "experiments" / "peers"))

import worker
from advice import best_of, choices, summary
from contestants import EVERYONE, GROUP_OF
from figure import write_names
from matplotlib import pyplot as plt
from shapes import SHAPES, make
from worker import Problem, Worker

from coterie import Constraints


def problem(n: int) -> Problem:
    rows = make("stretched", n, 0)
    return Problem(rows.X, Constraints(n, [(0, 1)], [(2, 3)]), rows.k, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no timer of CPU time")
def test_a_fit_over_the_limit_is_ended_and_the_next_one_runs():
    fits = Worker()
    slow = fits.fit("TVClust", problem(3000), 0.02)
    assert (slow.labels, slow.status, slow.seconds) == (None, "time-out", 0.02)
    quick = fits.fit("sklearn KMeans", problem(100), 10.0)
    assert quick.status == "finished"
    assert quick.labels is not None
    assert quick.labels.shape == (100,)


def test_errors_and_packages_that_are_absent_are_results(monkeypatch):
    def absent(*given):
        raise ModuleNotFoundError("No module named 'nowhere'", name="nowhere")

    def wrong(*given):
        raise ZeroDivisionError

    monkeypatch.setitem(EVERYONE, "absent", absent)
    monkeypatch.setitem(EVERYONE, "wrong", wrong)
    assert worker._fit("absent", problem(50)).status == "not installed: nowhere"
    assert worker._fit("wrong", problem(50)).status == "failed: ZeroDivisionError"


def test_what_a_package_makes_of_numpy_is_not_handed_on(monkeypatch):
    def strict(X, *given):
        np.seterr(all="raise")
        return np.zeros(len(X))

    def careless(X, *given):
        return np.exp(np.full(len(X), -800.0))

    monkeypatch.setitem(EVERYONE, "strict", strict)
    monkeypatch.setitem(EVERYONE, "careless", careless)
    with np.errstate():
        assert worker._fit("strict", problem(50)).status == "finished"
        assert worker._fit("careless", problem(50)).status == "finished"


def test_every_method_has_a_group_and_every_shape_four_classes():
    assert GROUP_OF.keys() == EVERYONE.keys()
    for shape in SHAPES:
        X, y, k = make(shape, 200, 1)
        assert (X.shape[0], k, y.size) == (200, 4, 200)
        np.testing.assert_allclose(X.std(axis=0), 1.0)
        np.testing.assert_array_equal(X, make(shape, 200, 1).X)


def frame() -> pd.DataFrame:
    """Two methods: one better with few pairs by .4, the other with many by .2."""
    ari = {("left", 20): 0.8, ("left", 100): 0.7, ("right", 20): 0.4, ("right", 100): 0.9}
    return pd.DataFrame(
        [
            {"shape": shape, "size": 300, "per_100": p, "noise": 0.0, "draw": draw, "method": m}
            | {"ari": value}
            for (m, p), value in ari.items()
            for shape in ("round", "curved")
            for draw in range(3)
        ]
    )


def test_gaps_are_to_the_best_of_each_setting():
    found = summary(frame())
    assert list(found.index) == ["left", "right"]  # nearest to the best first
    assert found.gap.to_dict() == pytest.approx({"left": 0.1, "right": 0.2})
    assert found.worst.to_dict() == pytest.approx({"left": 0.2, "right": 0.4})
    assert found.close.to_dict() == {"left": 0.5, "right": 0.5}


def test_a_choice_by_the_number_of_pairs_is_found_where_it_pays():
    found = choices(frame())
    assert found["one for everything"].gap == pytest.approx(0.1)
    assert found["one for everything"].methods == ["left"]
    assert found["by size and per_100"].gap == pytest.approx(0.0)
    assert set(found["by size and per_100"].methods) == {"left", "right"}
    assert found["by shape"].gap == pytest.approx(0.1)


def test_those_close_to_the_best_are_named_after_it():
    some = pd.DataFrame({"method": ["a", "b", "c"], "ari": [0.8, 0.81, 0.5]})
    assert best_of(some) == "**b** 0.81, a"
    assert best_of(some[:0]) == "–"


def test_no_name_covers_another_or_a_point():
    rng = np.random.default_rng(0)
    points = np.c_[10 ** rng.normal(-1, 0.5, 22), rng.normal(0.5, 0.08, 22)]
    canvas, axis = plt.subplots(figsize=(4.6, 5.0))
    axis.set(xscale="log", xlim=(3e-4, 300), ylim=(0, 1))
    names = [f"{'a long ' * (row % 3)}method {row}" for row in range(22)]
    boxes = write_names(axis, points, names, ["black"] * 22)
    dots = axis.transData.transform(points)
    for at, box in enumerate(boxes):
        assert not box.count_overlaps([*boxes[:at], *boxes[at + 1 :]])
        assert not any(box.contains(*dot) for other, dot in enumerate(dots) if other != at)
        assert axis.bbox.contains(box.x0, box.y0)
        assert axis.bbox.contains(box.x1, box.y1)
    plt.close(canvas)
    crowd = np.tile([[0.1, 0.5]], (200, 1))
    _, axis = plt.subplots(figsize=(1, 1))
    with pytest.raises(ValueError, match="no room for the name"):
        write_names(axis, crowd, ["somebody"] * 200, ["black"] * 200)
    plt.close("all")
