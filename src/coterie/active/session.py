"""`ActiveSession`: gives questions, takes answers; does no input or output of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, Self

from numpy.typing import ArrayLike

from coterie.active.events import Event
from coterie.active.knowledge import Knowledge
from coterie.active.log.row_ids import check_ids
from coterie.active.log.store import AnswerStore
from coterie.active.piles import Said, said_about_set
from coterie.active.query import (
    Answer,
    Query,
    SetQuery,
    check_answer,
    check_certainty,
    check_pair,
)
from coterie.active.questions import Questions
from coterie.active.revising import Revising
from coterie.active.session_log import SessionLog
from coterie.active.session_rows import planners, refuse_stored, rows_of
from coterie.active.strategies.registry import strategy_for
from coterie.active.strategies.space import distortion_of
from coterie.active.strategies.strategy import Strategy
from coterie.constraints import Constraints
from coterie.distortions import Distortion
from coterie.parameters import check_arguments
from coterie.validation import check_constraints

__all__ = ["ActiveSession"]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class ActiveSession(Questions, Revising):
    """Ask and tell: the session says which pair to ask about, somebody answers.

    The next question depends on the rows, the parameters and the answers so far, and on nothing
    else: a session rebuilt from its log asks the same. Asking twice gives the same question.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features), or rows in files
        Of rows that are not in memory (`open_rows`, Dask) questions are about a sample, and about
        rows near what is uncertain; `tell` takes answers about any row, and `labels` needs an
        estimator that reads them.
    constraints : Constraints, optional
        What is known already. Each pair is remembered as an answer of the phase "known": it counts
        like one that was told, but not against the budget, and `undo` stops before it. With a
        store it is in the log; a session that goes on may be given the same pairs again, or more.
    strategy : Strategy or str, optional
        How questions are chosen; `InformationGain()` if not given. A name is one of
        `coterie.active.STRATEGIES`; K is then the estimator's `n_clusters`.
    estimator : estimator, optional
        Clusters the rows by the answers in `labels`. None: the strategy's own model, where it has
        one. If the strategy is not told K but finds clusters, a parameter `n_clusters` of the
        estimator is set to how many it has found (`n_found`).
    budget : int, optional
        Most questions to be answered; "later" is free.
    distortion : str or Distortion, optional
        How strategies measure distances; the estimator's own `distortion` or `metric` if not
        given, else squared Euclidean.
    candidates : array-like of int, optional
        Rows that questions may be about; all if not given.
    random_state : int, optional
        Drawn if not given (and taken from the log where there is one).
    store : AnswerStore, optional
        Log of the answers. What is in it already is replayed; each answer is on the disk before
        `tell` returns.
    ids : sequence of str, optional
        The id of every row. A log is then bound to ids, not to all values: rows may be added,
        removed, edited or reordered before it is opened again. `row_changes` says which were, and
        answers about rows that are gone are kept aside (`set_aside`) until they are back.
    contents : sequence of str, optional
        What each row says, by which edited rows are told where rows have ids. Without it their
        values are compared, which all change where columns are scaled and a row is added.
    weigh_annotators : bool, default=False
        Whether answers count by how often those who gave them are wrong (`annotators`), each kind
        by itself, and several about one pair together, instead of the last one alone: in the
        constraints, and in what strategies believe.
    clock : callable, optional
        Gives the time of an answer as a string.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import ActiveSession, PCKMeans
    >>> from coterie.active import ExploreConsolidate
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1], [9.0]])
    >>> session = ActiveSession(X, strategy=ExploreConsolidate(3), estimator=PCKMeans(3),
    ...                         random_state=0)
    >>> question = session.ask()
    >>> question.phase
    'explore'
    >>> session.tell(question, "different").constraints.n_pairs
    1
    >>> session.undo().constraints.n_pairs
    0
    """

    def __init__(
        self,
        X: Any,
        *,
        constraints: Constraints | None = None,
        strategy: Strategy | str | None = None,
        estimator: Any = None,
        budget: int | None = None,
        distortion: str | Distortion | None = None,
        candidates: ArrayLike | None = None,
        random_state: int | None = None,
        store: AnswerStore | None = None,
        ids: Any = None,
        contents: Sequence[str] | None = None,
        weigh_annotators: bool = False,
        clock: Callable[[], str] = _now,
    ) -> None:
        check_arguments(ActiveSession, locals())
        rows = rows_of(X, ids)
        self.budget = budget
        self._clock = clock
        self._key: str | None = None  # of the request that is carried out, see `once`
        n = rows.shape[0]
        how = strategy_for("information" if strategy is None else strategy, estimator)
        log = SessionLog(store, random_state)
        known = check_constraints(constraints, n)
        # First what may be refused: a log that is tied to such rows would not take mended ones.
        self._new_planner = planners(
            rows, how, distortion_of(estimator, distortion), candidates, log.seed, self.labels
        )
        log.bind(rows, None if ids is None else check_ids(ids, n), repr(how), contents)
        log.take_in(known, clock())
        super().__init__(rows, how, estimator, log, weigh_annotators)
        self._planner = self._new_planner()

    # -- telling ---------------------------------------------------------------------------
    def tell(
        self,
        question: Query | SetQuery | tuple[int, int],
        answer: Any,
        *,
        certainty: float | None = None,
        annotator: str | None = None,
        despite_clash: bool = False,
    ) -> Self:
        """Take an answer to a question, or about any pair of rows.

        Parameters
        ----------
        question : Query, SetQuery or (int, int)
        answer : {"same", "different", "unknown", "later"}, or piles of rows
            "unknown": nobody can tell, do not ask this pair again. "later": ask when nothing else
            is left. To a question about a set: piles, ``[[3, 8], [5]]``; rows of one pile belong
            together, rows of two do not, and about rows in none nobody can tell. They are recorded
            as pairs, all of one certainty, and undone as one step. "later" is for all rows.
        certainty : float, optional
            0.5 to 1: how likely the answer is right. 1 makes the pair hard.
        annotator : str, optional
        despite_clash : bool, default=False
            Take the answer even if earlier ones rule it out (both stay, as soft pairs).

        Raises
        ------
        ContradictoryAnswer
            Earlier answers say the opposite; nothing was recorded. The person decides: keep both
            (`despite_clash=True`), take an earlier answer back (`retract`), or leave it.
        AnswerNotSaved
            The log could not be written; nothing was recorded.
        """
        check_arguments(ActiveSession.tell, locals())
        if isinstance(question, SetQuery):
            said = said_about_set(question, answer, self._knowledge)
            asked_for = {"why": question.why, "gain": question.expected_gain}
            return self._tell_step(
                said, "set", certainty, annotator, despite_clash, details=asked_for
            )
        rows = check_pair(question, self._rows.shape[0])
        word = check_answer(answer)
        sure = check_certainty(certainty)
        asked = question if isinstance(question, Query) else None
        taken = Answer(
            number=self._log.timeline.n_answers + 1,
            rows=rows,
            answer=word,
            certainty=sure,
            annotator=annotator,
            time=self._clock(),
            phase=asked.phase if asked else "volunteered",
        )
        if taken.sign and not despite_clash:
            self._knowledge.refuse_clash(taken)
        details = {"why": asked.why, "gain": asked.expected_gain} if asked else None
        self._record(Event("answer", taken, details=details))
        return self

    def _tell_step(
        self,
        said: Sequence[Said],
        phase: str,
        certainty: float | None,
        annotator: str | None,
        despite_clash: bool,
        names: Sequence[tuple[int, str]] = (),
        details: dict[str, Any] | None = None,
    ) -> Self:
        """Answers about pairs, and names of rows, that are recorded and undone together."""
        sure, first, time = (
            check_certainty(certainty),
            self._log.timeline.n_answers + 1,
            self._clock(),
        )
        step = first if said else -1 - self._log.timeline.n_named  # never used twice
        answers = [
            Answer(first + t, rows, word, sure, annotator, time, phase, step)
            for t, (rows, word) in enumerate(said)
        ]
        if not despite_clash:
            beside = Knowledge(self._knowledge.answers)
            for answer in answers:
                if answer.sign:
                    beside.refuse_clash(answer)
                beside.add(answer)
        events = [Event("answer", answer, details=details, step=step) for answer in answers]
        events += [
            Event("name", target=row, text=name, step=step, annotator=annotator)
            for row, name in names
        ]
        return self._record(*events)

    def _named_rows(self) -> dict[str, list[int]]:
        return self._log.timeline.names()

    @property
    def version(self) -> int:
        """Rises with everything that changes the answers."""
        return self._version

    def time(self) -> str:
        """The moment by the session's clock, as it is written with an answer."""
        return self._clock()

    def _record(self, *events: Event) -> Self:
        """On the disk first, then in memory."""
        key, self._key = self._key, None  # what one request records is written at once
        self._log.record(events, key)
        if any(event.operation not in ("answer", "name") for event in events):
            self._knowledge = Knowledge(self._log.answers())
        else:
            for event in events:
                if event.answer is not None:
                    self._knowledge.add(event.answer)
        self._version += sum(event.operation != "name" for event in events)
        return self

    def widget(
        self,
        records: Any = None,
        ids: Any = None,
        fields: Sequence[str] = (),
        annotator: str | None = None,
    ) -> Any:
        """Answering and the map in a notebook's cell, as on the page of Coterie Studio.

        Needs the extra `widget`. Clusterings run in the background until `close()` of the widget;
        answers are those of this session, and can be given in Python at the same time.

        Parameters
        ----------
        records : data frame or dict of columns, optional
            What is shown of each row; the features if not given.
        ids : sequence of str, optional
        fields : sequence of str
            Columns that are shown; the first 12 if not given.
        annotator : str, optional
            Who answers; the name of the user if not given.
        """
        refuse_stored(self._rows, "a map of all rows is drawn from memory")
        # The studio stands above sessions, so it is fetched by name when somebody asks for it.
        above = import_module("coterie.studio.widget")
        return above.session_widget(self, records, ids, fields, annotator)

    def __repr__(self) -> str:
        state = self.done or "open"
        return f"ActiveSession({self.n_asked} answered, {self.strategy!r}, {state})"
