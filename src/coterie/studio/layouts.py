"""Where rows stand on the map: worked out in the background, read a stretch at a time."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.exceptions import CoterieError
from coterie.plot.layout import project
from coterie.studio.body import Body
from coterie.studio.desk import Desk
from coterie.studio.errors import Refused

__all__ = ["LAYOUTS", "Layouts", "binary"]

#: What each is called on the page.
LAYOUTS = {"pca": "principal components", "tsne": "t-SNE", "umap": "UMAP"}
_AS_THEY_ARE = 20_000  # rows that are sent in their own order
_AT_ONCE = 1 << 15
_MOST_UINT16 = 65_000  # clusters whose positions fit, with a mark for none
_DIRECTIONS = 30  # of records, by their spelling


@dataclass
class Layout:
    """One way to put the rows on a plane; `points` (n, 2) float32 in −1 … 1 when it is ready."""

    state: str = "none"
    message: str = ""
    points: NDArray[np.float32] | None = None


class Layouts:
    """The layouts of a desk, made one at a time by a thread of their own."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._layouts = {name: Layout() for name in LAYOUTS}
        if importlib.util.find_spec("umap") is None:
            words = "needs the package umap-learn: pip install umap-learn"
            self._layouts["umap"] = Layout("unavailable", words)
        self._turn = threading.Lock()
        self._features: Any = None
        n = desk.n
        fixed = np.random.default_rng(0).permutation(n) if n > _AS_THEY_ARE else np.arange(n)
        self.order: NDArray[np.uint32] = fixed.astype("<u4")

    def states(self) -> list[dict[str, Any]]:
        """Which there are."""
        return [
            {"name": name, "state": layout.state, "message": layout.message, "words": LAYOUTS[name]}
            for name, layout in self._layouts.items()
        ]

    def start(self, name: str) -> dict[str, Any]:
        """Work it out, unless that was begun."""
        layout = self._layouts[name]
        if layout.state == "none":
            layout.state, layout.message = "running", "is being worked out"
            threading.Thread(
                target=self.make, args=(name,), name=f"coterie-{name}", daemon=True
            ).start()
        return self._state(name)

    def _state(self, name: str) -> dict[str, Any]:
        layout = self._layouts[name]
        return {"name": name, "state": layout.state, "message": layout.message}

    def make(self, name: str) -> None:
        """Work it out now."""
        layout = self._layouts[name]
        try:
            with self._turn:
                plane = project(self._rows(), name)
                points = np.empty((self._desk.n, 2), dtype="<f4")
                for start, rows in self._stretches():
                    points[start : start + rows.size] = plane.coordinates(rows)
            layout.points = _fit_in(points)
            layout.message = " and ".join(filter(None, plane.axes)) or plane.method
            layout.state = "ready"
        except CoterieError as error:
            layout.state, layout.message = "unavailable", str(error)
        except Exception as error:  # the map is a comfort: nothing else ends with it
            layout.state, layout.message = "unavailable", f"{type(error).__name__}: {error}"
        self._desk.announce("layout", lambda: {**self._state(name), "layouts": self.states()})

    def _stretches(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        for start in range(0, self._desk.n, _AT_ONCE):
            yield start, self.order[start : start + _AT_ONCE].astype(np.int64)

    def _rows(self) -> Any:
        asking = self._desk.asking
        if asking.compared is None:
            return asking.X
        if self._features is None:
            self._features = by_spelling(asking.compared, self._desk.n)
        return self._features

    def points(self, name: str, start: int, stop: int) -> NDArray[np.float32]:
        """Places of the rows `order[start:stop]`."""
        layout = self._layouts[name]
        if layout.points is None:
            raise Refused("NotReady", f"The layout {LAYOUTS[name]} is not ready.", 409)
        return layout.points[start:stop]


def _fit_in(points: NDArray[np.float32]) -> NDArray[np.float32]:
    """Moved and scaled, alike on both axes, so that all are within −1 … 1."""
    low, high = points.min(axis=0), points.max(axis=0)
    points -= (low + high) / 2
    reach = float((high - low).max()) / 2
    if reach > 0:
        points /= reach
    np.clip(points, -1, 1, out=points)
    return points


def by_spelling(columns: dict[str, Any], n: int) -> NDArray[np.float32]:
    """Coordinates (n, 30) in which records that are spelled alike are near to each other.

    Records have no place in a space. Their triples of letters, as leading directions, give one
    that is good enough to look at.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import HashingVectorizer

    count = HashingVectorizer(
        analyzer="char_wb", ngram_range=(3, 3), n_features=1 << 13, dtype=np.float32
    )

    def texts(rows: NDArray[np.int64]) -> list[str]:
        parts = [[v if v is not None else "" for v in c[rows].tolist()] for c in columns.values()]
        return [" ".join(map(str, values)) for values in zip(*parts, strict=True)]

    rng = np.random.default_rng(0)
    sample = np.arange(n) if n <= _AS_THEY_ARE else np.sort(rng.choice(n, _AS_THEY_ARE, False))
    few = min(_DIRECTIONS, n - 1)
    directions = TruncatedSVD(max(few, 2), random_state=0).fit(count.transform(texts(sample)))
    found = np.empty((n, directions.n_components), dtype=np.float32)
    for start in range(0, n, _AT_ONCE):
        rows = np.arange(start, min(start + _AT_ONCE, n))
        found[rows] = directions.transform(count.transform(texts(rows)))
    return found


# -- what the page asks for --------------------------------------------------------------------
def binary(array: NDArray[Any], **headers: Any) -> dict[str, Any]:
    """An array as it goes over the wire: bytes, what they are, and headers."""
    return {
        "data": np.ascontiguousarray(array).tobytes(),
        "dtype": array.dtype.name,
        "shape": list(array.shape),
        "headers": {name.replace("_", "-"): str(value) for name, value in headers.items()},
    }


def overview(desk: Desk, layouts: Layouts) -> dict[str, Any]:
    """How many points there are, and which clusters."""
    shown = desk.shown
    return {
        "n": desk.n,
        "layouts": layouts.states(),
        "version": 0 if shown is None else shown.version,
        "n_clusters": None if shown is None else int(shown.numbers.size),
        "numbers": [] if shown is None else shown.numbers.tolist(),
    }


def points(desk: Desk, layouts: Layouts, body: Body) -> dict[str, Any]:
    """Places of a stretch of points."""
    start, stop = _stretch(desk, body)
    name = body.choice("layout", LAYOUTS, "pca")
    return binary(layouts.points(name, start, stop), X_Rows=desk.n)


def order(desk: Desk, layouts: Layouts, body: Body) -> dict[str, Any]:
    """Rows of a stretch of points."""
    start, stop = _stretch(desk, body)
    return binary(layouts.order[start:stop], X_Rows=desk.n)


def labels(desk: Desk, layouts: Layouts, body: Body) -> dict[str, Any]:
    """Clusters of a stretch of points, as positions in `numbers`."""
    start, stop = _stretch(desk, body)
    shown = desk.clusters()
    kind = "uint16" if shown.numbers.size <= _MOST_UINT16 else "uint32"
    found = shown.position[layouts.order[start:stop]].astype(
        f"<{'u2' if kind == 'uint16' else 'u4'}"
    )
    return binary(found, X_Rows=desk.n, X_Version=shown.version, X_Type=kind)


def pairs(desk: Desk, layouts: Layouts, body: Body) -> dict[str, Any]:
    """Pairs to draw, broken ones first, the newest before others."""
    from coterie.plot.inputs import broken_mask

    limit = body.integer("limit", 5000, 1, 20_000)
    with desk.lock:
        known = desk.session.constraints
    shown = desk.shown
    broken = np.zeros(known.n_pairs, dtype=bool)
    if shown is not None:
        broken = broken_mask(known, shown.position)
    first = np.argsort(~broken, kind="stable")[:limit]
    i, j = known.pairs[first].T
    listed = np.column_stack([i, j, known.kind[first], broken[first]]).tolist()
    return {"pairs": listed, "more": bool(known.n_pairs > limit)}


def _stretch(desk: Desk, body: Body) -> tuple[int, int]:
    start = body.integer("start", 0, 0, desk.n)
    return start, body.integer("stop", desk.n, start, desk.n)
