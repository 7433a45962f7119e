"""The root command: quick, lists its commands, says its version, refuses what it does not know."""

from __future__ import annotations

import json
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

import coterie
from coterie.cli.main import COMMANDS, main

HEAVY = ["numpy", "numba", "sklearn", "scipy", "pyarrow", "rich", "narwhals"]
COUNT = f"""
import json, sys
from coterie.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
print(json.dumps([name for name in {HEAVY} if name in sys.modules] + [len(sys.modules)]))
"""


def loaded(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", COUNT, *arguments], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_help_and_version_load_nothing_heavy():
    assert loaded("--help")[:-1] == []
    assert loaded("--help")[-1] < 250  # modules; the time, 0.2 s, is measured in benchmarks/cli.py
    assert loaded("fit", "--help")[:-1] == []


def test_help_lists_the_commands_and_version_is_the_packages():
    runner = CliRunner()
    shown = runner.invoke(main, ["--help"])
    assert shown.exit_code == 0
    assert coterie.__version__ in runner.invoke(main, ["--version"]).output


def test_the_package_runs_as_a_module():
    asked = [sys.executable, "-m", "coterie", "--version"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert done.stdout == f"coterie, version {coterie.__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_of_each_command_what_it_says_of_itself(name):
    runner = CliRunner()
    command = main.get_command(None, name)
    first = command.help.split("\n\n")[0].replace("\n", " ")
    assert first == COMMANDS[name][1]
    assert COMMANDS[name][1] in " ".join(runner.invoke(main, ["--help"]).output.split())
    assert runner.invoke(main, [name, "--help"]).exit_code == 0
    options = [p for p in command.params if isinstance(p, click.Option)]
    undescribed = [option.name for option in options if not option.help]
    assert undescribed == []


def test_an_unknown_command_is_refused():
    result = CliRunner().invoke(main, ["clutser"])
    assert result.exit_code == 2
    assert "No such command 'clutser'." in result.output
    assert "Did you mean 'compare'?" in CliRunner().invoke(main, ["comapre", "x"]).output
