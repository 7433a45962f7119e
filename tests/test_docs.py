"""The examples of every page run, and every public name is on some page."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import shlex
from collections import Counter
from pathlib import Path

import click
import pytest
from python_page import blocks, printed, same

import coterie
from coterie.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
MADE = {"reference.md", "changes.md"}  # by `make docs`, from docstrings and the changelog
PAGES = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").glob("*.md") if p.name not in MADE)]


def is_made(page: str) -> bool:
    """Whether a page of the site is only there once `make docs` has written it."""
    return page in MADE or page.startswith(("api/", "gallery/"))


def run_page(path: Path) -> None:
    """Run the blocks of a page; what it shows them print must be what they print."""
    for block, found in printed(path):
        assert block.output is None or same(block.output, found), (
            f"{path.name}, line {block.line}: the block prints\n{found}"
            f"Renew the page: python tests/python_page.py docs/{path.name}"
        )


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_examples_run_from_top_to_bottom(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    run_page(path)


def test_a_wrong_example_is_noticed_at_its_line(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Text\n\n```python\na = 1\n```\n\n```python\n\nassert a == 2\n```\n")
    with pytest.raises(AssertionError) as error:
        run_page(page)
    assert error.traceback[-1].lineno + 1 == 9


@pytest.mark.parametrize(
    ("shown", "good"),
    [("7 rows, 0.91", True), ("7 rows,  0.93", True), ("8 rows, 0.93", False), ("7 rows", False)],
)
def test_an_output_that_differs_is_noticed(shown, good, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"```python\nprint('7 rows, 0.91')\n```\n\n```text\n{shown}\n```\n")
    if good:
        run_page(page)
    else:
        with pytest.raises(AssertionError, match="the block prints"):
            run_page(page)


# -- no block is skipped in silence ------------------------------------------------------------
RUN = {"python", "console"}  # by the test above, and by tests/cli/test_documented.py
# What is shown and cannot be run here: (page, kind of block) and how many. Commands of ours among
# them have options that exist, and Python can be compiled.
SHOWN = {
    ("README.md", "sh"): (2, "make, and the studio, which runs until Ctrl-C"),
    ("active.md", "sh"): (2, "somebody answers"),
    ("architecture.md", "text"): (7, "drawings"),
    ("cluster.md", "sh"): (4, "needs the machines of a cluster"),
    ("cluster.md", "py"): (1, "needs Kubernetes"),
    ("command-line.md", "sh"): (1, "for the shell's own settings"),
    ("command-line.md", "dockerfile"): (1, "for an image"),
    ("file-formats.md", "text"): (2, "what files look like"),
    ("index.md", "sh"): (1, "installs"),
    ("larger-than-memory.md", "sh"): (1, "of files that do not fit"),
    ("records.md", "sh"): (1, "of files that readers have"),
    ("studio.md", "sh"): (2, "installs; runs until Ctrl-C"),
    ("studio.md", "py"): (1, "needs a notebook"),
}
FENCE = re.compile(r"^(?P<margin> *)(?P<fence>`{3,}|~{3,})(?P<kind>.*?) *$", re.MULTILINE)


def fences(text: str) -> list[tuple[str, str]]:
    """(kind, content) of each block between fences, however it is written."""
    found, opened = [], None
    for fence in FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence["fence"].startswith(opened["fence"]) and not fence["kind"]:
            found.append(
                (opened["margin"] + opened["kind"], text[opened.end() + 1 : fence.start()])
            )
            opened = None
    assert opened is None, "a block is not closed"
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_block_is_made_by_a_margin(path):
    """Markdown's other way to write one, which nothing here would see."""
    outside = re.sub(
        r"^ *(`{3,}|~{3,}).*?^ *\1 *$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S
    )
    found = re.findall(r"^(?!\d+\. |[-*] )\S.*\n\n+((?: {4,}|\t)\S.*)$", outside, re.MULTILINE)
    assert not found, "put it between fences"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_block_is_run_or_named_as_one_that_cannot_be(path):
    text = path.read_text(encoding="utf-8")
    found = fences(text)
    assert sum(kind == "python" for kind, _ in found) == len(blocks(text))
    below_python = sum(block.output is not None for block in blocks(text))
    counts = Counter(kind for kind, _ in found if kind not in RUN and kind[:1] != "{")
    counts["text"] -= below_python
    allowed = {kind: n for (page, kind), (n, _) in SHOWN.items() if page == path.name}
    assert +counts == allowed, "mark blocks as python or console, so that they are run"


