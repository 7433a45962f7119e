"""One open session with all that the studio keeps beside it; every part of it works on this."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from coterie.active import ActiveSession, Answer, BackgroundRefits, FitState, Turns
from coterie.active.forecast import Forecast
from coterie.active.query import ANSWERS
from coterie.plot.inputs import broken_mask
from coterie.studio.errors import Refused
from coterie.studio.fair_lock import FairLock
from coterie.studio.notebook import Notebook, notes_beside
from coterie.studio.people import Audience
from coterie.studio.shown import Shown
from coterie.tables import Asking, RecordView

__all__ = ["RECENT", "CurvePoint", "Desk", "Places"]

_REMEMBERED = 10_000  # questions whose answers are known, for pages that are late
_MOST_FIELDS = 200  # of a record, also when all of it is asked for
RECENT = 20  # answers whose foreseeing is counted


class Places(NamedTuple):
    """Where things are on the disk; None for a session that has no files.

    Attributes
    ----------
    folder : Path or None
        The only folder that requests can reach.
    data, log : Path or None
    """

    folder: Path | None = None
    data: Path | None = None
    log: Path | None = None


class CurvePoint(NamedTuple):
    """One clustering of the learning curve."""

    answers: int
    clusters: int
    stability: float | None
    broken: int
    foreseen: float | None
    n_foreseen: int  # answers that this is a share of


class Desk:
    """An `ActiveSession`, whose turn it is, its clusterings in the background, and how rows look.

    `lock` is held while the session is used: there is one writer. The audience is told when
    something happens that everybody should know.
    """

    def __init__(
        self,
        session: ActiveSession,
        asking: Asking,
        places: Places,
        audience: Audience,
        id_column: str | None = None,
    ) -> None:
        self.id = uuid4().hex[:12]
        self.session = session
        self.asking = asking
        self.places = places
        numbers = () if asking.recipe is None else asking.recipe.number_columns
        # What is not shown at first is shown when asked for, and searched.
        others = [n for n in asking.table.names if n not in asking.fields and n != id_column]
        self.more_fields = others[: max(_MOST_FIELDS - len(asking.fields), 0)]
        fields = [*asking.fields, *self.more_fields]
        self.view = RecordView(asking.table, asking.ids, fields, frozenset(numbers))
        self.n = asking.table.n_rows
        self.lock = FairLock()
        self.turns = Turns(session, at_once=True)  # nobody learns or plans while others wait
        self.shown: Shown | None = None
        self.curve: list[CurvePoint] = []
        self.forecast: Forecast | None = None
        self.answered: OrderedDict[str, list[int]] = OrderedDict()
        self.foreseen: deque[bool] = deque(maxlen=RECENT)
        self.notebook = Notebook(None if places.log is None else notes_beside(places.log))
        self._audience = audience
        self._done = 0
        self.closed = False
        self.refits = BackgroundRefits(session, self.lock, self._fit_changed)
        self.cache: dict[str, tuple[int, Any]] = {}  # what was worked out for a clustering

    # -- clusterings -----------------------------------------------------------------------
    def _fit_changed(self, state: FitState) -> None:
        if state.n_done != self._done:
            self._done = state.n_done
            self._show()
        self._audience.tell("fit", lambda _: self.fit())

    def _show(self) -> None:
        """Show the clustering that has just been finished."""
        with self.lock:
            labels = self.session.labels()
            answers = self.session.n_asked
            constraints = self.session.constraints
            self.forecast = self.session.expected_gain
        stability = self.session.stability
        shown = Shown.of(labels, self._done)
        broken = int(broken_mask(constraints, shown.position).sum())
        hits = list(self.foreseen)
        self.curve.append(
            CurvePoint(
                answers,
                int(shown.numbers.size),
                stability,
                broken,
                sum(hits) / len(hits) if hits else None,
                len(hits),
            )
        )
        self.shown = shown

    def clusters(self) -> Shown:
        """The clustering that is shown; refused while there is none."""
        if self.shown is None:
            raise Refused("NotReady", "The rows are being clustered for the first time.", 409)
        return self.shown

    def cluster_of(self, row: int) -> int | None:
        """The cluster that a row is shown in."""
        return None if self.shown is None else int(self.shown.labels[row])

    def for_clustering(self, name: str, make: Callable[[Shown], Any]) -> Any:
        """What `make` works out of the clustering that is shown, worked out once for each."""
        shown = self.clusters()
        found = self.cache.get(name)
        if found is None or found[0] != shown.version:
            found = shown.version, make(shown)
            self.cache[name] = found
        return found[1]

    def fit(self) -> dict[str, Any]:
        """How far the clustering is."""
        state = self.refits.state
        return {
            "running": state.running,
            "step": state.step,
            "total": state.total,
            "objective": _finite(state.objective),
            "compiling": state.compiling,
            "stopping": state.stopping,
            "version": 0 if self.shown is None else self.shown.version,
            "behind": self.session.n_behind,
            "error": state.error,
            "seconds": state.seconds,
        }

    # -- what happened ---------------------------------------------------------------------
    def changed(self, person: str, what: str) -> None:
        """Somebody has written: cluster again, and tell the others. Called with the lock held."""
        self.refits.request()
        self._audience.tell(
            "answers", lambda who: {"by": person, "what": what, **self.standing(who)}
        )

    def announce(self, event: str, data: Callable[[], dict[str, Any]]) -> None:
        """Tell everybody the same."""
        self._audience.tell(event, lambda _: data())

    def standing(self, person: str) -> dict[str, Any]:
        """Counts, and what this person can undo and redo."""
        with self.lock:
            return {
                "at": self._audience.now(),
                "counts": self.counts(person),
                "can_undo": self.session.can_undo(person),
                "can_redo": self.session.can_redo(person),
            }

    def counts(self, person: str) -> dict[str, Any]:
        """Answers in force, by kind, and those of this person."""
        with self.lock:
            session = self.session
            return {
                **{word: session.words[word] for word in ANSWERS},
                "known": session.n_known,
                "asked": session.n_asked,
                "budget": session.budget,
                "mine": session.given_by[person],
            }

    def close(self) -> None:
        """End the background work; answers are in the log. Who comes later is told."""
        self.refits.close()
        with self.lock:  # whoever is writing is done first
            self.closed = True

    def check_open(self) -> None:
        """Refuse what comes after the session was closed. Called with the lock held."""
        if self.closed:
            raise Refused(
                "OtherSession", "This table was closed or another was opened; reload the page.", 409
            )

    # -- as JSON ---------------------------------------------------------------------------
    def record(self, row: int, whole: bool = False) -> dict[str, Any]:
        """A row as the page shows it; `whole`: with the columns that are not shown at first."""
        fields = []
        for name, value, kind in self.view.record(row, None if whole else len(self.asking.fields)):
            field: dict[str, Any] = {"name": name, "value": value, "kind": kind}
            # Of records every difference counts; of measurements those that are not usual.
            if kind == "number" and self.asking.compared is None:
                field["spread"] = self.view.spread(name)
            if kind == "image" and not value.startswith("data:"):
                field["src"] = f"/api/image?row={row}&field={_quoted(name)}"
            fields.append(field)
        return {
            "row": row,
            "id": str(self.asking.ids[row]),
            "cluster": self.cluster_of(row),
            "fields": fields,
        }

    def line(self, row: int) -> str:
        """A row in a few words: its first texts, and of records also numbers, which name them."""
        kinds = ("text",) if self.asking.compared is None else ("text", "number")
        shown = self.view.record(row, len(self.asking.fields)) if row >= 0 else ()
        said = [field.value[:60] for field in shown if field.value and field.kind in kinds]
        return ", ".join(said[:3])

    def answer(self, answer: Answer, state: str = "in force") -> dict[str, Any]:
        """An answer as the page shows it."""
        ids = [str(self.asking.ids[row]) if row >= 0 else "(gone)" for row in answer.rows]
        return {
            "number": answer.number,
            "rows": list(answer.rows),
            "ids": ids,
            "lines": [self.line(row) for row in answer.rows],
            "answer": answer.answer,
            "certainty": answer.certainty,
            "annotator": answer.annotator,
            "time": answer.time,
            "phase": answer.phase,
            "step": answer.step,
            "state": state,
        }

    def remember(self, question: str | None, numbers: list[int]) -> None:
        """The question was answered so; pages that are late are told."""
        if question is None:
            return
        self.turns.give_back(question)
        self.answered[question] = numbers
        while len(self.answered) > _REMEMBERED:
            self.answered.popitem(last=False)


def _finite(value: float | None) -> float | None:
    return value if value is not None and abs(value) < float("inf") else None


def _quoted(name: str) -> str:
    from urllib.parse import quote

    return quote(name, safe="")
