"""Write known.toml anew from the full results: which cells miss a bar now, with the causes kept.

    python experiments run defaults --profile full
    python experiments/defaults/renew.py

Prints what was mended and what is new. A miss of a method and a bar that had none before is given
the cause "Not looked into yet.": look, and write what it is.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from bars import KNOWN, Miss, known, misses

from lab.page import results_of
from lab.study import load_study

HERE = Path(__file__).resolve().parent
UNKNOWN = "Not looked into yet."
HEAD = """\
# Where defaults miss a bar of `bars.py` in the full results, with the cause: `cells` names the
# sets and the pairs a row. Strict: tests/experiments/test_defaults.py fails for a miss that is not
# here and for one here that is mended. `renew.py` writes it anew from results.
"""


def renewed(found: list[Miss], before: dict[Miss, str]) -> str:
    """known.toml for the misses found, with the causes that were known before."""
    causes = {(miss.method, miss.bar): cause for miss, cause in before.items()}
    entries: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for miss in found:
        cause = before.get(miss, causes.get((miss.method, miss.bar), UNKNOWN))
        cells = entries.setdefault((miss.method, miss.bar, cause), {})
        cells.setdefault(miss.set, []).append(miss.share)
    return "\n".join([HEAD, *(_entry(*key, cells) for key, cells in sorted(entries.items()))])


def _entry(method: str, bar: str, cause: str, cells: dict[str, list[float]]) -> str:
    listed = ", ".join(f'"{name}" = {sorted(shares)}' for name, shares in cells.items())
    quoted = cause.replace("\\", "\\\\").replace('"', '\\"')
    lines = f'method = "{method}"', f'bar = "{bar}"', f"cells = {{ {listed} }}"
    return "\n".join(["[[miss]]", *lines, f'cause = "{quoted}"', ""])


def main() -> None:
    """Rewrite the file and say what changed."""
    found = misses(results_of(load_study(HERE), ("full",)).frame)
    before = known()
    KNOWN.write_text(renewed(list(found), before), encoding="utf-8")
    for miss in sorted(before.keys() - found.keys()):
        print("mended:", *miss)
    for miss in sorted(found.keys() - before.keys()):
        print("new:", *miss, f"by {found[miss]:.3f}")


if __name__ == "__main__":
    main()
