"""Passes on a Dask cluster: the one module that knows `distributed`, by submit and result alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

from coterie.data.engines import ThreadEngine, in_order, in_runs, run_alone
from coterie.data.parquet import decoded_groups
from coterie.data.rows import MemoryRows, Stretch
from coterie.exceptions import InvalidParameter, MissingDependency, WorkersLost

__all__ = ["DaskEngine", "Patient", "connect", "scheduler_needed"]

Result = TypeVar("Result")
_AHEAD = 3  # blocks in flight for each thread of a worker: travelling, running, coming back
_LOOK = 2.0  # seconds between looks at whether any worker is left
_PORT = 8786  # where a scheduler listens unless told otherwise
_ANSWER = 10.0  # seconds that a scheduler may take to answer
_PATIENCE = 30.0  # seconds without a worker that are waited for another one


def connect(address: str) -> Any:
    """A `distributed.Client` of the scheduler at dask://HOST:PORT, or by Dask's own addresses."""
    try:
        distributed = import_module("distributed")
    except ImportError as error:
        raise MissingDependency(
            "a Dask cluster needs distributed; install it with: pip install 'coterie[dask]'."
        ) from error
    scheme, sign, place = address.partition("://")
    if not sign or not place:
        raise InvalidParameter(f"{address!r} is no address; give one like dask://HOST:PORT.")
    if ":" not in place:
        place = f"{place}:{_PORT}"
    known = f"{'tcp' if scheme == 'dask' else scheme}://{place}"
    try:
        return distributed.Client(known, timeout=_ANSWER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InvalidParameter(
            f"no Dask scheduler answers at {address}; start one (`dask scheduler`), or look at "
            f"host and port. ({error})"
        ) from error


class DaskEngine:
    """The blocks of stored rows on the workers of a `distributed.Client`.

    A task gets where its block is, the centres and other small things as plain arguments, so a
    worker that dies loses nothing: its tasks are run again, elsewhere, from their descriptions.
    Rows in memory are worked on where they are, by threads.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def map(
        self, function: Callable[[Any, Any], Result], stretches: Iterable[Stretch], arguments: Any
    ) -> Iterator[Result]:
        """Yield `function(stretch.read(), arguments)` of every stretch."""
        waiting = list(stretches)
        if isinstance(waiting[0].source, MemoryRows):
            return ThreadEngine().map(function, waiting, arguments)
        return self._on_workers(function, waiting, arguments)

    def _on_workers(
        self, function: Callable[[Any, Any], Result], stretches: list[Stretch], arguments: Any
    ) -> Iterator[Result]:
        with scheduler_needed(self.client):
            threads = max(1, sum(self.client.ncores().values()))
            runs = in_runs(stretches, threads)
            started = (self._submit(function, run, arguments) for run in runs)
            for results in in_order(started, threads * _AHEAD):
                yield from results

    def _submit(self, function: Any, run: list[Stretch], arguments: Any) -> Patient:
        # Not pure: the key would be a hash of all arguments, made anew for every block.
        if hasattr(run[0].source, "with_parts"):
            (stretch,) = run
            bare = stretch._replace(source=stretch.source.with_parts([]))
            parts = stretch.source.parts
            future = self.client.submit(_run_on_parts, function, bare, arguments, parts, pure=False)
        else:
            future = self.client.submit(_run_within, function, run, arguments, pure=False)
        return Patient(self.client, future)


@contextmanager
def scheduler_needed(client: Any) -> Iterator[None]:
    """A block that asks the scheduler for results: `WorkersLost` if it is gone."""
    address = client.scheduler.address
    try:
        yield
    except _gone(import_module("distributed")) as error:
        raise WorkersLost(
            f"the scheduler at {address} died or forgot its tasks; nothing was written. Start it "
            f"again, and fit again. ({error})"
        ) from error


def _gone(distributed: Any) -> tuple[type[Exception], ...]:
    """What is raised where the scheduler is gone; before 2025.4 a closed client has no error."""
    closed = getattr(distributed.client, "ClosedClientError", distributed.CancelledError)
    return distributed.CancelledError, distributed.comm.CommClosedError, closed


def _run_within(function: Any, run: list[Stretch], arguments: Any) -> Any:
    """Run on a worker, which keeps no more of what it decodes than its memory limit allows."""
    limit = import_module("distributed").get_worker().memory_manager.memory_limit
    if limit:
        decoded_groups.within(limit)
    return run_alone(function, run, arguments)


def _run_on_parts(function: Any, stretch: Stretch, arguments: Any, parts: list[Any]) -> Any:
    """Run where the chunks of a Dask collection are: Dask has put them in the place of futures."""
    whole = stretch._replace(source=stretch.source.with_parts(parts))
    return run_alone(function, [whole], arguments)


class Patient:
    """A future of Dask's whose result is not waited for when no worker is left to make it."""

    def __init__(self, client: Any, future: Any) -> None:
        self.client = client
        self.future = future
        self.address = client.scheduler.address

    def cancel(self) -> None:
        """Tell the cluster that nobody waits for it."""
        self.future.cancel()

    def result(self) -> Any:
        """The result; `WorkersLost` if the workers died at it, or the scheduler."""
        distributed = import_module("distributed")
        seen = time.monotonic()
        while True:
            try:
                return self.future.result(timeout=_LOOK)
            except distributed.TimeoutError:
                if self._is_manned():
                    seen = time.monotonic()
                elif time.monotonic() - seen > _PATIENCE:
                    raise WorkersLost(
                        f"the cluster at {self.address} has had no worker for {_PATIENCE:.0f} s; "
                        "nothing was written. Start workers and fit again."
                    ) from None
            except distributed.scheduler.KilledWorker as error:
                raise WorkersLost(
                    f"workers of the cluster at {self.address} died again and again at one block; "
                    "nothing was written. Often a block with its sums does not fit in a worker's "
                    f"memory limit: give workers more. ({error})"
                ) from error

    def _is_manned(self) -> bool:
        """Whether the scheduler knows of a worker."""
        try:
            return bool(self.client.ncores())
        except (OSError, TimeoutError):  # it does not answer
            return False
