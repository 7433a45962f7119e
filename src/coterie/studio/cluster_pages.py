"""Clusters to look at, and what can be said about them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from coterie.active.query import SetQuery
from coterie.report.clusters import (
    Typical,
    centers_of,
    describe,
    least_certain,
    moments,
    read_units,
    words_alone,
)
from coterie.report.feature_words import brief, read_kinds
from coterie.report.words import said
from coterie.studio.answering import write
from coterie.studio.body import Body, wrong
from coterie.studio.desk import Desk
from coterie.studio.errors import Refused
from coterie.studio.shown import Shown

__all__ = ["ACTIONS", "cluster", "cluster_page", "clusters", "members"]

_MOST_MEMBERS = 50
_MOST_DOUBTFUL = 8
_NEAR = 5
_LARGEST_TABLE = 20_000_000  # numbers in all means together; above it, of the largest clusters
_LARGE_CLUSTERS = 200


# -- the list ----------------------------------------------------------------------------------
def clusters(desk: Desk, person: str, body: Body) -> dict[str, Any]:
    """A stretch of the clusters that match a search, in some order."""
    words = body.text("q", "").strip().lower()
    sort = body.choice("sort", ("size", "number", "name"), "size")
    offset, limit = body.integer("offset", 0), body.integer("limit", 100, 1, 500)
    shown = desk.clusters()
    names = _names(desk)
    found = _matching(desk, shown, names, words) if words else np.arange(shown.numbers.size)
    if sort == "size":
        found = found[np.argsort(-shown.sizes[found], kind="stable")]
    elif sort == "name":  # those without one last
        keys = [names.get(int(shown.numbers[at]), "\uffff").lower() for at in found]
        found = found[np.argsort(np.array(keys, dtype=object), kind="stable")]
    pinned = _pinned(desk, shown)
    lines = _lines(desk, shown, found[offset : offset + limit])
    listed = []
    for at, line in zip(found[offset : offset + limit].tolist(), lines, strict=True):
        entry = _brief(shown, names, at)
        listed.append({**entry, "pinned": pinned[at], "typical": line})
    return {"version": shown.version, "total": int(found.size), "clusters": listed}


def _names(desk: Desk) -> dict[int, str]:
    with desk.lock:
        return desk.session.names


def _brief(shown: Shown, names: dict[int, str], at: int) -> dict[str, Any]:
    number = int(shown.numbers[at])
    size = int(shown.sizes[at])
    share = size / shown.labels.size
    return {"number": number, "name": names.get(number), "size": size, "share": share}


def _pinned(desk: Desk, shown: Shown) -> Counter[int]:
    with desk.lock:
        rows = {a.rows[0] for a in desk.session.history if a.phase == "pin"}
    return Counter(int(shown.position[row]) for row in rows)


def _matching(desk: Desk, shown: Shown, names: dict[int, str], words: str) -> NDArray[np.int64]:
    """Positions of the clusters whose name, number, typical line or records hold the words."""
    found = {at for at, n in enumerate(shown.numbers.tolist()) if str(n) == words}
    for number, name in names.items():
        at = shown.find(number)
        if at is not None and words in name.lower():
            found.add(at)
    if desk.asking.compared is None:
        every = np.arange(shown.numbers.size)
        lines = enumerate(_lines(desk, shown, every))
        found |= {at for at, line in lines if words in line.lower()}
    rows = desk.view.search(words, 2000).rows
    found |= set(shown.position[rows].tolist())
    return np.array(sorted(found), dtype=np.int64)


def _lines(desk: Desk, shown: Shown, at: NDArray[np.int64]) -> list[str]:
    """What is typical, in one line each."""
    if desk.asking.compared is not None:
        return [_first_record(desk, shown, int(position)) for position in at]
    z, names = desk.for_clustering("z", lambda s: _standing(desk, s))
    kinds = _kinds(desk)
    if z is None:
        return ["" for _ in at]
    best = np.argsort(-np.abs(z[at]), axis=1)[:, :2]
    return [
        ", ".join(
            brief(kinds[c], names[c], bool(z[row, c] > 0)) for c in columns if abs(z[row, c]) >= 0.5
        )
        for row, columns in zip(at.tolist(), best.tolist(), strict=True)
    ]


def _first_record(desk: Desk, shown: Shown, at: int) -> str:
    return desk.line(int(shown.order[shown.begin[at]]))


def _standing(desk: Desk, shown: Shown) -> tuple[Any, list[str]]:
    """(K, d) standardised differences of all clusters, or None where that is too much."""
    X, names = desk.asking.X, _feature_names(desk)
    if shown.numbers.size * X.shape[1] > _LARGEST_TABLE:
        return None, names
    mean, spread = _moments(desk)
    centers = _centers(desk)[1]
    tiny = np.finfo(np.float64).eps * np.maximum(np.abs(mean), 1.0)
    return np.divide(centers - mean, spread, out=np.zeros_like(centers), where=spread > tiny), names


def _feature_names(desk: Desk) -> list[str]:
    recipe = desk.asking.recipe
    names = [] if recipe is None else recipe.feature_names
    return words_alone(names) if names else [f"column {j}" for j in range(desk.asking.X.shape[1])]


def _kinds(desk: Desk) -> list[str]:
    recipe = desk.asking.recipe
    return read_kinds(None if recipe is None else recipe.feature_kinds, desk.asking.X.shape[1])


def _moments(desk: Desk) -> Any:
    if "moments" not in desk.cache:
        desk.cache["moments"] = 0, moments(desk.asking.X)
    return desk.cache["moments"][1]


def _centers(desk: Desk) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Positions of clusters, all or the largest, and their means."""

    def make(shown: Shown) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        X, count = desk.asking.X, shown.numbers.size
        if count * X.shape[1] <= _LARGEST_TABLE:
            return np.arange(count), centers_of(X, shown.position.astype(np.int64), count)
        large = np.sort(np.argsort(-shown.sizes, kind="stable")[:_LARGE_CLUSTERS])
        means = [np.asarray(X[shown.members(at)].mean(axis=0)).ravel() for at in large.tolist()]
        return large, np.array(means)

    found: tuple[NDArray[np.int64], NDArray[np.float64]] = desk.for_clustering("centers", make)
    return found


