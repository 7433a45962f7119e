"""`Studio`: everything the page can ask for, by name, without any network."""

from __future__ import annotations

import getpass
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie import __version__
from coterie.exceptions import CoterieError
from coterie.progress import COMPILING, compiling
from coterie.studio.body import Body
from coterie.studio.errors import Refused
from coterie.studio.folder import free_name
from coterie.studio.opening import Opening
from coterie.studio.people import Audience, Listener

if TYPE_CHECKING:
    from coterie.active import ActiveSession, AnswerStore
    from coterie.studio.desk import Desk
    from coterie.studio.layouts import Layouts

__all__ = ["MOST_BYTES", "Studio"]

MOST_BYTES = 512 << 20  # of an upload


class Studio:
    """One session at a time, and everybody who works on it.

    `call(person, name, body)` carries out what a page asks for; the HTTP server and the notebook
    widget are thin layers over it. `listen` tells what happens. It can be used from any thread.

    Parameters
    ----------
    folder : path-like, optional
        The only folder whose files can be opened; without it nothing is read or written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from coterie.studio import Studio
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "t.csv").write_text("name,x\\nann,1\\nbob,2\\ncid,9\\n")
    >>> studio = Studio(folder)
    >>> studio.call("me", "state", {})["phase"]
    'empty'
    >>> _ = studio.call("me", "open", {"file": "t.csv", "id": "name", "key": "key-00001"})
    >>> studio.wait(60)["phase"]
    'ready'
    >>> question = studio.call("me", "question", {})["question"]
    >>> sorted(question)[:3]
    ['expires', 'gain', 'id']
    >>> studio.close()
    """

    def __init__(self, folder: Any = None) -> None:
        self.folder = None if folder is None else Path(folder)
        self.audience = Audience()
        self._lock = threading.Lock()
        self._phase, self._message = "empty", ""
        self._settled = threading.Event()
        self._settled.set()
        self._desk: Desk | None = None
        self._layouts: Layouts | None = None
        self._opening: Opening | None = None
        self._store: AnswerStore | None = None
        self._notes: list[str] = []
        self.suggested: str | None = None

    # -- calls -----------------------------------------------------------------------------
    def call(self, person: str, name: str, body: Any = None) -> dict[str, Any]:
        """Carry out one request; raises a `CoterieError` that says why if it cannot be."""
        from coterie.studio.calls import CALLS

        made = CALLS.get(name)
        if made is None:
            raise Refused("NotFound", f"There is nothing called {name[:80]!r} here.", 404)
        return made(self, person, Body({} if body is None else body))

    def listen(self, send: Callable[[str, Any], None], person: str = "") -> Listener:
        """`send(event, data)` is called for everything that happens, until `leave`."""
        listener = self.audience.join(person, send)
        self.tell_people()
        return listener

    def leave(self, listener: Listener) -> None:
        """Hear no more."""
        self.audience.leave(listener)
        self.tell_people()

    def tell_people(self) -> None:
        """Tell everybody who is there."""
        self.audience.tell("people", lambda _: {"people": self.people()})

    @property
    def layouts(self) -> Layouts:
        """Of the open session."""
        if self._desk is None or self._layouts is None:
            raise self._no_session()
        return self._layouts

    @property
    def opening(self) -> Opening:
        """What the open session was made from."""
        if self._desk is None or self._opening is None:
            raise self._no_session()
        return self._opening

    @property
    def desk(self) -> Desk:
        """The open session; refused while there is none."""
        if self._desk is None:
            raise self._no_session()
        return self._desk

    def _no_session(self) -> Refused:
        words = self._message or "No table is open; open one first."
        return Refused("NoSession", words, 409, phase=self._phase)

    # -- state -----------------------------------------------------------------------------
    def people(self) -> list[dict[str, Any]]:
        """Who is there."""
        desk = self._desk
        names = self.audience.people
        if desk is None:
            return [{"name": name, "asking": False, "answers": 0} for name in names]
        with desk.lock:
            asking = desk.turns.people
            return [
                {"name": name, "asking": name in asking, "answers": desk.counts(name)["mine"]}
                for name in names
            ]

    def state(self, person: str) -> dict[str, Any]:
        """All that a page needs to begin with."""
        found: dict[str, Any] = {
            "at": self.audience.now(),
            "phase": self._phase,
            "message": self._message,
            "session": None,
            "data": None,
            "me": {"name": person},
            "people": self.people(),
            "counts": None,
            "can_undo": False,
            "can_redo": False,
            "n_clusters": None,
            "stability": None,
            "advice": None,
            "done": None,
            "fit": None,
            "layouts": [],
            "notes": list(self._notes),
            "suggested": self.suggested,
            "version": __version__,
        }
        desk, opening, layouts = self._desk, self._opening, self._layouts
        if desk is None or opening is None or layouts is None:
            return found
        from coterie.studio.results import advice

        shown = desk.shown
        return {
            **found,
            **desk.standing(person),
            "at": found["at"],  # the earliest of all that is read here
            "session": desk.id,
            "data": {
                "file": desk.asking.table.source if desk.places.data is None else opening.data.name,
                "n_rows": desk.n,
                "fields": desk.asking.fields,
                "n_more_fields": len(desk.more_fields),
                "id_column": opening.choices.get("id_column"),
                "records": opening.records,
                "clusters": opening.n_clusters,
                "strategy": type(desk.session.strategy).__name__,
                "log": "" if desk.places.log is None else desk.places.log.name,
            },
            "n_clusters": None if shown is None else int(shown.numbers.size),
            "stability": desk.curve[-1].stability if desk.curve else None,
            "advice": advice(desk),
            "fit": desk.fit(),
            "layouts": layouts.states(),
        }

    def _enter(self, phase: str, message: str = "") -> None:
        self._phase, self._message = phase, message
        self.audience.tell("state", self.state)

    # -- opening and closing ---------------------------------------------------------------
    def open(self, opening: Opening) -> None:
        """Open a session in the background; `state` says how far it is."""
        with self._lock:
            if not self._settled.is_set():
                raise Refused("Busy", "A table is being opened just now.", 409)
            self._settled.clear()
        self._close_desk()
        if self.folder is not None and opening.data.parent == self.folder.resolve():
            self.suggested = opening.data.name
        self._enter("starting", "starting")
        threading.Thread(
            target=self._open, args=(opening,), name="coterie-open", daemon=True
        ).start()

    def _open(self, opening: Opening) -> None:
        try:
            with compiling(self._compiling):
                self._read(opening)
        except CoterieError as error:
            self._fail(str(error))
        except OSError as error:
            self._fail(f"{error.filename or 'a file'}: {error.strerror or error}.")
        except Exception as error:  # said to whoever waits, not only to the terminal
            self._fail(f"{type(error).__name__}: {error}. This should not happen.")
        finally:
            self._settled.set()

    def _read(self, opening: Opening) -> None:
        from coterie.active import AnswerStore
        from coterie.studio.desk import Places

        self._enter("reading", f"reading {opening.data.name}")
        asking = opening.read()
        self._store = AnswerStore(opening.answers)
        session = opening.begin(asking, self._store)
        folder = self.folder or opening.data.parent
        self._set_up(session, asking, opening, Places(folder, opening.data, opening.answers))

    def _set_up(self, session: ActiveSession, asking: Any, opening: Opening, places: Any) -> None:
        from coterie.studio.desk import Desk
        from coterie.studio.layouts import Layouts
        from coterie.words import counted

        notes = list(asking.notes)
        if any(session.row_changes):
            notes.append(f"rows changed since the last time: {session.row_changes}")
        if session.set_aside:
            notes.append(f"{counted(len(session.set_aside), 'answer')} about rows that are gone")
        self._notes = notes
        session.ask()  # the first question is the slow one: coordinates, kernels
        id_column = opening.choices.get("id_column")
        desk = Desk(session, asking, places, self.audience, id_column)
        if opening.pairs is None:  # which are of another file: the command names it again
            desk.notebook.remember(opening.remembered())
        self._opening = opening
        self._layouts = Layouts(desk)
        self._desk = desk
        desk.refits.request()
        self._layouts.start("pca")
        self._enter("ready")

    def _compiling(self, active: bool) -> None:
        if active and self._phase != "compiling":
            self._enter("compiling", COMPILING)

    def _fail(self, message: str) -> None:
        self._close_desk(failed=True)
        self._enter("failed", message)

    def adopt(
        self, session: ActiveSession, records: Any = None, ids: Any = None, fields: Any = ()
    ) -> Studio:
        """Work on a session that exists, for a notebook; nothing is read or written.

        Parameters
        ----------
        session : ActiveSession
        records : Table, data frame or dict of columns, optional
            What is shown of each row; the features if not given.
        ids : sequence of str, optional
        fields : sequence of str
            Columns that are shown; all if not given.
        """
        from coterie.studio.adopting import asking_of
        from coterie.studio.desk import Places

        asking = asking_of(session, records, ids, fields)
        self._close_desk()
        opening = Opening(Path("session"), Path("session.answers.db"))
        self._set_up(session, asking, opening, Places())
        return self

    def wait(self, seconds: float) -> dict[str, Any]:
        """The state once nothing is being opened any more, or after that time."""
        self._settled.wait(seconds)
        return self.state("")

    def _close_desk(self, *, failed: bool = False) -> None:
        desk, self._desk, self._layouts = self._desk, None, None
        store, self._store = self._store, None
        if desk is not None:
            desk.close()
        if store is not None:
            store.close(forget_unused=failed)

    def close(self) -> None:
        """Close the session; all answers are in its log."""
        self._settled.wait(60)
        self._close_desk()
        self._notes = []
        self._enter("empty")

    def image(self, query: dict[str, Any]) -> Path | None:
        """The file that a field of a record names, if it is an image in the data's folder."""
        desk, body = self.desk, Body(query)
        if desk.places.folder is None:
            return None
        row = body.integer("row", most=desk.n - 1)
        return desk.view.image(row, body.text("field"), desk.places.folder)

    def readable_folder(self) -> Path:
        """The folder whose files can be opened; refused where there is none."""
        if self.folder is None:
            raise Refused("NotFound", "This studio has no folder to open files from.", 404)
        return self.folder


def upload_target(studio: Studio, name: str) -> Path:
    """Where an upload goes."""
    return free_name(studio.readable_folder(), name)


def user_name() -> str:
    """Who runs the studio."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"