def test_blocks_are_found_however_they_are_written():
    text = "```\na\n```\n  ```python\n  b\n  ```\n~~~sh\n```\n~~~\n````python\nc\n````\n"
    assert [kind for kind, _ in fences(text)] == ["", "  python", "sh", "python"]
    assert len(blocks(text)) == 0  # so the test above fails for the last one


@pytest.mark.parametrize("page", sorted({page for page, kind in SHOWN if kind in ("sh", "py")}))
def test_what_is_shown_only_could_be_run(page):
    path = ROOT / page if page == "README.md" else ROOT / "docs" / page
    for kind, content in fences(path.read_text(encoding="utf-8")):
        if kind == "py":
            compile(content, page, "exec")
        for line in content.replace("\\\n", " ").splitlines() if kind == "sh" else ():
            words = shlex.split(line, comments=True)
            if words[:1] == ["coterie"]:
                command = main.get_command(click.Context(main), words[1])
                assert command is not None, line
                context = click.Context(command, info_name=words[1])
                command.make_parser(context).parse_args(args=words[2:])


TUTORIALS = [page for page in PAGES if page.name.startswith("tutorial-")]


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_shows_what_comes_out(path):
    text = path.read_text(encoding="utf-8")
    assert "```text\n" in text or "```console\n" in text


LINK = re.compile(r"\]\(<?([^)>\s]+)>?\)")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    """Files that are there, or addresses that are well-formed (none is asked here)."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in LINK.findall(text):
        if "://" in target:
            assert re.fullmatch(
                r"https://[\w.-]+\.\w+(/\S*)?|http://localhost(:\d+)?\S*", target
            ), target
            continue
        name = target.partition("#")[0]
        assert not name or is_made(name) or (path.parent / name).exists(), target


@pytest.mark.parametrize(
    "path",
    [*PAGES, *sorted((ROOT / "src").rglob("*.py"))],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_fractions_have_braces(path):
    r"""The site reads "\frac12 x" as twelve over x, without a word."""
    assert not re.findall(r"\\[td]?frac\s*[^{\s].{0,20}", path.read_text(encoding="utf-8"))


def public_modules() -> list[str]:
    """`coterie`, its public packages, and the errors a user may want to catch."""
    packages = [
        f"coterie.{module.name}"
        for module in pkgutil.iter_modules(coterie.__path__)
        if module.ispkg and not module.name.startswith("_")
    ]
    return ["coterie", "coterie.exceptions", *packages]


@pytest.mark.parametrize("module", public_modules())
def test_every_public_name_is_on_some_page(module):
    text = "\n".join(path.read_text(encoding="utf-8") for path in PAGES)
    words = set(re.findall(r"\w+", text))
    undocumented = [name for name in importlib.import_module(module).__all__ if name not in words]
    assert not undocumented, f"{module}: {undocumented} are on no page of docs/ nor in README.md"


def test_the_reference_has_every_public_module():
    """Read from the source: `docs/conf.py` needs Sphinx."""
    tree = ast.parse((ROOT / "docs" / "conf.py").read_text(encoding="utf-8"))
    listed = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "MODULES"
    )
    named = [module for module in public_modules() if importlib.import_module(module).__all__]
    assert set(named) <= set(listed)
    assert all(importlib.import_module(module).__all__ for module in listed)


@pytest.mark.parametrize("module", public_modules())
def test_every_public_name_exists_and_says_what_it_is(module):
    home = importlib.import_module(module)
    silent = [
        name
        for name in home.__all__
        if callable(getattr(home, name)) and not (getattr(home, name).__doc__ or "").strip()
    ]
    assert not silent, f"{module}: {silent} have no docstring"


def anchors(path: Path) -> set[str]:
    """What a link to a heading of the page may end in."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-")) for heading in headings}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_pages_and_headings_that_exist(path):
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, heading = target.partition("#")
        if is_made(name):  # a heading of these is found by `make docs`, or is an error there
            continue
        page = path.parent / name if name else path
        assert page.exists(), f"{path.name} links to {target}"
        assert not heading or heading in anchors(page), f"{path.name} links to {target}"
