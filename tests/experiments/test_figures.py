"""Figures: nothing is cut off, and an axis of names shows them."""

from __future__ import annotations

import pandas as pd
import pytest

from lab import figures

METHODS = ["K-Means (no answers)", "TVClust", "Mosaic", "PPC", "RDPMeans", "PCKMeans", "MPCKMeans"]


def drawn(monkeypatch, tmp_path, panels: int, x: list):
    """The canvas of a figure with some panels, every method and places `x`."""
    kept = []

    def keep(canvas, path):
        kept.append(canvas)
        path.touch()

    monkeypatch.setattr(figures, "save", keep)
    rows = [
        {"set": f"set {p}", "method": method, "at": place, "draw": draw, "f": 0.1 * draw}
        for p in range(panels)
        for method in METHODS
        for place in x
        for draw in range(2)
    ]
    figure = {"name": "some", "x": "at", "y": "f", "lines": "method", "panels": "set"}
    assert figures.draw(figure, pd.DataFrame(rows), tmp_path / "some.png")
    canvas = kept[0]
    canvas.canvas.draw()
    return canvas


@pytest.mark.parametrize("panels", [1, 2, 3, 5])
def test_the_legend_fits_the_picture(monkeypatch, tmp_path, panels):
    canvas = drawn(monkeypatch, tmp_path, panels, [0, 1, 2])
    box = canvas.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= canvas.bbox.x1
    assert box.y1 <= canvas.bbox.y1


def test_an_axis_of_names_shows_them(monkeypatch, tmp_path):
    canvas = drawn(monkeypatch, tmp_path, 1, ["moons", "rings"])
    assert [label.get_text() for label in canvas.axes[0].get_xticklabels()] == ["moons", "rings"]
