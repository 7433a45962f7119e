"""Who answers: known labels, or any function (a language model, a crowd service, a person)."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from coterie.active.query import Query, SetQuery, check_answer
from coterie.active.session import ActiveSession
from coterie.exceptions import InvalidParameter
from coterie.parameters import check_arguments
from coterie.validation import check_count

__all__ = ["CallableOracle", "LabelOracle", "Reply", "answer_all", "answer_all_async"]

T = TypeVar("T")


class Reply(NamedTuple):
    """An answer with how sure the oracle is of it.

    Attributes
    ----------
    answer : str or list of list of int
        A word, or piles of rows to a question about a set.
    certainty : float or None
    cost : float or None
        Of the call, where the oracle knows it.
    prompt, text : str or None
        What was sent and what came back, for the log.
    """

    answer: Any
    certainty: float | None = None
    cost: float | None = None
    prompt: str | None = None
    text: str | None = None


def as_reply(value: Any) -> Reply:
    """A reply from what a function may return.

    True / False / None mean same / different / unknown; a word is an answer; a list is piles of
    rows; a pair adds the certainty.
    """
    if isinstance(value, Reply):
        return value._replace(answer=as_reply(value.answer).answer)
    if isinstance(value, list):
        return Reply(value)
    if isinstance(value, (bool, np.bool_)):
        return Reply("same" if value else "different")
    if value is None:
        return Reply("unknown")
    if isinstance(value, str):
        return Reply(check_answer(value))
    if isinstance(value, tuple) and len(value) == 2:
        return Reply(as_reply(value[0]).answer, value[1])
    raise InvalidParameter(
        f"an oracle returned {value!r}; return 'same', 'different', 'unknown', 'later', True, "
        "False, None, piles of rows, or one of these with a certainty."
    )


class LabelOracle:
    """Answers from known labels, with mistakes and don't-knows on request.

    The same pair always gets the same answer, in whatever order questions come.

    Parameters
    ----------
    y : array-like of shape (n,)
    error_rate : float, default=0
        How often "same" and "different" are exchanged; in piles, how often a row is put where
        another row of the question, or it itself, belongs.
    unknown_rate : float, default=0
        How often the answer is "unknown".
    random_state : int, default=0
    """

    def __init__(
        self,
        y: ArrayLike,
        *,
        error_rate: float = 0.0,
        unknown_rate: float = 0.0,
        random_state: int = 0,
    ) -> None:
        check_arguments(LabelOracle, locals())
        self.y = np.asarray(y)
        if self.y.ndim != 1:
            raise InvalidParameter(f"y has shape {self.y.shape}; give one label for each row.")
        self.error_rate = error_rate
        self.unknown_rate = unknown_rate
        self.random_state = random_state

    def __call__(self, query: Query | SetQuery) -> Reply:
        """The answer to one question."""
        if max(query.rows) >= len(self.y):
            raise InvalidParameter(
                f"y has {len(self.y)} labels, but the question is about row {max(query.rows)}: "
                "give a label for each row of the session."
            )
        if isinstance(query, SetQuery):
            return Reply(self._piles(sorted(query.rows)))
        i, j = sorted(query.rows)
        unknown, error = np.random.default_rng([self.random_state, i, j]).random(2)
        if unknown < self.unknown_rate:
            return Reply("unknown")
        same = bool(self.y[i] == self.y[j]) != bool(error < self.error_rate)
        return Reply("same" if same else "different")

    def _piles(self, rows: list[int]) -> list[list[int]]:
        """Piles by label; a row is left out, or with another's label, as often as it is said."""
        rng = np.random.default_rng([self.random_state, *rows])
        found: dict[Any, list[int]] = {}
        for row, (unknown, error) in zip(rows, rng.random((len(rows), 2)), strict=True):
            if unknown >= self.unknown_rate:
                shown = rng.choice(rows) if error < self.error_rate else row
                found.setdefault(self.y[shown], []).append(row)
        return list(found.values())


