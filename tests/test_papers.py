"""docs/papers-to-code.md leads to files, classes and parameters that exist."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import coterie

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "papers-to-code.md").read_text(encoding="utf-8")
QUOTED = sorted(set(re.findall(r"`([^`\n]+)`", TEXT)))
PATHS = [word for word in QUOTED if "/" in word]
MEMBERS = [word for word in QUOTED if re.fullmatch(r"[A-Z]\w+\.\w+", word)]
NAMES = [word for word in QUOTED if re.fullmatch(r"[A-Z]\w+|[a-z]\w+[a-z]", word)]


def public() -> dict[str, object]:
    """Every public name of the package."""
    found: dict[str, object] = {}
    for module in pkgutil.iter_modules(coterie.__path__):
        if module.ispkg and not module.name.startswith("_"):
            package = importlib.import_module(f"coterie.{module.name}")
            found |= {name: getattr(package, name) for name in getattr(package, "__all__", [])}
    return found


def test_the_page_names_enough_to_be_worth_testing():
    assert len(PATHS) > 40
    assert len(MEMBERS) > 40
    assert len(NAMES) > 25


@pytest.mark.parametrize("path", PATHS)
def test_every_path_exists(path):
    assert (ROOT / "src" / "coterie" / path).exists() or (ROOT / path).exists()


@pytest.mark.parametrize("member", MEMBERS)
def test_every_parameter_is_one_of_its_class(member):
    name, _, attribute = member.partition(".")
    kind = public()[name]
    assert attribute in inspect.signature(kind).parameters or hasattr(kind, attribute)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_public(name):
    assert name in public()


def papers(page: str) -> list[str]:
    """Headings that end in a year."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(r"^#+ (.+ \d{4})$", text, re.MULTILINE)


def test_both_pages_have_the_same_five_papers():
    assert papers("papers-to-code.md") == papers("references.md")
    assert len(papers("references.md")) == 5


@pytest.mark.parametrize("heading", papers("papers-to-code.md"))
def test_every_paper_says_where_we_deviate(heading):
    section = TEXT.split(f"## {heading}\n")[1].split("\n## ")[0]
    assert "Where we deviate:" in section
    assert section.count("\n| ") > 10
