"""What all commands share: errors in one or two lines, --json, --quiet and --debug."""

from __future__ import annotations

import errno
import functools
import json
import re
import signal
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from coterie.cli.exits import Exit
from coterie.exceptions import (
    CoterieError,
    InfeasibleConstraints,
    NotWritten,
    UndecidedFeasibility,
    WorkersLost,
)
from coterie.words import on_screen

__all__ = ["Talk", "command", "explain", "in_options"]

# Said of every command, not left to the group: click remembers how a command was first asked.
HELP = {"help_option_names": ["-h", "--help"]}


class Talk:
    """What a command says: notes on the way, one result at the end.

    With `--json` the result is one JSON object on the standard output that holds the notes too.
    Otherwise notes go to the standard error, and `--quiet` silences them and the result.
    """

    def __init__(self, *, as_json: bool, quiet: bool) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Something the user should know that is no error, in words of options; once each."""
        text = in_options(text)
        if text in self.notes:
            return
        self.notes.append(text)
        if not (self.as_json or self.quiet):
            click.echo(on_screen(f"Note: {text}"), err=True)

    def result(self, values: dict[str, Any], text: str, *, err: bool = False) -> None:
        """The outcome, for scripts and for people; `err` where the output itself is on stdout."""
        if self.as_json:
            click.echo(json.dumps({**values, "notes": self.notes}, ensure_ascii=False), err=err)
        elif not self.quiet:
            click.echo(on_screen(text), err=err)

    def error(self, text: str, code: Exit) -> None:
        """What went wrong."""
        if self.as_json:
            click.echo(json.dumps({"error": text, "exit_code": int(code), "notes": self.notes}))
        click.echo(on_screen(f"Error: {text}"), err=True)


def _debug() -> click.Option:
    return click.Option(["--debug"], is_flag=True, help="Show where in the program an error arose.")


def _speech() -> list[click.Parameter]:
    return [
        click.Option(["--json", "as_json"], is_flag=True, help="One JSON object, for scripts."),
        click.Option(["--quiet", "-q"], is_flag=True, help="Say nothing but errors."),
    ]


def command(
    name: str, *, conversation: bool = False
) -> Callable[[Callable[..., Any]], click.Command]:
    """A click command whose function is given a `Talk` first.

    Errors become one or two lines and an exit code; warnings become notes. A `conversation` has
    no --json and no --quiet.
    """

    def decorate(function: Callable[..., Any]) -> click.Command:
        @functools.wraps(function)
        def run(debug: bool, as_json: bool = False, quiet: bool = False, **arguments: Any) -> None:
            talk = Talk(as_json=as_json, quiet=quiet)
            code = _run(lambda: function(talk, **arguments), talk, debug)
            if code:
                click.get_current_context().exit(int(code))

        made: click.Command = click.command(name, context_settings=HELP)(run)
        made.params += [*([] if conversation else _speech()), _debug()]
        return made

    return decorate


class _Ended(BaseException):
    """A signal came that ends the command."""

    def __init__(self, code: Exit) -> None:
        super().__init__(code)
        self.code = code


_ENDING = {"SIGTERM": Exit.TERMINATED, "SIGHUP": Exit.HUNG_UP}  # Windows has no second one


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the work as an exception does: what is half written is removed.

    A second one ends the process at once, as it would have without this. One that is ignored, as
    SIGHUP below `nohup`, stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: Any) -> None:
        for each in before:
            signal.signal(each, signal.SIG_DFL)
        raise _Ended(_ENDING[signal.Signals(number).name])

    kinds = [getattr(signal, name) for name in _ENDING if hasattr(signal, name)]
    before = {kind: signal.getsignal(kind) for kind in kinds}
    before = {kind: how for kind, how in before.items() if how not in (signal.SIG_IGN, None)}
    try:
        for kind in before:
            signal.signal(kind, end)
        yield
    finally:
        for kind, how in before.items():
            signal.signal(kind, how)


def _run(work: Callable[[], Exit | None], talk: Talk, debug: bool) -> Exit:
    def note(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
        if issubclass(category, UserWarning):  # Coterie's and scikit-learn's, meant for users
            talk.note(str(message))

    try:
        with _ending_in_order(), warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = note
            return work() or Exit.DONE
    except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
        raise  # click knows what to do
    except KeyboardInterrupt:
        talk.error("stopped; nothing is half written.", Exit.INTERRUPTED)
        return Exit.INTERRUPTED
    except _Ended as ended:
        talk.error("ended from outside; nothing is half written.", ended.code)
        return ended.code
    except Exception as error:
        if debug:
            traceback.print_exc()
        text, code = explain(error)
        talk.error(text, code)
        return code


_FULL = (errno.ENOSPC, errno.EFBIG, errno.EIO)  # of the screen, or where that is sent

# What the library calls a parameter, and the option that sets it.
_OPTIONS = {
    "id_column": "--id",
    "pairs": "PAIRS",
    "n_clusters": "-k",
    "error_rate": "--error-rate",
    **{
        name: f"--{name}"
        for name in (
            "features",
            "drop",
            "categorical",
            "text",
            "columns",
            "missing",
            "where",
            "vectors",
            "scale",
            "impute",
            "fields",
            "truth",
            "strategy",
        )
    },
}


def in_options(text: str) -> str:
    """A message of the library with its parameters named as the options that set them.

    >>> in_options("leave it out with `drop`, or raise `n_clusters`")
    'leave it out with --drop, or raise -k'
    """
    return re.sub(r"`(\w+)`", lambda found: _OPTIONS.get(found[1], found[0]), text)


def explain(error: Exception) -> tuple[str, Exit]:
    """What to tell the user about an error, and the exit code it means."""
    for kind, code in (
        (InfeasibleConstraints, Exit.UNSATISFIABLE),
        (UndecidedFeasibility, Exit.UNDECIDED),
        (NotWritten, Exit.NOT_WRITTEN),
        (WorkersLost, Exit.WORKERS_LOST),
        (CoterieError, Exit.BAD_INPUT),
    ):
        if isinstance(error, kind):
            return in_options(str(error)), code
    if isinstance(error, OSError) and error.filename is None and error.errno in _FULL:
        return f"the output was not written: {error.strerror}.", Exit.NOT_WRITTEN
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'}: {error.strerror or error}.", Exit.BAD_INPUT
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}. Use fewer rows or columns.", Exit.BAD_INPUT
    return (
        f"{type(error).__name__}: {error}\nThis should not happen. Run it again with --debug and "
        "report what it shows.",
        Exit.BUG,
    )
