"""The `coterie` command: a group whose commands are loaded when they are run."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from coterie import __version__
from coterie.cli.exits import Exit

__all__ = ["COMMANDS", "SECTIONS", "main"]

# name: (module, what it does). Loading them only when needed keeps `coterie --help` quick; a test
# compares the texts with the commands' own.
COMMANDS = {
    "ask": ("coterie.cli.ask", "Cluster records by asking which pairs belong together."),
    "check": ("coterie.cli.check", "Say what the pairs imply, and whether they can be kept."),
    "compare": (
        "coterie.cli.compare",
        "Run several methods on the same rows and pairs.",
    ),
    "completion": (
        "coterie.cli.completion",
        "Print what makes the Tab key complete commands and options.",
    ),
    "demo": (
        "coterie.cli.demo",
        "Make and cluster a small example; say what to try next.",
    ),
    "fit": ("coterie.cli.fit", "Cluster the rows of a table, with what is known about pairs."),
    "predict": ("coterie.cli.predict", "Put new rows into the clusters of a saved model."),
    "report": (
        "coterie.cli.report",
        "Write a page about a saved model: map, clusters, broken pairs.",
    ),
    "score": ("coterie.cli.score", "Compare clusters with the true classes."),
    "studio": ("coterie.cli.studio", "Cluster records in a browser: answer, look and mend."),
    "suspects": (
        "coterie.cli.suspects",
        "Show the pairs a model doubts most, records side by side.",
    ),
    "warmup": ("coterie.cli.warmup", "Compile methods now, so that no first fit has to."),
}
# In the order of --help: as a piece of work goes.
SECTIONS = {
    "Cluster": ("fit", "predict", "ask", "studio"),
    "Look at the pairs": ("check", "suspects"),
    "Look at the result": ("score", "compare", "report"),
    "Begin": ("demo", "completion", "warmup"),
}


class _LazyGroup(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        """As click does it, with exit codes of our own: its 1 would say something about pairs."""
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, click.Abort):  # while a command is loaded, or at a prompt
            click.echo("Error: stopped; nothing is half written.", err=True)
            ctx.exit(Exit.INTERRUPTED)
        except BrokenPipeError:
            _write_no_more()
            ctx.exit(Exit.NOBODY_READS)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(COMMANDS[cmd_name][0]), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with the nearest name for one that is not known."""
        if args[0].isalpha() and args[0] not in COMMANDS and not ctx.resilient_parsing:
            from coterie.words import nearest

            ctx.fail(f"No such command {args[0]!r}.{nearest(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, COMMANDS))
        for title, names in SECTIONS.items():
            with formatter.section(title):
                # Padded, so that the texts of all sections stand below each other.
                formatter.write_dl([(f"{name:{widest}}", COMMANDS[name][1]) for name in names])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """As click does it, without loading the commands to read what they say."""
        found = [
            CompletionItem(name, help=COMMANDS[name][1])
            for name in self.list_commands(ctx)
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]


def _write_no_more() -> None:
    """Let what Python still holds of the output go nowhere: writing it at the end would fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # no file of the system
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="coterie")
def main() -> None:
    """Clustering for people who know some things about which items belong together.

    New here? `coterie demo` makes a small example and says what to try next.
    """