# -- one cluster -------------------------------------------------------------------------------
def cluster_page(desk: Desk, person: str, body: Body) -> dict[str, Any]:
    """All about one cluster, or that it is gone: who looks at it may just have merged it."""
    number = body.integer("number", least=-(2**53))
    shown = desk.clusters()
    at = shown.find(number)
    if at is None:
        return {"version": shown.version, "gone": number}
    names = _names(desk)
    inside = shown.members(at)
    page = _of_records(desk, shown, at) if desk.asking.compared is not None else None
    page = page or _of_rows(desk, shown, at, names)
    with desk.lock:
        touched = sum(
            1 for a in desk.session.history if any(shown.position[r] == at for r in a.rows)
        )
    return {
        "version": shown.version,
        **_brief(shown, names, at),
        **page,
        "members": [desk.record(int(row)) for row in inside[:_MOST_MEMBERS]],
        "answers": touched,
    }


def members(desk: Desk, person: str, body: Body) -> dict[str, Any]:
    """A stretch of the rows of a cluster; one that is gone has none."""
    shown = desk.clusters()
    at = shown.find(body.integer("number", least=-(2**53)))
    offset, limit = body.integer("offset", 0), body.integer("limit", 50, 1, 200)
    inside = np.empty(0, dtype=np.int64) if at is None else shown.members(at)
    rows = inside[offset : offset + limit].tolist()
    return {"records": [desk.record(row) for row in rows], "total": int(inside.size)}


def _of_rows(desk: Desk, shown: Shown, at: int, names: dict[int, str]) -> dict[str, Any]:
    X = desk.asking.X
    inside = shown.members(at)
    recipe = desk.asking.recipe
    units = read_units(None if recipe is None else recipe.units, X.shape[1])
    mean, spread = _moments(desk)
    kinds = _kinds(desk)
    typical, nearest = describe(X, inside, mean, spread, _feature_names(desk), units)
    positions, centers = _centers(desk)
    own = np.flatnonzero(positions == at)
    doubtful, near = [], []
    if own.size:
        most = _MOST_DOUBTFUL + len(nearest)
        unsure = least_certain(X, inside, centers, int(own[0]), most)
        unsure = [found for found in unsure if found[0] not in set(nearest)][:_MOST_DOUBTFUL]
        for row, other, ratio in unsure:
            number = int(shown.numbers[positions[other]])
            doubtful.append(
                {"record": desk.record(row), "words": _near_words(number, names, ratio)}
            )
        gap = np.square(centers - centers[own[0]]).sum(axis=1)
        closest = [k for k in np.argsort(gap, kind="stable").tolist() if k != own[0]][:_NEAR]
        near = [_brief(shown, names, int(positions[k])) for k in closest]
    return {
        "stands_out": [_feature(t, kinds[t.column]) for t in typical],
        "typical": [desk.record(row) for row in nearest],
        "doubtful": doubtful,
        "near": near,
    }


