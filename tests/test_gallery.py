"""Every example of the gallery runs, by itself, and draws something."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from coterie.estimators import ESTIMATORS, estimator_class

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples" / "gallery").glob("plot_*.py"))


def test_there_are_enough_of_them():
    assert len(EXAMPLES) >= 15


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_draws(example, monkeypatch):
    drawn = []
    with mpl.rc_context({"backend": "agg"}):
        monkeypatch.setattr(plt, "show", lambda: drawn.extend(plt.get_fignums()))
        runpy.run_path(str(example), run_name="__main__")
        axes = [ax for number in plt.get_fignums() for ax in plt.figure(number).axes]
        plt.close("all")
    assert drawn
    assert any(ax.has_data() for ax in axes)


def shown():
    """The examples whose pictures stand on some page of the docs, by name."""
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))
    return set(re.findall(r"```\{figure\} gallery/images/sphx_glr_(\w+)_001\.png", pages))


def test_pages_show_pictures_of_examples_that_exist():
    assert shown() <= {path.stem for path in EXAMPLES}


@pytest.mark.parametrize("name", [*ESTIMATORS, "dossier", "rca"])
def test_a_picture_shows_how_every_estimator_works(name):
    known = {"dossier": "Dossier", "rca": "RCA"}
    called = known.get(name) or estimator_class(name).__name__
    drawn = "".join(path.read_text(encoding="utf-8") for path in EXAMPLES if path.stem in shown())
    assert re.search(rf"\b{called}\b", drawn), called
