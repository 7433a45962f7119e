"""What a release rests on: one version, lower bounds, a README that a package index can show."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import coterie

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_newest_section_of_the_changelog_is_this_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (\S+)", text, re.MULTILINE)
    assert versions[0] == coterie.__version__
    assert versions == sorted(versions, key=lambda v: [int(n) for n in v.split(".")], reverse=True)


def test_every_dependency_has_a_lowest_version_that_is_tested():
    oldest = runpy.run_path(str(ROOT / ".ci" / "oldest.py"))["oldest"]
    names = {line.partition("==")[0] for line in oldest(PYPROJECT["project"])}
    extras = {"pyarrow", "openpyxl", "zarr", "anywidget", "pynndescent", "pandas", "polars"}
    assert {"numpy", "scipy", "scikit-learn", "numba"} | extras <= names


def test_a_package_index_is_given_no_link_that_leads_nowhere():
    hook = PYPROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = r"\]\((?!https?://)"
    assert re.search(links, text)  # here pages and pictures stand beside it
    for rule in hook["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    assert not re.search(links, text)
    assert "the command line" in text.lower()  # the words of a link stay
