"""The studio in a notebook: the page's own components, spoken to by messages instead of HTTP.

A message ``{"call": 7, "name": "question", "body": {...}}`` is `Studio.call`; the reply repeats its
number: ``{"reply": 7, "value": ...}``, or ``"error"``. Numbers of the map come as a buffer. Events
come unasked: ``{"event": "fit", "data": ...}``.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from coterie.active import ActiveSession
from coterie.constraints import Constraints
from coterie.exceptions import InvalidData, MissingDependency
from coterie.studio.core import Studio, user_name
from coterie.studio.errors import Refused, as_error

__all__ = ["Channel", "model_map", "session_widget"]

_STATIC = Path(__file__).parent / "static"
#: All that a map which only shows may ask for.
_READING = {
    *("state", "me", "map", "layout", "points", "order", "map_labels", "map_pairs"),
    *("records", "search", "clusters", "cluster_page", "members"),
}


class Channel:
    """Messages of a notebook's page, carried out by a `Studio`.

    Parameters
    ----------
    studio : Studio
    send : callable
        ``send(content, buffers)`` to the page.
    person : str
        Whose answers they are, until the page says otherwise.
    read_only : bool
        Whether only what shows is allowed.
    """

    def __init__(
        self, studio: Studio, send: Any, person: str | None = None, read_only: bool = False
    ) -> None:
        self.studio = studio
        self.read_only = read_only
        self._send = send
        self._listener = studio.listen(self._tell, person or user_name())

    def receive(self, content: Any) -> None:
        """Carry out one message and reply; nothing that a page sends raises here."""
        if not isinstance(content, dict) or not isinstance(content.get("call"), int):
            return  # not one of ours: there is nobody to reply to
        number = content["call"]
        try:
            found = self._call(str(content.get("name")), content.get("body"))
        except Exception as error:  # told to the page, as the server does
            self._send({"reply": number, **as_error(error)[1]}, [])
            return
        if isinstance(found.get("data"), bytes):
            reply = {"reply": number, "value": None, "dtype": found["dtype"]}
            self._send(reply, [found["data"]])
        else:
            self._send({"reply": number, "value": found}, [])

    def _call(self, name: str, body: Any) -> dict[str, Any]:
        if self.read_only and name not in _READING:
            raise Refused("ReadOnly", "This map only shows; ask a session's widget for more.", 403)
        found = self.studio.call(self._listener.person, name, body)
        if name == "me":
            self._listener.person = found["name"]
            self.studio.tell_people()
        return found

    def _tell(self, event: str, data: Any) -> None:
        self._send({"event": event, "data": data}, [])

    def close(self) -> None:
        """Hear no more."""
        self.studio.leave(self._listener)


class _AsFitted(ClusterMixin, BaseEstimator):
    """Gives labels that are known already, so that a session shows them and fits nothing."""

    def __init__(self, labels: Any) -> None:
        self.labels = labels

    def fit(self, X: Any, y: Any = None, *, constraints: Any = None) -> _AsFitted:
        self.labels_ = np.asarray(self.labels)
        return self


def session_widget(
    session: ActiveSession,
    records: Any = None,
    ids: Any = None,
    fields: Sequence[str] = (),
    annotator: str | None = None,
) -> Any:
    """Answering and the map of a session as a widget; see `ActiveSession.widget`."""
    made = _widget_class()
    studio = Studio().adopt(session, records, ids, fields)
    return made(studio, views=["answer", "map"], person=annotator)


def model_map(
    model: Any,
    X: Any,
    records: Any = None,
    ids: Any = None,
    fields: Sequence[str] = (),
    constraints: Constraints | None = None,
) -> Any:
    """The map of a fitted model's rows as a widget; see `ConstrainedClusterer.map`."""
    made = _widget_class()
    return made(
        shown_studio(model, X, records, ids, fields, constraints), views=["map"], read_only=True
    )


def shown_studio(
    model: Any,
    X: Any,
    records: Any,
    ids: Any,
    fields: Sequence[str],
    constraints: Constraints | None,
) -> Studio:
    """A studio that shows the labels of a fitted model, and asks and fits nothing."""
    check_is_fitted(model, "labels_")
    labels = np.asarray(model.labels_)
    session = ActiveSession(
        X, constraints=constraints, strategy="random", estimator=_AsFitted(labels), random_state=0
    )
    if session.rows.shape[0] != labels.size:
        raise InvalidData(
            f"X has {session.rows.shape[0]} rows and the model was fitted to {labels.size}; "
            "give the rows that it was fitted to."
        )
    return Studio().adopt(session, records, ids, fields)


def bundle() -> tuple[str, str]:
    """The page's script and its style sheet."""
    script, style = sorted(_STATIC.glob("assets/*.js")), sorted(_STATIC.glob("assets/*.css"))
    if not script or not style:
        raise MissingDependency(
            "the widget needs the studio's page, which is not built here; run `make studio` in the "
            "repository, or install a released coterie."
        )
    return script[0].read_text(encoding="utf-8"), style[0].read_text(encoding="utf-8")


@functools.cache
def _widget_class() -> Any:
    """The class of the widget; it can only be made where anywidget is installed."""
    try:
        anywidget, traitlets = import_module("anywidget"), import_module("traitlets")
    except ImportError as error:
        raise MissingDependency(
            "a widget needs anywidget; install it with: pip install 'coterie[widget]'."
        ) from error
    script, style = bundle()

    class StudioWidget(anywidget.AnyWidget):  # type: ignore[name-defined]
        """Answering and a map in a cell; `studio` is what it works on, `close` ends it."""

        _esm = script
        _css = style
        views = traitlets.List(traitlets.Unicode()).tag(sync=True)
        read_only = traitlets.Bool(False).tag(sync=True)

        def __init__(
            self, studio: Studio, views: list[str], person: Any = None, read_only: bool = False
        ) -> None:
            super().__init__(views=views, read_only=read_only)
            self.studio = studio
            self.channel = Channel(studio, self.send, person, read_only)
            self.on_msg(lambda _, content, buffers: self.channel.receive(content))

        def close(self) -> None:
            """End the widget and its clusterings in the background; the session stays."""
            self.channel.close()
            self.studio.close()
            super().close()

    return StudioWidget
