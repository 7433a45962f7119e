"""The root command: lists its commands, says its version, refuses what it does not know."""

from __future__ import annotations

from click.testing import CliRunner

import coterie
from coterie.cli.main import main


def test_help_lists_the_commands_and_version_is_the_packages():
    runner = CliRunner()
    shown = runner.invoke(main, ["--help"])
    assert shown.exit_code == 0
    assert "ask" in shown.output
    assert coterie.__version__ in runner.invoke(main, ["--version"]).output


def test_an_unknown_command_is_refused():
    result = CliRunner().invoke(main, ["clutser"])
    assert result.exit_code == 2
    assert "No such command" in result.output
