"""The report in a real browser: no complaint, no request, no sideways scrolling."""

from __future__ import annotations

import numpy as np
import pytest
from report.chromium import Chromium, executable
from sklearn.datasets import load_iris

from coterie import MPCKMeans
from coterie.constraints import sample_pairs
from coterie.report import write_report

pytestmark = pytest.mark.skipif(executable() is None, reason="Chromium is not installed")

EVIL = "<script>document.title='pwned'</script><img src=https://example.org/x.png onerror=alert(1)>"
WIDTHS = (320, 390, 1280)


@pytest.fixture(scope="module")
def browser():
    with Chromium() as chromium:
        yield chromium


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A report with everything in it: metric, truth, broken pairs, long and evil text."""
    X, y = load_iris(return_X_y=True)
    known = sample_pairs(y, 80, noise=0.1, random_state=0)
    model = MPCKMeans(3, random_state=0).fit(X, constraints=known)
    assert len(model.violations_)
    return write_report(
        tmp_path_factory.mktemp("report") / "report & more.html",
        model,
        X,
        constraints=known,
        feature_names=[EVIL, "b" * 100, "petal length (cm)", "petal width (cm)"],
        ids=[f"{EVIL}{i}" if i % 2 else "x" * 200 for i in range(150)],
        records={"id": ["w" * 400] * 150, "number": np.arange(150.0), EVIL: [EVIL] * 150},
        truth=np.array(["setosa", EVIL, "v" * 90])[y],
        made={"file": EVIL, "long": "y" * 1000},
    )


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_renders_quietly_and_alone(browser, path, width, dark):
    browser.open(path, width=width, dark=dark)
    assert browser.complaints() == []
    assert browser.requests() == [path.resolve().as_uri()]
    assert browser.evaluate("document.title") == "Clusters found by MPCKMeans"
    assert browser.evaluate("document.scripts.length + document.images.length") == 0
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate("document.querySelector('svg.map').getBoundingClientRect().width") > (
        0.8 * min(width, 800)
    )


def test_pictures_and_text_have_contrast_in_both_schemes(browser, path):
    """WCAG contrast of text on its ground (4.5) and of broken pairs on the map (3)."""
    contrast = """((element, ground) => {
        const light = colour => {
            const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(v => v / 255)
                .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const pair = [light(element), light(ground)].sort((a, b) => b - a);
        return (pair[0] + 0.05) / (pair[1] + 0.05);
    })"""
    style = "getComputedStyle(document.querySelector('{}')).{}"
    ground = style.format("body", "backgroundColor")
    raised = style.format("svg.map", "backgroundColor")
    for dark in (False, True):
        browser.open(path, dark=dark)
        assert browser.evaluate(f"{contrast}({style.format('main p', 'color')}, {ground})") >= 7
        assert browser.evaluate(f"{contrast}({style.format('caption', 'color')}, {ground})") >= 4.5
        broken = style.format(".pair.broken", "stroke")
        assert browser.evaluate(f"{contrast}({broken}, {raised})") >= 3
        assert browser.evaluate(ground) == ("rgb(21, 24, 29)" if dark else "rgb(255, 255, 255)")


def test_in_print_it_is_light_and_complete(browser, path):
    browser.open(path, dark=True)
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)"
    )
    assert browser.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == (
        "visible"
    )
    pdf = browser.pdf()
    browser.call("Emulation.setEmulatedMedia", media="")
    assert pdf.startswith(b"%PDF")
    assert len(pdf) > 20_000


def test_the_checks_notice(browser, tmp_path):
    """A page with a script error, a request and a wide element is caught by the same questions."""
    bad = tmp_path / "bad.html"
    bad.write_text(
        "<!DOCTYPE html><meta name=viewport content='width=device-width'>"
        "<div style='width:2000px'>wide</div><script>nonsense(</script>"
        "<img src='file:///nowhere/at/all.png'>"
    )
    browser.open(bad, width=390)
    assert browser.complaints() != []
    assert len(browser.requests()) == 2
    assert browser.evaluate("document.documentElement.scrollWidth") > 390
