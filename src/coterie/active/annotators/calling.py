"""One program that answers: its calls, tried again when they fail, counted and remembered."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coterie.active.annotators.calls import Call, CallLog
from coterie.active.annotators.oracles import Reply, as_reply
from coterie.active.annotators.pace import Pace
from coterie.active.piles import check_piles
from coterie.active.query import Query, SetQuery, check_answer, check_certainty
from coterie.exceptions import OracleFailed
from coterie.parameters import check_parameters

if TYPE_CHECKING:
    from coterie.active.session import ActiveSession

__all__ = ["Caller", "Program"]

_GIVE_UP = 5  # questions in a row that fail in every attempt
_LONGEST = 60.0  # seconds between two attempts, unless the program asks for more
_LONGEST_WISH = 3600.0  # seconds that it may ask for


@dataclass(frozen=True)
class Program:
    """A program that answers questions, and how it may be called.

    Attributes
    ----------
    name : str
        The annotator in history and log.
    oracle : callable
        Takes a `Query` (or a `SetQuery`) and returns what `Reply` says; plain or `async`. A method
        `key(question)`, if it has one, gives a text that changes when the same rows are asked about
        in other words; the same rows and key are not asked about twice.
    share : float, default=1
        Of the questions, compared with other programs.
    kind, size
        Questions about pairs or sets, as in `ActiveSession.ask`.
    concurrency : int, default=8
        Most calls at once.
    per_minute : int, optional
        Most calls in any minute.
    max_calls, max_cost : int, float, optional
        Most calls, and most they may cost together; what the log has of earlier runs counts. A
        call whose cost is known only afterwards may exceed the last bit, no further call is made.
    cost : float, default=0
        Of a call whose reply does not say.
    attempts : int, default=4
        Calls about a question before it is put off.
    backoff : float, default=1
        Seconds before the second attempt; twice as many before each further one, up to 60, or as
        many as the program asks for (`OracleFailed.retry_after`), up to an hour.
    """

    name: str
    oracle: Callable[[Any], Any]
    share: float = 1.0
    kind: str = "pair"
    size: int = 6
    concurrency: int = 8
    per_minute: int | None = None
    max_calls: int | None = None
    max_cost: float | None = None
    cost: float = 0.0
    attempts: int = 4
    backoff: float = 1.0

    def __post_init__(self) -> None:
        check_parameters(self)


class Caller:
    """A program at work in one run."""

    def __init__(
        self,
        program: Program,
        log: CallLog,
        session: ActiveSession,
        pool: ThreadPoolExecutor,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self.program = program
        self.retired: str | None = None  # why it is called no more
        self.n_answers = self.n_calls = self.n_cached = self.n_failed = 0
        self.cost = 0.0
        self._log = log
        self._session = session
        self._pool = pool
        self._sleep = sleep
        self._pace = Pace(program.per_minute, clock, sleep)
        self._free = asyncio.Semaphore(program.concurrency)
        self._before = log.spent(program.name)
        self._under_way = 0
        self._failed_in_a_row = 0

    # -- budget ----------------------------------------------------------------------------
    def room(self) -> float:
        """Calls that the budget still allows, those under way left out."""
        calls, cost = self._before
        most, dearest = self.program.max_calls, self.program.max_cost
        left = float("inf") if most is None else most - calls - self.n_calls
        if dearest is not None:
            unspent = dearest - cost - self.cost - self._under_way * self.program.cost
            if self.program.cost > 0:
                # A hair more: ten calls of 0.1 may cost 1.
                left = min(left, (unspent * (1 + 1e-9)) // self.program.cost)
            elif unspent <= 0:
                left = 0
        return left

    def may_be_asked(self, question: Query | SetQuery, given: int) -> bool:
        """Whether the question was answered before, or the budget has room beyond `given` calls."""
        if self.room() > given or self._known(question) is not None:
            return True
        if not given:
            most = self.program.max_calls
            spent = most is not None and self._before[0] + self.n_calls >= most
            what = f"{most} calls" if spent else f"{self.program.max_cost}"
            self.retired = f"the budget of {what} is spent"
        return False

    def _known(self, question: Query | SetQuery) -> Call | None:
        return self._log.answered(self.program.name, self._key(question))

    # -- calling ---------------------------------------------------------------------------
    async def reply(self, question: Query | SetQuery) -> Reply | None:
        """The answer, "later" if every attempt failed; None if no call could be made."""
        known = self._known(question)
        if known is not None:
            self.n_cached += 1
            return Reply(self._from_places(known.answer, question), known.certainty)
        tried = False
        for attempt in range(1, self.program.attempts + 1):
            async with self._free:
                if self.retired is not None or self.room() <= 0:
                    break
                tried = True
                self.n_calls += 1
                self._under_way += 1
                try:
                    await self._pace.wait()
                    outcome = await self._call(question, attempt)
                finally:
                    self._under_way -= 1
            if isinstance(outcome, Reply):
                self._failed_in_a_row = 0
                return outcome
            if outcome.final:
                self.retired = f"it failed for good: {outcome}"
                break
            if attempt < self.program.attempts:
                await self._wait_after(outcome, attempt)
        if not tried:
            return None
        self._note_failure()
        return Reply("later")

    async def _wait_after(self, failure: OracleFailed, attempt: int) -> None:
        wait = min(self.program.backoff * 2 ** (attempt - 1), _LONGEST)
        if failure.retry_after is not None:
            self._pace.pause(min(failure.retry_after, _LONGEST_WISH))  # all its calls
        else:
            await self._sleep(wait)

    def _note_failure(self) -> None:
        self.n_failed += 1
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= _GIVE_UP and self.retired is None:
            last = [call.error for call in self._log if call.annotator == self.program.name][-1]
            self.retired = f"{_GIVE_UP} questions in a row failed, the last by {last}"

    async def _call(self, question: Query | SetQuery, attempt: int) -> Reply | OracleFailed:
        """One call, and a line of the log for it."""
        failure: OracleFailed | None = None
        reply = Reply(None)
        loop = asyncio.get_running_loop()
        try:
            value = await loop.run_in_executor(self._pool, self.program.oracle, question)
            reply = as_reply(await value if inspect.isawaitable(value) else value)
            reply = reply._replace(answer=_check_reply(reply, question))
        except OracleFailed as error:
            failure = error
        except Exception as error:  # whatever a program does, the run goes on
            failure = OracleFailed(f"{type(error).__name__}: {error}")
        cost = float(self.program.cost if reply.cost is None else reply.cost)
        self.cost += cost
        self._log.add(
            Call(
                self._session.time(),
                self.program.name,
                self._key(question),
                attempt,
                reply.prompt,
                reply.text,
                None if failure else self._to_places(reply.answer, question),
                reply.certainty,
                cost,
                str(failure) if failure else None,
            )
        )
        return failure or reply

    # -- questions as the log has them -----------------------------------------------------
    def _in_order(self, question: Query | SetQuery) -> list[int]:
        """The rows of the question by their numbers in the log."""
        return sorted(question.rows, key=self._session.number_in_log)

    def _key(self, question: Query | SetQuery) -> str:
        """What is asked, whatever the order of the rows: kind, row numbers in the log, words."""
        numbers = map(self._session.number_in_log, self._in_order(question))
        words = self.program.oracle.key(question) if hasattr(self.program.oracle, "key") else ""
        kind = "set" if isinstance(question, SetQuery) else "pair"
        return f"{kind} {' '.join(map(str, numbers))} {words}".rstrip()

    def _to_places(self, answer: Any, question: Query | SetQuery) -> Any:
        """Piles of rows as piles of places in `_in_order`, which outlive row numbers."""
        rows = self._in_order(question)
        return answer if isinstance(answer, str) else [[*map(rows.index, pile)] for pile in answer]

    def _from_places(self, answer: Any, question: Query | SetQuery) -> Any:
        """Undo `_to_places`."""
        rows = self._in_order(question)
        return answer if isinstance(answer, str) else [[rows[at] for at in p] for p in answer]


def _check_reply(reply: Reply, question: Query | SetQuery) -> Any:
    """The answer, if the session can take it."""
    check_certainty(reply.certainty)
    if isinstance(question, SetQuery) and reply.answer != "later":
        return check_piles(reply.answer, question.rows)
    return check_answer(reply.answer)
