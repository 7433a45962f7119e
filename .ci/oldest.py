"""Print the lowest supported version of every dependency, as constraints for pip.

    python .ci/oldest.py > oldest.txt

The bounds are those of pyproject.toml: there is no second list.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

TOOLS = ("docs", "lint")  # of ours, not of those who install coterie


def oldest(project: dict) -> list[str]:
    """name==version of each bound of the dependencies and of the extras."""
    needed = list(project["dependencies"])
    for extra, needs in project["optional-dependencies"].items():
        needed += [] if extra in TOOLS else needs
    needed = [need for need in needed if not need.startswith(f"{project['name']}[")]
    bounds = [re.fullmatch(r"([\w.-]+)>=([\w.]+)", need) for need in needed]
    if not all(bounds):
        raise SystemExit(f"a dependency without a lower bound: {needed}")
    return [f"{bound[1]}=={bound[2]}" for bound in bounds if bound]


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[1]
    print("\n".join(oldest(tomllib.loads((root / "pyproject.toml").read_text())["project"])))
