"""The defaults table: true pairs make nothing worse, nobody told K is far below K-Means.

Where that is not so stands in `experiments/defaults/known.toml`, with the cause. The list is held
to the letter: a cell that fails and is not listed, and a listed one that does not fail, are errors.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "experiments" / "peers"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "experiments" / "defaults"))

from bars import BELOW_K_MEANS, FLOOR, WORSE_WITH_PAIRS, Miss, known, misses
from contestants import OURS
from renew import renewed
from sets import MADE, MOST, REAL, table

from coterie.estimators import ESTIMATORS
from lab.page import results_of
from lab.study import load_study

STUDY = load_study(Path(__file__).resolve().parents[2] / "experiments" / "defaults")
SETS = STUDY.config["parts"]["tables"]["axes"]["set"]


def frame(**scores: dict[float, float]) -> pd.DataFrame:
    """Two draws of one set, .01 below and above the scores given by method and share."""
    return pd.DataFrame(
        [
            {"set": "s", "method": method, "share": share, "draw": draw, "ari": ari + off}
            for method, by_share in scores.items()
            for share, ari in by_share.items()
            for draw, off in enumerate((-0.01, 0.01))
        ]
    )


def test_a_mean_over_draws_below_a_bar_is_a_miss():
    found = misses(
        frame(
            KMeans={0.0: 0.6, 1.0: 0.6},
            spoiled={0.0: 0.65, 1.0: 0.62},
            poor={0.0: 0.49, 1.0: 0.51},
            TVClust={0.0: 0.2, 1.0: 0.19},  # is not told K
        )
    )
    assert found == {
        Miss(WORSE_WITH_PAIRS, "spoiled", "s", 1.0): pytest.approx(0.03),
        Miss(BELOW_K_MEANS, "poor", "s", 0.0): pytest.approx(0.11),
    }


def test_sets_are_small_and_the_same_every_time():
    assert [*REAL, *MADE] == SETS
    for name in SETS:
        X, y, k = table(name, 1)
        assert X.shape[0] == y.size <= MOST
        assert k == len(set(y.tolist())) > 1
        assert (table(name, 1).X == X).all()
        assert (name in REAL) == bool((table(name, 2).X == X).all())


def test_every_estimator_takes_part():
    methods = STUDY.cell_function().__globals__["METHODS"]
    named = {ESTIMATORS[name].partition(":")[2] for name in ESTIMATORS if name != "dossier"}
    assert named <= methods.keys()
    assert methods.keys() - named <= {*OURS, FLOOR}


def test_the_known_misses_are_those_of_the_committed_results():
    """So that list, results and the table of docs/which-estimator.md say the same."""
    results = results_of(STUDY, ("full",))
    assert set(misses(results.frame)) == set(known())


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_true_pairs_spoil_nothing_and_nobody_told_k_is_far_below_k_means(name):
    """Every estimator with its defaults, 0, n/10 and n true pairs."""
    cell = STUDY.cell_function()
    rows = [
        {**planned.identity(), **row}
        for planned in STUDY.cells("full")
        if planned.axes["set"] == name
        for row in cell(
            part=planned.part,
            draw=planned.draw,
            seed=planned.seed,
            **planned.axes,
            **planned.constants,
        )
    ]
    found = misses(pd.DataFrame(rows))
    listed = {miss for miss in known() if miss.set == name}
    new = {miss: round(by, 3) for miss, by in found.items() if miss not in listed}
    mended = listed - found.keys()
    assert not new, f"not in known.toml: {new}"
    assert not mended, f"mended, so take them out of known.toml: {sorted(mended)}"


def test_renewing_keeps_causes_and_says_where_there_is_none():
    before = known()
    again = tomllib.loads(renewed(list(before), before))["miss"]
    assert {
        Miss(entry["bar"], entry["method"], name, share): entry["cause"]
        for entry in again
        for name, shares in entry["cells"].items()
        for share in shares
    } == before
    some = next(iter(before))
    moved, fresh = some._replace(set="another"), Miss(BELOW_K_MEANS, "new", "iris", 0.1)
    entries = tomllib.loads(renewed([moved], before))["miss"]
    assert [(entry["cells"], entry["cause"]) for entry in entries] == [
        ({"another": [some.share]}, before[some])
    ]
    assert "Not looked into" in renewed([fresh], before)
