"""The `coterie` command: a group whose commands are loaded when they are run."""

from __future__ import annotations

from importlib import import_module

import click

from coterie import __version__

__all__ = ["main"]

# name: (module, object). Loading them only when needed keeps `coterie --help` quick.
_COMMANDS = {"ask": ("coterie.cli.ask", "ask")}


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, name = _COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(module), name)
        return command


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="coterie")
def main() -> None:
    """Clustering for people who know some things about which items belong together."""
