"""`ActiveSession`: gives questions, takes answers; does no input or output of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_array

from coterie.active._refit import Refit
from coterie.active.annotators import AnnotatorTable, estimate_annotators, weighed_pairs
from coterie.active.cluster_answers import ClusterAnswers
from coterie.active.events import Event, Timeline
from coterie.active.knowledge import Knowledge
from coterie.active.known import known_answers
from coterie.active.piles import Said, check_piles, said_by_piles, set_question
from coterie.active.query import (
    KNOWN,
    Answer,
    Query,
    SetQuery,
    check_answer,
    check_certainty,
    check_pair,
)
from coterie.active.registry import make_strategy
from coterie.active.row_ids import RowChanges, RowIds, check_ids
from coterie.active.space import Space, distortion_of
from coterie.active.store import AnswerStore, fingerprint
from coterie.active.strategy import Context, Strategy
from coterie.constraints import Constraints
from coterie.distortions import Distortion
from coterie.exceptions import ContradictoryAnswer, InvalidParameter
from coterie.validation import check_choice, check_constraints, check_count

__all__ = ["ActiveSession"]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class ActiveSession(ClusterAnswers):
    """Ask and tell: the session says which pair to ask about, somebody answers.

    The next question depends on the rows, the parameters and the answers so far, and on nothing
    else: a session rebuilt from its log asks the same. Asking twice gives the same question.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
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
    weigh_annotators : bool, default=False
        Whether answers count by how often those who gave them are wrong (`annotators`), each kind
        by itself, and several about one pair together, instead of the last one alone.
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
        weigh_annotators: bool = False,
        clock: Callable[[], str] = _now,
    ) -> None:
        rows = check_array(
            X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2
        )
        self.budget = None if budget is None else check_count("budget", budget, least=0)
        self.strategy = _strategy("information" if strategy is None else strategy, estimator)
        self._timeline = Timeline()
        self._store = store
        self._clock = clock
        self.weigh_annotators = weigh_annotators
        self._seed = _choose_seed(random_state, store)
        self._ids: RowIds | None = None
        self.row_changes = RowChanges((), (), ())
        if store is not None:
            self._bind(store, rows, None if ids is None else check_ids(ids, rows.shape[0]))
        self._take_in(check_constraints(constraints, rows.shape[0]))
        self._knowledge = Knowledge(self._timeline.answers())
        space = Space(rows, distortion_of(estimator, distortion), _mask(candidates, rows.shape[0]))
        self._planner = self.strategy.prepare(Context(space, self._seed, self.labels))
        self._rows = rows
        self._refit = None if estimator is None else Refit(estimator)
        self._fitted_at: int | None = None
        self._labelings: list[NDArray[Any]] = []
        self._version = 0
        self._planned: tuple[int, int, list[Query]] | None = None
        self._annotators: tuple[int, AnnotatorTable] | None = None

    def _bind(self, store: AnswerStore, rows: Any, ids: list[str] | None) -> None:
        """Tie the log to the rows, by ids or by values, and replay what is in it."""
        strategy = repr(self.strategy)
        if ids is None:
            store.bind(fingerprint(rows), rows.shape, self._seed, strategy)
        else:
            self._ids, self.row_changes = store.bind_ids(ids, rows, self._seed, strategy)
        for event in store.events():
            self._timeline.append(event if self._ids is None else self._ids.read(event))

    def _save(self, events: Sequence[Event]) -> None:
        if self._store is not None and events:
            self._store.append(
                *(event if self._ids is None else self._ids.write(event) for event in events)
            )

    def _take_in(self, constraints: Constraints) -> None:
        """Pairs known at the start, as answers; those that the log has already are left out."""
        known = known_answers(
            constraints, self._timeline.n_answers + 1, self._clock(), self._timeline.known
        )
        events = [Event("answer", answer) for answer in known]
        self._save(events)
        for event in events:
            self._timeline.append(event)

    # -- asking ----------------------------------------------------------------------------
    @overload
    def ask(self) -> Query | None: ...
    @overload
    def ask(self, batch: int) -> list[Query]: ...
    @overload
    def ask(self, *, kind: str, size: int = 6) -> Query | SetQuery | None: ...
    def ask(
        self, batch: int | None = None, *, kind: str = "pair", size: int = 6
    ) -> Query | SetQuery | list[Query] | None:
        """The next question, or up to `batch` questions that can be answered independently.

        None (or an empty list) when the session is `done`.

        Parameters
        ----------
        batch : int, optional
        kind : {"pair", "set"}, default="pair"
            "set": one `SetQuery` about up to `size` rows: which of them belong together? It tells
            about as much as all its pairs and costs a person little more than one.
        size : int, default=6
        """
        if check_choice("kind", kind, ("pair", "set")) == "set":
            if batch is not None:
                raise InvalidParameter("ask(batch=..., kind='set'): sets are asked one by one.")
            wanted = check_count("size", size, least=2)
            spent = self.budget is not None and self.n_asked >= self.budget
            return None if spent else set_question(self._questions(wanted), wanted)
        count = 1 if batch is None else check_count("batch", batch)
        if self.budget is not None:
            count = min(count, self.budget - self.n_asked)
        found = self._questions(count) if count > 0 else []
        return (found[0] if found else None) if batch is None else found

    def _questions(self, count: int) -> list[Query]:
        if self._planned is None or self._planned[:2] != (self._version, count):
            found = self._planner.questions(self._knowledge, count)
            if not found:  # nothing new: what was put off comes back
                found = [
                    Query(rows, "again", "You put this pair off; nothing else is left to ask.")
                    for rows in self._knowledge.put_off[:count]
                ]
            self._planned = self._version, count, found
        return self._planned[2]

    @property
    def done(self) -> str | None:
        """Why there is nothing more to ask, or None while there is."""
        if self.budget is not None and self.n_asked >= self.budget:
            return f"the budget of {self.budget} questions is spent"
        if not self._questions(1):
            return self._planner.why_finished(self._knowledge)
        return None

    @property
    def n_asked(self) -> int:
        """Questions answered and in force; "later" and what was known before do not count.

        Answers of one step (a set, a merge) count as one.
        """
        return len(
            {
                answer.number if answer.step is None else answer.step
                for answer in self._knowledge.answers
                if answer.answer != "later" and answer.phase != KNOWN
            }
        )

    # -- telling ---------------------------------------------------------------------------
    def tell(
        self,
        question: Query | SetQuery | tuple[int, int],
        answer: Any,
        *,
        certainty: float | None = None,
        annotator: str | None = None,
        despite_clash: bool = False,
    ) -> ActiveSession:
        """Take an answer to a question, or about any pair of rows.

        Parameters
        ----------
        question : Query, SetQuery or (int, int)
        answer : {"same", "different", "unknown", "later"}, or piles of rows
            "unknown": nobody can tell, do not ask this pair again. "later": ask when nothing else
            is left. To a question about a set: piles, ``[[3, 8], [5]]``; rows of one pile belong
            together, rows of two do not, and about rows in none nobody can tell. They are recorded
            as pairs, all of one certainty, and undone as one step.
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
        if isinstance(question, SetQuery):
            piles = check_piles(answer, question.rows)
            undecided = set(question.rows) - {row for pile in piles for row in pile}
            said = said_by_piles(piles, sorted(undecided), self._knowledge)
            asked_for = {"why": question.why, "gain": question.expected_gain}
            return self._tell_step(
                said, "set", certainty, annotator, despite_clash, details=asked_for
            )
        rows = check_pair(question, self._rows.shape[0])
        word = check_answer(answer)
        sure = check_certainty(certainty)
        asked = question if isinstance(question, Query) else None
        taken = Answer(
            number=self._timeline.n_answers + 1,
            rows=rows,
            answer=word,
            certainty=sure,
            annotator=annotator,
            time=self._clock(),
            phase=asked.phase if asked else "volunteered",
        )
        if taken.sign and not despite_clash:
            _refuse_clash(self._knowledge, taken)
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
    ) -> ActiveSession:
        """Answers about pairs, and names of rows, that are recorded and undone together."""
        sure, first, time = check_certainty(certainty), self._timeline.n_answers + 1, self._clock()
        step = first if said else -1 - self._timeline.n_named  # never used twice
        answers = [
            Answer(first + t, rows, word, sure, annotator, time, phase, step)
            for t, (rows, word) in enumerate(said)
        ]
        if not despite_clash:
            beside = Knowledge(self._knowledge.answers)
            for answer in answers:
                if answer.sign:
                    _refuse_clash(beside, answer)
                beside.add(answer)
        events = [Event("answer", answer, details=details, step=step) for answer in answers]
        events += [Event("name", target=row, text=name, step=step) for row, name in names]
        return self._record(*events)

    def _named_rows(self) -> dict[str, list[int]]:
        return self._timeline.names()

    def retract(self, number: int) -> ActiveSession:
        """Take back the answer with that number, whatever came after it (`undo` restores it)."""
        return self._record(Event("retract", target=number))

    def undo(self, steps: int = 1) -> ActiveSession:
        """Take back the last answers or retractions."""
        for _ in range(check_count("steps", steps)):
            self._record(Event("undo"))
        return self

    def redo(self, steps: int = 1) -> ActiveSession:
        """Bring back what `undo` took."""
        for _ in range(check_count("steps", steps)):
            self._record(Event("redo"))
        return self

    def _record(self, *events: Event) -> ActiveSession:
        """On the disk first, then in memory."""
        for event in events:
            self._timeline.check(event)
        self._save(events)
        for event in events:
            self._timeline.append(event)
            if event.operation == "answer" and event.answer is not None:
                self._knowledge.add(event.answer)
                self._version += 1
            elif event.operation != "name":
                self._knowledge = Knowledge(self._timeline.answers())
                self._version += 1
        return self

    # -- what came of it -------------------------------------------------------------------
    @property
    def history(self) -> tuple[Answer, ...]:
        """The answers in force, oldest first; what was known at the start has the phase "known"."""
        return tuple(self._knowledge.answers)

    @property
    def set_aside(self) -> tuple[Answer, ...]:
        """Answers in the log about rows that are gone, which have negative numbers."""
        return tuple(self._timeline.answers(gone=True))

    @property
    def random_state(self) -> int:
        """The seed in use."""
        return self._seed

    @property
    def constraints(self) -> Constraints:
        """The answers as constraints, with what the strategy infers by exclusion.

        The last answer about a pair counts (or all, by `weigh_annotators`). A certainty that was
        given is kept.
        """
        if self.weigh_annotators:
            pairs = weighed_pairs(self._knowledge.answers, self.annotators)
        else:
            pairs = self._plain_pairs()
        pairs += [(rows, 1, None) for rows in self._planner.inferred(self._knowledge)]
        return make_constraints(self._rows.shape[0], pairs)

    def _plain_pairs(self) -> list[tuple[tuple[int, int], int, float | None]]:
        return [(a.pair, a.sign, a.certainty) for a in self._knowledge.constraining]

    @property
    def annotators(self) -> AnnotatorTable:
        """Who answered, how much, and how often each is wrong, by kind, with intervals.

        Estimated from answers about the same pairs and, with the clustering that those lead to as
        one more annotator, from all others (Dawid and Skene 1979).
        """
        if self._annotators is None or self._annotators[0] != self._version:
            said = self._knowledge.answers
            found = estimate_annotators(said)
            labels = None
            if self._refit is not None:
                first = make_constraints(self._rows.shape[0], weighed_pairs(said, found))
                labels = self._refit.fresh_labels(self._rows, first, self.n_found)
            else:
                labels = self._planner.labels(self._knowledge)
            found = found if labels is None else estimate_annotators(said, labels)
            self._annotators = self._version, found
        return self._annotators[1]

    @property
    def n_found(self) -> int | None:
        """Clusters found so far by a strategy that was not told how many; None for others."""
        return self._planner.n_found(self._knowledge)

    def labels(self) -> NDArray[Any]:
        """Clusters of all rows by the answers so far, (n,).

        The estimator is refitted only if there are new answers, and starts from its last solution:
        cluster numbers stay. When `n_found` changed it starts anew, and clusters get the numbers
        of those that they share most rows with.
        """
        if self._fitted_at != self._version:
            self._labelings = [*self._labelings[-1:], self._label()]
            self._fitted_at = self._version
        return self._labelings[-1]

    def _label(self) -> NDArray[Any]:
        if self._refit is not None:
            return self._refit.labels(self._rows, self.constraints, self.n_found)
        own = self._planner.labels(self._knowledge)
        if own is None:
            raise InvalidParameter(
                f"{type(self.strategy).__name__} does not cluster: give the session an estimator."
            )
        return own

    @property
    def stability(self) -> float | None:
        """Adjusted Rand index between the last two clusterings; None before there are two."""
        if len(self._labelings) < 2:
            return None
        return float(adjusted_rand_score(*self._labelings))

    def __repr__(self) -> str:
        state = self.done or "open"
        return f"ActiveSession({self.n_asked} answered, {self.strategy!r}, {state})"


def _refuse_clash(knowledge: Knowledge, answer: Answer) -> None:
    clash = knowledge.clash(*answer.rows, answer.sign)
    if not clash or all(earlier.pair == answer.pair for earlier in clash):
        return  # a new answer about the same pair replaces the old one
    i, j = answer.rows
    chain = "; ".join(
        f"answer {a.number}: rows {a.rows[0]} and {a.rows[1]} {a.answer}" for a in clash
    )
    raise ContradictoryAnswer(
        f"rows {i} and {j} {answer.answer!r} contradicts {len(clash)} earlier answer(s): "
        f"{chain}. Nothing was recorded. Take one back with retract(number), or keep both "
        "with tell(..., despite_clash=True).",
        clash,
    )


def make_constraints(
    n_samples: int, pairs: list[tuple[tuple[int, int], int, float | None]]
) -> Constraints:
    """Constraints from (pair, sign, certainty); a guess (0.5) says nothing and is left out."""
    kept = [(pair, sign, sure) for pair, sign, sure in pairs if sure != 0.5]
    return Constraints.from_arrays(
        n_samples,
        [pair for pair, _, _ in kept],
        [sign for _, sign, _ in kept],
        certainty=np.array([np.nan if sure is None else sure for _, _, sure in kept]),
    )


def _strategy(strategy: Strategy | str, estimator: Any) -> Strategy:
    """A strategy as it is, or the one of this name for the estimator's number of clusters."""
    if not isinstance(strategy, str):
        return strategy
    params = {} if estimator is None else estimator.get_params(deep=False)
    return make_strategy(strategy, n_clusters=params.get("n_clusters"))


def _choose_seed(random_state: int | None, store: AnswerStore | None) -> int:
    """Given, else the log's, else drawn."""
    if random_state is not None:
        return check_count("random_state", random_state, least=0)
    if store is not None and store.seed is not None:
        return store.seed
    return int(np.random.default_rng().integers(2**31))


def _mask(candidates: ArrayLike | None, n: int) -> NDArray[np.bool_]:
    mask = np.zeros(n, dtype=bool)
    if candidates is None:
        mask[:] = True
        return mask
    rows = np.asarray(candidates)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or rows.size < 2:
        raise InvalidParameter("candidates must list at least two row numbers.")
    if rows.min() < 0 or rows.max() >= n:
        raise InvalidParameter(f"candidates names row {rows.max()}, but rows are 0 to {n - 1}.")
    mask[rows] = True
    return mask
