"""The page: what it says, that user text stays text, and that it is whole or not there."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest
import scipy.sparse as sp
from common.estimators import CASES
from report.pages import Page
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from coterie import ConstrainedCompleteLink, Constraints, Dossier, MPCKMeans, PCKMeans
from coterie.constraints import sample_pairs
from coterie.exceptions import InvalidParameter
from coterie.report import build_report, write_report
from coterie.report.pictures import curve

IRIS = load_iris()
X = IRIS.data
KNOWN = sample_pairs(IRIS.target, 60, noise=0.1, random_state=0)
EVIL = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>&amp;\x00\u202e${x}"
PLAIN = (
    "html head meta link title style body header nav main section article h1 h2 h3 small p ul li "
    "a dl div dt dd figure figcaption svg path text table caption thead tbody tr th td span "
    "strong bdi"
)
TAGS = set(PLAIN.split())


@pytest.fixture(scope="module")
def metric_model():
    return MPCKMeans(3, random_state=0).fit(X, constraints=KNOWN)


@pytest.fixture(scope="module")
def page(metric_model):
    return Page(
        build_report(
            metric_model,
            X,
            constraints=KNOWN,
            feature_names=IRIS.feature_names,
            truth=IRIS.target_names[IRIS.target],
            made={"data": "iris.csv", "options": {"scale": True}},
            date="2026-01-02",
        )
    )


def test_every_part_is_there(page):
    assert page.headings() == [
        "Summary",
        "Map",
        "Clusters",
        "Pairs that were broken",
        "Compared with the truth",
        "Learned metric",
        "Course of the fit",
        "How it was made",
    ]
    for words in (
        "150 rows of 4 columns were divided into 3 clusters by MPCKMeans",
        f"It was told about 60 pairs ({len(KNOWN.must_link)} must-links",
        "petal length (cm)",
        "random_state",
        "iris.csv",
        '{"scale": true}',
        "scikit-learn",
        "2026-01-02",
        "versicolor",
    ):
        assert words in page.text


def test_every_link_of_the_contents_leads_somewhere(page):
    links = [link for link in page.values("href") if link.startswith("#")]
    assert len(links) == len(page.headings())
    assert {link[1:] for link in links} <= set(page.values("id"))


def test_ids_are_unique_and_pictures_and_tables_are_named(page):
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert page.tags.count("caption") == page.tags.count("table")
    images = [a for tag, a in page.elements if a.get("role") == "img"]
    assert [a["aria-label"][:9] for a in images] == ["Map of 15", "objective"]


def test_broken_pairs_are_counted_drawn_and_shown(metric_model, page):
    broken = len(metric_model.violations_)
    assert broken
    assert f"{60 - broken} pairs were kept and {broken}" in page.text
    # The map's lines have an "L", those of the legend do not.
    assert sum(path["d"].count("L") for path in page.with_class("broken") if "d" in path) == broken
    assert sum(path["d"].count("L") for path in page.with_class("pair")) == 60


def test_every_row_is_a_dot_of_its_cluster(metric_model, page):
    dots = [path["d"].count("M") for path in page.with_class("dots")]
    on_map = [count for count in dots if count > 1]  # swatches have one
    assert on_map == np.bincount(metric_model.labels_).tolist()


def test_user_text_stays_text():
    n = 150
    model = PCKMeans(3, random_state=0).fit(X, constraints=KNOWN)
    html = build_report(
        model,
        X,
        constraints=KNOWN,
        feature_names=[EVIL + str(j) for j in range(4)],
        ids=[EVIL + str(i) for i in range(n)],
        records={EVIL: [EVIL] * n, "other": range(n)},
        truth=[EVIL + str(c) for c in IRIS.target],
        made={EVIL: {EVIL: [EVIL]}, "file": EVIL},
        title=EVIL,
        date=EVIL,
    )
    page = Page(html)
    assert set(page.tags) <= TAGS
    assert not [name for _, a in page.elements for name in a if name.startswith("on")]
    assert set(page.values("src")) == set()
    assert "\x00" not in html
    assert page.text.count("<script>alert('x')</script>") > 20
    html.encode("utf-8")


def test_labels_that_are_words_stay_text():
    class Named(PCKMeans):
        """A clusterer whose clusters have names, as a user may write one."""

        @property
        def labels_(self):
            return np.array([EVIL, "b", "c"])[self._numbers]

        @labels_.setter
        def labels_(self, numbers):
            self._numbers = numbers

    model = Named(3, random_state=0).fit(X)
    page = Page(build_report(model, X))
    assert set(page.tags) <= TAGS
    svg_text = [text for tag, text in page.pieces if tag == "text"]
    assert any("<script>" in text for text in svg_text)


def test_nothing_comes_from_elsewhere(metric_model):
    html = build_report(metric_model, X)
    for attribute in ("src", "href", "action", "poster", "srcset", "xlink:href"):
        assert all(v.startswith(("#", "data:,")) for v in Page(html).values(attribute))
    assert not re.search(r"https?://|url\(|@import|<script", html)
    assert any("default-src 'none'" in policy for policy in Page(html).values("content"))


def test_the_same_input_gives_the_same_page(metric_model):
    options = {"constraints": KNOWN, "date": "2026-01-02"}
    assert build_report(metric_model, X, **options) == build_report(metric_model, X, **options)
    again = MPCKMeans(3, random_state=0).fit(X, constraints=KNOWN)
    assert build_report(again, X, **options) == build_report(metric_model, X, **options)


def test_addresses_in_parameters_do_not_show(metric_model):
    model = PCKMeans(3, random_state=np.random.RandomState(0), init=X[:3]).fit(X)
    assert not re.search(r"0x[0-9a-f]{6}", build_report(model, X), re.IGNORECASE)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_estimator_has_a_report(case):
    from sklearn.base import clone

    rows = case.capabilities.prepare(np.abs(X[:90]) + 0.1) if case.capabilities.prepare else X[:90]
    known = sample_pairs(IRIS.target[:90], 12, random_state=0)
    given = case.capabilities.given(known)
    model = clone(case.estimator).fit(rows, **given)
    page = Page(build_report(model, rows, **given))
    of_records = isinstance(model, Dossier)
    assert ("records 90" if of_records else "90 rows of 4 columns") in page.text
    told = "12 answers, of which" if of_records else "It was told about 12 pairs"
    assert (told in page.text) is bool(given)


def test_sparse_rows_show_words():
    texts = ["the cat sat", "a cat ran", "the dog sat", "a dog ran"] * 10
    words = ["a", "cat", "dog", "ran", "sat", "the"]
    rows = sp.csr_matrix([[float(word in text.split()) for word in words] for text in texts])
    known = Constraints.from_labels(["cat" in text for text in texts])
    model = PCKMeans(2, random_state=0).fit(rows, constraints=known)
    page = Page(build_report(model, rows, feature_names=words, records=texts))
    assert "More here than elsewhere" in page.text
    assert "stands out by “cat”" in page.text
    assert "the dog sat" in page.text


def test_words_that_differ_are_stressed_in_pairs():
    known = Constraints(150, must_link=[(0, 149)], must_weight=1e-9)
    model = PCKMeans(3, random_state=0).fit(X, constraints=known)
    records = {"name": ["x"] * 149 + ["y"], "same": ["s"] * 150, "number": np.arange(150.0)}
    page = Page(build_report(model, X, constraints=known, records=records))
    assert [text for tag, text in page.pieces if tag == "strong"] == ["x", "y"]


def test_models_without_a_history_or_metric_have_no_such_parts():
    model = ConstrainedCompleteLink(3).fit(X)
    headings = Page(build_report(model, X)).headings()
    assert "Course of the fit" not in headings
    assert "Learned metric" not in headings


def test_what_is_not_known_is_not_claimed(metric_model):
    assert "not handed to this report" in Page(build_report(metric_model, X)).text
    none = PCKMeans(3, random_state=0).fit(X)
    assert "not handed to this report" in Page(build_report(none, X)).text
    told = Page(build_report(none, X, constraints=Constraints(150))).text
    assert "No pairs were given" in told


@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 3), (5, 1), (3, 2)])
def test_tiny_data(n, d):
    rows = np.random.default_rng(0).normal(size=(n, d))
    page = Page(build_report(PCKMeans(1, random_state=0).fit(rows), rows))
    assert "in one cluster" in page.text


def test_large_data_stay_small():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50_000, 3)) + 8 * rng.integers(0, 20, size=(50_000, 1))
    known = sample_pairs((rows[:, 0] // 8).astype(int), 5000, random_state=0)
    model = PCKMeans(20, random_state=0, max_iter=3).fit(rows, constraints=known)
    html = build_report(model, rows, constraints=known)
    assert len(html) < 600_000
    text = Page(html).text
    assert "Shown are 5,000 of 50,000 rows" in text
    assert "Shown are 500 of 5,000 pairs" in text


@pytest.mark.parametrize("values", [[3.0, 2.0, 1.0], [1.0, 2.0], [2.0, 2.0]])
def test_curves_lie_inside_their_picture(values):
    page = Page(curve(np.array(values), "objective"))
    line = next(path for path in page.values("d") if "L" in path)
    places = np.array([part.split() for part in line[1:].split("L")], dtype=float)
    assert (places >= 0).all()
    assert (places <= [600, 200]).all()
    assert (np.sign(np.diff(places[:, 1])) == -np.sign(np.diff(values))).all()


def test_writing_is_whole_or_not_at_all(tmp_path, metric_model, monkeypatch):
    path = tmp_path / "report.html"
    assert write_report(path, metric_model, X, date="d") == path
    first = path.read_bytes()
    assert first.decode() == build_report(metric_model, X, date="d")
    assert oct(path.stat().st_mode & 0o777) == oct(0o666 & ~current_umask())

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_report(path, metric_model, X, title="new")
    assert path.read_bytes() == first
    assert list(tmp_path.iterdir()) == [path]


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_bad_input_leaves_no_file(tmp_path, metric_model):
    with pytest.raises(InvalidParameter):
        write_report(tmp_path / "a.html", metric_model, X, ids=["too few"])
    with pytest.raises(InvalidParameter, match="plot_clusters"):
        write_report(tmp_path / "a.html", metric_model.labels_, X)
    with pytest.raises(NotFittedError):
        write_report(tmp_path / "a.html", PCKMeans(3), X)
    assert list(tmp_path.iterdir()) == []


def test_the_number_of_a_cluster_in_two_heaps_stands_on_one_of_them():
    heaps = np.array([[0.0, 0], [0, 1], [100, 0], [100, 1], [0, 50], [0, 51], [100, 50], [100, 51]])
    model = PCKMeans(2, random_state=0).fit(heaps[:, 1:])
    text = build_report(model, heaps[:, 1:], projection=heaps)
    width = float(re.search(r'viewBox="0 0 (\d+)', text)[1])
    places = [float(x) for x in re.findall(r'<text x="(\d+)" y="\d+" class="name"', text)]
    assert len(places) == 2
    assert all(abs(x - width / 2) > width / 4 for x in places)
