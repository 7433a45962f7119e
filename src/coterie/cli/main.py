"""The `coterie` command: a group whose commands are loaded when they are run."""

from __future__ import annotations

from importlib import import_module

import click

from coterie import __version__

__all__ = ["COMMANDS", "main"]

# name: (module, what it does). Loading them only when needed keeps `coterie --help` quick; a test
# compares the texts with the commands' own.
COMMANDS = {
    "ask": ("coterie.cli.ask", "Cluster records by asking which pairs belong together."),
    "check": ("coterie.cli.check", "Say what the pairs imply, and whether they can be kept."),
    "fit": ("coterie.cli.fit", "Cluster the rows of a table, with what is known about pairs."),
    "predict": ("coterie.cli.predict", "Put new rows into the clusters of a saved model."),
    "report": (
        "coterie.cli.report",
        "Write a page about a saved model: map, clusters, broken pairs.",
    ),
    "score": ("coterie.cli.score", "Compare clusters with the true classes."),
}


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(COMMANDS[cmd_name][0]), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="coterie")
def main() -> None:
    """Clustering for people who know some things about which items belong together."""
