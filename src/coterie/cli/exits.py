"""How a command ends: the numbers that scripts may rely on."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["Exit"]


class Exit(IntEnum):
    """How a command ends; docs/command-line.md says the same."""

    DONE = 0
    UNSATISFIABLE = 1  # the pairs cannot all be kept
    BAD_INPUT = 2  # wrong usage, a file or a value that cannot be used
    NOT_WRITTEN = 3  # an output could not be written; nothing is left of it
    UNDECIDED = 4  # not decided within the time limit
    STOPPED_EARLY = 5  # Ctrl-C: the best found so far was written
    WORKERS_LOST = 6  # processes or a cluster died; nothing was written
    BUG = 70  # an error nobody foresaw
    HUNG_UP = 129  # SIGHUP, the terminal was closed: nothing is half written
    INTERRUPTED = 130  # Ctrl-C, twice in a fit: nothing is half written
    NOBODY_READS = 141  # who read what was printed has gone, as `head` does
    TERMINATED = 143  # SIGTERM: nothing is half written