def _feature(typical: Typical, kind: str) -> dict[str, Any]:
    return {
        "name": typical.name,
        "here": typical.here,
        "overall": typical.overall,
        "difference": typical.difference,
        "words": said(typical, kind),
    }


def _near_words(number: int, names: dict[int, str], ratio: float) -> str:
    called = names.get(number, f"cluster {number}")
    if ratio < 1:
        return f"nearer to the middle of {called} than to that of its own cluster"
    return f"almost as near to the middle of {called}" if ratio < 1.5 else f"next is {called}"


def _of_records(desk: Desk, shown: Shown, at: int) -> dict[str, Any]:
    """Records have no mean: the values that most of them share, and the odds of each."""
    inside = shown.members(at)
    compared = desk.asking.compared or {}
    stands_out = []
    for name, column in compared.items():
        values = Counter(str(v) for v in column[inside].tolist() if v not in (None, ""))
        if not values:
            continue
        value, count = values.most_common(1)[0]
        if count == 1 < inside.size:  # it is shared by none
            continue
        stands_out.append(
            {
                "name": name,
                "here": count / inside.size,
                "overall": None,
                "difference": None,
                "words": f"{name}: {value[:80]} ({count} of {inside.size})",
            }
        )
    with desk.lock:
        sure = desk.session.certainty()
    doubtful: list[dict[str, Any]] = []
    order = inside
    if sure is not None:
        order = inside[np.argsort(-sure[inside], kind="stable")]
        weak = [row for row in order[::-1].tolist() if sure[row] < 3.0][:_MOST_DOUBTFUL]
        doubtful = [
            {
                "record": desk.record(row),
                "words": f"a member with a probability of {expit(sure[row]):.0%}",
            }
            for row in weak
        ]
    return {
        "stands_out": stands_out,
        "typical": [desk.record(row) for row in order[:5].tolist()],
        "doubtful": doubtful,
        "near": [],
    }


# -- what can be said --------------------------------------------------------------------------
def cluster(desk: Desk, person: str, body: Body) -> dict[str, Any]:
    """Say something about whole clusters, as one step."""
    action = ACTIONS[body.choice("action", ACTIONS)]
    how = {"annotator": person, "despite_clash": body.flag("despite_clash")}
    with desk.lock:
        desk.clusters()
        what = "name" if body.values.get("action") == "name" else "cluster"
        return write(desk, person, body, what, lambda: action(desk, body, how))


def _named(desk: Desk, body: Body, field: str = "cluster") -> int:
    number: int = body.integer(field, least=-(2**53))
    if desk.clusters().find(number) is None:
        raise Refused(
            "Refitted", f"There is no cluster {number} any more; look at the new ones.", 409
        )
    return number


def _name(desk: Desk, body: Body, how: dict[str, Any]) -> None:
    desk.session.name(_named(desk, body), body.text("name").strip(), annotator=how["annotator"])


def _merge(desk: Desk, body: Body, how: dict[str, Any]) -> None:
    desk.session.merge(_named(desk, body, "a"), _named(desk, body, "b"), **how)


def _split(desk: Desk, body: Body, how: dict[str, Any]) -> None:
    desk.session.split(_named(desk, body), body.piles("piles", desk.n), **how)


def _move(desk: Desk, body: Body, how: dict[str, Any]) -> None:
    desk.session.move(_some_rows(desk, body), _named(desk, body), **how)


def _pin(desk: Desk, body: Body, how: dict[str, Any]) -> None:
    desk.session.pin(body.integer("row", most=desk.n - 1), _named(desk, body), **how)


def _reject(desk: Desk, body: Body, how: dict[str, Any]) -> None:
    desk.session.reject(_named(desk, body), **how)


def _together(desk: Desk, body: Body, how: dict[str, Any]) -> None:
    rows = _some_rows(desk, body, least=2)
    desk.session.tell(SetQuery(tuple(rows), "set", "chosen on the map"), [rows], **how)


def _keep_out(desk: Desk, body: Body, how: dict[str, Any]) -> None:
    desk.session.keep_out(_some_rows(desk, body), _named(desk, body), **how)


def _some_rows(desk: Desk, body: Body, least: int = 1) -> list[int]:
    rows: list[int] = body.rows("rows", desk.n)
    if len(rows) < least:
        raise wrong("rows", f"must list at least {least}")
    return rows


ACTIONS = {
    "name": _name,
    "merge": _merge,
    "split": _split,
    "move": _move,
    "pin": _pin,
    "reject": _reject,
    "together": _together,
    "keep_out": _keep_out,
}
