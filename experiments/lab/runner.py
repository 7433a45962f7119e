"""Run the cells that are not finished, side by side, until done or until time is up."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from sklearn.exceptions import ConvergenceWarning

from coterie.exceptions import MissingData
from lab.store import Store
from lab.study import Cell, CellFunction, Study, load_study
from lab.tables import Row


class Outcome(NamedTuple):
    """What became of a cell: its rows, or why its data is not here, or the error it ended in."""

    cell: Cell
    rows: list[Row]
    seconds: float = 0.0
    missing: str | None = None
    error: str | None = None


class Summary(NamedTuple):
    """What a run did; `missing` tells each absent data set once, `failed` each error."""

    finished: int
    left: int
    missing: list[str]
    failed: list[str]


_function: CellFunction | None = None  # of the study this worker process serves


def _prepare(folder: Path) -> None:
    global _function
    _function = load_study(folder).cell_function()


def _in_worker(cell: Cell) -> Outcome:
    assert _function is not None
    return run_cell(_function, cell)


def run_cell(function: CellFunction, cell: Cell) -> Outcome:
    """Call the study's function. An error costs this cell only: hours of others go on.

    Fits that stop at their largest number of iterations say so in the rows, where a study cares;
    the warning is not repeated a thousand times.
    """
    begin = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            rows = list(
                function(
                    part=cell.part, draw=cell.draw, seed=cell.seed, **cell.axes, **cell.constants
                )
            )
    except MissingData as error:
        return Outcome(cell, [], missing=str(error))
    except Exception:  # whatever it is, it is shown at the end and the command fails
        return Outcome(cell, [], error=f"{cell.key}:\n{traceback.format_exc()}")
    return Outcome(cell, rows, time.perf_counter() - begin)


def run_study(
    study: Study,
    profile: str,
    *,
    jobs: int = 2,
    minutes: float | None = None,
    choose: Callable[[Cell], bool] = lambda cell: True,
) -> Summary:
    """Finish the study's cells under a profile; what is finished already is not run again.

    Parameters
    ----------
    jobs : int
        Processes; 1 runs in this one.
    minutes : float, optional
        No cell begins after this time.
    choose : callable
        Run only the cells it is true of; the others stay as they are.
    """
    cells = study.cells(profile)
    store = Store(study, profile)
    done = store.tidy(cells)
    todo = [cell for cell in cells if cell.key not in done and choose(cell)]
    deadline = None if minutes is None else time.monotonic() + 60 * minutes
    finished = 0
    missing: dict[str, None] = {}  # each message once, in order
    failed: list[str] = []
    try:
        with _progress() as progress:
            task = progress.add_task(f"{study.name} ({profile})", total=len(todo))
            for outcome in _outcomes(study, todo, jobs, deadline):
                if outcome.missing is not None:
                    missing[outcome.missing] = None
                elif outcome.error is not None:
                    failed.append(outcome.error)
                else:
                    store.add(outcome.cell, outcome.rows, outcome.seconds)
                    finished += 1
                progress.advance(task)
    finally:
        store.tidy(cells)
    return Summary(finished, len(todo) - finished, list(missing), failed)


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )


def _outcomes(
    study: Study, todo: list[Cell], jobs: int, deadline: float | None
) -> Iterator[Outcome]:
    def in_time() -> bool:
        return deadline is None or time.monotonic() < deadline

    if jobs == 1:
        function = study.cell_function()
        for cell in todo:
            if not in_time():
                return
            yield run_cell(function, cell)
        return
    # Started afresh and not forked: compiled code and thread pools do not survive a fork safely.
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_prepare, initargs=(study.folder,)
    ) as pool:
        waiting = iter(todo)
        running: set[Future[Outcome]] = set()
        while True:
            while len(running) < jobs and in_time():
                following = next(waiting, None)
                if following is None:
                    break
                running.add(pool.submit(_in_worker, following))
            if not running:
                return
            ready, running = wait(running, return_when=FIRST_COMPLETED)
            for future in ready:
                yield future.result()
