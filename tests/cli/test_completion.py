"""`coterie completion`: the scripts are the shells' own language, and Tab finds what there is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_main import HEAVY

from coterie.cli.main import COMMANDS
from coterie.cli.methods import METHODS

COMPLETE = f"""
import sys
from coterie.cli.main import main
try:
    main(prog_name="coterie")
finally:
    print("loaded", *[name for name in {HEAVY} if name in sys.modules])
"""


def completed(*words):
    """What Tab offers after these words, and the heavy modules that loaded for it."""
    environment = os.environ | {
        "_COTERIE_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["coterie", *words]),
        "COMP_CWORD": str(len(words)),
    }
    done = subprocess.run(
        [sys.executable, "-c", COMPLETE],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    *offers, loaded = done.stdout.splitlines()
    return [line.split(",", 1)[1] for line in offers], loaded.split()[1:]


def test_commands_are_offered_without_loading_them():
    assert completed("") == (sorted(COMMANDS), [])
    assert completed("co") == (["compare", "completion"], [])


def test_options_and_methods_are_offered():
    assert completed("fit", "--sca") == (["--scale"], [])
    offered, _ = completed("fit", "x.csv", "--method", "m")
    assert offered == [name for name in METHODS if name.startswith("m")]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_asks_coterie(run, shell):
    result = run("completion", shell)
    assert result.exit_code == 0, result.output
    assert f"_COTERIE_COMPLETE={shell}_complete" in result.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_reads_the_script(run, shell, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "script"
    script.write_text(run("completion", shell).stdout)
    subprocess.run([shell, "-n", script], check=True)


def test_in_bash_the_tab_key_finds_a_command(run, tmp_path):
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    script = tmp_path / "script"
    script.write_text(run("completion", "bash").stdout)
    press = "COMP_WORDS=(coterie pre); COMP_CWORD=1; _coterie_completion coterie pre coterie"
    folder = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-c", f"source {script}; {press}; echo ${{COMPREPLY[@]}}"],
        env=os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "predict"


def test_an_unknown_shell_is_refused(run):
    result = run("completion", "tcsh")
    assert result.exit_code == 2
    assert "'bash', 'zsh', 'fish'" in result.output
