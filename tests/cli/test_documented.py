"""Every command and option is documented, and the pages show what the commands print now."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest
from console_page import Console, renewed, same, steps

from coterie.cli.exits import Exit
from coterie.cli.main import COMMANDS, SECTIONS, main
from coterie.cli.methods import METHODS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "command-line.md"
TEXT = PAGE.read_text(encoding="utf-8")


# -- what pages show ---------------------------------------------------------------------------
WITH_COMMANDS = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    if "```console\n" in page.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.name)
def test_the_page_shows_what_the_commands_print(page, folder):
    text = page.read_text(encoding="utf-8")
    console = Console(text)
    found = list(steps(text))
    assert found, "no command on the page"
    for step in found:
        printed = console.run(step.command, step.shown, step.line)
        assert same(step.shown, printed), (
            f"{page.name}, line {step.line}: `{step.command}` prints\n{printed}"
            f"Renew the page: python tests/cli/console_page.py {page.relative_to(ROOT)}"
        )


def test_commands_find_what_the_python_above_them_wrote(folder):
    page = (
        "```python\nopen('a.csv', 'w').write('x')\n```\n```console\n$ cat a.csv\nx\n```\n"
        "```python\nraise AssertionError('stands below')\n```\n"
    )
    console = Console(page)
    (step,) = steps(page)
    assert console.run(step.command, "made by the page", step.line) == "x"


WRONG = """Text
```console
$ cat a.csv
x
1
5
$ coterie fit a.csv -k 2 \\
    --method pckmeans
2 clusters of 3 rows by pckmeans (sizes 1, 1)
$ echo $?
0
```
"""


def test_another_output_is_noticed_at_its_line_and_renewed(folder):
    console = Console()
    found = list(steps(WRONG))
    assert [step.line for step in found] == [3, 7, 10]
    printed = [console.run(step.command, step.shown) for step in found]
    agrees = [same(step.shown, now) for step, now in zip(found, printed, strict=True)]
    assert agrees == [True, False, True]
    text = renewed(WRONG, console.run)
    assert (
        "2 clusters of 2 rows by pckmeans (sizes 1, 1)\nClustered by 1 number\nNothing was written"
        in text
    )
    assert renewed(text, console.run) == text


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        ("a  0.120 s  1", "a 12.345 s  1", True),
        ("x    time  y", "x     time  y", True),
        ("coterie, version 0.1.0\n", "coterie, version 1.12.3\n", True),
        ('{"x": 9.66735833333334}', '{"x": 9.66735833333331}', True),
        ('{"x": 9.66735833333334}', '{"x": 9.66745833333334}', False),
        ("a  0.120", "a  0.121", False),
        ("2 rows", "3 rows", False),
    ],
)
def test_only_times_versions_and_last_digits_may_differ(shown, printed, expected):
    assert same(shown, printed) is expected


# -- commands and options ----------------------------------------------------------------------
def undocumented(name: str, command: click.Command, page: str) -> list[str]:
    """What a page does not say of a command: its help, an example, any of its options."""
    found = list(steps(page))
    told = [step.shown for step in found if step.command == f"coterie {name} --help"]
    examples = [s for s in found if f"coterie {name} " in s.command and "--help" not in s.command]
    options = [p for p in command.params if isinstance(p, click.Option)]
    missing = [f"no text for {o.opts[-1]}" for o in options if not (o.help or "").strip()]
    missing += [] if examples else ["no example"]
    if not told:
        return [*missing, "no help"]
    flags = [flag for option in options for flag in (*option.opts, *option.secondary_opts)]
    return missing + [flag for flag in flags if not re.search(rf"(?m)^ .*{flag}\b", told[0])]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_on_the_page(name):
    # `coterie demo` has an example without options.
    assert undocumented(name, main.get_command(None, name), TEXT.replace("demo\n", "demo \n")) == []


def test_what_is_not_on_the_page_is_noticed():
    @click.command("try")
    @click.option("--told", help="Something.")
    @click.option("--untold", help="Something else.")
    @click.option("--silent")
    def attempt():
        pass

    page = "```console\n$ coterie try --help\n  --told TEXT\n  --silent\n```\n"
    assert undocumented("try", attempt, page) == ["no text for --silent", "no example", "--untold"]
    assert "no help" in undocumented("try", attempt, page.replace("--help", "x"))


def test_every_command_is_in_one_section_of_the_help():
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == sorted(COMMANDS)


def test_every_exit_code_and_method_is_on_the_page():
    table = re.findall(r"^\| (\d+) \|", TEXT, re.MULTILINE)
    assert table == [str(code.value) for code in Exit]
    assert set(METHODS) <= set(re.findall(r"\w+", TEXT))


# -- the shapes of --json ----------------------------------------------------------------------
HOW = ("--id", "id", "--drop", "class", "-k", "3", "--method", "pckmeans", "--seed", "0")
JSON = {
    "fit": [("data.csv", "--constraints", "pairs.csv", *HOW, "-o", "out.csv", "--save", "m")],
    "predict": [("m", "data.csv", "-o", "new.csv")],
    "check": [
        ("data.csv", "pairs.csv", "--id", "id", "-k", "3"),
        ("data.csv", "pairs.csv", "--id", "id", "-k", "1"),
    ],
    "suspects": [("data.csv", "pairs.csv", "--model", "m")],
    "compare": [
        ("data.csv", "pairs.csv", "--id", "id", "--drop", "class", "-k", "3", "--runs", "1",
         "--methods", "pckmeans"),
    ],
    "score": [("out.csv", "--truth", "class")],
    "report": [("m", "data.csv", "pairs.csv")],
    "demo": [()],
    "warmup": [("dpmeans",)],
}  # fmt: skip


def test_the_keys_of_json_are_those_on_the_page(data, run):
    lines = re.findall(r"^\| `(\w+)` \| (.*) \|$", TEXT, re.MULTILINE)
    told = {name: set(re.findall(r"`(\w+)`", text)) for name, text in lines}
    printed = {
        name: set().union(
            *(json.loads(run(name, *arguments, "--json").stdout) for arguments in cases)
        )
        - {"notes"}
        for name, cases in JSON.items()
    }
    assert printed == told
    assert set(COMMANDS) - set(told) == {"ask", "completion", "studio"}
