"""Claims: what each kind says of results whose answer is known; the committed ones are sound."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lab.claims import FAILS, HOLDS, UNCLEAR, UNTESTABLE, judge
from lab.selection import paired, per_draw, select
from lab.study import find_studies


def table(**methods: list[float]) -> pd.DataFrame:
    """Rows of two sets and two x whose values per draw are given for x = 0; x = 1 adds .1."""
    return pd.DataFrame(
        [
            {"set": name, "method": method, "x": x, "draw": draw, "nmi": value + 0.1 * x}
            for name in ("p", "q")
            for method, values in methods.items()
            for x in (0, 1)
            for draw, value in enumerate(values)
        ]
    )


def verdict(frame: pd.DataFrame, **claim) -> str:
    base = {"id": "c", "source": "s", "says": "s", "metric": "nmi"}
    return judge({**base, **claim}, frame).word


A, B = {"a": {"method": "a"}, "b": {"method": "b"}}, {"a": {"method": "b"}, "b": {"method": "a"}}


def test_comparisons_are_paired_so_a_small_steady_gain_is_significant_under_large_spread():
    rng = np.random.default_rng(0)
    level = rng.normal(size=10)
    frame = table(a=list(level + 0.01 + 0.001 * rng.normal(size=10)), b=list(level))
    assert verdict(frame, kind="greater", **A) == HOLDS
    assert verdict(frame, kind="greater", test="wilcoxon", **A) == HOLDS
    assert verdict(frame, kind="greater", **B) == FAILS
    assert verdict(frame, kind="greater", margin=0.05, **A) == FAILS
    noisy = table(a=list(level + rng.normal(size=10)), b=list(level))
    ahead, behind = (A, B) if noisy.query("method == 'a'")["nmi"].mean() > 0 else (B, A)
    gap = paired(*(per_draw(select(noisy, ahead[side]), "nmi") for side in "ab"))
    assert gap is not None
    if gap.gap.mean < 0:
        ahead, behind = behind, ahead
    assert gap.p > 0.05
    for way in (ahead, behind):
        assert verdict(noisy, kind="greater", **way) == UNCLEAR
        assert verdict(noisy, kind="at_least", tolerance=0.01, **way) == UNCLEAR
        assert verdict(noisy, kind="similar", tolerance=0.01, **way) == UNCLEAR
        assert verdict(noisy, kind="similar", tolerance=100.0, **way) == HOLDS


def test_draws_that_only_one_side_has_do_not_count():
    a = pd.Series([0.5, 0.6, 9.0], index=[0, 1, 2])
    b = pd.Series([0.4, 0.5, -9.0], index=[0, 1, 3])
    found = paired(a, b)
    assert found is not None
    assert found.gap.n == 2
    assert found.gap.mean == pytest.approx(0.1)
    assert paired(a, pd.Series([1.0], index=[7])) is None


@pytest.mark.parametrize(
    ("claim", "word"),
    [
        ({"kind": "at_least", "tolerance": 0.03, **B}, HOLDS),
        ({"kind": "at_least", "tolerance": 0.01, **B}, FAILS),
        ({"kind": "similar", "tolerance": 0.03, **A}, HOLDS),
        ({"kind": "similar", "tolerance": 0.01, **A}, FAILS),
        ({"kind": "rises", "x": "x", "a": {"method": "a"}}, HOLDS),
        ({"kind": "monotone", "x": "x", "tolerance": 0.0}, HOLDS),
        ({"kind": "near", "value": 0.58, "tolerance": 0.02, "a": {"method": "a"}}, HOLDS),
        ({"kind": "near", "value": 0.58, "tolerance": 0.001, "a": {"method": "a"}}, FAILS),
        ({"kind": "near", "value": 0.574, "tolerance": 0.0005, "a": {"method": "a"}}, UNCLEAR),
        ({"kind": "reaches", "value": 0.574, "a": {"method": "a"}}, UNCLEAR),
        ({"kind": "below", "value": 0.5735, "a": {"method": "a"}}, UNCLEAR),
        ({"kind": "reaches", "value": 0.57, "a": {"method": "a"}}, HOLDS),
        ({"kind": "reaches", "value": 0.6, "a": {"method": "a"}}, FAILS),
        ({"kind": "below", "value": 0.6, "a": {"method": "a"}}, HOLDS),
        ({"kind": "below", "value": 0.5, "a": {"method": "a"}}, FAILS),
        ({"kind": "below", "value": 0.6, "every_draw": True, "a": {"method": "a"}}, HOLDS),
        ({"kind": "below", "value": 0.578, "a": {"method": "a"}}, HOLDS),
        ({"kind": "below", "value": 0.578, "every_draw": True, "a": {"method": "a"}}, FAILS),
        ({"kind": "greater", "where": {"set": "neither"}, **A}, UNTESTABLE),
        ({"kind": "greater", "where": {"draw": 0}, **A}, UNTESTABLE),
        ({"kind": "greater", "where": {"draw": 0}, "least": 1, **A}, HOLDS),
        ({"kind": "greater", "where": {"set": ["p", "r"]}, "each": ["set"], **A}, HOLDS),
        ({"kind": "greater", "where": {"x": {"from": 1}}, **A}, HOLDS),
        ({"kind": "greater", "where": {"x": {"from": 2}}, **A}, UNTESTABLE),
        ({"untestable": "no data"}, UNTESTABLE),
    ],
)
def test_each_kind_of_claim_says_yes_and_no(claim, word):
    a = [0.52, 0.521, 0.522, 0.523, 0.524, 0.525, 0.526, 0.529]
    assert verdict(table(a=a, b=[value - 0.02 for value in a]), **claim) == word


@pytest.mark.parametrize(
    ("gain", "word"), [(0.3, HOLDS), (0.02, FAILS), (0.08, UNCLEAR)], ids=["much", "little", "some"]
)
def test_comparable_methods_differ_by_little_beside_what_both_gain(gain, word):
    """a and b differ by .04 ± .002; half of the gain over c is allowed, in either direction."""
    a = np.array([0.52, 0.521, 0.522, 0.523, 0.524, 0.525, 0.526, 0.529])
    noise = 0.004 * (-1.0) ** np.arange(8)
    frame = table(a=list(a), b=list(a - 0.04 + noise), c=list(a - 0.02 - gain - noise))
    claim = {"kind": "comparable", "share": 0.5, "c": {"method": "c"}}
    assert verdict(frame, **claim, **A) == word
    assert verdict(frame, **claim, **B) == word
    assert verdict(frame[frame["method"] != "c"], **claim, **A) == UNTESTABLE


def test_a_curve_that_falls_is_neither_rising_nor_monotone():
    frame = table(a=[0.5, 0.6])
    frame["x"] = -frame["x"]
    assert verdict(frame, kind="rises", x="x") == FAILS
    assert verdict(frame, kind="falls", x="x") == HOLDS
    assert verdict(frame, kind="dips", x="x") == HOLDS
    assert verdict(frame, kind="dips", x="x", tolerance=0.11) == FAILS
    assert verdict(frame, kind="monotone", x="x", tolerance=0.05) == FAILS
    assert verdict(frame, kind="monotone", x="x", tolerance=0.11) == HOLDS


def test_correlation_is_over_the_means_of_points():
    frame = table(a=[0.5, 0.6], b=[0.3, 0.4])
    frame["f"] = frame["nmi"] + 0.2 * (-1.0) ** frame["draw"]  # cancels within a point
    claim = {"kind": "correlated", "with": "f", "points": ["method", "x"], "value": 0.99}
    assert verdict(frame, **claim) == HOLDS
    frame["f"] = -frame["nmi"]
    assert verdict(frame, **claim) == FAILS
    assert verdict(frame[frame["x"] == 0], **claim) == UNTESTABLE


def test_all_groups_must_agree_unless_the_claim_says_how_many():
    frame = table(a=[0.52, 0.53], b=[0.5, 0.51])
    frame.loc[(frame["set"] == "q") & (frame["method"] == "a"), "nmi"] -= 0.1
    assert verdict(frame, kind="greater", each=["set"], **A) == FAILS
    assert verdict(frame, kind="greater", each=["set"], need=1, **A) == HOLDS
    unsure = (frame["set"] == "q") & (frame["method"] == "a") & (frame["draw"] == 0)
    frame.loc[unsure, "nmi"] += 0.3
    assert verdict(frame, kind="greater", each=["set"], **A) == UNCLEAR
    assert verdict(frame, kind="greater", each=["set"], need=1, **A) == HOLDS


def test_a_curve_whose_fall_may_be_chance_is_neither():
    frame = table(a=[0.5, 0.6, 0.4])
    after = frame["x"] == 1
    frame.loc[after, "nmi"] -= 0.1 + np.tile([0.3, -0.2, 0.05], 2)
    assert verdict(frame, kind="monotone", x="x", tolerance=0.0) == UNCLEAR
    assert verdict(frame, kind="dips", x="x") == UNCLEAR
    assert verdict(frame, kind="dips", x="x", tolerance=0.06) == FAILS


ROOT = Path(__file__).resolve().parents[2] / "experiments"


@pytest.mark.parametrize("study", find_studies(ROOT), ids=lambda study: study.name)
def test_committed_studies_are_sound(study):
    """Claims, figures and tables name columns that exist; quick cells are among the full kinds."""
    empty = pd.DataFrame(columns=study.columns)
    for claim in study.claims:
        assert judge(claim, empty).word == UNTESTABLE
    for shown in (*study.config.get("figure", []), *study.config.get("table", [])):
        select(empty, shown.get("where", {}))
        names = {shown.get(field) for field in ("x", "y", "lines", "panels", "rows", "columns")}
        assert names - {None} <= set(study.columns)
    assert study.cells("quick")
    assert study.cells("full")
