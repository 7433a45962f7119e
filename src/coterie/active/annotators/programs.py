"""Programs as annotators: called side by side, at their pace, within their budget, and logged."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.active.annotators.calling import Caller, Program
from coterie.active.annotators.leases import Lease, Leases
from coterie.active.annotators.oracles import Reply, run_coroutine
from coterie.active.session import ActiveSession
from coterie.exceptions import InvalidParameter
from coterie.parameters import check_arguments
from coterie.validation import check_count

__all__ = ["RunReport", "run_programs", "run_programs_async"]


@dataclass(frozen=True)
class RunReport:
    """What a run of programs did.

    Attributes
    ----------
    stopped : str
        Why it ended.
    program : tuple of str
    answers, calls, cached, failed : tuple of int
        Of each program: questions answered, calls made, answers taken from earlier calls, and
        questions put off since every attempt failed.
    cost : tuple of float
        Of the calls made in this run.
    retired : tuple of str
        Why a program was called no more, "" where it could be.
    """

    stopped: str
    program: tuple[str, ...]
    answers: tuple[int, ...]
    calls: tuple[int, ...]
    cached: tuple[int, ...]
    failed: tuple[int, ...]
    cost: tuple[float, ...]
    retired: tuple[str, ...]

    def to_frame(self, backend: str = "pandas") -> Any:
        """One program a row."""
        from coterie.constraints.frames import make_frame

        names = ("program", "answers", "calls", "cached", "failed", "cost", "retired")
        return make_frame({name: np.array(getattr(self, name)) for name in names}, backend)


def run_programs(
    session: ActiveSession,
    programs: Program | Sequence[Program],
    *,
    max_questions: int | None = None,
    batch: int = 1,
    overlap: float = 0.0,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> RunReport:
    """Let programs answer until the session is done, or they may be called no more.

    Questions are asked in rounds of `batch`, which are answered side by side and told to the
    session in their order: what comes out does not depend on who was quickest. An exception of a
    program does not end the run: it is tried again after a while, then the question is put off
    ("later"). Every call is written to the session's log, where there is one, before its answer
    is used; a run that was stopped anywhere and is started again calls nobody twice for the same.

    Parameters
    ----------
    session : ActiveSession
    programs : Program or sequence of Program
    max_questions : int, optional
        Stop after so many answers, even if the session is not done.
    batch : int, default=1
        Questions in a round. A program is called at most `Program.concurrency` times at once.
    overlap : float, default=0
        Share of the answers that another program gives too (see `Leases`).
    clock, sleep : callable, optional
        The time in seconds, and a coroutine function that waits.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.active import ActiveSession, LabelOracle, Program, run_programs
    >>> X, y = np.arange(30.0).reshape(-1, 1), np.arange(30) // 10
    >>> session = ActiveSession(X, random_state=0)
    >>> report = run_programs(session, Program("rule", LabelOracle(y)), max_questions=8)
    >>> report.answers, session.history[0].annotator
    ((8,), 'rule')
    """
    return run_coroutine(
        run_programs_async(
            session,
            programs,
            max_questions=max_questions,
            batch=batch,
            overlap=overlap,
            clock=clock,
            sleep=sleep,
        )
    )


async def run_programs_async(
    session: ActiveSession,
    programs: Program | Sequence[Program],
    *,
    max_questions: int | None = None,
    batch: int = 1,
    overlap: float = 0.0,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> RunReport:
    """`run_programs` for code that runs in an event loop already."""
    check_arguments(run_programs, locals())
    listed = [programs] if isinstance(programs, Program) else list(programs)
    names = [program.name for program in listed]
    if not listed or len(set(names)) < len(names):
        raise InvalidParameter(f"programs={names!r}: give at least one, each with its own name.")
    check_count("batch", batch)
    most = np.inf if max_questions is None else check_count("max_questions", max_questions, least=0)
    # Programs hold their questions as long as they need: rounds end by themselves.
    leases = Leases(session, seconds=np.inf, overlap=overlap, clock=clock)
    log = session.calls
    with ThreadPoolExecutor(sum(program.concurrency for program in listed)) as pool:
        callers = [Caller(program, log, session, pool, clock, sleep) for program in listed]
        stopped = await _rounds(leases, callers, most, batch)
    return _report(stopped, callers)


async def _rounds(leases: Leases, callers: list[Caller], most: float, batch: int) -> str:
    """Ask and tell until something ends it; what did."""
    n_told = 0
    while n_told < most:
        count = int(min(batch, most - n_told))
        handed = _hand_out(leases, callers, count)
        if not handed:
            return _why_none(leases.session, callers)
        replies = await asyncio.gather(*(caller.reply(lease.question) for caller, lease in handed))
        n_told += sum(
            _tell(leases, caller, lease, reply)
            for (caller, lease), reply in zip(handed, replies, strict=True)
        )
        put_off = [reply is not None and reply.answer == "later" for reply in replies]
        again = [lease.question.phase == "again" for _, lease in handed]
        if all(put_off) and all(again):
            return "everything that is left was put off once more"
    return f"{n_told} questions are answered"


def _hand_out(leases: Leases, callers: Iterable[Caller], count: int) -> list[tuple[Caller, Lease]]:
    """Up to `count` questions, each to the program that is furthest behind its share."""
    handed: list[tuple[Caller, Lease]] = []
    able = [caller for caller in callers if caller.retired is None]
    given = {caller.program.name: 0 for caller in able}
    while len(handed) < count and able:
        caller = min(
            able,
            key=lambda c: (c.n_answers + c.n_failed + given[c.program.name]) / c.program.share,
        )
        program = caller.program
        lease = leases.take(program.name, kind=program.kind, size=program.size)
        if lease is not None and not caller.may_be_asked(lease.question, given[program.name]):
            leases.give_back(lease.number)
            lease = None
        if lease is None:
            able.remove(caller)
            continue
        given[program.name] += 1
        handed.append((caller, lease))
    return handed


def _tell(leases: Leases, caller: Caller, lease: Lease, reply: Reply | None) -> bool:
    """Record a reply; whether it was an answer. A program that could not be called gave none."""
    if reply is None:
        leases.give_back(lease.number)
        return False
    leases.tell(lease.number, reply.answer, certainty=reply.certainty, despite_clash=True)
    answered = reply.answer != "later"
    caller.n_answers += answered
    return answered


def _why_none(session: ActiveSession, callers: Sequence[Caller]) -> str:
    if session.done is not None:
        return session.done
    reasons = [f"{c.program.name}: {c.retired}" for c in callers if c.retired]
    return "; ".join(reasons) or "nothing is left that a program may be asked"


def _report(stopped: str, callers: Sequence[Caller]) -> RunReport:
    return RunReport(
        stopped,
        tuple(c.program.name for c in callers),
        tuple(c.n_answers for c in callers),
        tuple(c.n_calls for c in callers),
        tuple(c.n_cached for c in callers),
        tuple(c.n_failed for c in callers),
        tuple(c.cost for c in callers),
        tuple(c.retired or "" for c in callers),
    )
