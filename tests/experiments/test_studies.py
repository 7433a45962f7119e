"""The cells of the studies follow the papers' protocols; on iris, which needs no data folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lab.study import load_study

ROOT = Path(__file__).resolve().parents[2] / "experiments"


def run(name: str, **parameters) -> pd.DataFrame:
    return pd.DataFrame(load_study(ROOT / name).cell_function()(**parameters))


@pytest.fixture(scope="module")
def ablations() -> pd.DataFrame:
    return run(
        "hmrf_kmeans",
        part="low",
        set="iris",
        distortion="sqeuclidean",
        draw=3,
        seed=3,
        pairs=[0, 60],
    )


def test_ablations_are_scored_at_every_number_of_pairs(ablations):
    assert set(ablations["method"]) == {"C-D-R", "C-D", "C", "K-Means"}
    assert (ablations.groupby("method")["pairs"].apply(list).map(lambda x: x == [0, 60])).all()
    assert ablations["nmi"].between(0, 1).all()


def test_k_means_knows_no_pairs_and_c_without_pairs_is_k_means(ablations):
    nmi = ablations.set_index(["method", "pairs"])["nmi"]
    assert nmi["K-Means", 60] == nmi["K-Means", 0] == nmi["C", 0]


def test_two_draws_are_the_two_halves_of_one_run():
    function = load_study(ROOT / "hmrf_kmeans").cell_function()
    fold = function.__globals__["fold"]
    first, second, other = (fold("iris", (0, 40), draw) for draw in (4, 5, 6))
    assert np.array_equal(np.sort([*first.test, *second.test]), np.arange(150))
    assert np.array_equal(first.train, second.test)
    assert not np.array_equal(first.test, other.test)
    assert np.isin(first.constraints[1].pairs, first.train).all()


@pytest.fixture(scope="module")
def schemes() -> pd.DataFrame:
    return run(
        "pckmeans",
        part="curves",
        set="iris",
        draw=1,
        seed=1,
        start="figure-1",
        pairs=[0, 30, 120],
        schemes=["active", "random", "Explore only"],
        weights=["0", "very high"],
    )


def test_schemes_start_level_and_the_gain_is_their_difference(schemes):
    nmi = schemes.set_index(["scheme", "w", "pairs"])["nmi"]
    for w in ("0", "very high"):
        assert nmi["active", w, 0] == nmi["random", w, 0] == nmi["Explore only", w, 0]
        for pairs in (0, 30, 120):
            gain = nmi["active", w, pairs] - nmi["random", w, pairs]
            assert nmi["active - random", w, pairs] == pytest.approx(gain)


def test_pairs_that_are_never_broken_cost_distance(schemes):
    """w = 0 ends where rows are nearest; keeping all pairs cannot be nearer from the same start."""
    objective = schemes[schemes["scheme"] == "active"].set_index(["w", "pairs"])["objective"]
    assert objective["very high", 120] >= objective["0", 120] - 1e-9


def test_explore_stops_when_it_has_a_row_of_every_class():
    found = run("pckmeans", part="explore", set="iris", draw=0, seed=0)
    assert 3 <= found["queries"].item() <= 60
