"""`coterie completion`: what a shell needs to complete commands, options and file names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from coterie.cli.command import Talk, command
from coterie.cli.exits import Exit

__all__ = ["completion"]

_VARIABLE = "_COTERIE_COMPLETE"  # click's convention for a program of this name


@command("completion", conversation=True)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(talk: Talk, *, shell: str) -> Exit | None:
    """Print what makes the Tab key complete commands and options.

    Put it where your shell reads it at the start:

    \b
    bash  echo 'eval "$(coterie completion bash)"' >> ~/.bashrc
    zsh   echo 'eval "$(coterie completion zsh)"' >> ~/.zshrc
    fish  coterie completion fish > ~/.config/fish/completions/coterie.fish
    """
    made = get_completion_class(shell)
    if made is None:
        raise RuntimeError(f"click does not know {shell}")
    root = click.get_current_context().find_root().command
    click.echo(made(root, {}, "coterie", _VARIABLE).source())
    return None
