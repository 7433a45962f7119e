"""A report about records: how sure the clusters are, and each pair's waterfall."""

from __future__ import annotations

import re

import numpy as np
import pytest

from coterie import Constraints, Dossier
from coterie.records import odds_in_words
from coterie.report import build_record_report, build_report
from coterie.report.blocks import waterfall
from reference.records import people


@pytest.fixture(scope="module")
def told():
    columns, truth = people(60, seed=3)
    strangers = next((0, j) for j in range(1, truth.size) if truth[j] != truth[0])
    known = Constraints(truth.size, must_link=[strangers])
    return columns, truth, Dossier().fit(columns, constraints=known)


@pytest.fixture(scope="module")
def page(told):
    columns, truth, model = told
    ids = [f"no. {row}" for row in range(truth.size)]
    return build_record_report(model, records=columns, ids=ids, truth=truth, date="2026-01-01")


def test_sections_say_what_was_found(told, page):
    _, truth, model = told
    for title in ("Summary", "Pairs in doubt", "Clusters to look at", "Answers that may be wrong"):
        assert f">{title}</h2>" in page
    assert f"<dd>{truth.size}</dd>" in page
    assert f"<dd>{model.n_clusters_}</dd>" in page
    assert "answered same" in page
    assert "0% of the answers “same” were among the pairs" in page


def test_every_pair_that_is_shown_has_its_waterfall(told, page):
    _, _, model = told
    shown = re.findall(r"<bdi>no\. (\d+)</bdi> and <bdi>no\. (\d+)</bdi>", page)
    assert page.count('class="waterfall"') == len(shown) >= 10
    i, j = (int(row) for row in shown[0])
    found = model.explain(i, j)
    # The nearest to the threshold is first, and its bars end where its log-odds are.
    edge = np.log(model.threshold_ / (1 - model.threshold_))
    assert abs(found.log_odds - edge) == pytest.approx(np.abs(model.log_odds_ - edge).min())
    ends = re.findall(r"this pair</th><td dir=\"auto\">([−+][\d.]+)</td>", page)
    assert float(ends[0].replace("−", "-")) == pytest.approx(found.log_odds, abs=0.051)


def test_bars_of_a_waterfall_begin_where_the_last_one_ended():
    html = waterfall("x", ["a", "b"], [-4.0, 6.0], "end", odds_in_words)
    places = [tuple(map(float, p)) for p in re.findall(r"--x:([\d.]+)%;--w:([\d.]+)%", html)]
    assert places == [(0.0, 66.7), (0.0, 100.0), (66.7, 33.3)]
    assert html.index("−4.0") < html.index("+6.0") < html.index("+2.0")
    assert "55 times likelier different" in html
    assert "nats" not in html


def test_build_report_makes_it_too_and_values_are_escaped(told):
    columns, truth, model = told
    marked = {**columns, "given": np.array(["<b>x</b>"] * truth.size, dtype=object)}
    page = build_report(model, columns, records=marked, title="T", date="2026-01-01")
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert "<b>x" not in page
    assert page == build_report(model, columns, records=marked, title="T", date="2026-01-01")


def test_records_that_are_all_different_have_no_clusters_to_look_at():
    model = Dossier().fit({"name": ["ann lee", "bob ray", "cid orr"], "town": ["x", "y", "z"]})
    page = build_record_report(model)
    assert "Clusters to look at" not in page
    assert "<dd>3</dd>" in page
