"""Who is cited, by author and year, stands in docs/references.md with title and venue."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "references.md"
ENTRY = re.compile(r"^(?:### |- \*\*)([A-Z].*?) (\d{4})\.?(?:\*\*|$)", re.MULTILINE)
NAME = r"[A-Z][\w-]+"
YEAR = r"(?:19|20)\d\d"
CITED = re.compile(
    rf"\b({NAME})(?: et al\.|(?:, {NAME})*(?: and| &) {NAME}),? \(?({YEAR}(?:(?:,| and) {YEAR})*)"
)


def entries() -> set[tuple[str, str]]:
    """(first author, year) of every entry of the page."""
    text = PAGE.read_text(encoding="utf-8")
    return {(re.split(r",| and ", names)[0], year) for names, year in ENTRY.findall(text)}


def cited(text: str) -> set[tuple[str, str]]:
    """(first author, year) of every citation in a text; "et al. 2004 and 2006" are two."""
    text = re.sub(r"\s*\n\s*", " ", text)
    return {
        (name, year) for name, years in CITED.findall(text) for year in re.findall(r"\d{4}", years)
    }


def test_the_page_lists_the_five_papers():
    five = {("Basu", "2004"), ("Eaton", "2005"), ("Basu", "2006"), ("Lu", "2007")}
    assert five | {("Khashabi", "2015")} <= entries()


def test_citations_of_every_form_are_found():
    text = "Basu et al. (2004, 2006); Lu and\n  Leen 2007; (Xiong, Azimi and Fern, 2014)"
    assert cited(text) == {
        ("Basu", "2004"),
        ("Basu", "2006"),
        ("Lu", "2007"),
        ("Xiong", "2014"),
    }


@pytest.mark.parametrize("folder", ["src", "docs", "experiments", "tests", "benchmarks"])
def test_whoever_is_cited_is_on_the_page(folder):
    known = entries()
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in {".py", ".md", ".toml"} and path not in (Path(__file__), PAGE):
            missing = cited(path.read_text(encoding="utf-8")) - known
            assert not missing, f"{path.relative_to(ROOT)} cites {missing}"


@pytest.mark.parametrize("folder", ["src", "docs", "experiments", "tests", "benchmarks"])
def test_nothing_is_cited_by_a_number_or_file_that_readers_do_not_have(folder):
    unknown = re.compile(r"\b[Ss]eeds? 00\d|THEORY\.md|BENCHMARKS\b")
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in {".py", ".md", ".toml"} and path != Path(__file__):
            found = unknown.search(path.read_text(encoding="utf-8"))
            assert not found, f"{path.relative_to(ROOT)} speaks of {found.group()}"
