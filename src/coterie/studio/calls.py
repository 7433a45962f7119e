"""Everything a page can ask for, by name; modules are loaded when they are first needed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from coterie.studio.body import Body
from coterie.studio.core import MOST_BYTES, Studio
from coterie.studio.errors import Refused
from coterie.studio.folder import ENDINGS, files
from coterie.studio.preview import from_body, preview

__all__ = ["CALLS"]

Call = Callable[[Studio, str, Body], dict[str, Any]]


def _me(studio: Studio, person: str, body: Body) -> dict[str, Any]:
    name = body.text("name", most=80).strip()
    if not name or name.startswith("("):
        raise Refused("InvalidRequest", "A name is needed; it must not begin with (.", field="name")
    return {"name": name}


def _files(studio: Studio, person: str, body: Body) -> dict[str, Any]:
    folder = studio.readable_folder()
    found = {"folder": str(folder), "files": files(folder)}
    return {**found, "limit": MOST_BYTES, "endings": list(ENDINGS)}


def _open(studio: Studio, person: str, body: Body) -> dict[str, Any]:
    body.key()
    studio.open(from_body(studio.readable_folder(), body))
    return {"session": None}


def _close(studio: Studio, person: str, body: Body) -> dict[str, Any]:
    studio.close()
    return studio.state(person)


def _refit(studio: Studio, person: str, body: Body) -> dict[str, Any]:
    studio.desk.refits.request()
    return studio.desk.fit()


def _stop(studio: Studio, person: str, body: Body) -> dict[str, Any]:
    studio.desk.refits.stop()
    return studio.desk.fit()


def _on_desk(module: str, name: str) -> Call:
    """A function (desk, person, body) of a module that is loaded when it is first needed."""

    def call(studio: Studio, person: str, body: Body) -> dict[str, Any]:
        desk = studio.desk
        found: dict[str, Any] = getattr(import_module(module), name)(desk, person, body)
        return found

    return call


def _on_map(name: str) -> Call:
    def call(studio: Studio, person: str, body: Body) -> dict[str, Any]:
        from coterie.studio import layouts as module

        desk, layouts = studio.desk, studio.layouts
        if name == "overview":
            return module.overview(desk, layouts)
        if name == "layout":
            return layouts.start(body.choice("name", module.LAYOUTS))
        found: dict[str, Any] = getattr(module, name)(desk, layouts, body)
        return found

    return call


def _result(studio: Studio, person: str, body: Body) -> dict[str, Any]:
    from coterie.studio.results import result

    return result(studio.desk, studio.opening, person)


def _export(studio: Studio, person: str, body: Body) -> dict[str, Any]:
    from coterie.studio.results import export

    return export(studio.desk, studio.opening, body)


_ANSWERING = "coterie.studio.answering"
_CLUSTERS = "coterie.studio.cluster_pages"
_REVIEWING = "coterie.studio.reviewing"
CALLS: dict[str, Call] = {
    "state": lambda studio, person, body: studio.state(person),
    "me": _me,
    "files": _files,
    "preview": lambda studio, person, body: preview(studio.readable_folder(), body),
    "open": _open,
    "close": _close,
    "refit": _refit,
    "stop": _stop,
    "map": _on_map("overview"),
    "layout": _on_map("layout"),
    "points": _on_map("points"),
    "order": _on_map("order"),
    "map_labels": _on_map("labels"),
    "map_pairs": _on_map("pairs"),
    "result": _result,
    "export": _export,
    **{
        name: _on_desk(_ANSWERING, name)
        for name in (
            "question",
            "answer",
            "release",
            "go_on",
            "undo",
            "redo",
            "search",
            "records",
            "guidelines",
            "set_guidelines",
        )
    },
    **{
        name: _on_desk(_CLUSTERS, name)
        for name in ("clusters", "cluster_page", "members", "cluster")
    },
    **{
        name: _on_desk(_REVIEWING, name)
        for name in ("doubts", "retract", "keep", "history", "edit", "annotators")
    },
}
