"""What `import coterie` offers: the same to Python, to `*` imports, to editors and to mypy."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import coterie

ROOT = Path(__file__).resolve().parents[1]

SNIPPET = """
from coterie import Constraints, PCKMeans, RCA, ConstrainedCompleteLink, load, save
from coterie import NoSuchName  # error: attr-defined

PCKMeans(n_clusters=3, random_state=0)
PCKMeans(n_cluster=3)  # error: call-arg
Constraints("many")  # error: arg-type
reveal_type(RCA().fit([[0.0]]))  # note: RCA
reveal_type(ConstrainedCompleteLink().fit([[0.0]]))  # note: ConstrainedCompleteLink
"""


def seen_by_type_checkers() -> dict[str, str]:
    """Names imported in the TYPE_CHECKING block, and the modules they are imported from."""
    tree = ast.parse(Path(coterie.__file__).read_text(encoding="utf-8"))
    (block,) = (
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    return {
        alias.name: node.module or ""
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_the_three_lists_of_public_names_agree():
    assert sorted(coterie.__all__) == sorted(coterie._HOMES)
    assert seen_by_type_checkers() == coterie._HOMES


@pytest.mark.parametrize("name", coterie.__all__)
def test_every_public_name_can_be_imported(name):
    assert getattr(coterie, name).__name__ == name


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="NoSuchName"):
        coterie.NoSuchName  # noqa: B018


def test_mypy_knows_parameters_and_what_fit_returns(tmp_path):
    """As a user's own checker would see the installed package: strict, from outside the tree."""
    pytest.importorskip("mypy")
    snippet = tmp_path / "snippet.py"
    snippet.write_text(SNIPPET)
    cache = ROOT / ".mypy_cache" / "snippet"
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache), str(snippet)]
    search = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    answer = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=search)
    told = [line for line in answer.stdout.splitlines() if line.startswith("snippet.py")]
    wanted = [
        (number, line.split("# ")[1].split(": "))
        for number, line in enumerate(SNIPPET.splitlines(), 1)
        if "# " in line
    ]
    for number, (kind, word) in wanted:
        assert [
            line
            for line in told
            if line.startswith(f"snippet.py:{number}: {kind}") and word in line
        ], answer.stdout
    errors = [line for line in told if ": error:" in line]
    assert len(errors) == sum(kind == "error" for _, (kind, _) in wanted), answer.stdout