class CallableOracle:
    """Any function as an oracle: of one question or of a list, plain or `async`.

    Parameters
    ----------
    function : callable
        Takes a `Query`, or a list of them if `batch`, and returns what `Reply` says, or such
        values in a list; a coroutine function is awaited.
    batch : bool, default=False
    """

    def __init__(self, function: Callable[[Any], Any], *, batch: bool = False) -> None:
        check_arguments(CallableOracle, locals())
        self.function = function
        self.batch = batch

    def __call__(self, query: Query | SetQuery) -> Any:
        """What the function says to one question, as `Program` asks; to be awaited if it is."""
        if not self.batch:
            return self.function(query)
        values = self.function([query])
        return _only(values) if inspect.isawaitable(values) else next(iter(values))

    async def replies(self, queries: Sequence[Query]) -> list[Reply]:
        """Answers to the questions; `async` functions of one question run side by side."""
        if self.batch:
            values = await _finished(self.function(list(queries)))
            values = list(values)
        else:
            started = [self.function(query) for query in queries]
            values = list(await asyncio.gather(*map(_finished, started)))
        if len(values) != len(queries):
            raise InvalidParameter(
                f"the oracle gave {len(values)} answers to {len(queries)} questions."
            )
        return [as_reply(value) for value in values]


async def _only(values: Any) -> Any:
    return next(iter(await values))


async def _finished(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def answer_all_async(
    session: ActiveSession,
    oracle: Any,
    *,
    max_questions: int | None = None,
    batch: int = 1,
    annotator: str | None = None,
    on_clash: str = "keep",
) -> ActiveSession:
    """`answer_all` for code that runs in an event loop already."""
    check_arguments(answer_all, locals())
    if on_clash not in ("keep", "raise"):
        raise InvalidParameter(f"on_clash={on_clash!r} is not known; use 'keep' or 'raise'.")
    asking = oracle if isinstance(oracle, CallableOracle) else CallableOracle(oracle)
    left = np.inf if max_questions is None else check_count("max_questions", max_questions, least=0)
    while left > 0:
        queries = session.ask(batch=int(min(batch, left)))
        if not queries:
            break
        for query, reply in zip(queries, await asking.replies(queries), strict=True):
            session.tell(
                query,
                reply.answer,
                certainty=reply.certainty,
                annotator=annotator,
                despite_clash=on_clash == "keep",
            )
        if all(query.phase == "again" for query in queries) and all(
            session.history[-1 - t].answer == "later" for t in range(len(queries))
        ):
            break  # everything that is left was put off once more
        left -= len(queries)
    return session


def answer_all(
    session: ActiveSession,
    oracle: Any,
    *,
    max_questions: int | None = None,
    batch: int = 1,
    annotator: str | None = None,
    on_clash: str = "keep",
) -> ActiveSession:
    """Let an oracle answer until the session is done.

    Parameters
    ----------
    session : ActiveSession
    oracle : callable or CallableOracle
        A plain callable takes one `Query`.
    max_questions : int, optional
        Stop after so many, even if the session is not done.
    batch : int, default=1
        Questions given to the oracle at a time.
    annotator : str, optional
        Recorded with every answer.
    on_clash : {"keep", "raise"}, default="keep"
        What to do with an answer that contradicts earlier ones: keep both, or stop with
        `ContradictoryAnswer`.

    Returns
    -------
    ActiveSession
        The session itself.
    """
    work = answer_all_async(
        session,
        oracle,
        max_questions=max_questions,
        batch=batch,
        annotator=annotator,
        on_clash=on_clash,
    )
    return run_coroutine(work)


def run_coroutine(work: Coroutine[Any, Any, T]) -> T:
    """What the coroutine returns, whether or not an event loop runs already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:  # a notebook runs a loop already: use another thread's
        return pool.submit(asyncio.run, work).result()
