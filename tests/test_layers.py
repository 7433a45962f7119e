"""Imports point one way, to public names, and `import coterie` stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "coterie"

# Each part may import those above it and nothing below (docs/architecture.md).
LAYERS = [
    "_typing",
    "exceptions",
    "words",
    "rules",
    "parameter_table",
    "parameters",
    "files",
    "memory",
    "versions",
    "progress",
    "_npy",
    "sparse_indices",
    "constraints",
    "unreadable",
    "validation",
    "model_selection",
    "stability",
    "data",
    "distortions",
    "inference",
    "loaded",
    "_encoding",
    "persistence",
    "base",
    "extension",
    "cluster",
    "mixture",
    "transform",
    "propagation",
    "records",
    "comparison",
    "estimators",
    "warmup",
    "active",
    "tables",
    "report",
    "studio",
    "cli",
    "__main__",
]
# Beside the layers: each may import the layers up to `base`; only `comparison`, `active`,
# `report`, `studio` and `cli` import them.
BESIDE = ["metrics", "datasets", "plot", "testing"]
MAY_USE_BESIDE = {"comparison", "active", "report", "studio", "cli"}

FILES = sorted(SOURCE.rglob("*.py"))


def part_of(module: str) -> str:
    """The layer a dotted module name belongs to: "coterie.cluster.x" → "cluster"."""
    return [*module.split("."), ""][1]


def imports(source: str, package: str) -> Iterator[tuple[int, str, list[str]]]:
    """(line, module, names) of every import, also inside functions; not `if TYPE_CHECKING`."""
    pending: list[ast.AST] = [ast.parse(source)]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending += node.orelse
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, []
        elif isinstance(node, ast.ImportFrom):
            base = package.rsplit(".", node.level - 1)[0] if node.level else ""
            module = ".".join(filter(None, [base, node.module]))
            yield node.lineno, module, [alias.name for alias in node.names]
        pending += ast.iter_child_nodes(node)


def targets(module: str, names: list[str]) -> list[str]:
    """Parts an import reaches; `from coterie import metrics` reaches metrics."""
    if module.split(".")[0] != "coterie":
        return []
    found = [part_of(f"coterie.{name}") for name in names] if module == "coterie" else []
    return [part_of(module)] if module != "coterie" else [p for p in found if p in known()]


def known() -> set[str]:
    return {*LAYERS, *BESIDE}


def allowed(importer: str, imported: str) -> bool:
    if importer == imported:
        return True
    if imported in BESIDE:
        return importer in MAY_USE_BESIDE
    if importer in BESIDE:
        return LAYERS.index(imported) <= LAYERS.index("base")
    return LAYERS.index(imported) < LAYERS.index(importer)


def wrong_imports(source: str, package: str, importer: str) -> list[str]:
    return [
        f"line {line}: {importer} imports {imported}"
        for line, module, names in imports(source, package)
        for imported in targets(module, names)
        if not allowed(importer, imported)
    ]


def place(path: Path) -> tuple[str, str]:
    """Package and part of a source file."""
    parts = ("coterie", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1]), parts[1]


def test_every_part_has_its_place():
    parts = {place(path)[1] for path in FILES} - {"__init__"}
    assert parts <= known(), f"give {sorted(parts - known())} a place in LAYERS or BESIDE"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_one_way(path):
    package, part = place(path)
    if part == "__init__":
        return  # the root offers everything, lazily
    assert wrong_imports(path.read_text(encoding="utf-8"), package, part) == []


@pytest.mark.parametrize(
    ("source", "importer"),
    [
        ("from coterie.cluster import PCKMeans", "inference"),
        ("import coterie.base", "constraints"),
        ("from coterie import metrics", "cluster"),
        ("def f():\n    from coterie.active import Session", "mixture"),
        ("from ..cluster import x", "inference"),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    import coterie.cli", "base"),
        ("from coterie.cluster import PCKMeans", "testing"),
        ("from coterie.metrics import evaluate", "datasets"),
    ],
)
def test_an_import_against_the_direction_is_found(source, importer):
    assert len(wrong_imports(source, f"coterie.{importer}", importer)) == 1


@pytest.mark.parametrize(
    ("source", "importer"),
    [
        ("from coterie.constraints import Constraints", "inference"),
        ("if TYPE_CHECKING:\n    from coterie.constraints import Constraints", "exceptions"),
        ("from coterie.metrics import evaluate", "active"),
        ("from . import _kernels", "cluster"),
        ("import numpy.linalg", "exceptions"),
    ],
)
def test_an_import_in_the_right_direction_is_not(source, importer):
    assert wrong_imports(source, f"coterie.{importer}", importer) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_other_projects_are_used_by_their_public_names(path):
    private = [
        f"line {line}: {module} {names}"
        for line, module, names in imports(path.read_text(encoding="utf-8"), place(path)[0])
        if module.split(".")[0] not in ("coterie", "__future__")
        and any(part.startswith("_") for part in [*module.split("."), *names])
    ]
    assert private == []


def private_imports(source: str, package: str) -> list[str]:
    """Imports of ours that reach a private module or name of a package they do not stand in."""
    found = []
    for line, module, names in imports(source, package):
        if module.split(".")[0] != "coterie":
            continue
        for path in [f"{module}.{name}" for name in names] or [module]:
            parts = path.split(".")
            private = next((k for k, part in enumerate(parts) if part.startswith("_")), None)
            if private is None or parts[private].startswith("__"):
                continue
            owner = ".".join(parts[:private])
            if not f"{package}.".startswith(f"{owner}."):
                found.append(f"line {line}: {path}")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_private_name_crosses_a_package(path):
    package = place(path)[0]
    assert private_imports(path.read_text(encoding="utf-8"), package) == []


@pytest.mark.parametrize(
    ("source", "package", "count"),
    [
        ("from coterie.data._kernels import nearest", "coterie.cluster.kmeans", 1),
        ("from coterie.cluster import _kernels", "coterie.cluster.kmeans", 0),
        ("from coterie.cluster.rdp import _kernels as kernels", "coterie.cluster.kmeans", 1),
        ("from coterie.constraints.core import _renumber", "coterie.inference", 1),
        ("from coterie import __version__", "coterie.report", 0),
        ("from coterie._npy import read", "coterie.constraints", 0),
    ],
)
def test_a_private_name_that_crosses_a_package_is_found(source, package, count):
    assert len(private_imports(source, package)) == count


def test_importing_coterie_compiles_and_loads_nothing_heavy():
    code = (
        "import coterie, sys; print([m for m in ('numba', 'sklearn', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
