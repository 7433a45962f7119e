"""`coterie warmup`: compile the methods now, so that no first fit has to."""

from __future__ import annotations

from typing import Any

import click

from coterie.cli._options import METHOD
from coterie.cli.command import Talk, command
from coterie.cli.exits import Exit

__all__ = ["warmup"]


@command("warmup")
@click.argument("methods", metavar="[METHOD]...", nargs=-1, type=METHOD)
def warmup(talk: Talk, *, methods: tuple[str, ...]) -> Exit | None:
    """Compile methods now, so that no first fit has to.

    Without a METHOD all are compiled. What was compiled is kept in the folder NUMBA_CACHE_DIR, or
    beside the installed package.
    """
    from coterie.warmup import warm_up

    begun: list[dict[str, Any]] = []
    say = (lambda text: None) if talk.as_json or talk.quiet else click.echo
    for done in warm_up(dict.fromkeys(methods) or None):
        begun.append(done._asdict())
        say(f"{done.name:17} {done.seconds:6.1f} s  {_what(done.compiled)}")
    seconds = sum(each["seconds"] for each in begun)
    talk.result({"seconds": seconds, "methods": begun}, f"{'all':17} {seconds:6.1f} s")
    return None


def _what(compiled: int) -> str:
    return f"{compiled} compiled" if compiled else "all was there"
