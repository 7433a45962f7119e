"""Pictures as SVG: small files, sharp in print, colours by style sheet so that they turn dark too.

All dots of a cluster are one path, so 5,000 rows take some 100 kB.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._typing import FloatArray
from coterie.plot.layout import FlatMap
from coterie.report.html import Html, tag
from coterie.report.shown import number

__all__ = ["COLORS", "SHAPES", "curve", "flat_map", "swatch"]

WIDTH, HEIGHT, MARGIN = 600.0, 420.0, 16.0
CURVE_HEIGHT = 200.0
# Cluster k has colour k mod 6 and shape k mod 5: the first 30 clusters all look different, and
# neighbours in number differ in both, for those who see few colours or print in black and white.
COLORS, SHAPES = 6, 5
MOST_NUMBERED = 40  # clusters whose number is written on the map


def flat_map(flat: FlatMap, labels: NDArray[np.int64], names: list[str], kind: Any) -> Html:
    """Rows (dots by cluster) and pairs (lines; broken ones red). `kind` (m,) is of all pairs."""
    lo, hi = _bounds(flat)
    points, segments = _place(flat.points, lo, hi), _place(flat.segments, lo, hi)
    radius = _radius(len(points))
    shown = labels[flat.rows]
    must = np.asarray(kind)[flat.pairs] > 0
    parts = [
        _lines(segments[must & ~flat.broken], "must"),
        _lines(segments[~must & ~flat.broken], "cannot"),
        *(_dots(points[shown == k], k, radius) for k in range(len(names))),
        _lines(segments[must & flat.broken], "must broken"),
        _lines(segments[~must & flat.broken], "cannot broken"),
    ]
    if len(names) <= MOST_NUMBERED:
        parts += [_number_on(points[shown == k], name) for k, name in enumerate(names)]
    return tag(
        "svg",
        *parts,
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="img",
        class_="map",
        aria_label=f"Map of {len(points)} rows in {len(names)} clusters with {len(segments)} "
        f"pairs, {int(flat.broken.sum())} of them broken",
    )


def _bounds(flat: FlatMap) -> tuple[FloatArray, FloatArray]:
    everything = np.vstack([flat.points, flat.segments.reshape(-1, 2)])
    return everything.min(axis=0), everything.max(axis=0)


def _place(points: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Data to picture; the second axis points up. One value only: the middle."""
    span = hi - lo
    unit = np.divide(points - lo, span, out=np.full(points.shape, 0.5), where=span > 0)
    unit = np.stack([unit[..., 0], 1.0 - unit[..., 1]], axis=-1)
    return MARGIN + unit * [WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN]


def _radius(count: int) -> float:
    return 4.0 if count <= 400 else 3.0 if count <= 2000 else 2.0


def _coordinates(points: FloatArray) -> list[str]:
    """Each point as `x y`, to a tenth of a unit and as short as can be."""
    tenths = np.round(points, 1)
    return [f"{x:g} {y:g}" for x, y in tenths.tolist()]


def _dots(points: FloatArray, k: int, radius: float) -> Html | None:
    """All dots of cluster k as one path."""
    if not len(points):
        return None
    shape = k % SHAPES
    shift, mark = _shape(shape, radius)
    places = _coordinates(points + shift)
    return tag(
        "path",
        class_=f"dots c{k % COLORS}" + (" round" if shape == 0 else ""),
        stroke_width=f"{2 * radius:g}" if shape == 0 else None,
        d="".join(f"M{place}{mark}" for place in places),
    )


def _shape(shape: int, r: float) -> tuple[list[float], str]:
    """Where the pen starts from the middle, and its way round: disc, square, triangles, diamond."""
    if shape == 0:
        return [0.0, 0.0], "h0"  # a line of no length with round ends is a disc
    if shape == 1:
        s = 1.8 * r
        return [-s / 2, -s / 2], f"h{s:g}v{s:g}h-{s:g}z"
    w, h = round(1.3 * r, 1), round(2.2 * r, 1)
    if shape == 2:
        return [0.0, -1.3 * r], f"l{w:g} {h:g}h-{2 * w:g}z"
    if shape == 3:
        return [0.0, -w], f"l{w:g} {w:g}-{w:g} {w:g}-{w:g}-{w:g}z"
    return [0.0, 1.3 * r], f"l{w:g}-{h:g}h-{2 * w:g}z"


def _lines(segments: FloatArray, kind: str) -> Html | None:
    if not len(segments):
        return None
    ends = _coordinates(segments.reshape(-1, 2))
    path = "".join(f"M{a}L{b}" for a, b in zip(ends[::2], ends[1::2], strict=True))
    # The more lines, the fainter each, down to what can just be seen; broken ones stay strong.
    faint = None if "broken" in kind else f"{max(0.1, min(0.35, 3.5 / len(segments) ** 0.5)):.2f}"
    return tag("path", class_=f"pair {kind}", stroke_opacity=faint, d=path)


def _number_on(points: FloatArray, name: str) -> Html | None:
    if not len(points):
        return None
    middle = np.median(points, axis=0)
    # At a row: a cluster of two heaps has nothing in its middle.
    x, y = points[np.argmin(((points - middle) ** 2).sum(axis=1))]
    return tag("text", name, x=f"{x:.0f}", y=f"{y:.0f}", class_="name")


def swatch(k: int) -> Html:
    """The dot of cluster k, for legends and headings."""
    middle = np.array([[8.0, 8.0]])
    return tag(
        "svg", _dots(middle, k, 5.0), viewBox="0 0 16 16", class_="swatch", aria_hidden="true"
    )


def curve(values: FloatArray, title: str) -> Html:
    """A value by iteration, with its first and last value written out."""
    lo, hi = float(values.min()), float(values.max())
    height = (values - lo) / (hi - lo) if hi > lo else np.full(values.size, 0.5)
    left, top, bottom = 14.0, 36.0, CURVE_HEIGHT - 56.0
    x = np.linspace(left, WIDTH - left, values.size)
    y = bottom - height * (bottom - top)
    places = _coordinates(np.column_stack([x, y]))
    marks = "".join(f"M{place}h0" for place in places)
    above, below = -12, 22  # a falling line leaves room above its beginning and below its end
    first, last = (above, below) if values[-1] <= values[0] else (below, above)
    return tag(
        "svg",
        tag("path", class_="axis", d=f"M{left:g} {CURVE_HEIGHT - 28:g}H{WIDTH - left:g}"),
        tag("path", class_="line", d="M" + "L".join(places)),
        tag("path", class_="marks", d=marks) if values.size <= 100 else None,
        tag("text", number(values[0], 5), x=f"{x[0]:g}", y=f"{y[0] + first:.0f}"),
        tag(
            "text",
            number(values[-1], 5),
            x=f"{x[-1]:g}",
            y=f"{y[-1] + last:.0f}",
            class_="end",
        ),
        tag("text", "iteration 1", x=f"{left:g}", y=f"{CURVE_HEIGHT - 8:g}", class_="quiet"),
        tag(
            "text",
            f"{values.size}",
            x=f"{WIDTH - left:g}",
            y=f"{CURVE_HEIGHT - 8:g}",
            class_="quiet end",
        ),
        viewBox=f"0 0 {WIDTH:g} {CURVE_HEIGHT:g}",
        role="img",
        class_="curve",
        aria_label=f"{title}: from {number(values[0], 5)} to {number(values[-1], 5)} in "
        f"{values.size} iterations",
    )
