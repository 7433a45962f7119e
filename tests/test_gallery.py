"""Every example of the gallery runs, by itself, and draws something."""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples" / "gallery").glob("plot_*.py"))


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
